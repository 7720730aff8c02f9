%% ETS tables of all types and options: lookups, updates, match specifications, traversal with continuations, fixation,
%% deletion while a traversal goes on. What a hash table gives in its own order is sorted, or checked against what it must hold.
-module(seq_tables).
-export([step/0, init/0, run/3, done/1]).

-record(s, {tables, fixed = 0}).

-define(TYPES, {set, ordered_set, bag, duplicate_bag}).

init() -> #s{tables = list_to_tuple([ets:new(t, [Type]) || Type <- tuple_to_list(?TYPES)])}.
done(S) -> [catch ets:delete(T) || T <- tuple_to_list(S#s.tables)].

step() ->
    {Table, Range, Grow} = case get(phase) of
                               {Left, T, R, G} when Left > 0 -> put(phase, {Left - 1, T, R, G}), {T, R, G};
                               _ -> put(phase, {20 + seq_value:below(120), 1 + seq_value:below(4), seq_value:one({4, 20, 60, 130, 300, 2000}), seq_value:one({20, 40, 60, 80})}), {1, 60, 60}
                           end,
    Key = fun() -> case seq_value:below(14) of
                       0 -> seq_value:make(key);
                       1 -> float(seq_value:below(Range));
                       2 -> {seq_value:below(Range)};
                       3 -> {'$', key, seq_value:below(3), 1};
                       _ -> seq_value:below(Range)
                   end end,
    {Op, Args, Type} =
        case seq_value:below(70) of
            0 -> {new, [seq_value:one({[], [compressed], [{write_concurrency, true}], [{read_concurrency, true}], [public, {write_concurrency, auto}], [{keypos, 1}, {decentralized_counters, true}, {write_concurrency, true}]})], none};
            1 -> {all, [], none};
            2 -> {select, [spec(Range)], none};
            3 -> {select_count, [spec(Range)], none};
            4 -> {select_limit, [spec(Range), 1 + seq_value:below(40)], none};
            5 -> {select_reverse, [spec(Range)], none};
            6 -> {match, [pattern(Range)], none};
            7 -> {match_object, [pattern(Range)], none};
            8 -> {match_limit, [pattern(Range), 1 + seq_value:below(30)], none};
            9 -> {select_delete, [seq_value:one({spec(Range), spec(Range), [{{'$1', '_', '_'}, [{'<', '$1', seq_value:below(Range)}], [true]}]})], none};
            10 -> {match_delete, [pattern(Range)], none};
            11 -> {select_replace, [[{{'$1', '$2', '$3'}, [guard(Range)], [{{'$1', '$3', '$2'}}]}]], none};
            12 -> {traverse_delete, [seq_value:below(4)], none};
            13 -> {traverse_insert, [Range + seq_value:below(1000), seq_value:below(30)], none};
            14 -> {fix, [], none};
            15 -> {unfix, [], none};
            16 -> {first_next, [], none};
            17 -> {last_prev, [], none};
            18 -> {next, [Key()], key};
            19 -> {prev, [Key()], key};
            20 -> {info, [], none};
            21 -> {foldl, [], none};
            22 -> {delete_all, [], none};
            23 -> {many, [Range, 1 + seq_value:below(200)], none};
            24 -> {delete_many, [Range, 1 + seq_value:below(200)], none};
            25 -> {delete_object, [{Key(), seq_value:arg(small), seq_value:arg(any)}], none};
            26 -> {tab2list_copy, [], none};
            27 -> {slot, [], none};
            28 -> {insert_list, [[{Key(), seq_value:arg(any), seq_value:arg(any)} || _ <- lists:seq(1, seq_value:below(8))]], none};
            29 -> {insert_new_list, [[{Key(), seq_value:arg(any), seq_value:arg(any)} || _ <- lists:seq(1, seq_value:below(5))]], none};
            30 -> {first_lookup, [], none};
            31 -> {next_lookup, [Key()], none};
            32 -> {repair, [spec(Range), 1 + seq_value:below(10)], none};
            N when N < 36 -> {update_counter, [Key(), seq_value:one({{2, seq_value:arg(int)}, seq_value:arg(small), {2, seq_value:below(5), 10, 0}, [{2, 1}, {3, -1}], {2, -3, 0, 7}, {9, 1}, []})], int};
            36 -> {update_counter, [Key(), {2, seq_value:arg(int)}, {x, seq_value:arg(int), 7}], int};
            N when N < 39 -> {update_element, [Key(), seq_value:one({{2, seq_value:arg(any)}, {3, seq_value:arg(any)}, [{2, seq_value:arg(small)}, {3, 1}], {1, x}, {5, x}})], none};
            39 -> {update_element, [Key(), {2, seq_value:arg(any)}, {x, y, z}], none};
            N when N < 43 -> {lookup, [Key()], any};
            43 -> {member, [Key()], none};
            44 -> {lookup_element, [Key(), seq_value:one({1, 2, 3, 4})], any};
            45 -> {lookup_element, [Key(), 2, default], any};
            46 -> {take, [Key()], none};
            _ -> case seq_value:chance(Grow) of
                     true -> {seq_value:one({insert, insert, insert_new}), [{Key(), case seq_value:below(3) of 0 -> seq_value:arg(any); _ -> seq_value:below(100) end, seq_value:arg(any)}], none};
                     false -> {delete, [Key()], none}
                 end
        end,
    {{Table, Op}, Args, Type}.

pattern(Range) ->
    seq_value:one({{'$1', '$2', '_'}, {'_', '$1', '$1'}, {seq_value:below(Range), '$1', '$2'}, {'$1', seq_value:below(100), '_'}, {{'$1'}, '$2', '_'}, '_', '$1', {'$1', '_'}, {{seq_value:below(Range)}, '_', '$1'},
                   {'$2', '$1', '$2'}, {'$1', [], '$2'}, {'$1', #{}, '$2'}}).

spec(Range) ->
    seq_value:one({[{{'$1', '$2', '$3'}, [guard(Range)], [body()]}], [{{'$1', '$2', '$3'}, [guard(Range)], [body()]}], [{{'$1', '$2', '$3'}, [], ['$_']}],
                   [{{seq_value:below(Range), '$2', '$3'}, [], ['$$']}],
                   [{{'$1', '$2', '_'}, [guard(Range), {is_integer, '$2'}], [{{'$1', {'+', '$2', 1}}}]}, {{'$1', '_', '$2'}, [{is_list, '$2'}], [{{'$1', {'length', '$2'}}}]}],
                   [{{'$1', '_', '_'}, [{'>=', '$1', seq_value:below(Range)}, {'<', '$1', seq_value:below(Range)}], ['$1']}],
                   [{{{'$1'}, '$2', '_'}, [], ['$1']}], [{'$1', [], ['$1']}], [{'_', [], [true]}], [{{'$1', '_', '_'}, [], [true]}]}).

guard(Range) ->
    N = seq_value:below(Range),
    seq_value:one({{'<', '$1', N}, {'>', '$1', N}, {'=:=', '$1', N}, {'==', '$1', float(N)}, {is_integer, '$1'}, {is_atom, '$3'}, {'not', {is_tuple, '$3'}},
                   {'andalso', {is_integer, '$1'}, {'=:=', {'rem', '$1', 3}, 0}}, {'orelse', {is_float, '$1'}, {'<', {element, 1, '$1'}, N}}, {'>', {'+', '$1', '$2'}, N},
                   {'=/=', '$2', '$3'}, {'and', true, {is_binary, '$3'}}, {is_map_key, 1, '$3'}, {'<', {size, '$3'}, 3}, {'xor', {is_atom, '$2'}, {is_list, '$3'}},
                   {'<', {'abs', '$2'}, 50}, {'>', {'bsl', '$1', 2}, {'band', '$2', 255}}, {'==', {const, {a}}, '$3'}, {'<', '$1', {const, [N]}}, {'=<', {max, '$1', '$2'}, N}}).

body() -> seq_value:one({'$1', '$_', '$$', {{'$2', '$1'}}, ['$3', '$1'], {'+', '$1', 1}, {element, 2, '$_'}, #{k => '$1'}, {const, x}, {{'$1', {{}}}}, {'*', '$1', '$2'}, {'div', '$1', '$2'}, true, {hd, '$3'}}).

run({At, new}, [Options], S) ->
    ets:delete(element(At, S#s.tables)),
    {ok, S#s{tables = setelement(At, S#s.tables, ets:new(t, [element(At, ?TYPES) | Options])), fixed = 0}};
run({At, Op}, Arguments0, S) ->
    T = element(At, S#s.tables),
    Arguments1 = [no_end(A) || A <- Arguments0],
    Arguments = case ets:info(T, compressed) of true -> no_fun(Arguments1); _ -> Arguments1 end,
    {result(element(At, ?TYPES), do(Op, element(At, ?TYPES), T, Arguments)), S}.

%% As a key it would end each traversal.
no_end('$end_of_table') -> 0;
no_end([H | T]) -> [no_end(H) | no_end(T)];
no_end(T) when is_tuple(T), tuple_size(T) > 0, element(1, T) =:= '$end_of_table' -> setelement(1, T, 0);
no_end(A) -> A.

%% Stock 27.3 ends with a segmentation fault when it reads `fun M:F/A` from a compressed table.
no_fun(F) when is_function(F) -> external_fun;
no_fun([H | T]) -> [no_fun(H) | no_fun(T)];
no_fun(T) when is_tuple(T) -> list_to_tuple(no_fun(tuple_to_list(T)));
no_fun(M) when is_map(M) -> maps:map(fun(_, V) -> no_fun(V) end, M);
no_fun(T) -> T.

%% The order of a hash table is the emulator's own.
result(Type, {unordered, List}) when Type =/= ordered_set, is_list(List) -> seq_value:sorted(List);
result(_, {unordered, List}) -> List;
result(_, Result) -> Result.

do(insert, _, T, [O]) -> {ets:insert(T, O), ets:info(T, size)};
do(insert_new, _, T, [O]) -> {ets:insert_new(T, O), ets:info(T, size)};
do(insert_list, _, T, [L]) -> {ets:insert(T, L), ets:info(T, size)};
do(insert_new_list, _, T, [L]) -> {ets:insert_new(T, L), ets:info(T, size)};
do(delete, _, T, [K]) -> {ets:delete(T, K), ets:info(T, size)};
%% Of a fixed table with decentralized counters, stock's select_delete then counts objects that are gone already.
do(delete_all, _, T, []) ->
    case ets:info(T, fixed) of
        true -> not_here;
        false -> {ets:delete_all_objects(T), ets:info(T, size)}
    end;
do(delete_object, _, T, [O]) -> {ets:delete_object(T, O), ets:info(T, size)};
do(lookup, _, T, [K]) -> ets:lookup(T, K);
do(member, _, T, [K]) -> ets:member(T, K);
%% Stock's take miscounts a fixed bag: it counts objects that are gone already.
do(take, Type, T, [K]) when Type =:= bag; Type =:= duplicate_bag -> case ets:info(T, fixed) of true -> not_here; false -> {unordered, ets:take(T, K)} end;
do(take, _, T, [K]) -> {unordered, ets:take(T, K)};
do(lookup_element, _, T, [K, P]) -> ets:lookup_element(T, K, P);
do(lookup_element, _, T, [K, P, D]) -> ets:lookup_element(T, K, P, D);
do(update_counter, _, T, [K, U]) -> ets:update_counter(T, K, U);
do(update_counter, _, T, [K, U, D]) -> ets:update_counter(T, K, U, D);
do(update_element, _, T, [K, U]) -> ets:update_element(T, K, U);
do(update_element, _, T, [K, U, D]) -> ets:update_element(T, K, U, D);
do(all, _, T, []) -> {unordered, ets:tab2list(T)};
do(select, _, T, [Spec]) -> {unordered, ets:select(T, Spec)};
do(select_reverse, _, T, [Spec]) -> {unordered, ets:select_reverse(T, Spec)};
do(select_count, _, T, [Spec]) -> ets:select_count(T, Spec);
do(select_delete, Type, T, [[{_, [], [true]}] = Spec]) ->
    %% As stock takes it: all go.
    case Spec of [{'_', _, _}] -> do(delete_all, Type, T, []); _ -> {ets:select_delete(T, Spec), ets:info(T, size)} end;
do(select_delete, _, T, [Spec]) -> {ets:select_delete(T, Spec), ets:info(T, size)};
do(select_replace, _, T, [Spec]) -> {ets:select_replace(T, Spec), ets:info(T, size)};
do(select_limit, _, T, [Spec, N]) -> {unordered, chunks(ets:select(T, Spec, N), N)};
do(match, _, T, [P]) -> {unordered, ets:match(T, P)};
do(match_object, _, T, [P]) -> {unordered, ets:match_object(T, P)};
do(match_delete, Type, T, ['_']) -> do(delete_all, Type, T, []);
do(match_delete, _, T, [P]) -> {ets:match_delete(T, P), ets:info(T, size)};
do(match_limit, _, T, [P, N]) -> {unordered, chunks(ets:match(T, P, N), N)};

do(fix, _, T, []) -> ets:safe_fixtable(T, true);
do(unfix, _, T, []) -> ets:safe_fixtable(T, false);
do(first_next, _, T, []) -> {unordered, steps(ets:first(T), T, next)};
do(last_prev, ordered_set, T, []) -> steps(ets:last(T), T, prev);
do(last_prev, _, T, []) -> length(steps(ets:last(T), T, prev));
do(next, ordered_set, T, [K]) -> ets:next(T, K);
do(prev, ordered_set, T, [K]) -> ets:prev(T, K);
do(Op, _, T, [K]) when Op =:= next; Op =:= prev ->
    Member = ets:member(T, K),
    %% Which keys that are gone a fixed table still knows is the emulator's own.
    case Member orelse ets:info(T, fixed) =:= false of
        true -> try ets:Op(T, K) of Next -> Next =:= '$end_of_table' orelse ets:member(T, Next) catch error:badarg -> {badarg, Member} end;
        false -> none
    end;
do(first_lookup, ordered_set, T, []) -> {ets:first_lookup(T), ets:last_lookup(T)};
do(first_lookup, _, T, []) -> ets:first_lookup(T) =:= '$end_of_table';
do(next_lookup, ordered_set, T, [K]) -> {ets:next_lookup(T, K), ets:prev_lookup(T, K)};
do(next_lookup, _, T, [K]) -> case ets:member(T, K) of true -> case ets:next_lookup(T, K) of {N, Os} -> Os =:= ets:lookup(T, N); _ -> true end; false -> none end;
do(info, _, T, []) -> [ets:info(T, I) || I <- [size, type, keypos, protection, compressed, read_concurrency, name, named_table, fixed]];
do(foldl, _, T, []) -> ets:foldl(fun(O, N) -> N + erlang:phash2(O, 1000) end, 0, T);
do(many, _, T, [Range, N]) -> {ets:insert(T, [{K * 7 rem Range, K, many} || K <- lists:seq(1, N)]), ets:info(T, size)};
do(delete_many, _, T, [Range, N]) -> [ets:delete(T, K * 7 rem Range) || K <- lists:seq(1, N)], ets:info(T, size);
do(tab2list_copy, Type, T, []) ->
    T2 = ets:new(copy, [Type]),
    ets:insert(T2, ets:tab2list(T)),
    Same = seq_value:sorted(ets:tab2list(T2)) =:= seq_value:sorted(ets:tab2list(T)),
    ets:delete(T2),
    Same;
do(slot, ordered_set, T, []) -> {ets:first(T), ets:last(T)};  % stock refuses slot 0 of an empty table with write_concurrency
do(slot, _, T, []) -> {unordered, slots(T, 0, ets:slot(T, 0))};
do(repair, _, T, [Spec, N]) ->
    case ets:select(T, Spec, N) of
        {Some, C} -> {unordered, Some2} = {unordered, chunks(ets:select(ets:repair_continuation(C, Spec)), N)}, length(Some ++ Some2);
        End -> End
    end;
%% Every object that stays is met once, whatever is deleted meanwhile.

do(traverse_delete, _, T, [N]) ->
    ets:safe_fixtable(T, true),
    Before = seq_value:sorted(lists:usort(fun(A, B) -> A =< B end, [element(1, O) || O <- ets:tab2list(T)])),
    Met = traverse(ets:first(T), T, fun(K) -> erlang:phash2(K, 5) =< N andalso ets:delete(T, K) end),
    ets:safe_fixtable(T, false),
    {seq_value:sorted(lists:usort(fun(A, B) -> A =< B end, Met)) =:= Before, ets:info(T, size)};
%% Objects that were there all the time are met once, whatever is inserted meanwhile.
do(traverse_insert, _, T, [From, N]) ->
    ets:safe_fixtable(T, true),
    Before = lists:usort([element(1, O) || O <- ets:tab2list(T)]),
    put(more, N),
    Met = traverse(ets:first(T), T, fun(_) -> [ets:insert(T, {From + I, new, new}) || I <- lists:seq(1, put(more, 0))] end),
    ets:safe_fixtable(T, false),
    {Before -- Met, length(Met) - length(lists:usort(Met)), ets:info(T, size)}.

chunks('$end_of_table', _) -> [];
chunks({Some, Continuation}, N) -> Some ++ chunks(ets:select(Continuation), N).

steps('$end_of_table', _, _) -> [];
steps(K, T, Op) -> [K | steps(ets:Op(T, K), T, Op)].

traverse('$end_of_table', _, _) -> [];
traverse(K, T, F) -> F(K), [K | traverse(ets:next(T, K), T, F)].

slots(_, _, '$end_of_table') -> [];
slots(T, N, Objects) -> Objects ++ slots(T, N + 1, ets:slot(T, N + 1)).
