%% The node that measures. Lines of its input are `row NAME MILLISECONDS`; it answers each with `@row JSON`: figures, or an error.
-module(nodes_bench).
-export([main/1, rate/2, rate/3]).

-define(PATIENCE, 30000).

main([PeerText]) ->
    Peer = list_to_atom(PeerText),
    pong = net_adm:ping(Peer),
    ok = global:sync(),
    {ok, _} = pg:start_link(nodes),
    say("ready", #{about => nodes_peer:about()}),
    loop(Peer).

say(Word, What) -> io:put_chars(["@", Word, " ", json:encode(What), "\n"]).

loop(Peer) ->
    case io:get_line("") of
        eof -> halt(0);
        Line ->
            ["row", Name, Ms] = string:lexemes(string:trim(Line), " "),
            say("row", measured(list_to_atom(Name), Peer, list_to_integer(Ms))),
            loop(Peer)
    end.

%% In a process of its own, so that a row leaves nothing to the next one.
measured(Name, Peer, Ms) ->
    {P, M} = spawn_monitor(fun() -> exit({figures, nodes_rows:run(Name, Peer, Ms)}) end),
    receive
        {'DOWN', M, process, P, {figures, Figures}} -> Figures;
        {'DOWN', M, process, P, Reason} -> #{error => unicode:characters_to_binary(io_lib:format("~0tP", [Reason, 20]))}
    after 20 * Ms + ?PATIENCE ->
        exit(P, kill),
        #{error => <<"not done in time">>}
    end.

%% How often the function ran in a second.
rate(Ms, Fun) -> rate(Ms, 1, Fun).

%% The same, of a function that does its work several times; after a quarter of the time to warm up.
rate(Ms, Times, Fun) ->
    _ = repeat(Fun, now_us() + 250 * Ms, 0),
    Begin = now_us(),
    Count = repeat(Fun, Begin + 1000 * Ms, 0),
    #{per_second => Times * Count * 1000000 / max(1, now_us() - Begin)}.

repeat(Fun, Until, Count) ->
    Fun(),
    case now_us() < Until of true -> repeat(Fun, Until, Count + 1); false -> Count + 1 end.

now_us() -> erlang:monotonic_time(microsecond).
