%% Flags and variables that only change what the emulator tells.
-module(flags_told).
-export([main/1]).

main(_) ->
    Limit = fun() -> erlang:system_info(ets_limit) end,
    t:w(default, with([], Limit)),
    t:w(variable, with(["-env", "ERL_MAX_ETS_TABLES", "12345"], Limit)),
    t:w(no_number, with(["-env", "ERL_MAX_ETS_TABLES", "many"], Limit)),
    t:w(flag, with(["+e", "20000", "-env", "ERL_MAX_ETS_TABLES", "12345"], Limit)),
    t:w(flag_as_default, with(["+e", "8192", "-env", "ERL_MAX_ETS_TABLES", "12345"], Limit)),
    t:w(small, with(["+e", "10"], Limit)),
    Ports = fun() -> erlang:system_info(port_limit) end,
    t:w(ports, [with(Args, Ports) || Args <- [[], ["+Q", "1500"], ["-env", "ERL_MAX_PORTS", "5000"], ["+Q", "2000", "-env", "ERL_MAX_PORTS", "5000"],
                                                          ["+Q", "65536", "-env", "ERL_MAX_PORTS", "5000"]]]),
    t:w(full, with(["+Q", "1024"], fun all_ports/0)),
    Threads = fun() -> erlang:system_info(thread_pool_size) end,
    t:w(threads, [with(Args, Threads) || Args <- [[], ["+A", "0"], ["+A", "42"]]]),
    Topology = fun() -> [erlang:system_info({cpu_topology, What}) || What <- [defined, detected, used]] end,
    t:w(undetected, with(["+ssrct"], Topology)).

with(Args, Fun) ->
    {Erl, First} = t:emulator(),
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, exec => {Erl, First}, args => ["-pa", filename:dirname(code:which(?MODULE)) | Args]}),
    Result = peer:call(Peer, erlang, apply, [Fun, []]),
    peer:stop(Peer),
    Result.

%% How it ends to open more and more ports.
all_ports() ->
    try lists:foreach(fun(_) -> open_port({fd, 0, 1}, [out]) end, lists:seq(1, 2000)) of
        ok -> no_limit
    catch
        error:Reason -> {Reason, erlang:system_info(port_count) > 1000}
    end.
