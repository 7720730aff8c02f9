%% An interpreter for a small language: text to tokens, tokens to a tree, and a walk over the tree with an environment.
-module(real_interpreter).
-export([main/1, group/0]).

group() -> real.

main(_) ->
    bench:time(?MODULE, fun() -> {[length(parse(scan(program()))) || _ <- lists:seq(1, 3000)], run(parse(scan(program())))} end).

program() ->
    "def fib(n) { if n < 2 { return n; } return fib(n - 1) + fib(n - 2); }\n"
    "def gcd(a, b) { while b != 0 { let t = a % b; a = b; b = t; } return a; }\n"
    "def primes(limit) { let count = 0; let n = 2; while n < limit { let d = 2; let prime = 1;\n"
    "  while d * d <= n { if n % d == 0 { prime = 0; d = n; } d = d + 1; } count = count + prime; n = n + 1; } return count; }\n"
    "let total = 0; let i = 1; while i < 10000 { total = total + gcd(i * 12, 360) * (i % 7 - 3); i = i + 1; }\n"
    "print total; print fib(23); print primes(8000); print (1 + 2) * 3 - 4 / 2;\n".

%% Tokens: {number, N}, {name, Atom}, and atoms for all else.
scan(Text) -> scan(Text, []).

scan([], Tokens) -> lists:reverse(Tokens);
scan([C | Rest], Tokens) when C =:= $\s; C =:= $\n -> scan(Rest, Tokens);
scan([C | _] = Text, Tokens) when C >= $0, C =< $9 ->
    {Digits, Rest} = lists:splitwith(fun(D) -> D >= $0 andalso D =< $9 end, Text),
    scan(Rest, [{number, list_to_integer(Digits)} | Tokens]);
scan([C | _] = Text, Tokens) when C >= $a, C =< $z ->
    {Name, Rest} = lists:splitwith(fun(L) -> L >= $a andalso L =< $z end, Text),
    Atom = list_to_atom(Name),
    scan(Rest, [case lists:member(Atom, [def, 'if', while, return, 'let', print]) of true -> Atom; false -> {name, Atom} end | Tokens]);
scan([A, $= | Rest], Tokens) when A =:= $<; A =:= $!; A =:= $= -> scan(Rest, [list_to_atom([A, $=]) | Tokens]);
scan([C | Rest], Tokens) -> scan(Rest, [list_to_atom([C]) | Tokens]).

parse([]) -> [];
parse(Tokens) ->
    {Statement, Rest} = statement(Tokens),
    [Statement | parse(Rest)].

statement([def, {name, Name}, '(' | Rest]) ->
    {Parameters, After} = parameters(Rest, []),
    {Body, Last} = block(After),
    {{def, Name, Parameters, Body}, Last};
statement(['if' | Rest]) ->
    {Test, After} = expression(Rest, 0),
    {Body, Last} = block(After),
    {{'if', Test, Body}, Last};
statement([while | Rest]) ->
    {Test, After} = expression(Rest, 0),
    {Body, Last} = block(After),
    {{while, Test, Body}, Last};
statement([return | Rest]) -> ended(return, Rest);
statement([print | Rest]) -> ended(print, Rest);
statement(['let', {name, Name}, '=' | Rest]) -> ended({assign, Name}, Rest);
statement([{name, Name}, '=' | Rest]) -> ended({assign, Name}, Rest).

ended(Kind, Tokens) ->
    {Value, [';' | Rest]} = expression(Tokens, 0),
    {{Kind, Value}, Rest}.

parameters([')' | Rest], Names) -> {lists:reverse(Names), Rest};
parameters([',' | Rest], Names) -> parameters(Rest, Names);
parameters([{name, Name} | Rest], Names) -> parameters(Rest, [Name | Names]).

block(['{' | Rest]) -> block(Rest, []).

