%% The traffic of a node in a phase: senders of streams to all others, and slots, processes that do one round after the other.
-module(cluster_traffic).
-export([start/1, stop/1, kinds/0]).

%% Modules of rounds, and how often theirs are chosen. What takes locks on all nodes is slow.
-define(MODULES, [{20, cluster_monitors}, {20, cluster_links}, {20, cluster_spawns}, {20, cluster_calls}, {8, cluster_leaders}, {10, cluster_aliases}, {8, cluster_names},
                  {1, cluster_lock}, {8, cluster_old}]).

%% All rounds: [{Weight, {Name, Fun}}].
rounds() -> [{Weight, Round} || {Weight, Module} <- ?MODULES, Round <- Module:rounds()].

%% The names that --only knows.
kinds() -> [streams | [Name || {_, {Name, _}} <- rounds()]].

%% Seed: a term that is different for each node, life and phase. Only: kinds, or all.
start(#{peers := Peers, seed := Seed, slots := Slots, only := Only, index := Index}) ->
    Wanted = [R || {_, {Name, _}} = R <- rounds(), is_wanted(Name, Only)],
    Streams = [{Peer, Name} || is_wanted(streams, Only), Peer <- Peers, Name <- cluster_stream:names()],
    [sender(Peer, Name, erlang:phash2({Seed, Peer, Name}, 1 bsl 32)) || {Peer, Name} <- Streams]
        ++ [slot(Peers, Wanted, name(Index, Slot), {Seed, Slot}) || Wanted =/= [], Slot <- lists:seq(1, Slots)].

is_wanted(_, all) -> true;
is_wanted(Name, Only) -> lists:member(Name, Only).

%% A name for each slot of each node, so that atoms stay few.
name(Index, Slot) -> list_to_atom("cluster_name_" ++ integer_to_list(Index) ++ "_" ++ integer_to_list(Slot)).

sender(Peer, Name, Seed) ->
    Place = iolist_to_binary(io_lib:format("stream to ~w of ~w", [Name, Peer])),
    {Place, spawn_monitor(fun() -> cluster_stream:sender(Peer, Name, Place, Seed) end)}.

slot(Peers, Rounds, Name, Seed) ->
    {atom_to_binary(Name), spawn_monitor(fun() -> slot_loop(Peers, Rounds, Name, Seed, 1) end)}.

%% Tells all to come to their end, and waits for it.
stop(Traffic) ->
    [P ! stop || {_, {P, _}} <- Traffic],
    [receive
         {'DOWN', M, process, P, normal} -> ok;
         {'DOWN', M, process, P, Reason} -> cluster_book:broken(crashed, normal, {Place, Reason})
     after 3 * cluster_round:patience() -> stuck(Place, P), exit(P, kill)
     end || {Place, {P, M}} <- Traffic],
    ok.

stuck(Place, P) ->
    Where = process_info(P, [current_stacktrace, messages, dictionary]),
    cluster_book:broken(stuck, {at_the_end_within, 3 * cluster_round:patience(), ms}, {Place, Where}).

slot_loop(Peers, Rounds, Name, Seed, N) ->
    receive stop -> ok
    after 0 ->
        rand:seed(exsss, erlang:phash2({Seed, N}, 1 bsl 32)),
        {Kind, Fun} = cluster_chance:weighted(Rounds),
        Peer = cluster_chance:pick(Peers),
        Place = iolist_to_binary(io_lib:format("round ~w ~w of ~w with ~w", [N, Kind, Name, Peer])),
        cluster_book:count({of_kind, Kind}),
        one(Fun, Peer, Name, Place, rand:uniform(1 bsl 40)),
        cluster_chance:in_a_while(),
        slot_loop(Peers, Rounds, Name, Seed, N + 1)
    end.

one(Fun, Peer, Name, Place, Seed) ->
    {P, M} = spawn_monitor(fun() -> cluster_book:place(Place), cluster_round:run(Fun, Peer, Name, Seed) end),
    cluster_book:place(Place),
    receive
        {'DOWN', M, process, P, normal} -> ok;
        {'DOWN', M, process, P, Reason} -> cluster_book:broken(crashed, normal, Reason)
    after 2 * cluster_round:patience() ->
        stuck(Place, P),
        exit(P, kill),
        receive {'DOWN', M, process, P, _} -> ok end
    end.
