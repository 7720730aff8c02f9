%% Output that a port does not take: for input alone it ends with ebadf, while it is busy its sender is suspended.
-module(port_refuses).
-export([main/1]).

main(_) ->
    process_flag(trap_exit, true),
    [t:p({Options, How}, input_only(Options, Command)) || Options <- [[], [binary], [{packet, 2}]], {How, Command} <- commands()],
    t:p(busy, busy()),
    t:p(gone, gone()),
    ok = file:del_dir_r(t:tmp(?MODULE)).

commands() ->
    [{port_command, fun(P) -> port_command(P, "hello") end}, {empty, fun(P) -> port_command(P, "") end},
     {message, fun(P) -> P ! {self(), {command, "hello"}}, sent end}].

input_only(Options, Command) ->
    P = open_port({spawn, "sleep 60"}, [in | Options]),
    Returned = Command(P),
    receive {'EXIT', P, Why} -> {Returned, Why, erlang:port_info(P, name)} after 5000 -> {Returned, nothing} end.

%% Those that send to it, and what they are before and when it has taken all.
busy() ->
    {Signal, Wait} = signal(busy),
    P = open_port({spawn, "sh -c '" ++ Wait ++ "exec cat > /dev/null'"}, [out]),
    true = register(port_refuses, P),
    Data = binary:copy(<<7>>, 200000),
    Owner = self(),
    Ps = [spawn_link(fun() -> Send(), receive stop -> ok end end)
          || Send <- [fun() -> port_command(P, Data), port_command(P, Data) end, fun() -> P ! {Owner, {command, Data}}, P ! {Owner, {command, Data}} end,
                      fun() -> port_refuses ! {Owner, {command, Data}}, erlang:send(port_refuses, {Owner, {command, Data}}) end]],
    Suspended = [status(S, suspended) || S <- Ps],
    ok = file:write_file(Signal, ""),
    Statuses = Suspended ++ [status(S, waiting) || S <- Ps],
    [S ! stop || S <- Ps],
    Stopped = [receive {'EXIT', S, Why} -> Why end || S <- Ps],
    true = port_close(P),
    {Statuses, Stopped}.

%% A process that waits for the answer of a port waits as well, but not for long: only one that waits in its own function stays so.
status(P, suspended) -> t:wait_until(fun() -> process_info(P, status) =:= {status, suspended} end), process_info(P, status);
status(P, waiting) ->
    t:wait_until(fun() ->
                     [{status, Status}, {current_function, {Module, _, _}}] = process_info(P, [status, current_function]),
                     Status =:= waiting andalso Module =:= ?MODULE
                 end),
    process_info(P, status).

%% A file, and shell commands that wait for it: what must be seen before lasts as long as it takes, but not longer than the emulator.
signal(What) ->
    File = filename:join(t:tmp(?MODULE), What),
    {File, "until [ -e " ++ File ++ " ] || ! kill -0 $PPID; do sleep 0.1; done 2>/dev/null; "}.

%% The port ends while a process waits for it.
gone() ->
    {Signal, Wait} = signal(gone),
    P = open_port({spawn, "sh -c '" ++ Wait ++ "'"}, [out]),
    Data = binary:copy(<<0>>, 300000),
    [port_command(P, Data, [nosuspend]) || _ <- [1, 2]],
    S = spawn_link(fun() -> Failed = (catch port_command(P, Data)), receive stop -> exit(element(1, element(2, Failed))) end end),
    Before = status(S, suspended),
    ok = file:write_file(Signal, ""),
    receive {'EXIT', P, _} -> ok end,
    After = status(S, waiting),
    S ! stop,
    {Before, After, receive {'EXIT', S, Why} -> Why end}.
