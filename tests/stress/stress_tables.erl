%% Rounds of tables that many processes use at a time: counters sum up, objects go in and out once, tables change hands once.
-module(stress_tables).
-export([rounds/0]).
-import(stress_round, [some/1, chance/1, pick/1, usual/1, name/1, child/1, child/2, children/2]).

rounds() ->
    [{counters, fun counters/0}, {bags, fun bags/0}, {taken_once, fun taken_once/0}, {traversed, fun traversed/0}, {given_away, fun given_away/0},
     {owners_end, fun owners_end/0}, {shared_words, fun shared_words/0}].

options() -> [O || O <- [{read_concurrency, chance(2)}, {write_concurrency, pick([true, false, auto])}, {decentralized_counters, chance(2)}], chance(2)].

new(Type) ->
    case chance(3) of
        true -> ets:new(name(60), [Type, public, named_table | options()]);
        false -> ets:new(stress, [Type, public | options()])
    end.

together(N, Fun) ->
    Ps = children(N, fun() -> receive go -> Fun() end end),
    Ms = [monitor(process, P) || P <- Ps],
    [P ! go || P <- Ps],
    [stress_round:down(M, normal) || M <- Ms].

counters() ->
    T = new(pick([set, ordered_set])),
    {Writers, Count, Keys} = {some(8), usual(1000), some(200)},
    together(Writers, fun() ->
        [case X rem 4 of
             0 -> ets:update_counter(T, some(Keys), 1, {key, 0});
             1 -> ets:update_counter(T, some(Keys), {2, 1}, {key, 0});
             2 -> ets:update_counter(T, some(Keys), [{2, 3}, {2, -2}], {key, 0});
             3 -> K = some(Keys), ets:insert_new(T, {K, 0}), [_] = ets:lookup(T, K), ets:update_counter(T, K, 1)
         end || X <- lists:seq(1, Count)]
    end),
    Sum = ets:foldl(fun({_, N}, A) -> N + A end, 0, T),
    Sum = Writers * Count,
    Sum = lists:sum(ets:select(T, [{{'_', '$1'}, [], ['$1']}])),
    true = ets:info(T, size) =< Keys,
    true = ets:delete(T),
    stress:count(table_operations, Sum).

%% Each process puts in and takes out its own; what stays is known.
bags() ->
    Type = pick([bag, duplicate_bag]),
    T = new(Type),
    {Writers, Count} = {some(6), usual(200)},
    together(Writers, fun() ->
        Me = self(),
        [ets:insert(T, {X rem 20, Me, X, stress_round:payload(X)}) || X <- lists:seq(1, Count)],
        [begin
             [{_, Me, X, C}] = ets:match_object(T, {X rem 20, Me, X, '_'}),
             stress_round:check(X, C),
             ets:delete_object(T, {X rem 20, Me, X, C})
         end || X <- lists:seq(1, Count), X rem 20 > 2],
        ets:insert(T, [{done, Me, 0, 0}, {done, Me, 0, 0}])
    end),
    Copies = case Type of bag -> 1; duplicate_bag -> 2 end,
    Stay = Writers * (length([X || X <- lists:seq(1, Count), X rem 20 =< 2]) + Copies),
    Stay = ets:info(T, size),
    Stay = ets:select_count(T, [{'_', [], [true]}]),
    Stay = ets:select_delete(T, [{'_', [], [true]}]),
    0 = ets:info(T, size),
    true = ets:delete(T),
    stress:count(table_operations, Writers * Count * 2).

%% Each object is taken, and each key inserted as new, by one.
taken_once() ->
    T = new(pick([set, ordered_set, bag, duplicate_bag])),
    {Takers, Count} = {some(6) + 1, usual(400)},
    ets:insert(T, [{{here, X}, X} || X <- lists:seq(1, Count)]),
    together(Takers, fun() ->
        Mine = lists:sum([case ets:take(T, {here, X}) of [{_, X}] -> X; [] -> 0 end || X <- stress_round:shuffle(lists:seq(1, Count))]),
        First = length([X || X <- lists:seq(1, Count), ets:insert_new(T, {{new, X}, self()})]),
        true = ets:insert(T, {{sum, self()}, Mine, First})
    end),
    {Taken, New} = lists:foldl(fun([A, B], {C, D}) -> {A + C, B + D} end, {0, 0}, ets:match(T, {{sum, '_'}, '$1', '$2'})),
    {Taken, New} = {Count * (Count + 1) div 2, Count},
    true = ets:delete(T),
    stress:count(table_operations, 2 * Takers * Count).

