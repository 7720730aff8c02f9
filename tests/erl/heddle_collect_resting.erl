%% A process that asks for the collection of another gets it, once it ran since the last one. With a shared heap that did not run is not collected
%% again, as nothing of it can have died: programs collect all processes one by one, and each major collection is one of all.
-module(heddle_collect_resting).
-export([main/1]).

main(_) ->
    Pid = spawn_link(fun loop/0),
    Pid ! {hello, self()},
    receive {Pid, hello} -> ok end,
    N0 = majors(),
    Answers = lists:usort([erlang:garbage_collect(Pid) || _ <- lists:seq(1, 300)]),
    N = majors() - N0,
    %% (Others collect, too.)
    io:format("~p ~p~n", [Answers, case erlang:system_info(heap_type) of shared -> N < 150; _ -> N >= 300 end]),
    [begin
         Before = erlang:memory(binary),
         Pid ! {drop, self()},
         receive {Pid, dropped} -> ok end,
         true = erlang:garbage_collect(Pid),
         io:format("~p~n", [erlang:memory(binary) - Before < 500_000])
     end || _ <- [1, 2, 3]],
    unlink(Pid),
    exit(Pid, kill).

majors() ->
    #{major := #{count := N}} = heddle_stats:pauses(),
    N.

loop() ->
    receive
        {hello, From} -> From ! {self(), hello}, loop();
        {drop, From} ->
            2_000_000 = byte_size(binary:copy(<<1>>, 2_000_000)),
            From ! {self(), dropped},
            loop()
    end.
