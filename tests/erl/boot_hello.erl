%% The least a machine can do: one native that prints.
-module(boot_hello).
-export([main/1]).

main(_) -> erlang:display(hello).
