%% Sales are grouped, summed, joined with products and sorted in several ways.
-module(real_aggregate).
-export([main/1, group/0]).

-record(sale, {id, shop, product, count, price, day}).

group() -> real.

main(_) ->
    Sales = sales(60000),
    Products = [{P, list_to_binary("product " ++ integer_to_list(P)), P rem 12} || P <- lists:seq(0, 499)],
    bench:time(?MODULE, fun() -> [erlang:phash2(report(Sales, Products)) || _ <- lists:seq(1, 3)] end).

sales(N) -> sales(N, 4711, []).

sales(0, _, Sales) -> Sales;
sales(N, Seed, Sales) ->
    Next = (Seed * 1103515245 + 12345) band 16#7fffffff,
    Random = Next bsr 8,
    Sale = #sale{id = N, shop = Random rem 40, product = Random div 40 rem 500, count = 1 + Random rem 7, price = 100 + Random rem 977, day = Random rem 365},
    sales(N - 1, Next, [Sale | Sales]).

report(Sales, Products) ->
    ByProduct = lists:foldl(fun(#sale{product = Product} = Sale, Sums) ->
        maps:update_with(Product, fun({Count, Sum}) -> {Count + Sale#sale.count, Sum + value(Sale)} end, {Sale#sale.count, value(Sale)}, Sums)
    end, #{}, Sales),
    ByShop = maps:map(fun(_, Days) -> {lists:min(Days), lists:max(Days), length(lists:usort(Days))} end,
                      maps:groups_from_list(fun(Sale) -> Sale#sale.shop end, fun(Sale) -> Sale#sale.day end, Sales)),
    Names = #{Id => {Name, Class} || {Id, Name, Class} <- Products},
    Joined = [{Sum, Count, element(1, maps:get(Product, Names))} || Product := {Count, Sum} <- ByProduct],
    Classes = maps:fold(fun(Product, {_, Sum}, Classes) ->
        {_, Class} = maps:get(Product, Names),
        Classes#{Class => Sum + maps:get(Class, Classes, 0)}
    end, #{}, ByProduct),
    Best = lists:sublist(lists:sort(fun({A, _, _}, {B, _, _}) -> A >= B end, Joined), 25),
    Latest = lists:sublist(lists:sort(fun later/2, Sales), 10),
    ByDay = lists:keysort(#sale.day, Sales),
    Ids = lists:sort([value(Sale) || Sale <- Sales]),
    Pairs = lists:usort([{Shop, Product} || #sale{shop = Shop, product = Product} <- Sales]),
    {Best, Latest, lists:sort(maps:to_list(Classes)), maps:size(ByShop), lists:nth(30000, ByDay), lists:nth(30000, Ids), length(Pairs),
     lists:sort(maps:to_list(ByShop))}.

value(#sale{count = Count, price = Price}) -> Count * Price.

later(#sale{day = Day, id = A}, #sale{day = Day, id = B}) -> A =< B;
later(#sale{day = A}, #sale{day = B}) -> A >= B.
