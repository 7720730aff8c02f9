%% A distributed application: it runs on one of the nodes, and tells by a global name on which, and how it was started there.
-module(node_shared).
-behaviour(application).
-export([start/2, stop/1, where/0]).

start(Type, []) ->
    Pid = spawn_link(fun() -> ready(Type) end),
    yes = global:re_register_name(node_shared, Pid),
    {ok, Pid}.

ready(Type) ->
    receive
        {where, From} -> From ! {node_shared, node(), Type}, ready(Type);
        _ -> ready(Type)
    end.

stop(_) -> ok.

%% The node on which it runs, and how it was started there.
where() ->
    case global:whereis_name(node_shared) of
        undefined -> nowhere;
        Pid ->
            Pid ! {where, self()},
            receive {node_shared, Node, Type} -> {Node, Type} after 2000 -> silent end
    end.