%% A process that walks sees each object that stays exactly once, whatever others put in and take out.
traversed() ->
    Type = pick([set, ordered_set, bag]),
    T = new(Type),
    Count = usual(300),
    ets:insert(T, [{{stays, X}, X} || X <- lists:seq(1, Count)]),
    %% (Of usual priority: those that never wait would keep all others from running where only one scheduler is online.)
    Others = [child(fun() -> toggle(T, Count) end, [link]) || _ <- [1, 2]],
    together(some(4), fun() ->
        Seen = case some(3) of
                   1 -> true = ets:safe_fixtable(T, true), L = walk(T, ets:first(T), []), ets:safe_fixtable(T, false), L;
                   2 -> true = ets:safe_fixtable(T, true), L = chunks(ets:select(T, [{{{stays, '$1'}, '_'}, [], ['$1']}], some(40)), []), ets:safe_fixtable(T, false), L;
                   3 -> [X || [X] <- ets:match(T, {{stays, '$1'}, '_'})]
               end,
        Wanted = lists:seq(1, Count),
        case lists:sort(Seen) of Wanted -> ok; Wrong -> exit({walked, Type, {missing, Wanted -- Wrong}, {twice, Wrong -- Wanted}}) end
    end),
    Ms = [monitor(process, P) || P <- Others],
    [P ! stop || P <- Others],
    [stress_round:down(M, normal) || M <- Ms],
    Count = ets:info(T, size),
    false = ets:info(T, fixed),
    true = ets:delete(T),
    stress:count(table_operations, Count * 4).

toggle(T, Count) ->
    K = {some(5), some(Count)},
    ets:insert(T, {K, x}),
    ets:delete(T, K),
    receive stop -> ok after 0 -> toggle(T, Count) end.

walk(_, '$end_of_table', Seen) -> Seen;
walk(T, {stays, X} = K, Seen) -> walk(T, ets:next(T, K), [X | Seen]);
walk(T, K, Seen) -> walk(T, ets:next(T, K), Seen).

chunks('$end_of_table', Seen) -> lists:append(Seen);
chunks({L, Continuation}, Seen) -> chunks(ets:select(Continuation), [L | Seen]).

%% A table goes from hand to hand, each adds to it.
given_away() ->
    Round = self(),
    N = some(usual(20)) + 1,
    Ps = [child(fun() ->
                    receive {next, Next} -> ok end,
                    receive {'ETS-TRANSFER', T, _, Data} ->
                        Data = X,
                        ets:insert(T, {X, stress_round:payload(X)}),
                        true = ets:give_away(T, Next, X + 1),
                        {'EXIT', {badarg, _}} = (catch ets:give_away(T, Next, X + 1))
                    end,
                    receive finish -> {messages, []} = process_info(self(), messages) end
                end) || X <- lists:seq(1, N)],
    [P ! {next, Next} || {P, Next} <- lists:zip(Ps, tl(Ps) ++ [Round])],
    T = ets:new(stress, [pick([set, ordered_set, bag, duplicate_bag]), pick([private, protected, public])]),
    true = ets:give_away(T, hd(Ps), 1),
    receive {'ETS-TRANSFER', T, Last, Data} -> Data = N + 1, Last = lists:last(Ps) end,
    [stress_round:check(X, C) || X <- lists:seq(1, N), {_, C} <- ets:lookup(T, X)],
    N = ets:info(T, size),
    Ms = [monitor(process, P) || P <- Ps],
    [P ! finish || P <- Ps],
    [stress_round:down(M, normal) || M <- Ms],
    ets:delete(T),
    stress:count(table_operations, N).

%% A process that ends leaves its tables to the heir, if it has one.
owners_end() ->
    Round = self(),
    Owner = child(fun() ->
                        T = ets:new(stress, [pick([set, ordered_set, bag]), {heir, Round, ours}]),
                        U = ets:new(stress, [pick([set, ordered_set])]),
                        V = ets:new(stress, [public, duplicate_bag]),
                        ets:insert(T, [{K, K} || K <- lists:seq(1, usual(200))]),
                        ets:insert(U, [{K, binary:copy(<<K>>, 100)} || K <- lists:seq(1, usual(200))]),
                        chance(2) andalso ets:delete(V),
                        Round ! {owns, self(), T, U},
                        case some(3) of 1 -> ok; 2 -> exit(self(), kill), receive never -> ok end; 3 -> exit(over) end
                    end, [monitor]),
    {P, M} = Owner,
    {T, U} = receive {owns, P, A, B} -> {A, B} end,
    receive {'ETS-TRANSFER', T, P, ours} -> ok end,
    receive {'DOWN', M, process, P, _} -> ok end,
    undefined = ets:info(U, size),
    true = ets:info(T, size) =:= usual(200),
    true = ets:info(T, owner) =:= self(),
    ets:delete(T),
    stress:count(table_operations, usual(400)).

%% Atomics and counters.
shared_words() ->
    {Writers, Count} = {some(6), usual(2000)},
    A = atomics:new(2, []),
    C = counters:new(1, [pick([atomics, write_concurrency])]),
    together(Writers, fun() ->
        [begin
             atomics:add(A, 1, X),
             counters:add(C, 1, X),
             Swap = fun Swap(Old) -> case atomics:compare_exchange(A, 2, Old, Old + X) of ok -> ok; Now -> Swap(Now) end end,
             Swap(atomics:get(A, 2))
         end || X <- lists:seq(1, Count)]
    end),
    Sum = Writers * Count * (Count + 1) div 2,
    {Sum, Sum, Sum} = {atomics:get(A, 1), atomics:get(A, 2), counters:get(C, 1)},
    stress:count(table_operations, Writers * Count * 3).