block(['}' | Rest], Statements) -> {lists:reverse(Statements), Rest};
block(Tokens, Statements) ->
    {Statement, Rest} = statement(Tokens),
    block(Rest, [Statement | Statements]).

expression(Tokens, Level) ->
    {Left, Rest} = primary(Tokens),
    operators(Left, Rest, Level).

operators(Left, [Operator | Rest] = Tokens, Level) ->
    case level(Operator) of
        Higher when Higher > Level ->
            {Right, After} = expression(Rest, Higher),
            operators({Operator, Left, Right}, After, Level);
        _ -> {Left, Tokens}
    end.

level('==') -> 1;
level('!=') -> 1;
level('<') -> 2;
level('<=') -> 2;
level('+') -> 3;
level('-') -> 3;
level('*') -> 4;
level('/') -> 4;
level('%') -> 4;
level(_) -> 0.

primary([{number, _} = Number | Rest]) -> {Number, Rest};
primary([{name, Name}, '(' | Rest]) ->
    {Arguments, After} = arguments(Rest, []),
    {{call, Name, Arguments}, After};
primary([{name, _} = Name | Rest]) -> {Name, Rest};
primary(['(' | Rest]) ->
    {Value, [')' | After]} = expression(Rest, 0),
    {Value, After}.

arguments([')' | Rest], Values) -> {lists:reverse(Values), Rest};
arguments([',' | Rest], Values) -> arguments(Rest, Values);
arguments(Tokens, Values) ->
    {Value, Rest} = expression(Tokens, 0),
    arguments(Rest, [Value | Values]).

run(Statements) ->
    Functions = #{Name => {Parameters, Body} || {def, Name, Parameters, Body} <- Statements},
    {next, #{printed := Printed}} = steps([S || S <- Statements, element(1, S) =/= def], #{printed => []}, Functions),
    lists:reverse(Printed).

steps([], Variables, _) -> {next, Variables};
steps([Statement | Rest], Variables, Functions) ->
    case step(Statement, Variables, Functions) of
        {next, Changed} -> steps(Rest, Changed, Functions);
        Returned -> Returned
    end.

step({{assign, Name}, Value}, Variables, Functions) -> {next, Variables#{Name => value(Value, Variables, Functions)}};
step({print, Value}, #{printed := Printed} = Variables, Functions) -> {next, Variables#{printed := [value(Value, Variables, Functions) | Printed]}};
step({return, Value}, Variables, Functions) -> {return, value(Value, Variables, Functions)};
step({'if', Test, Body}, Variables, Functions) ->
    case value(Test, Variables, Functions) of
        0 -> {next, Variables};
        _ -> steps(Body, Variables, Functions)
    end;
step({while, Test, Body} = Loop, Variables, Functions) ->
    case value(Test, Variables, Functions) of
        0 -> {next, Variables};
        _ ->
            case steps(Body, Variables, Functions) of
                {next, Changed} -> step(Loop, Changed, Functions);
                Returned -> Returned
            end
    end.

value({number, N}, _, _) -> N;
value({name, Name}, Variables, _) -> maps:get(Name, Variables);
value({call, Name, Arguments}, Variables, Functions) ->
    #{Name := {Parameters, Body}} = Functions,
    Values = [value(Argument, Variables, Functions) || Argument <- Arguments],
    {return, Value} = steps(Body, maps:from_list(lists:zip(Parameters, Values)), Functions),
    Value;
value({Operator, A, B}, Variables, Functions) -> operate(Operator, value(A, Variables, Functions), value(B, Variables, Functions)).

operate('+', A, B) -> A + B;
operate('-', A, B) -> A - B;
operate('*', A, B) -> A * B;
operate('/', A, B) -> A div B;
operate('%', A, B) -> A rem B;
operate('<', A, B) -> truth(A < B);
operate('<=', A, B) -> truth(A =< B);
operate('==', A, B) -> truth(A =:= B);
operate('!=', A, B) -> truth(A =/= B).

truth(true) -> 1;
truth(false) -> 0.
