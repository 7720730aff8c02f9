%% Flags and variables that only change what the emulator tells.
-module(flags_told).
-export([main/1]).

main(_) ->
    Limit = fun() -> erlang:system_info(ets_limit) end,
    t:w(default, with([], Limit)),
    t:w(variable, with(["-env", "ERL_MAX_ETS_TABLES", "12345"], Limit)),
    t:w(no_number, with(["-env", "ERL_MAX_ETS_TABLES", "many"], Limit)),
    t:w(flag, with(["+e", "20000", "-env", "ERL_MAX_ETS_TABLES", "12345"], Limit)),
    t:w(small, with(["+e", "10"], Limit)),
    Topology = fun() -> [erlang:system_info({cpu_topology, What}) || What <- [defined, detected, used]] end,
    t:w(undetected, with(["+ssrct"], Topology)).

with(Args, Fun) ->
    {Erl, First} = t:emulator(),
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, exec => {Erl, First}, args => ["-pa", filename:dirname(code:which(?MODULE)) | Args]}),
    Result = peer:call(Peer, erlang, apply, [Fun, []]),
    peer:stop(Peer),
    Result.
