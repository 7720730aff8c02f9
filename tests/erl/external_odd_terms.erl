%% Terms in the external format that other nodes may write, and how far a decoded term goes.
-module(external_odd_terms).
-export([main/1]).

main(_) ->
    Zipped = fun(Plain, Size) -> Z = zlib:compress(Plain), <<131, 80, Size:32, Z/binary>> end,
    List = term_to_binary(lists:seq(1, 100), [compressed]),
    Node = <<119, 1, $a>>,
    Own = begin N = atom_to_binary(node()), <<119, (byte_size(N)), N/binary>> end,
    Inputs = [
        <<131, 90, 3:16, Node/binary, 1:32, 16#40000:32, 2:32, 3:32>>,
        <<131, 90, 3:16, Node/binary, 1:32, 16#ffffffff:32, 2:32, 3:32>>,
        <<131, 90, 1:16, Node/binary, 1:32, 16#80000000:32>>,
        <<131, 90, 5:16, Node/binary, 1:32, 16#80000000:32, 1:32, 2:32, 3:32, 4:32>>,
        <<131, 90, 6:16, Node/binary, 1:32, 1:32, 1:32, 2:32, 3:32, 4:32, 5:32>>,
        <<131, 90, 3:16, Own/binary, 0:32, 16#40000:32, 2:32, 3:32>>,
        <<131, 90, 3:16, Own/binary, 7:32, 16#40000:32, 2:32, 3:32>>,
        <<131, 114, 3:16, Node/binary, 1, 16#40000:32, 2:32, 3:32>>,
        <<131, 114, 3:16, Node/binary, 1, 16#3ffff:32, 2:32, 3:32>>,
        <<131, 114, 3:16, Node/binary, 4, 1:32, 2:32, 3:32>>,
        <<131, 101, Node/binary, 16#40000:32, 1>>,
        <<131, 101, Node/binary, 16#3ffff:32, 1>>,
        <<List/binary, 1, 2, 3>>,
        Zipped(<<97, 5>>, 2),
        Zipped(<<97, 5, 1, 2>>, 4),
        Zipped(<<97, 5, 1, 2>>, 3),
        Zipped(<<97, 5, 1, 2>>, 5),
        Zipped(<<104, 2, 97, 5>>, 4),
        <<(Zipped(<<97, 5, 1, 2>>, 4))/binary, 9, 9>>
    ],
    [t:e(N, fun() ->
                {Term, Used} = binary_to_term(Input, [used]),
                {Used, byte_size(Input), erlang:phash2(Term), erlang:phash2(term_to_binary(Term)), Term =:= binary_to_term(term_to_binary(Term))}
            end) || {N, Input} <- lists:enumerate(Inputs)],
    Wide = binary_to_term(hd(Inputs)),
    t:w(wide, {is_reference(Wide), lists:last(string:lexemes(ref_to_list(Wide), ".")), Wide < binary_to_term(lists:nth(2, Inputs)), node(Wide)}),
    [t:e({scientific, N}, fun() -> {float_to_list(0.145, [{scientific, N}]), float_to_binary(-1.5e300, [compact, {scientific, N}])} end)
     || N <- [-1, -2, -300, 0, 1, 6, 1 bsl 32, (1 bsl 32) + 3, 1 bsl 58, 1 bsl 60, a, 1.0]],
    [t:e({decimals, N}, fun() -> float_to_list(0.145, [{decimals, N}]) end) || N <- [-1, 0, 3, 1 bsl 32, (1 bsl 32) + 3, 1 bsl 60, a]],
    t:e(both, fun() -> [float_to_list(2.5, O) || O <- [[{decimals, -1}, {scientific, 2}], [{scientific, -1}, {decimals, 2}], [{scientific, 3}, short], [short, {decimals, 2}]]] end),
    t:w(min_heap, [process_flag(min_heap_size, N) || N <- [0, 500, 12, 233, 232, 234, 46422, 1, 0]]),
    t:w(min_vheap, [process_flag(min_bin_vheap_size, N) || N <- [0, 500, 46421, 46422, 46423, 1000000, 0, 1]]),
    Heap = fun(Options) ->
               {P, Ref} = spawn_opt(fun() -> receive stop -> ok end end, [monitor | Options]),
               {garbage_collection, Info} = process_info(P, garbage_collection),
               P ! stop,
               receive {'DOWN', Ref, _, _, _} -> ok end,
               {proplists:get_value(min_heap_size, Info), proplists:get_value(min_bin_vheap_size, Info)}
           end,
    t:w(spawned, [Heap([{F, N}]) || {F, Ns} <- [{min_heap_size, [0, 1, 12, 233, 234, 500, 46422, 46423, 100000]}, {min_bin_vheap_size, [0, 1, 46422]}], N <- Ns]),
    t:w(captures, [re:run("abc", Re, [{capture, What, Type}])
                   || Re <- ["b", "(b)", "(?<n>b)", "(?<n>x)|b"], What <- [all_but_first, none, [], all_names, all, first, [0], [n], [7]], Type <- [index, list, binary]]),
    t:w(global, [re:run("abcb", Re, [global, {capture, What, list}]) || Re <- ["b", "(b)", ""], What <- [all_but_first, none, [], all_names, all]]).
