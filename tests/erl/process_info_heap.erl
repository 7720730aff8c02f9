%% What counts as a process' heap: messages that wait in the queue; what a process on a dirty thread is
%% doing; which process refers to binaries.
-module(process_info_heap).
-export([main/1]).

main(_) ->
    sizes(on_heap),
    too_large(),
    binaries(),
    dirty().

loop() -> receive Pid when is_pid(Pid) -> Pid ! ok, loop() end.

sizes(Queue) ->
    Pid = spawn_opt(fun loop/0, [{message_queue_data, Queue}]),
    {_, Before} = process_info(Pid, total_heap_size),
    [Pid ! lists:duplicate(N, N) || N <- lists:seq(1, 100)],
    Pid ! self(),
    receive ok -> ok end,
    %% With a shared heap that is its sender's, until a collection finds which process refers to it.
    erlang:system_info(heap_type) =:= shared andalso erlang:garbage_collect(),
    {_, After} = process_info(Pid, total_heap_size),
    io:format("~p grows: ~p~n", [Queue, After > Before + 9000]),
    exit(Pid, kill).

too_large() ->
    {Pid, Ref} = spawn_opt(fun() -> receive never -> ok end end,
                           [monitor, {max_heap_size, #{size => 1024, error_logger => false}}, {message_queue_data, on_heap}]),
    [Pid ! lists:duplicate(N, N) || N <- lists:seq(1, 100)],
    process_info(Pid, messages),
    erlang:garbage_collect(Pid),
    receive {'DOWN', Ref, process, Pid, Why} -> io:format("~p~n", [Why]) after 3000 -> io:format("lives~n") end.

references(Pid, Size) ->
    {binary, List} = process_info(Pid, binary),
    lists:usort([{S, N} || {_, S, N} <- List, S =:= Size]).

binaries() ->
    Bin = list_to_binary(lists:duplicate(4711, $r)),
    io:format("~p~n", [references(self(), 4711)]),
    Pid = spawn(fun() -> receive go -> Bin end end),
    receive after 50 -> ok end,
    %% With a shared heap both refer to one thing, which refers to the binary once.
    Times = case erlang:system_info(heap_type) of shared -> 2; _ -> 1 end,
    Both = [[{Size, Times * References} || {Size, References} <- references(P, 4711)] || P <- [self(), Pid]],
    io:format("~p ~p~n", Both),
    Ref = monitor(process, Pid),
    Pid ! go,
    receive {'DOWN', Ref, _, _, _} -> ok end,
    receive after 50 -> ok end,
    io:format("~p~n", [references(self(), 4711)]),
    4711 = byte_size(Bin).

dirty() ->
    erts_debug:set_internal_state(available_internal_state, true),
    Pid = spawn(fun() -> erts_debug:dirty_io(wait, 1000) end),
    receive after 200 -> ok end,
    io:format("~p~n", [process_info(Pid, [current_function, status])]),
    Start = erlang:monotonic_time(millisecond),
    true = erlang:garbage_collect(Pid, [{type, major}]),
    io:format("waited ~p~n", [erlang:monotonic_time(millisecond) - Start > 300]).
