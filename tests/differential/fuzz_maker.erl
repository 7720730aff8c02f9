%% Makes beams: programs of a range of seeds, or what one program could shrink to. Always run by the stock emulator when
%% there is one, so that both machines get the same code.
%%
%%     -run fuzz_maker programs DIR FIRST COUNT      DIR/p<SEED>.erl and .beam
%%     -run fuzz_maker smaller FILE DIR LIMIT        DIR/c<N>.erl and .beam: FILE's program with something left out
-module(fuzz_maker).
-export([programs/1, smaller/1]).

programs([Dir, First, Count]) ->
    From = list_to_integer(First),
    Bad = [Seed || Seed <- lists:seq(From, From + list_to_integer(Count) - 1), not program(Dir, Seed)],
    [io:format("@uncompiled ~w~n", [Seed]) || Seed <- Bad],
    halt(0).

program(Dir, Seed) ->
    Name = "p" ++ integer_to_list(Seed),
    Source = fuzz_program:source(Name, Seed),
    File = filename:join(Dir, Name),
    ok = file:write_file(File ++ ".erl", Source),
    case epp:parse_file(File ++ ".erl", [{source_name, Name ++ ".erl"}]) of
        {ok, Forms} -> beam(File, Forms, options(Seed));
        _ -> false
    end.

%% The compiler's ways, each of which gives other instructions for the same program.
options(Seed) ->
    lists:nth(Seed rem 9 + 1, [[], [], [], [no_ssa_opt], [no_type_opt], [no_copt], [inline, {inline_size, 50}], [r25], [no_postopt, no_bool_opts]]).

beam(File, Forms, Options) ->
    try compile:forms(Forms, [binary, return | Options]) of
        {ok, _, Beam, _} -> ok = file:write_file(File ++ ".beam", Beam), true;
        _ -> false
    catch _:_ -> false
    end.

smaller([File, Dir, Limit]) ->
    {ok, Forms} = epp:parse_file(File, []),
    Size = erts_debug:flat_size(Forms),
    Found = lists:usort([{erts_debug:flat_size(F), F} || F <- less(Forms)]),
    Shrunk = thin([F || {S, F} <- Found, S < Size], list_to_integer(Limit)),
    [candidate(Dir, "c" ++ integer_to_list(N), F) || {N, F} <- lists:enumerate(Shrunk)],
    halt(0).

candidate(Dir, Name, Forms0) ->
    Forms = [case F of {attribute, L, module, _} -> {attribute, L, module, list_to_atom(Name)}; _ -> F end || F <- Forms0, element(1, F) =/= eof, keep(F)],
    File = filename:join(Dir, Name),
    Text = [erl_pp:form(F) || F <- Forms],
    ok = file:write_file(File ++ ".erl", unicode:characters_to_binary(Text)),
    case epp:parse_file(File ++ ".erl", []) of
        {ok, Again} -> beam(File, Again, []);
        _ -> false
    end.

keep({attribute, _, file, _}) -> false;
keep(_) -> true.

%% At most Limit of a list: the first, and some of the others.
thin(List, Limit) when length(List) =< Limit -> List;
thin(List, Limit) ->
    {First, Others} = lists:split(Limit div 2, List),
    Array = list_to_tuple(Others),
    First ++ [element(rand:uniform(tuple_size(Array)), Array) || _ <- lists:seq(1, Limit div 2)].

%% Every way to leave out one thing of a piece of abstract code: an element of a list, or an expression for one within it
%% or a constant. What makes no program is refused by the compiler.
less([_ | _] = List) ->
    [lists:sublist(List, N) ++ lists:nthtail(N + 1, List) || tuples(List), N <- lists:seq(0, length(List) - 1)]
        ++ [lists:sublist(List, N) ++ [L | lists:nthtail(N + 1, List)] || {N, E} <- lists:enumerate(0, List), L <- less(E)];
less(Node) when is_tuple(Node), tuple_size(Node) >= 2 ->
    replacements(Node) ++ [setelement(N, Node, L) || N <- lists:seq(1, tuple_size(Node)), N =/= 2, L <- less(element(N, Node))];
less(_) -> [].

tuples(List) -> is_list(List) andalso length(List) > 0 andalso lists:all(fun is_tuple/1, List).

replacements(Node) ->
    case element(1, Node) of
        Tag when Tag =:= call; Tag =:= op; Tag =:= 'case'; Tag =:= 'if'; Tag =:= 'try'; Tag =:= block; Tag =:= 'catch'; Tag =:= tuple; Tag =:= cons; Tag =:= map;
                 Tag =:= lc; Tag =:= bc; Tag =:= mc; Tag =:= bin; Tag =:= match; Tag =:= 'fun'; Tag =:= named_fun; Tag =:= 'receive'; Tag =:= 'maybe'; Tag =:= var ->
            L = element(2, Node),
            within(tl(tl(tuple_to_list(Node)))) ++ [{atom, L, ok} || Tag =/= var] ++ [{integer, L, 1}, {nil, L}];
        integer when element(3, Node) > 1 -> [setelement(3, Node, 1)];
        _ -> []
    end.

%% Expressions directly below.
within(Term) when is_list(Term) -> lists:flatmap(fun within/1, Term);
within({clause, _, _, _, Body}) -> within(Body);
within({clauses, Clauses}) -> within(Clauses);
within({bin_element, _, Value, _, _}) -> [Value];
within(Node) when is_tuple(Node), tuple_size(Node) >= 2, is_atom(element(1, Node)) -> [Node];
within(_) -> [].
