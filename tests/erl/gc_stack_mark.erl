%% Minor collections leave out the part of a stack that did not change since the last ones: see crates/runtime/src/process/stack.rs. Here
%% they come at all depths, on the way down and back, with frames written between, exceptions past where they left off, and with
%% every process that may look at the stack doing so.
-module(gc_stack_mark).
-export([main/1, look/3, hold/2]).
main(_) ->
    t:w(down, down(3000)),
    t:w(back, [back(N, 0) || N <- [60, 100, 400, 2000]]),
    t:w(tree, [tree(Seed, 12) || Seed <- lists:seq(1, 20)]),
    t:w(thrown, thrown(60, 400, 0)),
    t:w(caught_half_way, half_way(600)),
    t:w(traces, lists:usort([trace(N) || N <- lists:seq(1, 60)])),
    t:w(backtraces, lists:usort([backtrace(N) || N <- lists:seq(20, 60)])),
    t:w(old_code, lists:usort([old_code(N) || N <- lists:seq(0, 40)])),
    t:w(returns, [returns(N) || N <- [5, 40, 150]]),
    t:w(natives, natives(300)).

minor() -> erlang:garbage_collect(self(), [{type, minor}]).

%% New terms into frames that were passed by collections, on the way back.
down(0) -> 0;
down(N) ->
    A = {N, [N]},
    N rem 7 =:= 0 andalso minor(),
    R = down(N - 1),
    B = {A, [R]},
    N rem 11 =:= 0 andalso minor(),
    {{M, [M]}, [S]} = B,
    C = [M, S, A, [S]],
    N rem 13 =:= 0 andalso minor(),
    [M, S, A, [S]] = C,
    M + S.

%% A long way back past what is clean, then new terms, then collections again.
back(0, S) -> minor(), minor(), minor(), S;
back(N, S) ->
    R = back(N - 1, S),
    if N rem 30 =:= 0 ->
           X = {N, [R]}, Y = [X | X],
           minor(), Z = [Y, X], minor(),
           [[{N, [R]} | {M, [Q]}], X] = Z,
           M + Q;
       true -> R
    end.

%% Up and down at random; every frame holds what it made before and between its calls.
tree(Seed, 0) -> Seed band 7;
tree(Seed, Depth) ->
    Calls = [next(Seed, I) || I <- lists:seq(1, 1 + Seed rem 3)],
    chain(Calls, Depth, {Seed, Depth}).
chain([Seed | Seeds], Depth, Kept) ->
    Seed rem 5 =:= 0 andalso minor(),
    X = [tree(Seed, Depth - 1), Kept],
    Seed rem 3 =:= 0 andalso minor(),
    Y = chain(Seeds, Depth, {Kept, X}),
    Seed rem 4 =:= 0 andalso minor(),
    [Z, Kept] = X,
    (Y * 31 + Z) band 16#ffffff;
chain([], Depth, Kept) -> erlang:phash2({Depth, Kept}, 1000).
next(Seed, I) -> (Seed * 1103515245 + 12345 * I) band 16#7fff.

thrown(0, _, Sum) -> Sum;
thrown(N, Depth, Sum) ->
    {V, [V]} = (catch into(Depth + N)),
    minor(),
    thrown(N - 1, Depth, Sum + V).
into(0) -> minor(), minor(), X = {7, [7]}, minor(), throw(X);
into(N) -> {A, _} = into(N - 1), {A + 1, [N]}.

%% A handler in the middle of what is clean: its frame is written, and more follows above.
half_way(N) ->
    X = {N, [a]},
    R = if N =:= 0 -> minor(), minor(), error({deep, N});
           N rem 50 =:= 0 -> try half_way(N - 1) catch error:{deep, K} -> minor(), {again, down(60), K} end;
           true -> half_way(N - 1)
        end,
    minor(),
    case {R, X} of
        {{again, S, K1}, {N, [a]}} when N rem 100 =:= 0, N < 600 -> error({deep, {K1, S}});
        {_, {N, [a]}} -> R
    end.

