%% digraph, digraph_utils, sofs.
-module(digraph_and_sofs).
-export([main/1]).

main(_) -> G = digraph:new(), [digraph:add_vertex(G, V) || V <- lists:seq(1, 6)], [digraph:add_edge(G, A, B) || {A, B} <- [{1, 2}, {2, 3}, {3, 1}, {3, 4}, {5, 6}]], t:w(graph, [lists:sort(digraph:vertices(G)), digraph:no_edges(G), digraph:get_path(G, 1, 4), digraph:get_path(G, 4, 1), lists:sort(digraph:out_neighbours(G, 3)), digraph:get_short_path(G, 2, 1), [lists:sort(C) || C <- lists:sort([lists:sort(C) || C <- digraph_utils:strong_components(G)])], lists:sort(digraph_utils:reachable([1], G)), digraph_utils:is_acyclic(G), digraph_utils:topsort(G)]), t:e(bad_edge, fun() -> digraph:add_edge(G, 1, 99) end), digraph:delete(G), R = sofs:relation([{1, a}, {2, b}, {2, c}]), t:w(sofs, [sofs:to_external(X) || X <- [sofs:domain(R), sofs:range(R), sofs:converse(R), sofs:image(R, sofs:set([2])), sofs:union(R, sofs:relation([{9, z}])), sofs:relation_to_family(R)]]).
