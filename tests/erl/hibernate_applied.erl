%% hibernate called by apply and through a fun; limits below the first heap, arguments that are no strings, packets that do not fit.
-module(hibernate_applied).
-export([main/1, lie/2, woke/2]).

main(_) ->
    [io:format("~p~n", [run(How)]) || How <- [applied, funned, bad]],
    {_, Min} = process_info(self(), min_heap_size),
    io:format("~p~n", [[failure(F) || F <- [
        fun() -> process_flag(max_heap_size, Min - 1) end,
        fun() -> spawn_opt(fun() -> ok end, [{max_heap_size, Min - 1}]) end,
        fun() -> spawn_opt(fun() -> ok end, [{min_heap_size, 5000}, {max_heap_size, 1000}]) end,
        fun() -> open_port({spawn_executable, "ls"}, [{args, ["head" | "tail"]}]) end,
        fun() -> code:get_chunk(<<"no module">>, "AtU8") end
    ]]]),
    process_flag(trap_exit, true),
    Port = open_port({spawn, "cat"}, [{packet, 1}]),
    Port ! {self(), {command, lists:duplicate(256, $a)}},
    io:format("~p~n", [receive {'EXIT', Port, Reason} -> Reason after 5000 -> none end]).

run(How) ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(?MODULE, lie, [How, Self]),
    Pid ! wake,
    receive
        {woke, Message} -> {How, woke, Message};
        {back, What} -> {How, back, What};
        {'DOWN', Ref, process, Pid, Reason} -> {How, ended, Reason}
    after 5000 -> {How, nothing}
    end.

lie(How, Parent) ->
    R = (catch lie_down(How, id(hibernate), [?MODULE, woke, [Parent, How]])),
    Parent ! {back, case R of {'EXIT', {Why, _}} -> Why; _ -> R end}.

lie_down(applied, F, Args) -> apply(erlang, F, Args);
lie_down(funned, F, [A, B, C]) -> Fun = fun erlang:F/3, Fun(A, B, C);
lie_down(bad, F, [A, B, _]) -> apply(erlang, F, [A, B, id(no_list)]).

woke(Parent, _) -> receive Message -> Parent ! {woke, Message} end.

failure(F) -> try F() catch Class:Reason -> {Class, Reason} end.

id(X) -> X.
