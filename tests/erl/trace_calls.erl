%% Tracing of calls, returns, messages and processes.
-module(trace_calls).
-export([main/1]).
-export([f/1, g/1]).
main(_) ->
    Me = self(), P = spawn(fun() -> receive go -> f(3), Me ! done end, receive stop -> ok end end), t:w(on, erlang:trace(P, true, [call, send, 'receive', procs, {tracer, self()}])), t:w(pattern, [erlang:trace_pattern({?MODULE, f, 1}, [{'_', [], [{return_trace}]}], [local]), erlang:trace_pattern({?MODULE, g, 1}, true, [local])]), P ! go, receive done -> ok end, P ! stop, t:wait_until(fun() -> not is_process_alive(P) end), receive after 20 -> ok end, t:w(events, [setelement(2, E, p) || E <- t:flush()]), t:w(info, erlang:trace_info({?MODULE, g, 1}, traced)), t:w(off, erlang:trace_pattern({?MODULE, '_', '_'}, false, [local])), t:w(flags, begin erlang:trace(self(), true, [call, timestamp, {tracer, spawn(fun() -> receive x -> x end end)}]), {flags, F} = erlang:trace_info(self(), flags), erlang:trace(self(), false, [all]), lists:sort(F) end), t:e(bad, fun() -> erlang:trace(t:id(x), true, [call]) end), t:e(bad_flag, fun() -> erlang:trace(self(), true, [foo]) end), t:w(count, begin erlang:trace_pattern({?MODULE, g, 1}, true, [call_count]), [g(1) || _ <- lists:seq(1, 7)], X = erlang:trace_info({?MODULE, g, 1}, call_count), erlang:trace_pattern({?MODULE, g, 1}, false, [call_count]), X end).
f(0) -> done; f(N) -> g(N), f(N - 1).
g(X) -> X.