%% The stack as traces show it, at once and after minor collections.
trace(N) ->
    Old = erlang:system_flag(backtrace_depth, 200),
    P = spawn_link(?MODULE, look, [self(), N, trace]),
    receive {P, Traces} -> ok end,
    erlang:system_flag(backtrace_depth, Old),
    [{length(T) - N, lists:usort(T)} || T <- Traces].
look(Parent, 0, trace) ->
    Traces = [begin minor(), {_, T} = process_info(self(), current_stacktrace), [{M, F, A} || {M, F, A, _} <- T] end || _ <- [1, 2, 3]],
    Parent ! {self(), Traces};
look(Parent, 0, wait) -> minor(), minor(), Parent ! {self(), ready}, receive go -> ok end;
look(Parent, N, What) -> X = {N}, look(Parent, N - 1, What), {N} = X.

backtrace(N) ->
    P = spawn_link(?MODULE, look, [self(), N, wait]),
    receive {P, ready} -> ok end,
    {_, Text} = process_info(P, backtrace),
    Frames = length(binary:matches(Text, <<"gc_stack_mark:look/3">>)),
    P ! go,
    Frames - N.

%% One frame of old code, with N frames of other code above it.
old_code(N) ->
    load(), P = spawn_link(fun() -> stack_mark_code:call({?MODULE, hold}, self(), N) end), load(),
    monitor(process, P),
    P ! {there, self()},
    receive there -> ok end,
    Uses = erlang:check_process_code(P, stack_mark_code),
    P ! go,
    receive {'DOWN', _, _, P, normal} -> ok end,
    {Uses, code:purge(stack_mark_code)}.
load() ->
    Forms = [begin {ok, Ts, _} = erl_scan:string(S), {ok, F} = erl_parse:parse_form(Ts), F end
             || S <- ["-module(stack_mark_code).", "-export([call/3]).", "call({M, F}, P, N) -> X = M:F(P, N), {X, N}."]],
    {ok, M, Code} = compile:forms(Forms),
    {module, M} = code:load_binary(M, "none", Code).
hold(_, 0) ->
    minor(), minor(),
    receive {there, From} -> minor(), From ! there end,
    receive go -> ok end;
hold(P, N) -> X = {N, P}, hold(P, N - 1), {N, P} = X, ok.

%% Return traces put frames of their own on the stack.
returns(N) ->
    Self = self(),
    Tracer = spawn_link(fun() -> tracer(0, 0) end),
    P = spawn_link(fun() -> receive go -> ok end, Self ! {sum, down(N)} end),
    erlang:trace(P, true, [call, return_to, {tracer, Tracer}]),
    erlang:trace_pattern({?MODULE, down, 1}, [{'_', [], [{return_trace}]}], [local]),
    P ! go,
    receive {sum, S} -> ok end,
    erlang:trace_pattern({?MODULE, down, 1}, false, [local]),
    Ref = erlang:trace_delivered(P),
    receive {trace_delivered, P, Ref} -> ok end,
    Tracer ! {counts, Self},
    receive {counts, C} -> {S, C} end.
tracer(From, To) ->
    receive
        {trace, _, return_from, _, _} -> tracer(From + 1, To);
        {trace, _, return_to, _} -> tracer(From, To + 1);
        {trace, _, call, _} -> tracer(From, To);
        {counts, P} -> P ! {counts, {From, To}}
    end.

%% Natives that return through the mark, some of them after a time elsewhere.
natives(0) -> 0;
natives(N) ->
    X = [N],
    N rem 3 =:= 0 andalso minor(),
    R = natives(N - 1),
    hd(X) + R + byte_size(last(N)).
last(N) when N rem 2 =:= 0 -> minor(), term_to_binary(lists:seq(1, N));
last(N) -> minor(), erlang:garbage_collect(), minor(), list_to_binary(lists:duplicate(N, $a)).
