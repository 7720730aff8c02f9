%% Messages that are built where they will be sent from (+hmem hybrid): the same terms arrive, whatever their size and however sizes
%% change, whether they are sent whole, in part, again, not at all, or outlive their sender; and the figures say that they were
%% built there. With other heaps the same program shows the same.
-module(heddle_direct).
-export([main/1]).

main(_) ->
    [check(Name, F) || {Name, F} <- [{sizes, fun sizes/0}, {growing, fun growing/0}, {parts, fun parts/0}, {kept, fun kept/0},
                                     {unsent, fun unsent/0}, {mixed, fun mixed/0}, {dead, fun dead/0}, {raised, fun raised/0},
                                     {literals, fun literals/0}, {collected, fun collected/0}, {reloaded, fun reloaded/0},
                                     {many, fun many/0}, {figures, fun figures/0}]].

check(Name, F) ->
    io:format("~p ~p~n", [Name, try F() catch C:R:S -> {C, R, S} end]).

%% Sends what it builds to the process that asks: {What, Arguments}.
maker() ->
    spawn_link(fun make/0).

make() ->
    receive
        {From, list, N} -> From ! {list, N, list(N, [])}, make();
        {From, nested, N} -> From ! {nested, tree(N, N), {N, list(N, [])}}, make();
        {From, part, N} -> L = list(N, []), From ! {part, tl(tl(L))}, From ! {part, hd(L), L}, make();
        {From, twice, N} -> L = {twice, list(N, [])}, From ! L, From ! L, make();
        {From, two, N} -> A = list(N, []), B = list(N + 1, []), From ! {one, B}, From ! {other, A}, make();
        {From, with, Term, N} -> From ! {with, Term, list(N, [Term])}, make();
        {From, unsent, N} -> L = sent_or_not(From, N, false), From ! {length, length(L)}, make();
        {From, raises, N} -> From ! {caught, catch raises(From, list(N, []))}, make();
        {From, literal, N} -> From ! {literal, words(N, [])}, make();
        {From, collects, N} -> A = list(N, []), erlang:garbage_collect(), From ! {collects, [A | list(N, A)]}, make();
        stop -> ok
    end.

list(0, List) -> List;
list(N, List) -> list(N - 1, [N | List]).

tree(0, Leaf) -> Leaf;
tree(N, Leaf) when N > 8 -> {tree(8, Leaf), N};
tree(N, Leaf) -> {tree(N - 1, Leaf), N, tree(N - 1, Leaf)}.

words(0, List) -> List;
words(N, List) -> words(N - 1, [{a_literal, "with a string", N} | List]).

sent_or_not(_, N, false) -> list(N, []);
sent_or_not(To, N, true) -> To ! list(N, []).

raises(_, [A | _]) when A > 0 -> throw({thrown, A});
raises(To, L) -> To ! L.

asks(Maker, What) ->
    Maker ! list_to_tuple([self() | What]),
    answer().

answer() ->
    receive Answer -> Answer end.

sizes() ->
    Maker = maker(),
    [begin
         {list, N, L} = asks(Maker, [list, N]),
         L = lists:seq(1, N)
     end || N <- lists:seq(1, 40) ++ [100, 1000, 3, 1000, 1001, 999, 17, 5000, 5000, 20, 60, 60, 60, 1], _ <- [1, 2, 3]],
    [begin
         {nested, T, {N, L}} = asks(Maker, [nested, N]),
         {T, L} = {tree(N, N), lists:seq(1, N)}
     end || N <- [1, 7, 8, 9, 300, 300, 2, 300], _ <- [1, 2]],
    Maker ! stop,
    true.

growing() ->
    Maker = maker(),
    [{list, N, _} = asks(Maker, [list, N]) || N <- lists:seq(10, 3000, 7)],
    [{list, N, _} = asks(Maker, [list, N]) || N <- lists:seq(3000, 10, -11)],
    Maker ! stop,
    true.

parts() ->
    Maker = maker(),
    [begin
         {part, Part} = asks(Maker, [part, N]),
         {part, 1, Whole} = answer(),
         true = Whole =:= lists:seq(1, N) andalso Part =:= lists:seq(3, N)
     end || N <- [500, 500, 500, 30, 30, 30, 500]],
    [begin
         {twice, A} = asks(Maker, [twice, N]),
         {twice, A} = answer(),
         {one, B} = asks(Maker, [two, N]),
         {other, A} = answer(),
         true = B =:= lists:seq(1, N + 1)
     end || N <- [200, 200, 200, 50, 50, 50]],
    Maker ! stop,
    true.

%% They stay when those that were built beside them go.
kept() ->
    Maker = maker(),
    Kept = [begin
                L = element(3, asks(Maker, [list, N])),
                [asks(Maker, [list, N]) || _ <- lists:seq(1, 20)],
                {N, L}
            end || N <- [40, 50, 60, 70, 200, 400] , _ <- lists:seq(1, 10)],
    Maker ! stop,
    erlang:garbage_collect(),
    lists:all(fun({N, L}) -> L =:= lists:seq(1, N) end, Kept).

%% What was judged to be sent and is not, goes with the process' next collection.
unsent() ->
    Maker = maker(),
    [asks(Maker, [list, 500]) || _ <- [1, 2, 3]],
    [{length, 500} = asks(Maker, [unsent, 500]) || _ <- lists:seq(1, 300)],
    {list, 500, L} = asks(Maker, [list, 500]),
    erlang:garbage_collect(Maker),
    {memory, Bytes} = process_info(Maker, memory),
    Maker ! stop,
    [true] =:= lists:usort([L =:= lists:seq(1, 500), Bytes < 200_000]).

