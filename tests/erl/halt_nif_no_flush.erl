%% A halt without flush does not tell NIF libraries of it, and waits for none of their functions.
-module(halt_nif_no_flush).
-export([main/1]).

main(_) ->
    halt_nif:start([fun halt_nif:on_dirty_cpu/1, fun halt_nif:on_dirty_io/1]),
    halt(4, [{flush, false}]).
