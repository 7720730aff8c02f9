%% The shape of system_info({allocator, A}), which recon_alloc takes apart: blocks have a count and a size, of three values but in the pool.
-module(allocator_blocks).
-export([main/1]).

main(_) ->
    Known = [std_alloc, eheap_alloc, ets_alloc, fix_alloc, literal_alloc, binary_alloc],
    t:w(known, Known -- erlang:system_info(alloc_util_allocators)),
    [t:w(Name, lists:usort([wrong(Part, Key, Name) || {instance, _, Parts} <- erlang:system_info({allocator, Name}), {Part, [_ | _] = Items} <- Parts,
                                                lists:member(Part, [mbcs, mbcs_pool, sbcs]), Key <- [blocks, carriers, carriers_size],
                                                not is_right(Part, Key, Items)])) || Name <- Known],
    Instances = erlang:system_info({allocator_sizes, literal_alloc}),
    t:w(literal_sizes, [length(tuple_to_list(lists:keyfind(carriers_size, 1, Items))) || {instance, _, Parts} <- Instances, {mbcs, Items} <- Parts]).

wrong(Part, Key, Name) -> {Name, Part, Key}.

is_right(Part, blocks, Items) ->
    {blocks, Blocks} = lists:keyfind(blocks, 1, Items),
    lists:all(fun({Type, Figures}) ->
        is_atom(Type) andalso lists:all(fun(Key) -> is_figure(Part, lists:keyfind(Key, 1, Figures)) end, [count, size])
    end, Blocks);
is_right(Part, Key, Items) -> is_figure(Part, lists:keyfind(Key, 1, Items)).

is_figure(mbcs_pool, {_, Now}) -> is_integer(Now);
is_figure(_, {_, Now, Last, Most}) -> is_integer(Now) andalso is_integer(Last) andalso is_integer(Most);
is_figure(_, _) -> false.
