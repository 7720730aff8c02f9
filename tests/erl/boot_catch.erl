%% Exceptions of the three classes, caught where they are and further out.
-module(boot_catch).
-export([main/1]).

main(_) ->
    [erlang:display(run(F)) || F <- [fun() -> throw(t) end, fun() -> exit(e) end, fun() -> error(r) end,
        fun() -> hd(id([])) end, fun() -> id(1) + id(a) end, fun() -> element(4, id({1})) end,
        fun() -> (id(foo))() end, fun() -> case id(1) of 2 -> ok end end, fun() -> if1(id(1)) end, fun() -> {a} = id(b) end,
        fun() -> ok end, fun() -> nosuch:thing(1) end, fun() -> f(id(9)) end]],
    erlang:display(catch throw(x)),
    erlang:display(try id(1) of N -> {of_, N} catch _:_ -> no after erlang:display(after_) end).
run(F) -> try F() of V -> {value, V} catch C:R -> {C, R} end.
id(X) -> X.
if1(X) -> if X > 5 -> big end.
f(1) -> one.
