%% Which process gets the VM's log messages: none, one that is named, and the registered logger again when that process is gone.
-module(system_logger_flag).
-export([main/1]).

main(_) ->
    Proxy = erlang:system_info(system_logger),
    io:format("~p ~p~n", [Proxy =:= whereis(logger_proxy), erlang:system_flag(system_logger, undefined) =:= Proxy]),
    io:format("~p~n", [erlang:system_info(system_logger)]),
    crash(),
    io:format("~p~n", [erlang:system_flag(system_logger, self())]),
    crash(),
    receive {log, Level, _, _, _} -> io:format("~p~n", [Level]) after 2000 -> io:format("nothing~n") end,
    logger:set_primary_config(level, none),
    {Pid, Ref} = spawn_monitor(fun() -> erlang:system_flag(system_logger, self()) end),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    io:format("~p~n", [erlang:system_info(system_logger) =:= Pid]),
    crash(),
    timer:sleep(50),
    io:format("~p~n", [erlang:system_info(system_logger)]),
    io:format("~p~n", [catch erlang:system_flag(system_logger, other)]),
    io:format("~p~n", [[is_list(W) || W <- erlang:system_info(emu_args)] =/= []]).

crash() ->
    {_, Ref} = spawn_monitor(fun() -> error(wanted) end),
    receive {'DOWN', Ref, _, _, {wanted, _}} -> ok end.
