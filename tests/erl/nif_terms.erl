%% Functions of erl_nif.h on terms: what a library sees of terms, and what it makes of them (tests/nif/nif_terms.c).
-module(nif_terms).
-export([main/1]).
-compile([nowarn_unused_function]).
-nifs([noop/1, types/1, numbers/1, not_finite/0, get_string/3, get_atom/3, atoms/2, atom_len/1, list/1, tuple_list/1, many/1, map/3,
       new_map/0, map_from_arrays/1, pairs/1, bytes/1, iolist/1, binary/1, sub_binary/3, order/2, hashes/1, external/1, raise/1,
       pending/0, copy/1, format/1, large/2]).

noop(_) -> not_loaded.
types(_) -> not_loaded.
numbers(_) -> not_loaded.
not_finite() -> not_loaded.
get_string(_, _, _) -> not_loaded.
get_atom(_, _, _) -> not_loaded.
atoms(_, _) -> not_loaded.
atom_len(_) -> not_loaded.
list(_) -> not_loaded.
tuple_list(_) -> not_loaded.
many(_) -> not_loaded.
map(_, _, _) -> not_loaded.
new_map() -> not_loaded.
map_from_arrays(_) -> not_loaded.
pairs(_) -> not_loaded.
bytes(_) -> not_loaded.
iolist(_) -> not_loaded.
binary(_) -> not_loaded.
sub_binary(_, _, _) -> not_loaded.
order(_, _) -> not_loaded.
hashes(_) -> not_loaded.
external(_) -> not_loaded.
raise(_) -> not_loaded.
pending() -> not_loaded.
copy(_) -> not_loaded.
format(_) -> not_loaded.
large(_, _) -> not_loaded.

