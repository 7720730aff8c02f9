%% A token around a ring of 100 processes; it counts its steps. There is no parallelism in it.
-module(ring).
-export([prepare/2, run/1, check/2]).

-define(MEMBERS, 100).

prepare(_, Scale) -> ?MEMBERS * scaling:times(120000, Scale).

run(Steps) ->
    Main = self(),
    First = spawn_link(fun() -> receive {next, Next} -> member(Next, Main, Steps) end end),
    Last = lists:foldl(fun(_, Next) -> spawn_link(fun() -> member(Next, Main, Steps) end) end, First, lists:seq(2, ?MEMBERS)),
    First ! {next, Last},
    First ! 0,
    receive {steps, N} -> N end.

check(Steps, Result) -> Result =:= Steps.

%% The process that sees the last step says so; then a message goes around that ends all.
member(Next, Main, Steps) ->
    receive
        Steps -> Main ! {steps, Steps}, Next ! stop;
        N when is_integer(N) -> Next ! N + 1, member(Next, Main, Steps);
        stop -> Next ! stop
    end.
