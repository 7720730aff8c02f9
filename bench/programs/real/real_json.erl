%% An HTTP service's JSON: documents are decoded, changed, encoded and printed for people.
-module(real_json).
-export([main/1, group/0]).

group() -> real.

main(_) ->
    Documents = [iolist_to_binary(json:encode(order(N))) || N <- lists:seq(1, 400)],
    bench:time(?MODULE, fun() -> lists:sum([round_of(Documents) || _ <- lists:seq(1, 12)]) end).

round_of(Documents) -> lists:foldl(fun(Document, Sum) -> (Sum + handle(Document)) band 16#ffffffff end, 0, Documents).

handle(Document) ->
    Order = json:decode(Document),
    Changed = confirm(Order),
    Answer = iolist_to_binary(json:encode(Changed)),
    Page = iolist_to_binary(json:format(maps:with([<<"customer">>, <<"items">>], Changed))),
    erlang:crc32(Answer) + erlang:crc32(Page).

confirm(#{<<"items">> := Items, <<"notes">> := Notes} = Order) ->
    Priced = [Item#{<<"sum">> => Count * Price} || #{<<"count">> := Count, <<"price">> := Price} = Item <- Items],
    Order#{<<"items">> := Priced,
           <<"total">> => lists:sum([Sum || #{<<"sum">> := Sum} <- Priced]),
           <<"state">> => confirmed,
           <<"notes">> := [<<"confirmed">> | Notes]}.

order(N) ->
    #{id => N,
      customer => #{name => <<"Zoë Müller-"/utf8, (integer_to_binary(N))/binary>>, mail => <<"customer", (integer_to_binary(N))/binary, "@example.com">>,
                    tags => [<<"new">>, <<"paper \"invoice\"">>], vip => N rem 7 =:= 0, since => 1990 + N rem 35},
      items => [item(N, I) || I <- lists:seq(1, 4 + N rem 5)],
      notes => [<<"Leave it at the door.\nRing twice, please.\t\\o/">>],
      paid => null,
      rate => N / 8}.

item(N, I) ->
    #{sku => iolist_to_binary(io_lib:format("SKU-~6..0b", [N * 31 + I])), count => 1 + (N * I) rem 9, price => 99 + (N * 7 + I) rem 1000,
      weight => (N rem 17) / 4, text => <<"A thing of steel & glass, with a description of some length">>}.
