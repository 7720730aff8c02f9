%% call_memory of a function in which a process is ended by another one: the reason is not the function's doing.
-module(trace_meters_exit).
-export([main/1, wait/1]).

main(_) ->
    erlang:trace_pattern({?MODULE, wait, 1}, true, [call_memory]),
    [io:format("~p~n", [ended({R, [1, 2, 3]})]) || R <- [killer, {a, b}]],
    io:format("~p~n", [ended(atom)]).

ended(Reason) ->
    erlang:trace_pattern({?MODULE, wait, 1}, restart, [call_memory]),
    {P, M} = spawn_monitor(fun() -> receive go -> wait(lists:seq(1, 10)) end end),
    erlang:trace(P, true, [call]),
    P ! go,
    receive after 50 -> ok end,
    exit(P, Reason),
    receive {'DOWN', M, process, P, Reason} -> ok end,
    {call_memory, Rows} = erlang:trace_info({?MODULE, wait, 1}, call_memory),
    [{Calls, Words} || {_, Calls, Words} <- Rows].

wait(L) -> receive never -> L end.
