%% `demonitor` with `flush` takes the messages of a monitor of the time offset out of the queue, though the monitor is still there.
-module(time_offset_flush).
-export([main/1, changed/0]).

main(_) ->
    Folder = filename:dirname(code:which(?MODULE)),
    {ok, Peer, _} = peer:start_link(#{connection => standard_io, args => ["+C", "single_time_warp", "-pa", Folder]}),
    [t:w(Label, Value) || {Label, Value} <- peer:call(Peer, ?MODULE, changed, [])],
    peer:stop(Peer).

changed() ->
    Monitors = [monitor(time_offset, clock_service) || _ <- lists:seq(1, 6)],
    Before = left(Monitors),
    preliminary = erlang:system_flag(time_offset, finalize),
    [First, Second, Third, Fourth | _] = Monitors,
    %% The messages of all monitors come together.
    receive {'CHANGE', First, time_offset, clock_service, _} -> ok end,
    Results = [
        demonitor(Second, [flush]),
        demonitor(Third, [flush, info]),
        demonitor(Third, [flush, info]),
        demonitor(Fourth),
        demonitor(Fourth, [flush]),
        demonitor(First, [info])
    ],
    [{before, Before}, {results, Results}, {left, left(Monitors)}].

%% The numbers of the monitors whose messages are in the queue.
left(Monitors) ->
    {messages, Messages} = process_info(self(), messages),
    Numbers = lists:zip(Monitors, lists:seq(1, length(Monitors))),
    lists:sort([proplists:get_value(Monitor, Numbers) || {'CHANGE', Monitor, time_offset, clock_service, _} <- Messages]).
