%% mnesia with disc copies on several nodes, and writers that note which of their transactions were acknowledged.
-module(node_mnesia).
-export([create/1, start/0, write/2, stop/0, missing/1, contents/0, wait/0]).

-record(row, {key, value}).
-record(sum, {name, total}).

%% Makes the schema and the tables on all of the nodes, and starts mnesia there.
create(Nodes) ->
    ok = mnesia:create_schema(Nodes),
    [ok = rpc:call(Node, mnesia, start, []) || Node <- Nodes],
    {atomic, ok} = mnesia:create_table(row, [{disc_copies, Nodes}, {attributes, record_info(fields, row)}]),
    {atomic, ok} = mnesia:create_table(sum, [{disc_copies, Nodes}, {attributes, record_info(fields, sum)}]),
    {atomic, ok} = mnesia:create_table(kept, [{disc_only_copies, Nodes}]),
    wait().

start() ->
    ok = mnesia:start(),
    wait().

wait() -> mnesia:wait_for_tables([row, sum, kept], 30000).

%% Processes that write rows, each a new key with every transaction, and count in the same transaction. The file gets each key after mnesia has
%% acknowledged the transaction.
write(File, Writers) ->
    {ok, Log} = file:open(File, [append, raw, binary]),
    Leader = spawn(fun() ->
        register(node_mnesia, self()),
        Pids = [spawn_link(fun() -> {ok, Own} = file:open(File, [append, raw, binary]), writer(Own, {Writer, erlang:system_time()}, 1) end) || Writer <- lists:seq(1, Writers)],
        receive {stop, From} -> [begin unlink(Pid), stop(Pid) end || Pid <- Pids], From ! stopped end
    end),
    ok = file:close(Log),
    is_pid(Leader).

stop(Pid) ->
    Monitor = monitor(process, Pid),
    Pid ! stop,
    receive {'DOWN', Monitor, _, _, _} -> ok end.

writer(Log, {Writer, Begun}, Number) ->
    Key = {node(), Writer, Begun, Number},
    {atomic, ok} = mnesia:sync_transaction(fun() ->
        [#sum{total = Total}] = case mnesia:read(sum, Writer, write) of [] -> [#sum{name = Writer, total = 0}]; Found -> Found end,
        ok = mnesia:write(#row{key = Key, value = binary:copy(<<"v">>, Number rem 2000)}),
        ok = mnesia:write(#sum{name = Writer, total = Total + 1}),
        case Number rem 10 of
            0 -> mnesia:write({kept, Key, Number});
            _ -> ok
        end
    end),
    ok = file:write(Log, io_lib:format("~0p.~n", [Key])),
    receive stop -> ok after 0 -> writer(Log, {Writer, Begun}, Number + 1) end.

%% Ends the writers.
stop() ->
    node_mnesia ! {stop, self()},
    receive stopped -> ok after 20000 -> late end.

%% How many acknowledged keys the files name, how many of them are not in the table, and whether the counters agree with the rows.
missing(Files) ->
    Keys = lists:append([begin {ok, All} = consult(File), All end || File <- Files]),
    Missing = [Key || Key <- Keys, ets:lookup(row, Key) =:= []],
    Sum = lists:sum([Total || {sum, _, Total} <- ets:tab2list(sum)]),
    Kept = [Key || {_, _, _, Number} = Key <- Keys, Number rem 10 =:= 0, mnesia:dirty_read(kept, Key) =:= []],
    {length(Keys), length(Missing), length(Kept), Sum =:= ets:info(row, size)}.

%% The last line may be half-written.
consult(File) ->
    {ok, Text} = file:read_file(File),
    Whole = lists:droplast(binary:split(Text, <<"\n">>, [global])),
    {ok, [begin {ok, Tokens, _} = erl_scan:string(binary_to_list(Line)), {ok, Key} = erl_parse:parse_term(Tokens), Key end || Line <- Whole]}.

%% A number that tells tables apart whose rows differ.
contents() ->
    {atomic, Hash} = mnesia:transaction(fun() ->
        [mnesia:read_lock_table(Table) || Table <- [row, sum, kept]],
        erlang:phash2([lists:sort(mnesia:match_object(mnesia:table_info(Table, wild_pattern))) || Table <- [row, sum, kept]])
    end),
    Hash.
