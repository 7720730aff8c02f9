%% For online.rs: how many schedulers there are, and how many of them are online.
-module(online).
-export([main/1]).

main(_) -> io:format("~w ~w~n", [erlang:system_info(schedulers), erlang:system_info(schedulers_online)]).
