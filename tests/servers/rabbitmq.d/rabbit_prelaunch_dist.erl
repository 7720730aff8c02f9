%% Stands in for RabbitMQ's module of this name: a node without a name has no distribution to set up.
-module(rabbit_prelaunch_dist).
-export([setup/1, stop/0]).

setup(_) -> ok.

stop() -> ok.
