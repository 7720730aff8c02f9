%% Call counts, times and memory, meta tracing, trace sessions.
-module(trace_meters).
-export([main/1]).
-export([f/1, g/1, h/1]).
main(_) ->
    Me = ?MODULE,
    t:w(count, erlang:trace_pattern({Me, f, 1}, true, [call_count])),
    f(4),
    t:w(calls, erlang:trace_info({Me, f, 1}, call_count)),
    t:w(pause, erlang:trace_pattern({Me, f, 1}, pause, [call_count])),
    f(4),
    t:w(calls, erlang:trace_info({Me, f, 1}, call_count)),
    erlang:trace_pattern({Me, f, 1}, restart, [call_count]),
    f(1),
    t:w(calls, erlang:trace_info({Me, f, 1}, call_count)),
    erlang:trace_pattern({Me, f, 1}, false, [call_count]),
    t:w(calls, erlang:trace_info({Me, f, 1}, call_count)),
    %% Times: counts only, for the figures differ.
    Tracer = spawn(fun() -> receive stop -> ok end end),
    Self = self(),
    P = spawn(fun() -> receive go -> f(3), catch h(1), Self ! done end, receive stop -> ok end end),
    erlang:trace(P, true, [call, {tracer, Tracer}]),
    erlang:trace_pattern({Me, '_', '_'}, true, [call_time]),
    P ! go,
    receive done -> ok end,
    [begin {call_time, Rows} = erlang:trace_info({Me, N, 1}, call_time), t:w({time, N}, [C || {Q, C, _, _} <- Rows, Q =:= P]) end
     || N <- [f, g, h]],
    erlang:trace_pattern({Me, '_', '_'}, false, [call_time]),
    t:w(none, erlang:trace_info({Me, f, 1}, call_time)),
    P ! stop,
    Tracer ! stop,
    %% Meta tracing needs no flag on the process.
    erlang:trace_pattern({Me, g, 1}, [{['$1'], [{'>', '$1', 1}], [{return_trace}]}], [{meta, spawn_relay(Self)}]),
    f(3),
    erlang:trace_pattern({Me, g, 1}, false, [meta]),
    t:w(meta, relayed(4)),
    %% Sessions do not see each other.
    R = spawn_relay(Self),
    S1 = trace:session_create(one, R, []),
    S2 = trace:session_create(two, R, []),
    Q = spawn(fun() -> receive go -> g(7) end end),
    t:w(process, [trace:process(S1, Q, true, [call]), trace:process(S2, Q, true, [send])]),
    t:w(function, [trace:function(S1, {Me, g, 1}, true, [local]), trace:function(S2, {Me, f, 1}, true, [])]),
    t:w(flags, [trace:info(S1, Q, flags), trace:info(S2, Q, flags), erlang:trace_info(Q, flags)]),
    t:w(traced, [trace:info(S, {Me, F, 1}, traced) || S <- [S1, S2], F <- [f, g]]),
    Q ! go,
    t:w(session, relayed(1)),
    t:w(destroy, [trace:session_destroy(S1), trace:session_destroy(S1), trace:session_destroy(S2)]),
    t:w(after_it, erlang:trace_info({Me, g, 1}, traced)),
    t:e(dead, fun() -> trace:function(S1, {Me, g, 1}, true, []) end).

spawn_relay(To) -> spawn(fun() -> relay(To) end).
relay(To) -> receive M -> To ! {relayed, M}, relay(To) end.
relayed(0) -> [];
relayed(N) ->
    receive
        {relayed, {trace_ts, _, Tag, What, _}} -> [{Tag, What} | relayed(N - 1)];
        {relayed, {trace_ts, _, Tag, What, Value, _}} -> [{Tag, What, Value} | relayed(N - 1)];
        {relayed, {trace, _, Tag, What}} -> [{Tag, What} | relayed(N - 1)]
    after 2000 -> [timeout]
    end.

f(0) -> done;
f(N) -> g(N), f(N - 1).
g(X) -> X.
h(X) -> f(X), error(x).
