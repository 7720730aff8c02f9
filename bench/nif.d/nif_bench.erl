%% Says `@call N`: nanoseconds of a call of a NIF without work, with the loop around it; and `@message N`: of a message from a thread.
-module(nif_bench).
-export([main/1]).
-nifs([same/1, start_sender/1, join_sender/0]).

-define(CALLS, 5000000).
-define(MESSAGES, 300000).

main([Library]) ->
    ok = erlang:load_nif(Library, 0),
    measure(),
    {Calls, Messages} = lists:unzip([measure() || _ <- lists:seq(1, 5)]),
    io:format("@call ~.2f~n@message ~.2f~n", [lists:min(Calls), lists:min(Messages)]),
    halt(0).

measure() ->
    {Call, ok} = timer:tc(fun() -> call(?CALLS) end),
    {Message, 0} = timer:tc(fun() ->
        0 = start_sender(?MESSAGES),
        receive_all(?MESSAGES),
        join_sender()
    end),
    {Call * 1000 / ?CALLS, Message * 1000 / ?MESSAGES}.

call(0) -> ok;
call(N) ->
    same(N),
    call(N - 1).

receive_all(0) -> ok;
receive_all(N) ->
    receive {Number, 0} when Number =:= ?MESSAGES - N -> ok end,
    receive_all(N - 1).

same(_) -> erlang:nif_error(not_loaded).
start_sender(_) -> erlang:nif_error(not_loaded).
join_sender() -> erlang:nif_error(not_loaded).
