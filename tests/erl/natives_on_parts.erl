%% Natives that look at a part of their arguments: where the part ends makes no difference.
-module(natives_on_parts).
-export([main/1]).

main(_) ->
    searches(),
    expressions(),
    prefixes(),
    subtraction(),
    bits(),
    terms(),
    texts(),
    tables().

%% Places around 16 KB, 64 KB and 512 KB, where searches go on otherwise.
searches() ->
    Places = [N + D || N <- [16384, 65536, 524288, 1048576], D <- [-5, -2, -1, 0, 1]],
    Fill = binary:copy(<<"a">>, 1100000),
    At = fun(Place, Needle) -> <<Head:Place/binary, _:(byte_size(Needle))/binary, Tail/binary>> = Fill, <<Head/binary, Needle/binary, Tail/binary>> end,
    t:w(one, [binary:match(At(P, <<"x">>), <<"x">>) =:= {P, 1} || P <- Places]),
    t:w(word, [binary:match(At(P, <<"xyz">>), <<"xyz">>) =:= {P, 3} || P <- Places]),
    %% The longest of those that begin first, wherever the part ends.
    t:w(longest, [binary:match(At(P, <<"xyzq">>), [<<"zq">>, <<"xyzq">>, <<"xy">>, <<"q">>]) =:= {P, 4} || P <- Places]),
    t:w(earlier, [binary:match(At(P, <<"xyz1">>), [<<"z">>, <<"xyzq">>, <<"yz">>]) =:= {P + 1, 2} || P <- Places]),
    Long = binary:copy(<<"xy">>, 20000),
    t:w(long, [binary:match(At(P, Long), [Long, <<"xyxyz">>]) =:= {P, 40000} || P <- Places]),
    t:w(split, [[byte_size(B) || B <- binary:split(At(P, <<"xyz">>), [<<"xyz">>, <<"q">>])] || P <- Places]),
    t:w(scope, [binary:match(At(P, <<"xyz">>), <<"xyz">>, [{scope, {P - 10, 12}}]) || P <- Places]),
    t:w(scope_back, [binary:match(At(P, <<"xyz">>), <<"xyz">>, [{scope, {P + 5, -12}}]) =:= {P, 3} || P <- Places]),
    <<_:1, Odd/bitstring>> = <<0:1, (At(65536, <<"xyz">>))/binary>>,
    t:w(odd, {binary:match(Odd, <<"xyz">>), [byte_size(B) || B <- binary:split(Odd, <<"xyz">>)], binary:matches(Odd, [<<"yz">>])}),
    t:w(none, {binary:match(Fill, <<"x">>), binary:match(Fill, [<<"x">>, <<"ab">>]), binary:matches(<<>>, <<"x">>), binary:match(<<>>, [<<"x">>, <<"y">>])}),
    [t:e({split, N}, fun() -> apply(binary, split, A) end)
     || {N, A} <- lists:enumerate([[<<1:7>>, <<"a">>], [Fill, <<>>], [Fill, []], [Fill, [<<>>]], [Fill, <<"a">>, [x]], [Fill, <<"a">>, [{scope, {0, 2000000}}]], [Fill, x]])].

