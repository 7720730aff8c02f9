%% Groups of 20 writers and 20 listeners; each writer writes MESSAGES times to each listener of its group.
%% Args: GROUPS MESSAGES.
-module(hackbench).
-export([main/1]).

-define(SIDE, 20).

main(Args) ->
    [Groups, Messages] = case Args of
                             [] -> [10, 100];
                             [G] -> [list_to_integer(G), 100];
                             [G, M | _] -> [list_to_integer(G), list_to_integer(M)]
                         end,
    Main = self(),
    [spawn_link(fun() -> group(Main, N, Messages) end) || N <- lists:seq(1, Groups)],
    Sum = lists:sum([receive {group, N, Read} -> N * Read end || N <- lists:seq(1, Groups)]),
    io:format("hackbench: ~w~n", [Sum]).

group(Main, N, Messages) ->
    Me = self(),
    Listeners = [spawn_link(fun() -> listen(Me, ?SIDE * Messages, 0) end) || _ <- lists:seq(1, ?SIDE)],
    [spawn_link(fun() -> write(Listeners, Messages) end) || _ <- lists:seq(1, ?SIDE)],
    Main ! {group, N, lists:sum([receive {read, L, Sum} -> Sum end || L <- Listeners])}.

write(_, 0) -> ok;
write(Listeners, N) ->
    [L ! {message, self(), N} || L <- Listeners],
    write(Listeners, N - 1).

listen(Group, 0, Sum) -> Group ! {read, self(), Sum};
listen(Group, N, Sum) -> receive {message, _, X} -> listen(Group, N - 1, Sum + X) end.
