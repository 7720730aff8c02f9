%% Frames of return_trace on a stack that must grow while they are pushed.
-module(trace_return_deep).
-export([main/1, loop/4]).

main(_) ->
    Tracer = spawn(fun() -> count(0, 0) end),
    Worker = spawn(fun() -> receive go -> t:w(deepest, loop({hej, hopp}, [a, b, c], 4.5, 1500)) end end),
    erlang:trace(Worker, true, [call, return_to, {tracer, Tracer}]),
    t:w(pattern, erlang:trace_pattern({?MODULE, loop, 4}, [{'_', [], [{return_trace}]}], [local])),
    Monitor = monitor(process, Worker),
    Worker ! go,
    t:w(exit, receive {'DOWN', Monitor, _, _, Reason} -> Reason end),
    Delivered = erlang:trace_delivered(all),
    receive {trace_delivered, all, Delivered} -> ok end,
    Tracer ! {self(), how_many},
    t:w(counts, receive {Calls, Returns} -> {Calls, Returns} end).

loop(_, _, _, 0) -> 0;
loop(A, B, C, N) -> max(N, loop(A, B, C, N - 1)).

count(Calls, Returns) ->
    receive
        {trace, _, call, _} -> count(Calls + 1, Returns);
        {trace, _, return_from, _, _} -> count(Calls, Returns + 1);
        {From, how_many} -> From ! {Calls, Returns};
        _ -> count(Calls, Returns)
    end.
