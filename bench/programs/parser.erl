%% Expressions are scanned and parsed, with lists of characters and tokens, and computed.
-module(parser).
-export([main/1, group/0]).

group() -> compute.

main(_) ->
    Text = lists:append(lists:join(" + ", [lists:concat(["(", N, " * ", N rem 13, " - ", N rem 7, ") * (", N rem 5, " + x", N rem 3, ")"]) || N <- lists:seq(1, 2000)])),
    bench:time(?MODULE, fun() -> lists:sum([value(Text) || _ <- lists:seq(1, 80)]) end).

value(Text) ->
    {Tree, []} = sum(tokens(Text)),
    compute(Tree, #{"x0" => 3, "x1" => 5, "x2" => 7}).

tokens([$\s | Rest]) -> tokens(Rest);
tokens([C | Rest]) when C >= $0, C =< $9 -> number(Rest, C - $0);
tokens([C | Rest]) when C >= $a, C =< $z -> name(Rest, [C]);
tokens([$+ | Rest]) -> ['+' | tokens(Rest)];
tokens([$- | Rest]) -> ['-' | tokens(Rest)];
tokens([$* | Rest]) -> ['*' | tokens(Rest)];
tokens([$( | Rest]) -> ['(' | tokens(Rest)];
tokens([$) | Rest]) -> [')' | tokens(Rest)];
tokens([]) -> [].

number([C | Rest], N) when C >= $0, C =< $9 -> number(Rest, N * 10 + C - $0);
number(Rest, N) -> [{number, N} | tokens(Rest)].

name([C | Rest], Name) when C >= $a, C =< $z; C >= $0, C =< $9 -> name(Rest, [C | Name]);
name(Rest, Name) -> [{name, lists:reverse(Name)} | tokens(Rest)].

sum(Tokens) ->
    {Left, Rest} = product(Tokens),
    sum(Left, Rest).

sum(Left, ['+' | Tokens]) ->
    {Right, Rest} = product(Tokens),
    sum({add, Left, Right}, Rest);
sum(Left, ['-' | Tokens]) ->
    {Right, Rest} = product(Tokens),
    sum({subtract, Left, Right}, Rest);
sum(Left, Rest) -> {Left, Rest}.

product(Tokens) ->
    {Left, Rest} = factor(Tokens),
    product(Left, Rest).

product(Left, ['*' | Tokens]) ->
    {Right, Rest} = factor(Tokens),
    product({multiply, Left, Right}, Rest);
product(Left, Rest) -> {Left, Rest}.

factor(['(' | Tokens]) ->
    {Tree, [')' | Rest]} = sum(Tokens),
    {Tree, Rest};
factor([Leaf | Rest]) -> {Leaf, Rest}.

compute({number, N}, _) -> N;
compute({name, Name}, Values) -> maps:get(Name, Values);
compute({add, A, B}, Values) -> compute(A, Values) + compute(B, Values);
compute({subtract, A, B}, Values) -> compute(A, Values) - compute(B, Values);
compute({multiply, A, B}, Values) -> compute(A, Values) * compute(B, Values).
