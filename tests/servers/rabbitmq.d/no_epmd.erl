%% Answers for epmd, of which a node without a name has none: RabbitMQ looks now and then whether epmd still knows the node.
-module(no_epmd).
-export([names/1, port_please/2, register_node/2, register_node/3]).

names(_) -> {ok, []}.

port_please(_, _) -> {port, 1, 6}.

register_node(_, _) -> {ok, 1}.

register_node(_, _, _) -> {ok, 1}.
