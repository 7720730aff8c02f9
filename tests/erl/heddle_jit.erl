%% Machine code: functions that are called often have some, and breakpoints that come later are seen in loops and in calls that were inlined.
-module(heddle_jit).
-export([main/1, down/1, tree/1, twice/1, large/2]).

main(_) ->
    Figures = heddle_stats:jit(),
    t:w(figures, lists:sort(maps:keys(Figures))),
    t:w(loop, traced(fun() -> down(1 bsl 50) end, {?MODULE, down, 1})),
    t:w(inlined, traced(fun() -> trees(1 bsl 50) end, {?MODULE, tree, 1})),
    t:w(small, traced(fun() -> twices(1 bsl 50) end, {?MODULE, twice, 1})),
    t:w(untraced, erlang:trace_info({?MODULE, down, 1}, call_count)),
    t:w(down, down(100_000)),
    t:w(tree, tree(15)),
    %% From small integers to large ones, and back.
    t:w(large, large(100, 1)),
    [t:e({tree, X}, fun() -> tree(X) end) || X <- [a, <<>>]].

%% True if the calls of the function are counted that a process makes which runs already.
traced(Fun, Mfa) ->
    Pid = spawn(Fun),
    timer:sleep(200),
    erlang:trace_pattern(Mfa, true, [call_count]),
    Counts = t:wait_until(fun() -> {call_count, N} = erlang:trace_info(Mfa, call_count), N > 10 end),
    erlang:trace_pattern(Mfa, false, [call_count]),
    exit(Pid, kill),
    Counts.

down(0) -> done;
down(N) -> down(N - 1).

trees(0) -> ok;
trees(N) -> tree(4), trees(N - 1).

tree(N) when N < 2, is_integer(N) -> 1;
tree(N) -> tree(N - 1) + tree(N - 2).

twices(0) -> ok;
twices(N) -> _ = [twice(N)], twices(N - 1).

twice(N) -> N * 2.

large(0, X) -> X;
large(N, X) -> large(N - 1, (X * 1_000_003) rem (1 bsl 70)).
