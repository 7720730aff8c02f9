%% The time warp modes and time correction, each in an emulator of its own: what they are called, finalizing, and which processes are told.
-module(time_warp).
-export([main/1, child/0]).

main(_) ->
    Flags = [[], ["+C", "no_time_warp"], ["+C", "single_time_warp"], ["+C", "multi_time_warp"], ["+c", "true"], ["+c"],
        ["+C", "single_time_warp", "+c", "false"], ["+c", "false", "+C", "no_time_warp"]],
    [t:w(list_to_atom(string:join(["erl" | F], " ")), run(F)) || F <- Flags],
    t:e(flag, fun() -> erlang:system_flag(time_offset, t:id(final)) end),
    t:e(monitor, fun() -> erlang:monitor(time_offset, t:id(clock)) end),
    t:e(monitor_options, fun() -> erlang:monitor(time_offset, t:id(clock), []) end).

run(Flags) ->
    {Erl, First} = t:emulator(),
    Port = open_port({spawn_executable, Erl},
        [{args, First ++ Flags ++ ["-noshell", "-pa", filename:dirname(code:which(?MODULE)), "-run", atom_to_list(?MODULE), "child"]},
         {env, [{"HEDDLE_OTP", code:root_dir()}]}, exit_status, binary, stderr_to_stdout]),
    collect(Port, []).

collect(Port, Acc) ->
    receive
        {Port, {data, Data}} -> collect(Port, [Acc, Data]);
        {Port, {exit_status, Status}} -> {Status, [binary_to_atom(L) || L <- binary:split(iolist_to_binary(Acc), <<"\n">>, [global])]}
    end.

child() ->
    Monitor = monitor(time_offset, clock_service),
    io:format("~w~n", [[erlang:system_info(I) || I <- [time_warp_mode, time_correction, time_offset]]]),
    io:format("~w~n", [process_info(self(), monitors)]),
    Before = erlang:time_offset(),
    io:format("~w~n", [[erlang:system_flag(time_offset, finalize), erlang:system_flag(time_offset, finalize), erlang:system_info(time_offset)]]),
    receive
        {'CHANGE', Monitor, Type, Item, Offset} ->
            io:format("~w~n", [{Type, Item, Offset =:= erlang:time_offset(), abs(Offset - Before) < 1_000_000_000}])
    after 100 -> io:format("no change~n")
    end,
    io:format("~w ~w~n", [demonitor(Monitor, [info]), process_info(self(), monitors)]),
    {M0, S0} = {erlang:monotonic_time(), erlang:system_time()},
    receive after 20 -> ok end,
    {M1, S1} = {erlang:monotonic_time(), erlang:system_time()},
    io:format("~w~n", [[M1 - M0 >= 20_000_000, S1 - S0 >= 19_000_000, abs(S1 - os:system_time()) < 1_000_000_000]]),
    halt().
