%% Terms of all sizes and kinds, there and back.
-module(node_traffic).
-export([start/0, there_and_back/1, in_order/2]).

-define(PATIENCE, 30000).

%% Registers a process that sends back what it gets.
start() ->
    Starter = self(),
    {_, Monitor} = spawn_opt(fun() -> register(node_traffic, self()), Starter ! {started, self()}, echo(none, 0) end, [monitor]),
    receive
        {started, _} -> erlang:demonitor(Monitor, [flush]), ok;
        {'DOWN', Monitor, _, _, Reason} -> Reason
    end.

echo(From, Next) ->
    receive
        {echo, Client, Number, Term} -> Client ! {back, Number, Term}, echo(From, Next);
        {number, Client, 0, _} -> echo(Client, 1);
        {number, From, Next, _} -> echo(From, Next + 1);
        {count, From} -> From ! {counted, Next}, echo(none, 0)
    end.

%% Sends every term to the node, waits for it to come back, and returns how many bytes that were.
there_and_back(Node) ->
    Terms = terms(),
    ok = each(fun(Number, Term) -> {node_traffic, Node} ! {echo, self(), Number, Term} end, Terms),
    ok = each(fun(Number, Term) -> receive {back, Number, Back} when Back =:= Term -> ok after ?PATIENCE -> error({not_back, Number}) end end, Terms),
    lists:sum([erlang:external_size(Term) || Term <- Terms]).

each(Function, Terms) ->
    lists:foreach(fun({Number, Term}) -> Function(Number, Term) end, lists:enumerate(Terms)).

%% Sends messages of changing sizes, and returns how many came in the order in which they were sent.
in_order(Node, Count) ->
    Sizes = {0, 10, 63, 64, 65, 1000, 5000, 70000},
    [{node_traffic, Node} ! {number, self(), Number, binary:copy(<<"x">>, element(Number rem 8 + 1, Sizes))} || Number <- lists:seq(0, Count - 1)],
    {node_traffic, Node} ! {count, self()},
    receive {counted, Came} -> Came after ?PATIENCE -> none end.

terms() ->
    Sizes = [0, 1, 2, 63, 64, 65, 255, 256, 1000, 4095, 4096, 65535, 65536, 65537, 131072, 1000000, 5000000],
    [1, -1, 1 bsl 200, 1.5, self(), make_ref(), 'grüße', fun lists:map/2, {}, [], #{}, <<5:3>>, #{a => [b, {c}], "d" => <<"e">>}] ++
        [binary:copy(<<171>>, Size) || Size <- Sizes] ++
        [<<(binary:copy(<<171>>, Size))/binary, 1:1>> || Size <- [64, 70000]] ++
        [lists:duplicate(Size, $a) || Size <- Sizes, Size < 100000] ++
        [lists:seq(1, 100000), maps:from_list([{Key, {Key}} || Key <- lists:seq(1, 10000)])].
