%% call_memory counts a message where it is taken, and what a process is born with for its first function; a throw that nobody
%% catches is told of as the error that it becomes; counters start anew when they are set again.
-module(trace_call_sums).
-export([main/1, take/0, born/1, twice/1, thrower/0]).

main(_) ->
    erlang:trace_pattern({?MODULE, take, 0}, true, [call_memory]),
    Me = self(),
    P = spawn(fun() -> receive start -> take(), Me ! done, receive never -> ok end end end),
    erlang:trace(P, true, [call]),
    P ! list_to_tuple(lists:seq(1, 8)),
    P ! start,
    receive done -> ok end,
    {call_memory, [{P, Calls, Words}]} = erlang:trace_info({?MODULE, take, 0}, call_memory),
    io:format("~p ~p~n", [Calls, Words]),
    erlang:trace_pattern({?MODULE, born, 1}, true, [call_memory]),
    erlang:trace(Me, true, [call, set_on_spawn]),
    {Q, Ref} = spawn_monitor(?MODULE, born, [lists:seq(1, 6)]),
    receive {'DOWN', Ref, process, Q, _} -> ok end,
    erlang:trace(Me, false, [all]),
    {call_memory, [{Q, 1, Born}]} = erlang:trace_info({?MODULE, born, 1}, call_memory),
    %% With a shared heap it is born with nothing: its arguments are its parent's.
    io:format("~p~n", [case erlang:system_info(heap_type) of shared -> 14 + Born; _ -> Born end]),
    erlang:trace_pattern({?MODULE, twice, 1}, true, [call_count]),
    [twice(X) || X <- [1, 2, 3]],
    io:format("~p", [erlang:trace_info({?MODULE, twice, 1}, call_count)]),
    erlang:trace_pattern({?MODULE, twice, 1}, true, [call_count]),
    twice(1),
    io:format(" ~p~n", [erlang:trace_info({?MODULE, twice, 1}, call_count)]),
    logger:set_primary_config(level, none),
    erlang:trace_pattern({?MODULE, thrower, 0}, [{'_', [], [{exception_trace}]}], [local]),
    [begin
         R = spawn(fun() -> receive go -> ok end, F() end),
         erlang:trace(R, true, [call]),
         R ! go,
         receive {trace, R, exception_from, _, E} -> io:format("~p~n", [E]) end
     end || F <- [fun() -> thrower(), ok end, fun() -> catch thrower(), ok end]],
    io:format("~p ~p~n", [erlang:trace_info(Q, flags), erlang:trace_info({?MODULE, missing, 0}, traced)]).

take() -> receive M -> M end.
born(L) -> L.
twice(X) -> X.
thrower() -> throw(ball).
