%% This node starts nodes of another emulator.
-module(node_starting).
-export([all/3]).
-compile(nowarn_deprecated_function).
-import(node_server, [check/2, check/3, until/2]).

all(Erl, Beams, Cookie) ->
    Args = ["-setcookie", atom_to_list(Cookie), "-pa", Beams],
    [peer(Kind, Options, Erl, Args) || {Kind, Options} <- [{"peer", #{}}, {"peer at standard_io", #{connection => standard_io}},
                                                            {"peer at a port", #{connection => {{127, 0, 0, 1}, 0}}}]],
    nameless(Erl, Args),
    slave(Erl, Args).

peer(Kind, Options, Erl, Args) ->
    Name = list_to_atom(peer:random_name()),
    {ok, Peer, Node} = peer:start_link(Options#{name => Name, host => "localhost", exec => Erl, args => Args}),
    check([Kind, ": peer:call or rpc:call"], Node, fun() ->
        case Options of
            #{connection := _} -> peer:call(Peer, erlang, node, []);
            #{} -> rpc:call(Node, erlang, node, [])
        end
    end),
    check([Kind, ": it is another emulator process"], fun() -> rpc:call(Node, os, getpid, []) =/= os:getpid() end),
    check([Kind, ": output"], ok, fun() -> rpc:call(Node, io, format, ["output of a peer~n"]) end),
    check([Kind, ": a large binary there and back"], fun() ->
        Binary = binary:copy(<<"large">>, 1000000),
        rpc:call(Node, binary, copy, [Binary]) =:= Binary
    end),
    check([Kind, ": peer:stop"], {ok, []}, fun() -> {peer:stop(Peer), until([], fun() -> [N || N <- nodes(known), N =:= Node, lists:member(N, nodes(connected))] end)} end),
    check([Kind, ": it is told"], normal, fun() -> receive {'EXIT', Peer, Reason} -> Reason after 5000 -> none end end).

nameless(Erl, Args) ->
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, exec => Erl, args => Args}),
    check("peer without a name: peer:call", {nonode@nohost, 42}, fun() ->
        {peer:call(Peer, erlang, node, []), peer:call(Peer, lists, sum, [[1, 2, 39]])}
    end),
    check("peer without a name: an error there", strange, fun() -> try peer:call(Peer, erlang, error, [strange]) catch error:R -> R end end),
    check("peer without a name: peer:send", ok, fun() -> peer:send(Peer, init, nothing) end),
    peer:stop(Peer),
    receive {'EXIT', Peer, _} -> ok after 5000 -> none end.

slave(Erl, Args) ->
    check("slave:start and slave:stop", {true, []}, fun() ->
        {ok, Node} = slave:start(localhost, list_to_atom(peer:random_name()), lists:flatten(lists:join(" ", Args)), no_link, Erl),
        Answers = rpc:call(Node, erlang, node, []) =:= Node,
        slave:stop(Node),
        {Answers, until([], fun() -> [N || N <- nodes(), N =:= Node] end)}
    end).
