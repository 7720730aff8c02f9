%% erts_debug:breakpoint/2: calls of functions go to the process' error handler, as the debugger needs it; and what other natives
%% of erts_debug answer.
-module(debug_breakpoint).
-export([main/1, f/2, tail/1, bits/1, none/0, breakpoint/3, undefined_function/3]).

main(_) ->
    p(erts_debug:breakpoint({?MODULE, f, 2}, true)),
    p(erts_debug:breakpoint({?MODULE, nosuch, '_'}, true)),
    [p(catch erts_debug:breakpoint(A, B)) || {A, B} <- [{foo, true}, {{?MODULE, '_', 2}, true}, {{?MODULE, f, 2}, yes}, {{'_', f, 2}, true}]],
    process_flag(error_handler, ?MODULE),
    p(f(1, 2)), p(?MODULE:f(3, 4)), p(apply(?MODULE, f, [5, 6])), p((fun f/2)(7, 8)),
    p(erts_debug:breakpoint({?MODULE, f, 2}, false)),
    p(f(1, 2)),
    3 = erts_debug:breakpoint({?MODULE, tail, '_'}, true) + erts_debug:breakpoint({?MODULE, bits, '_'}, true)
        + erts_debug:breakpoint({?MODULE, none, '_'}, true),
    p(tail([a, {b}])), p(bits(<<1, 2, 3:4>>)), p(none()),
    [erts_debug:breakpoint({?MODULE, F, '_'}, false) || F <- [tail, bits, none]],
    p(tail([a, {b}])), p(bits(<<1, 2, 3:4>>)), p(none()),
    %% Tracing and the debugger do not hide each other.
    erlang:trace_pattern({?MODULE, f, 2}, true, [local]),
    erts_debug:breakpoint({?MODULE, f, 2}, true),
    Me = self(),
    {P, M} = spawn_monitor(fun() -> process_flag(error_handler, ?MODULE), receive go -> Me ! {result, f(x, y)} end end),
    erlang:trace(P, true, [call]),
    P ! go,
    receive {result, R} -> p(R) end,
    receive {trace, P, call, Call} -> p(Call) end,
    erlang:trace_pattern({?MODULE, f, 2}, false, [local]),
    receive {'DOWN', M, _, _, _} -> ok end,
    p(f(1, 2)),
    erts_debug:breakpoint({?MODULE, f, 2}, false),
    p(f(1, 2)),
    [p({F, A, catch apply(erts_debug, F, A)}) || {F, A} <-
        [{disassemble, [{lists, map, 2}]},
         {interpreter_size, []}, {dist_ext_to_term, [{a, b, c}, <<131, 104, 2, 82, 0, 82, 2>>]},
         {dist_ext_to_term, [{a, b, c}, <<131, 82, 3>>]}, {dist_ext_to_term, [{a, 1}, <<131, 82, 0>>]},
         {dist_ext_to_term, [{}, term_to_binary([x])]}, {dist_ext_to_term, [[], <<131, 106>>]}]],
    [p(catch erts_internal:G(A)) || G <- [gather_alloc_histograms, gather_carrier_info],
                                    A <- [foo, {ll_alloc, 0}, {nosuch, 0, 18, 128, 0, make_ref()}, {ll_alloc, -1, 18, 128, 0, make_ref()}]].

p(X) -> io:format("~0p~n", [case X of {'EXIT', {R, _}} -> {exit, R}; {F, A, {'EXIT', {R, _}}} -> {F, A, exit, R}; _ -> X end]).

f(A, B) -> {f, A, B}.

tail([]) -> [];
tail([H | T]) -> [H | tail(T)].

bits(<<B, R/bits>>) -> [B | bits(R)];
bits(R) -> R.

none() -> nothing.

breakpoint(M, F, As) ->
    %% The function as it is, for this once.
    case F of
        tail -> {broken, M, F, As};
        bits -> {broken, M, F, As};
        _ -> garbage_collect(), {broken, M, F, As}
    end.

undefined_function(M, F, As) -> error_handler:undefined_function(M, F, As).