%% Parts that lie on the heap, or in regions of others.
mixed() ->
    Maker = maker(),
    Others = [1.5, 1 bsl 100, <<"binary">>, binary:copy(<<"large">>, 100), make_ref(), fun() -> Maker end, #{a => [b, {c}]},
              list(100, []), {self(), list(50, [])}, "literal", [], atom],
    [begin
         {with, Other, L} = asks(Maker, [with, Other, N]),
         true = L =:= lists:seq(1, N) ++ [Other]
     end || Other <- Others, N <- [10, 100, 300], _ <- [1, 2, 3]],
    Maker ! stop,
    true.

dead() ->
    Lists = [begin
                 Maker = maker(),
                 [asks(Maker, [list, 100]) || _ <- [1, 2, 3]],
                 {list, 150, L} = asks(Maker, [list, 150]),
                 Ref = monitor(process, Maker),
                 Maker ! stop,
                 receive {'DOWN', Ref, _, _, _} -> L end
             end || _ <- lists:seq(1, 50)],
    lists:all(fun(L) -> L =:= lists:seq(1, 150) end, Lists).

raised() ->
    Maker = maker(),
    [asks(Maker, [list, 100]) || _ <- [1, 2, 3]],
    [{caught, {thrown, 1}} = asks(Maker, [raises, N]) || N <- [10, 100, 1000], _ <- [1, 2, 3]],
    {list, 100, L} = asks(Maker, [list, 100]),
    Maker ! stop,
    L =:= lists:seq(1, 100).

literals() ->
    Maker = maker(),
    [begin
         {literal, L} = asks(Maker, [literal, N]),
         true = L =:= [{a_literal, "with a string", I} || I <- lists:seq(1, N)]
     end || N <- [100, 100, 100, 10, 10, 300]],
    Maker ! stop,
    true.

%% Between the parts.
collected() ->
    Maker = maker(),
    [begin
         {collects, [A | B]} = asks(Maker, [collects, N]),
         true = A =:= lists:seq(1, N) andalso B =:= A ++ A
     end || N <- [20, 100, 100, 500, 500, 500, 100], _ <- [1, 2, 3]],
    Maker ! stop,
    true.

%% The code that built them, and its literals, go while they are still there.
reloaded() ->
    Maker = maker(),
    Build = fun(Number) ->
                    Forms = [{attribute, 1, module, heddle_direct_code}, {attribute, 1, export, [{make, 2}]},
                             {function, 2, make, 2,
                              [{clause, 2, [{var, 2, 'To'}, {var, 2, 'N'}], [],
                                [{op, 2, '!', {var, 2, 'To'}, {call, 2, {atom, 2, list}, [{var, 2, 'N'}, {nil, 2}]}}]}]},
                             {function, 3, list, 2,
                              [{clause, 3, [{integer, 3, 0}, {var, 3, 'L'}], [], [{var, 3, 'L'}]},
                               {clause, 3, [{var, 3, 'N'}, {var, 3, 'L'}], [],
                                [{call, 3, {atom, 3, list},
                                  [{op, 3, '-', {var, 3, 'N'}, {integer, 3, 1}},
                                   {cons, 3, {tuple, 3, [{string, 3, "literal " ++ integer_to_list(Number)}, {var, 3, 'N'}]},
                                    {var, 3, 'L'}}]}]}]}],
                    {ok, _, Code} = compile:forms(Forms, []),
                    {module, _} = code:load_binary(heddle_direct_code, "none", Code)
            end,
    Me = self(),
    Builder = spawn_link(fun Loop() -> receive {N, again} -> heddle_direct_code:make(Me, N), Loop(); stop -> ok end end),
    Made = [begin
                Build(Number),
                Lists = [begin Builder ! {50, again}, answer() end || _ <- [1, 2, 3, 4]],
                code:delete(heddle_direct_code),
                code:purge(heddle_direct_code),
                {Number, Lists}
            end || Number <- lists:seq(1, 8)],
    Builder ! stop,
    Maker ! stop,
    erlang:garbage_collect(),
    lists:all(fun({Number, Lists}) ->
                      Text = "literal " ++ integer_to_list(Number),
                      lists:all(fun(L) -> L =:= [{Text, I} || I <- lists:seq(1, 50)] end, Lists)
              end, Made).

%% The process that gets them forwards them, keeps some, and dies.
many() ->
    Me = self(),
    Ends = [begin
                Maker = spawn_link(fun make/0),
                spawn_link(fun() -> Me ! {done, self(), lists:foldl(fun(N, Sum) -> Sum + forwarded(Maker, N) end, 0, lists:seq(I, I + 60))},
                                    Maker ! stop
                           end)
            end || I <- lists:seq(1, 40)],
    Sums = [receive {done, Pid, Sum} -> Sum end || Pid <- Ends],
    Sums =:= [lists:sum([N * (N + 1) div 2 || N <- lists:seq(I, I + 60)]) || I <- lists:seq(1, 40)].

forwarded(Maker, N) ->
    {list, N, L} = asks(Maker, [list, N]),
    Me = self(),
    Pid = spawn_link(fun() -> receive X -> Me ! {sum, lists:sum(X), X} end end),
    Pid ! L,
    receive {sum, Sum, L} -> Sum end.

%% Nearly all that is sent was built where it is.
figures() ->
    Maker = maker(),
    [asks(Maker, [list, 400]) || _ <- [1, 2, 3]],
    #{words_foreseen := Foreseen0} = heddle_stats:messages(),
    [asks(Maker, [list, 400]) || _ <- lists:seq(1, 200)],
    #{words_foreseen := Foreseen1} = heddle_stats:messages(),
    Maker ! stop,
    case erlang:system_info(heap_type) of
        hybrid -> Foreseen1 - Foreseen0 >= 190 * 800;
        _ -> Foreseen1 =:= Foreseen0
    end.
