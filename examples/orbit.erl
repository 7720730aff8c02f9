%% The orbit of a vertex under generators, in a table distributed over workers (here all on one node).
%% Args: SPACE WORKERS.
%%
%% A worker owns the vertices that hash to it. For one it has not seen it applies the generators and sends each result
%% to its owner. Every message carries a share of the credit that the master gave out; the process that ends a chain of work
%% sends its share back, and the orbit is complete when all of it has come home. Credit K stands for 2^-K.
-module(orbit).
-export([main/1, orbit/2, generate/2]).

main(Args) ->
    [Space, Count] = case Args of
                         [] -> [100000, 8];
                         [S] -> [list_to_integer(S), 8];
                         [S, W | _] -> [list_to_integer(S), list_to_integer(W)]
                     end,
    {Size, Sum} = orbit(Space, Count),
    io:format("orbit: ~w~n", [Size * 1000003 + Sum]).

%% The size of the orbit of 1, and the sum of its vertices.
orbit(Space, Count) ->
    Master = self(),
    Pids = [spawn_link(fun() -> receive {workers, Workers} -> worker(Master, Workers, Space, #{}) end end) || _ <- lists:seq(1, Count)],
    Workers = list_to_tuple(Pids),
    [Pid ! {workers, Workers} || Pid <- Pids],
    owner(1, Workers) ! {vertex, 1, 0},
    collect(#{}),
    [Pid ! {report, Master} || Pid <- Pids],
    lists:foldl(fun(Pid, {N, S}) -> receive {table, Pid, N1, S1} -> {N + N1, S + S1} end end, {0, 0}, Pids).

%% Adds up credit in binary: two of 2^-K make one of 2^-(K-1); done when a single 2^0 is left.
collect(#{0 := _}) -> ok;
collect(Credit) -> receive {credit, K} -> collect(add(K, Credit)) end.

add(K, Credit) when is_map_key(K, Credit) -> add(K - 1, maps:remove(K, Credit));
add(K, Credit) -> Credit#{K => true}.

owner(Vertex, Workers) -> element(1 + (Vertex * 40503) rem tuple_size(Workers), Workers).

worker(Master, Workers, Space, Table) ->
    receive
        {vertex, Vertex, Credit} when is_map_key(Vertex, Table) ->
            Master ! {credit, Credit},
            worker(Master, Workers, Space, Table);
        {vertex, Vertex, Credit} ->
            Rest = lists:foldl(fun(New, K) -> owner(New, Workers) ! {vertex, New, K + 1}, K + 1 end, Credit, generate(Vertex, Space)),
            Master ! {credit, Rest},
            worker(Master, Workers, Space, Table#{Vertex => true});
        {report, To} ->
            To ! {table, self(), map_size(Table), lists:sum(maps:keys(Table))}
    end.

generate(X, Space) -> [(X * 5 + 1) rem Space, (X * X + 7) rem Space, (X div 3 + 11 * X) rem Space].
