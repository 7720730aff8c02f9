-module(proc_dictionary_sizes).
-export([main/1]).

%% The dictionary beside a map, while its size goes up and down: a dictionary that became large keeps some of what it made for that.

main(_) ->
    shrunk(),
    [io:format("~p: ~p~n", [Name, compare(Key)]) || {Name, Key} <- keys()],
    %% Others ask as well.
    Asked = self(),
    [put(N, N) || N <- lists:seq(1, 17)],
    [erase(N) || N <- lists:seq(5, 17)],
    put(new, value),
    spawn_link(fun() ->
        {dictionary, Pairs} = process_info(Asked, dictionary),
        Asked ! {asked, process_info(Asked, {dictionary, new}), lists:sort(Pairs)}
    end),
    receive
        {asked, One, All} -> io:format("~p ~p~n", [One, All])
    end,
    io:format("~p ~p~n", [lists:sort(erase()), get()]).

keys() ->
    [
        {integers, fun(N) -> N end},
        {tuples, fun(N) -> {N rem 3, [N]} end},
        {large_integers, fun(N) -> N + (1 bsl 70) end},
        {binaries, fun(N) -> binary:copy(<<N:16>>, 40) end},
        {floats, fun(N) -> N / 2 end},
        {mixed, fun
            (N) when N rem 2 =:= 0 -> N div 2;
            (N) -> float(N div 2)
        end}
    ].

shrunk() ->
    erase(),
    [put(I, I) || I <- lists:seq(1, 17)],
    [erase(I) || I <- lists:seq(10, 17)],
    put(a, 1),
    io:format("~p ~p ~p~n", [get(a), erase(a), lists:sort(get())]),
    erase().

compare(Key) ->
    erase(),
    Model = run(1, 3000, Key, #{}, 17, 0),
    Same = lists:sort(maps:to_list(Model)) =:= lists:sort(get()),
    SameKeys = lists:sort(maps:keys(Model)) =:= lists:sort(get_keys()),
    %% Down to nothing, with one put and erased at each size.
    maps:foreach(
        fun(K, V) ->
            undefined = put(extra, V),
            V = get(extra),
            V = erase(extra),
            V = erase(K),
            undefined = get(K)
        end,
        Model
    ),
    {Same, SameKeys, get(), maps:size(Model)}.

run(_, 0, _, Model, _, _) ->
    Model;
run(Seed, Left, Key, Model, Wanted, Until) when Left =< Until ->
    Next = next(Seed),
    Size = element(Next rem 9 + 1, {3, 17, 7, 16, 40, 5, 130, 9, 18}),
    _ = Wanted,
    run(Next, Left, Key, Model, Size, Left - 150);
run(Seed, Left, Key, Model, Wanted, Until) ->
    A = next(Seed),
    B = next(A),
    K = Key(A div 7 rem (2 * Wanted + 4)),
    Adds = if map_size(Model) < Wanted -> 7; true -> 2 end,
    Expected = maps:get(K, Model, undefined),
    case B div 7 rem 10 of
        Dice when Dice < Adds ->
            Expected = put(K, Left),
            run(B, Left - 1, Key, Model#{K => Left}, Wanted, Until);
        9 ->
            Expected = get(K),
            run(B, Left - 1, Key, Model, Wanted, Until);
        _ ->
            Expected = erase(K),
            run(B, Left - 1, Key, maps:remove(K, Model), Wanted, Until)
    end.

next(Seed) -> (Seed * 1103515245 + 12345) band 16#7fffffff.
