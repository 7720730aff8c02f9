%% A node of the cluster that is tested. It does what lines of its input say, and answers each with a line `@word JSON`.
%%
%%     go PHASE KIND SLOTS ONLY NODE,NODE...   begins the traffic of a phase with the other nodes (KIND calm or storm; ONLY kinds of rounds or all)
%%     stop                                    ends the traffic; the answer has what was counted
%%     connect NODE,NODE...                    waits for connections to these, and says if global has seen them
%%     disconnect NODE,NODE...                 closes the connections to these
%%     contest                                 takes or gives up contested global names, as soon as global can
%%     connection NODE                         the number of the connection to it, or none
%%     view                                    the names and groups that it sees
%%     global                                  what global knows of the other nodes
%%     left                                    what a phase left, and figures
%%     end                                     the node ends in an orderly way
-module(cluster_node).
-export([main/1]).

%% Global may take this part of the patience to see the nodes that are connected.
-define(SYNC_PART, 6).
-define(PERMANENT, [{cluster_stream, receiver, [Name]} || Name <- cluster_stream:names()]
                   ++ [{cluster_worker, echo, []}, {cluster_lock, keeper, []}, {cluster_holder, start, []}, {cluster_old, start, []}, {cluster_connections, start, []}]).

%% Seed, index of the node, number of its life, percent of sizes, patience in seconds, sabotage (none, or what).
main(Texts) ->
    [Seed, Index, Life, Size, Patience] = [list_to_integer(T) || T <- lists:droplast(Texts)],
    process_flag(trap_exit, true),
    persistent_term:put(cluster_size, Size),
    persistent_term:put(cluster_patience, 1000 * Patience),
    persistent_term:put(cluster_calm, false),
    case list_to_atom(lists:last(Texts)) of none -> ok; Sabotage -> cluster_sabotage:prepare(Sabotage) end,
    load(),
    cluster_book:start(),
    {ok, _} = pg:start_link(cluster),
    {ok, _} = cluster_calls:start_link(),
    %% The echo is the last one: it tells others that all is there.
    [permanent(What) || What <- ?PERMANENT -- [{cluster_worker, echo, []}]],
    receive after 100 -> ok end,
    permanent({cluster_worker, echo, []}),
    say(ready, #{os_pid => list_to_integer(os:getpid()), creation => cluster_old:creation(self()), otp => list_to_binary(erlang:system_info(otp_release))}),
    Me = self(),
    spawn_link(fun() -> read(Me) end),
    loop(#{seed => Seed, index => Index, life => Life, traffic => [], base => cluster_left:have()}).

permanent({M, F, Args}) -> spawn_link(fun() -> cluster_book:place({M, F}), apply(M, F, Args) end).

%% What rounds need is there before anything is counted.
load() ->
    {ok, Names} = file:list_dir(filename:dirname(code:which(?MODULE))),
    [{module, _} = code:ensure_loaded(list_to_atom(filename:rootname(Name))) || Name <- Names, filename:extension(Name) =:= ".beam"],
    ok = code:ensure_modules_loaded([rand, json, erpc, rpc, pg, global, gen_server, gen, proc_lib, io_lib_pretty, re, sets]).

say(Word, What) -> io:put_chars(user, ["@", atom_to_binary(Word), " ", json:encode(What), "\n"]).

read(To) ->
    case io:get_line("") of
        eof -> To ! eof;
        %% The node is on its way to its end.
        {error, terminated} -> ok;
        Line -> To ! {line, string:lexemes(string:trim(Line), " ")}, read(To)
    end.

loop(State) ->
    receive
        {line, [Word | Args]} ->
            {Answer, Next} = do(list_to_existing_atom(Word), Args, State),
            say(list_to_existing_atom(Word), Answer),
            loop(Next);
        %% The tester is gone.
        eof -> halt(0);
        {'EXIT', P, Reason} ->
            cluster_book:place(<<"permanent processes">>),
            Reason =:= normal orelse cluster_book:broken(crashed, {permanent, P}, Reason),
            loop(State)
    end.

do(go, [Phase, Kind, Slots, Only, Peers], #{seed := Seed, index := Index, life := Life} = State) ->
    persistent_term:put(cluster_calm, Kind =:= "calm"),
    cluster_keeper ! forget,
    Traffic = cluster_traffic:start(#{peers => nodes_of(Peers), seed => {Seed, Index, Life, list_to_integer(Phase)}, slots => list_to_integer(Slots), index => Index,
                                      only => case Only of "all" -> all; _ -> [list_to_existing_atom(Name) || Name <- string:lexemes(Only, ",")] end}),
    {#{started => length(Traffic)}, State#{traffic := Traffic}};
do(stop, _, #{traffic := Traffic} = State) ->
    cluster_traffic:stop(Traffic),
    {cluster_book:take_counts(), State#{traffic := []}};
do(connect, [Peers], State) ->
    Without = [N || N <- nodes_of(Peers), not connected(N, 30)],
    {#{without => Without, synced => Without =:= [] andalso synced(),
       connections => maps:from_list([{N, C} || {N, #{connection_id := C}} <- nodes(connected, #{connection_id => true})])}, State};
do(disconnect, [Peers], State) ->
    {#{disconnected => [N || N <- nodes_of(Peers), erlang:disconnect_node(N) =:= true]}, State};
do(contest, _, State) ->
    cluster_holder:contest(),
    {#{}, State};
do(connection, [Peer], State) ->
    {#{id => cluster_round:connection(list_to_atom(Peer))}, State};
do(view, _, State) ->
    {cluster_holder:view(), State};
do(global, _, State) ->
    {#{global => cluster_holder:global()}, State};
do(left, _, #{base := Base} = State) ->
    Wrong = cluster_left:wrong(Base),
    cluster_book:place(<<"after a phase">>),
    [cluster_book:broken(left, {What, Expected}, Found) || {What, Expected, Found} <- Wrong],
    Figures = cluster_left:figures(),
    {Figures, State#{base := maps:merge(#{figures => Figures}, Base)}};
do('end', _, State) ->
    init:stop(),
    {#{}, State}.

nodes_of(Text) -> [list_to_atom(Name) || Name <- string:lexemes(Text, ",")].

%% Tries for some seconds.
connected(_, 0) -> false;
connected(Node, Tries) ->
    case net_adm:ping(Node) of
        pong -> true;
        pang -> receive after 100 -> connected(Node, Tries - 1) end
    end.

%% True if global has seen all connected nodes.
synced() ->
    {P, M} = spawn_monitor(fun() -> exit(global:sync()) end),
    receive {'DOWN', M, process, P, Result} -> Result =:= ok
    after persistent_term:get(cluster_patience) div ?SYNC_PART -> exit(P, kill), receive {'DOWN', M, process, P, _} -> false end
    end.
