%% A shop on mnesia: transactions that read, write and use an index, and queries.
-module(real_mnesia).
-export([main/1, group/0]).

-record(account, {id, owner, balance}).
-record(entry, {id, from, to, amount}).

group() -> real.

main(_) ->
    logger:set_primary_config(level, none),
    application:set_env(mnesia, dir, filename:join(os:getenv("TMPDIR", "/tmp"), "real_mnesia." ++ os:getpid())),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(account, [{attributes, record_info(fields, account)}, {index, [#account.owner]}]),
    {atomic, ok} = mnesia:create_table(entry, [{type, ordered_set}, {attributes, record_info(fields, entry)}]),
    ok = mnesia:wait_for_tables([account, entry], 10000),
    bench:time(?MODULE, fun work/0),
    mnesia:stop().

work() ->
    [mnesia:dirty_write(#account{id = Id, owner = Id rem 100, balance = 1000}) || Id <- lists:seq(0, 999)],
    Self = self(),
    Workers = [spawn_link(fun() -> Self ! {self(), transfers(4000, Worker)} end) || Worker <- [1, 2]],
    Done = [receive {Worker, Count} -> Count end || Worker <- Workers],
    Total = mnesia:activity(transaction, fun() -> mnesia:foldl(fun(#account{balance = Balance}, Sum) -> Sum + Balance end, 0, account) end),
    Owners = [owner(Owner) || Owner <- lists:seq(0, 99)],
    {atomic, Selected} = mnesia:transaction(fun() -> mnesia:select(entry, [{#entry{amount = '$1', from = '$2', _ = '_'}, [{'>', '$1', 95}], ['$2']}]) end),
    {lists:sum(Done), Total, lists:sum(Owners), length(Selected) > 0, mnesia:table_info(entry, size)}.

%% Each transfer is of an amount that its number determines, so balances do not depend on the order.
transfers(0, _) -> 0;
transfers(N, Worker) ->
    From = (N * 7919 + Worker * 31) rem 1000,
    To = (N * 104729 + Worker) rem 1000,
    {atomic, ok} = mnesia:transaction(fun() -> transfer(From, To, N rem 100, {Worker, N}) end),
    1 + transfers(N - 1, Worker).

transfer(Same, Same, Amount, Id) -> mnesia:write(#entry{id = Id, from = Same, to = Same, amount = Amount});
transfer(From, To, Amount, Id) ->
    [A] = mnesia:read(account, From, write),
    [B] = mnesia:read(account, To, write),
    ok = mnesia:write(A#account{balance = A#account.balance - Amount}),
    ok = mnesia:write(B#account{balance = B#account.balance + Amount}),
    mnesia:write(#entry{id = Id, from = From, to = To, amount = Amount}).

owner(Owner) ->
    {atomic, Accounts} = mnesia:transaction(fun() -> mnesia:index_read(account, Owner, #account.owner) end),
    length(Accounts).
