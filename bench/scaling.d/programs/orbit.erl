%% The orbit of a vertex under generators, in a table spread over workers.
%%
%% A worker owns the vertices that hash to it. For one that it has not seen it applies the generators and sends each result to
%% its owner. Every message carries a share of the credit that the master gave out; whoever ends a chain of work sends its
%% share back, and the orbit is complete when all of it has come home. Credit K stands for 2^-K.
%%
%% Several small orbits, one after the other: in a large one the message queues grow so long that collecting them is all that is
%% measured.
-module(orbit).
-export([prepare/2, run/1, check/2]).

-define(WORKERS, 32).
-define(SPACE, 6000).

prepare(_, Scale) -> scaling:times(80, Scale).

run(Orbits) ->
    Main = self(),
    [Result] = scaling:collect([spawn_link(fun() -> Main ! {self(), [master(?SPACE + N) || N <- lists:seq(1, Orbits)]} end)]),
    Result.

%% The same sets, found by one process.
check(Orbits, Result) -> Result =:= [alone(?SPACE + N) || N <- lists:seq(1, Orbits)].

alone(Space) ->
    Seen = closure([1], Space, #{1 => true}),
    {map_size(Seen), lists:sum(maps:keys(Seen))}.

closure([], _, Seen) -> Seen;
closure([X | Rest], Space, Seen) ->
    New = lists:usort([Y || Y <- generate(X, Space), not is_map_key(Y, Seen)]),
    closure(New ++ Rest, Space, lists:foldl(fun(Y, S) -> S#{Y => true} end, Seen, New)).

master(Space) ->
    Master = self(),
    Pids = [spawn_link(fun() -> receive {workers, Workers} -> worker(Master, Workers, Space, #{}) end end) || _ <- lists:seq(1, ?WORKERS)],
    Workers = list_to_tuple(Pids),
    [Pid ! {workers, Workers} || Pid <- Pids],
    owner(1, Workers) ! {vertex, 1, 0},
    credits(#{}),
    [Pid ! report || Pid <- Pids],
    {Sizes, Sums} = lists:unzip(scaling:collect(Pids)),
    {lists:sum(Sizes), lists:sum(Sums)}.

%% Adds up credit in binary: two of 2^-K make one of 2^-(K-1); done when a whole one is left.
credits(#{0 := _}) -> ok;
credits(Credit) -> receive {credit, K} -> credits(add(K, Credit)) end.

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
        report ->
            Master ! {self(), {map_size(Table), lists:sum(maps:keys(Table))}}
    end.

generate(X, Space) -> [(X * 5 + 1) rem Space, (X * X + 7) rem Space, (X div 3 + 11 * X) rem Space].
