%% Finds nodes as erl_epmd does, but leads each connection through the tester's proxy: `-epmd_module cluster_epmd`.
%% The environment variable CLUSTER_PORTS says at which port the proxy waits for this node's connections to each of the others: "n2:40001,n3:40002".
-module(cluster_epmd).
-export([start_link/0, register_node/2, register_node/3, port_please/2, port_please/3, listen_port_please/2, address_please/3, names/0, names/1, stop/0]).

%% The version of the protocol of the distribution since OTP 23.
-define(VERSION, 6).

port_please(Name, Host) -> port_please(Name, Host, infinity).

port_please(Name, Host, Timeout) ->
    Wanted = lists:flatten(io_lib:format("~s", [Name])),
    Ports = [{N, list_to_integer(Port)} || Pair <- string:lexemes(os:getenv("CLUSTER_PORTS", ""), ","), [N, Port] <- [string:lexemes(Pair, ":")]],
    case lists:keyfind(Wanted, 1, Ports) of
        {_, Port} -> {port, Port, ?VERSION};
        false -> erl_epmd:port_please(Name, Host, Timeout)
    end.

start_link() -> erl_epmd:start_link().
stop() -> erl_epmd:stop().
register_node(Name, Port) -> erl_epmd:register_node(Name, Port).
register_node(Name, Port, Family) -> erl_epmd:register_node(Name, Port, Family).
listen_port_please(Name, Host) -> erl_epmd:listen_port_please(Name, Host).
address_please(Name, Host, Family) -> erl_epmd:address_please(Name, Host, Family).
names() -> erl_epmd:names().
names(Host) -> erl_epmd:names(Host).