main(_) ->
    p("before", noop(1)),
    p("load", erlang:load_nif(filename:join(os:getenv("HEDDLE_TEST_NIFS"), "nif_terms"), 0)),
    p("again", erlang:load_nif(filename:join(os:getenv("HEDDLE_TEST_NIFS"), "nif_terms"), 0)),
    p("nifs", length(?MODULE:module_info(nifs))),
    p("noop", noop({a, [b]})),
    Big = maps:from_list([{N, N * N} || N <- lists:seq(1, 50)]),
    Terms = [a, <<>>, <<1, 2>>, <<1:3>>, 1.5, fun() -> ok end, fun lists:map/2, 17, -1, 1 bsl 70, [], [1 | 2], "abc", #{}, #{a => 1}, Big, self(),
             hd(erlang:ports()), make_ref(), {}, {1, 2}],
    [p("types", types(T)) || T <- Terms],
    [p("numbers", numbers(N))
     || N <- [0, -1, 1 bsl 31 - 1, 1 bsl 31, -(1 bsl 31), -(1 bsl 31) - 1, 1 bsl 32 - 1, 1 bsl 32, 1 bsl 59, -(1 bsl 59) - 1, 1 bsl 63 - 1,
              1 bsl 63, -(1 bsl 63), -(1 bsl 63) - 1, 1 bsl 64 - 1, 1 bsl 64, 1.5, -0.0, a]],
    p("not_finite", catched(fun not_finite/0)),
    [p({"get_string", S, Size, E}, get_string(S, Size, E))
     || S <- ["", "abc", "a\x{e5}b", "a\x{20ac}b", [a], [1 | 2], x, [256], [-1]], Size <- [0, 1, 3, 4, 5, 6, 100], E <- [1, 2]],
    [p({"get_atom", A, Size, E}, get_atom(A, Size, E))
     || A <- ['', abc, '\x{e5}b', '\x{20ac}', 1], Size <- [0, 1, 3, 4, 100], E <- [1, 2]],
    [p({"atoms", B, E}, catched(fun() -> atoms(B, E) end))
     || B <- [<<"nif_terms_new">>, <<"abc">>, <<195, 165>>, <<229>>, <<255, 254>>, binary:copy(<<"y">>, 255), binary:copy(<<"y">>, 256),
              binary:copy(<<195, 165>>, 255)], E <- [1, 2]],
    p("atom_len", [catched(fun() -> atom_len(N) end) || N <- [0, 255, 256]]),
    [p("list", list(L)) || L <- [[], [1], [1, 2, 3], [1 | 2], a]],
    [p("tuple_list", catched(fun() -> tuple_list(T) end)) || T <- [{}, {1}, {1, {2}}, a]],
    p("many", many(x)),
    [p("map", map(M, K, v)) || M <- [#{}, #{k => 1}, #{l => 1}, not_map], K <- [k, 1.0]],
    [p("map of 50", begin [A, B, C, D, E] = map(Big, K, v), {map_size(A), B =:= none orelse map_size(B), map_size(C), D, E} end) || K <- [7, k]],
    p("new_map", new_map()),
    p("map_from_arrays", [map_from_arrays(L) || L <- [[], [{a, 1}, {b, 2}], [{a, 1}, {a, 2}]]]),
    p("map_from_arrays 80", map_from_arrays([{N, N} || N <- lists:seq(1, 80)]) =:= maps:from_list([{N, N} || N <- lists:seq(1, 80)])),
    [p("pairs", pairs(M)) || M <- [#{}, #{1 => a, 2 => b}, x]],
    {List, Back, Head, Tail, Last} = pairs(Big),
    p("pairs of 50", {lists:sort(List) =:= lists:sort(maps:to_list(Big)), lists:reverse(List) =:= lists:reverse(Back) orelse
        lists:sort(Back) =:= lists:sort(List), Head, Tail, element(1, hd(List)) =:= Last}),
    <<_:3, Unaligned:20/bitstring, _/bitstring>> = <<"abcdef">>,
    <<_:3, Shifted:3/binary, _/bitstring>> = <<"abcdef">>,
    <<_, Tail1/binary>> = binary:copy(<<"abc">>, 40),
    [p("bytes", bytes(B)) || B <- [<<>>, <<"abc">>, Unaligned, Shifted, Tail1, a]],
    [p("iolist", iolist(L)) || L <- [<<"x">>, [], "abc", [1, <<2, 3>>, [[4] | <<5>>]], [256], a, [Shifted, Tail1]]],
    [p({"binary", N}, [erlang:md5(B) || B <- binary(N)]) || N <- [0, 2, 64, 100, 1000, 100000]],
    [p({"sub_binary", At, N}, catched(fun() -> sub_binary(B, At, N) end))
     || B <- [<<"abcdef">>, binary:part(binary:copy(<<"abcdef">>, 20), 1, 6)], {At, N} <- [{0, 6}, {2, 3}, {6, 0}]],
    [p("order", order(A, B)) || A <- [1, 1.0, a, "a", {1}], B <- [1, 1.0, a, {1}, "a"]],
    [p("hashes", hashes(T)) || T <- [a, 1, {1, [2, <<"3">>]}, 1 bsl 100]],
    [p("external", external(T)) || T <- [a, [1, 2 | x], <<"abc">>, {1.5, #{a => "b"}}]],
    p("raise", [catched(fun() -> raise(R) end) || R <- [badarg, {a, [b]}, 17]]),
    p("pending", catched(fun pending/0)),
    [p("copy", copy(T)) || T <- [a, {1, "abc", <<"abc">>, 1.5, 1 bsl 80, #{k => [v]}}, binary:copy(<<"z">>, 70)]],
    p("copy of all", lists:all(fun(T) -> copy(T) =:= [T, T] end, Terms)),
    p("format", format({a, "b", <<"c">>, [1, 2]})),
    Large = large(20000, {some, "thing"}),
    p("large", {length(Large), hd(Large), lists:last(Large)}),
    p("by apply", {apply(?MODULE, module_info, [module]), (fun noop/1)(x), apply(fun numbers/1, [1])}),
    p("apply load_nif", apply(erlang, binary_to_atom(iolist_to_binary(lists:reverse("fin_daol"))), ["x", 0])),
    p("trace", try raise(z) catch error:z:St -> [{F, A} || {?MODULE, F, A, _} <- St, is_list(A)] end).

catched(F) ->
    try F() catch C:R -> {C, R} end.

p(What, Value) -> io:format("~tp: ~tkp~n", [What, shown(Value)]).

shown(T) when is_pid(T) -> pid;
shown(T) -> T.
