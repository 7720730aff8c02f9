%% The messages of timers whose receivers ended are memory of no process.
-module(timers_of_the_dead).
-export([main/1]).

-define(BYTES, 1000000).

main(_) ->
    Before = erlang:memory(binary),
    %% Few receivers with many timers.
    Refs = [begin
                {P, M} = spawn_monitor(fun() -> receive after infinity -> ok end end),
                Ref = erlang:send_after(3600000, P, binary:copy(<<N>>, ?BYTES)),
                Held = erlang:read_timer(Ref) > 0,
                exit(P, kill),
                receive {'DOWN', M, process, P, killed} -> ok end,
                {Held, erlang:read_timer(Ref)}
            end || N <- lists:seq(1, 30)],
    io:format("~p~n", [lists:usort(Refs)]),
    io:format("~p~n", [gone(Before, 200)]).

gone(_, 0) -> {still, erlang:memory(binary) div ?BYTES};
gone(Before, Times) ->
    garbage_collect(),
    case erlang:memory(binary) < Before + 2 * ?BYTES of
        true -> gone;
        false -> timer:sleep(50), gone(Before, Times - 1)
    end.
