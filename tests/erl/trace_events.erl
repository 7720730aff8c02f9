%% What tracers hear of returns, exceptions, callers, spawns, links and names.
-module(trace_events).
-export([main/1]).
-export([f/1, g/1, h/1, tail/1]).
main(_) ->
    Me = ?MODULE,
    run(returns, [call, return_to], [{'_', [], [{return_trace}]}], fun() -> f(2) end),
    run(exceptions, [call, return_to], [{'_', [], [{exception_trace}]}], fun() -> catch h(1) end),
    run(callers, [call], [{['$1'], [{is_integer, '$1'}], [{message, {{{caller}, '$1', {self}}}}]}], fun() -> h2(1) end),
    run(arity, [call, arity], true, fun() -> f(1) end),
    run(silent, [call], [{[1], [], [{silent, true}]}, {'_', [], []}], fun() -> f(3) end),
    run(no_message, [call], [{[2], [], [{message, false}]}, {'_', [], []}], fun() -> f(3) end),
    run(flags, [call], [{[1], [], [{disable_trace, call}]}, {'_', [], []}], fun() -> f(3) end),
    run(tail, [call, return_to], true, fun() -> tail(3), ok end),
    run(procs, [procs, set_on_spawn], false,
        fun() ->
                Q = spawn_link(fun() -> receive go -> ok end end),
                register(trace_events_name, self()),
                unregister(trace_events_name),
                unlink(Q),
                monitor(process, Q),
                Q ! go,
                receive {'DOWN', _, _, _, _} -> ok end
        end),
    run(messages, [send, 'receive'], false, fun() -> self() ! one, receive one -> ok end, receive two -> ok after 0 -> ok end end),
    t:w(global, begin
        T = self(),
        P = spawn(fun() -> receive go -> ?MODULE:f(1), f(1), T ! done end end),
        erlang:trace(P, true, [call]),
        erlang:trace_pattern({Me, f, 1}, true, [global]),
        erlang:trace_pattern({erlang, atom_to_list, 1}, true, [local]),
        P ! go,
        receive done -> ok end,
        erlang:trace_pattern({Me, f, 1}, false, [global]),
        erlang:trace_pattern({erlang, atom_to_list, 1}, false, [local]),
        events()
    end),
    t:w(natives, begin
        T2 = self(),
        P2 = spawn(fun() -> receive go -> atom_to_list(t:id(abc)), catch atom_to_list(t:id(1)), T2 ! done end end),
        erlang:trace(P2, true, [call]),
        erlang:trace_pattern({erlang, atom_to_list, 1}, [{'_', [], [{exception_trace}]}], [local]),
        P2 ! go,
        receive done -> ok end,
        erlang:trace_pattern({erlang, atom_to_list, 1}, false, [local]),
        events()
    end).

run(Name, Flags, Spec, Fun) ->
    Self = self(),
    P = spawn(fun() -> receive go -> Fun(), Self ! done end end),
    M = monitor(process, P),
    erlang:trace(P, true, Flags),
    Spec =/= false andalso [erlang:trace_pattern({?MODULE, F, 1}, Spec, [local]) || F <- [f, g, h, tail]],
    P ! go,
    receive done -> ok end,
    receive {'DOWN', M, _, _, _} -> ok end,
    erlang:trace_pattern({?MODULE, '_', '_'}, false, [local]),
    t:w(Name, events()).

events() ->
    receive
        E when element(1, E) =:= trace -> [named(tuple_to_list(E)) | events()]
    after 30 -> []
    end.
named([trace, _ | Rest]) -> [plain(X) || X <- Rest].
plain(P) when is_pid(P) -> pid;
plain(F) when is_function(F) -> a_fun;
plain(T) when is_tuple(T) -> list_to_tuple([plain(X) || X <- tuple_to_list(T)]);
plain([H | T]) -> [plain(H) | plain(T)];
plain(X) -> X.

f(0) -> done;
f(N) -> g(N), f(N - 1).
g(X) -> X.
h(X) -> f(X), error(x).
h2(X) -> Y = g(X), [Y].
tail(0) -> ok;
tail(N) -> tail(N - 1).
