%% The order of terms, equality, and hashes.
-module(seq_order).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() ->
    case seq_value:below(6) of
        0 -> {compare, [seq_value:arg(any), seq_value:arg(any)], bool};
        1 -> {compare, [seq_value:arg(num), seq_value:arg(num)], bool};
        2 -> {hash, [seq_value:arg(seq_value:one(seq_value:types()))], int};
        3 -> {sort, [[seq_value:arg(seq_value:one(seq_value:types())) || _ <- lists:seq(1, seq_value:below(20))]], list};
        4 -> {near, [seq_value:arg(any), seq_value:one({int_as_float, plus_one, longer, rest, negated})], bool};
        5 -> {range, [seq_value:arg(any), seq_value:make(range)], int}
    end.

run(compare, [A, B], S) -> {{A == B, A =:= B, A < B, A =< B, A > B, A >= B, A /= B, A =/= B}, S};
run(hash, [A], S) -> {{erlang:phash2(A), erlang:phash2(A, 1 bsl 32), erlang:phash(A, 1 bsl 32), erlang:phash2({A, [A]})}, S};
run(range, [A, N], S) -> {{erlang:phash2(A, N), erlang:phash(A, N)}, S};
run(sort, [L], S) -> {{lists:sort(L), lists:usort(L), lists:sort(fun(A, B) -> A >= B end, L), lists:keysort(1, [{E} || E <- L])}, S};
run(near, [A, How], S) -> B = near(How, A), {{A == B, A =:= B, A < B, erlang:phash2(A) =:= erlang:phash2(B), #{A => 1} =:= #{B => 1}, {A} < {B}, #{k => A} < #{k => B}}, S}.

near(int_as_float, A) when is_integer(A) -> try float(A) catch error:badarg -> A end;
near(int_as_float, A) when is_float(A) -> trunc(A);
near(plus_one, A) when is_number(A) -> A + 1;
near(negated, A) when is_number(A) -> -A;
near(longer, A) when is_list(A) -> [0 | A];
near(longer, A) when is_tuple(A) -> erlang:append_element(A, a);
near(longer, A) when is_bitstring(A) -> <<A/bitstring, 0:3>>;
near(longer, A) when is_map(A) -> A#{b => c};
near(rest, [_ | T]) -> T;
near(rest, A) when is_map(A), map_size(A) > 0 -> maps:remove(lists:last(seq_value:sorted(maps:keys(A))), A);
near(_, A) -> A.