expressions() ->
    Places = [N + D || N <- [65536, 131072], D <- [-5, -3, -2, -1, 0, 1]],
    Fill = binary:copy(<<"a">>, 200000),
    At = fun(Place, Needle) -> <<Head:Place/binary, _:(byte_size(Needle))/binary, Tail/binary>> = Fill, <<Head/binary, Needle/binary, Tail/binary>> end,
    Runs = [{"x+", <<"xxxx">>}, {"x+?", <<"xxxx">>}, {"x$", <<"xxx\n">>}, {"(?m)x$", <<"xxx\n">>}, {"(?=xx)x", <<"xxxx">>}, {"x(?!y)", <<"xyxy">>}, {"(?<=aa)x", <<"xx">>},
            {"(?<!a)x", <<"xx">>}, {"x\\b", <<"xx y">>}, {"\\bx", <<" xx">>}, {"x*y", <<"xxxy">>}, {"[xy]+z?", <<"xyxz">>}, {"(x)(y)?", <<"xyx">>}, {"x\\R", <<"x\r\n">>},
            {"x.{3}", <<"xyz">>}, {"(?>x+)a", <<"xxx">>}, {"xx|x", <<"xxx">>}, {"x(*COMMIT)z|y", <<"xy">>}, {"x(*SKIP)z|y", <<"xy">>}, {"a\\z", <<"x">>}, {"b*\\z", <<"x">>},
            {"\\Gx", <<"x">>}, {"x\\K.", <<"xyz">>}, {"(?s)x.*", <<"x">>}, {"\\X{2}x", <<"x">>}, {"(x+)\\1", <<"xxxx">>}, {"^x", <<"x">>}, {"(?m)^x", <<"\nx">>}, {"", <<"x">>}],
    [t:w({run, Re}, [case re:run(At(P, N), Re) of {match, [{F, L} | G]} -> {F - P, L, [{F1 - P, L1} || {F1, L1} <- G]}; nomatch -> nomatch end || P <- Places])
     || {Re, N} <- Runs],
    U = unicode:characters_to_binary(lists:duplicate(40000, 16#e4) ++ [16#20ac, $x] ++ lists:duplicate(40000, 16#1f600)),
    t:w(unicode, [re:run(U, Re, [unicode]) || Re <- ["x", "\x{20ac}", "\x{1f600}x", "x\x{1f600}", "[^\x{e4}]", "(?i)\x{c4}x"]]),
    t:e(bad_behind, fun() -> re:run(<<"x", U/binary, 255>>, "x", [unicode]) end),
    t:e(bad_offset, fun() -> re:run(U, "x", [unicode, {offset, 1}]) end),
    t:w(all, [length(element(2, re:run(At(65534, <<"xyxyxy">>), Re, [global]))) || Re <- ["x", "xy", "a{1000}", "[xy]"]]),
    t:w(empty, re:run(<<>>, "x*")).

prefixes() ->
    A = binary:copy(<<"abcdefgh">>, 2000),
    Cut = fun(N) -> binary:part(A, 0, N) end,
    t:w(prefix, [binary:longest_common_prefix(L) || N <- [4095, 4096, 4097], L <- [[A], [A, A], [A, <<(Cut(N))/binary, "?">>], [<<"?">>, A], [A, <<>>], [<<>>], [A, Cut(5000), Cut(4000)]]]),
    t:w(suffix, [binary:longest_common_suffix(L) || N <- [4095, 4096, 4097], L <- [[A], [A, A], [<<"?", (binary:part(A, byte_size(A), -N))/binary>>, A], [A, <<>>], [A, binary:part(A, 16000, -N)]]]),
    <<_:5, Odd/bitstring>> = <<0:5, A/binary>>,
    t:w(odd, {binary:longest_common_prefix([Odd, A]), binary:longest_common_suffix([A, Odd, <<"x", A/binary>>])}),
    [t:e({prefix, L}, fun() -> binary:longest_common_prefix(L) end) || L <- [[], x, [<<1:7>>], [<<"a">>, x], [<<"a">> | x]]].

subtraction() ->
    Lists = [[], [1], [1, 2, 3], [3, 2, 1, 2, 3], [1.0, 1], lists:seq(1, 12), lists:seq(1, 13), lists:seq(12, 1, -1) ++ lists:seq(1, 30), lists:duplicate(20, a) ++ [b]],
    t:w(subtract, erlang:phash2([{A, B, A -- B} || A <- Lists, B <- Lists])),
    t:w(few, [A -- B || A <- [[1, 2, 3], [3, 2, 1, 2, 3], lists:seq(12, 1, -1)], B <- Lists]),
    Long = lists:seq(1, 40000),
    t:w(long, {[40000, x] -- Long, length(Long -- [40000, x]), length(Long -- [1, 2, x]), [x] -- Long}),
    [t:e(L, fun() -> apply(erlang, '--', L) end) || L <- [[[1 | 2], [1]], [[1], [1 | 2]], [[], x], [x, []], [[1 | x], []], [[], [1 | x]]]].

bits() ->
    Numbers = [S * ((1 bsl B) + D) || B <- [1, 59, 60, 63, 64, 65, 127, 128, 200, 700], D <- [-1, 0, 1], S <- [1, -1]] ++ [0, -1, 5],
    t:w(bits, erlang:phash2([[A band B, A bor B, A bxor B] || A <- Numbers, B <- Numbers])),
    t:w(shifts, erlang:phash2([A bsr N || A <- Numbers, N <- [0, 1, 59, 63, 64, 65, 128, 199, 200, 201, 1000]])),
    Halves = [(1 bsl B) + (1 bsl (B - S)) + D || B <- [53, 54, 63, 64, 65, 66, 100, 128, 129, 300, 1000, 1023], S <- [52, 53, 54, 55, 1, 2], B >= S, D <- [-2049, -2048, -1, 0, 1, 2047, 2048, 2049]],
    t:w(floats, erlang:phash2([catch <<(float(S * N))/float>> || N <- Halves ++ [16#1FFFFFFFFFFFFE801, (1 bsl 1024) - 1, 1 bsl 1024, 1 bsl 5000], S <- [1, -1]])),
    t:w(float, {float(16#1FFFFFFFFFFFFE801), catch float(1 bsl 1024), 1.0 < 1 bsl 70, 16#1FFFFFFFFFFFFE801 == 3.68934881474191e19}),
    t:w(add, erlang:phash2([catch N + 0.5 || N <- Halves])).

terms() ->
    Rest = binary:copy(<<"abc">>, 100000),
    Terms = [1, a, [], lists:seq(1, 30000), lists:duplicate(70000, 300), {lists:seq(1, 300)}, Rest, [Rest, {Rest}], maps:from_keys(lists:seq(1, 40000), x), <<1:7>>, <<Rest/binary, 1:3>>, lists:duplicate(70000, $a),
             list_to_tuple(lists:seq(1, 70000)), 1 bsl 100000],
    t:w(same, [binary_to_term(term_to_binary(T)) =:= T || T <- Terms]),
    t:w(used, [begin B = term_to_binary(T, O), {T, N} = binary_to_term(<<B/binary, Rest/binary>>, [used]), N =:= byte_size(B) end || T <- Terms, O <- [[], [compressed]]]),
    t:w(size, [erlang:external_size(T) =:= byte_size(term_to_binary(T)) || T <- Terms]),
    [t:e(bad, fun() -> binary_to_term(<<(binary:part(B, 0, byte_size(B) - 1))/binary>>) end) || T <- Terms, B <- [term_to_binary(T)]].

texts() ->
    Long = binary:copy(<<"1">>, 100000),
    Bad = [Long, <<Long/binary, "x">>, <<"x", Long/binary>>, <<"1.5x", Long/binary>>, <<"1.5", 0, Long/binary>>, <<"-", Long/binary>>, binary:copy(<<195, 164>>, 255), binary:copy(<<195, 164>>, 256),
           binary:copy(<<255>>, 3000), binary:copy(<<"a">>, 255), binary:copy(<<"a">>, 256), <<(binary:copy(<<"a">>, 255))/binary, 255>>, <<(binary:copy(<<"a">>, 256))/binary, 255>>, <<255, Long/binary>>],
    [t:e({F, B}, fun() -> {ok, erlang:phash2(F(X))} end)
     || {B, X} <- lists:zip(lists:seq(1, length(Bad)), Bad),
        F <- [fun erlang:binary_to_atom/1, fun(Y) -> binary_to_atom(Y, latin1) end, fun erlang:binary_to_float/1, fun erlang:binary_to_integer/1, fun(Y) -> binary_to_integer(Y, 2) end,
              fun(Y) -> list_to_float(binary_to_list(Y)) end, fun unicode:characters_to_list/1, fun unicode:characters_to_binary/1]],
    t:e(existing, fun() -> binary_to_existing_atom(binary:copy(<<"b">>, 3000)) end),
    t:e(float_list, fun() -> list_to_float("1.5x" ++ [x]) end),
    Error = fun({error, G, R}) -> {error, erlang:phash2(G), erlang:phash2(R)}; (X) -> erlang:phash2(X) end,
    t:w(errors, [Error(F(<<(binary:copy(<<"a">>, N))/binary, 255, Long/binary>>)) || N <- [0, 1, 65535, 65536, 65537, 140000], F <- [fun unicode:characters_to_list/1, fun unicode:characters_to_binary/1]]),
    t:w(cut, [Error(unicode:characters_to_list(<<(binary:copy(<<"a">>, N))/binary, 195, 164, Long/binary>>)) || N <- [65534, 65535, 65536]]).

tables() ->
    [begin
         T = ets:new(t, [Type]),
         ets:insert(T, {key, 1, [a, list], 2.5, x}),
         t:w(Type, [ets:update_element(T, key, C) || C <- [{2, 5}, {5, y}, [{2, 6}, {5, z}], [{2, 7}, {3, now_an_atom}], {3, 1}, {4, 7}, [{2, <<"bin">>}], {2, 1 bsl 70}, {2, 8}, []]]),
         t:w(object, ets:lookup(T, key)),
         [t:e(C, fun() -> ets:update_element(T, key, C) end) || C <- [{1, x}, {6, x}, {0, x}, [{2, 99}, {1, x}], [{2, 99}, {9, x}], {2}, [{2, 99} | x], x]],
         t:w(object, ets:lookup(T, key)),
         t:w(missing, [ets:update_element(T, nokey, {2, 1}), ets:update_element(T, nokey, {2, 1}, {x, 0, 5}), ets:lookup(T, nokey)])
     end || Type <- [set, ordered_set]].
