%% Processes that call each other without end, each next after the other, leave their turns to the rest.
-module(partner_chain).
-export([main/1]).

main(_) ->
    Main = self(),
    Pairs = [spawn_link(fun() -> Server = spawn_link(fun serve/0), call_for_ever(Server) end) || _ <- lists:seq(1, 3)],
    Others = [spawn_link(fun() -> count(Main, 200) end) || _ <- [1, 2]],
    %% As many turns as they like: none of them may wait for the calls to end, which they do not.
    t:w(others, [receive {Pid, done} -> done end || Pid <- Others]),
    Low = spawn_opt(fun() -> count(Main, 20) end, [link, {priority, low}]),
    t:w(low, receive {Low, done} -> done end),
    High = spawn_opt(fun() -> count(Main, 200) end, [link, {priority, high}]),
    t:w(high, receive {High, done} -> done end),
    t:w(pairs_alive, [is_process_alive(Pid) || Pid <- Pairs]),
    %% What is queued counts as such, and ends as such.
    [begin unlink(Pid), exit(Pid, kill) end || Pid <- Pairs],
    t:w(pairs_alive, [is_process_alive(Pid) || Pid <- Pairs]),
    %% A partner that is suspended, or ended, before it ran.
    t:w(suspended, [suspended() || _ <- lists:seq(1, 50)] =:= lists:duplicate(50, answered)),
    t:w(ended, [ended() || _ <- lists:seq(1, 50)] =:= lists:duplicate(50, killed)).

count(Main, 0) -> Main ! {self(), done};
count(Main, N) -> erlang:yield(), count(Main, N - 1).

serve() -> receive {call, From, Ref} -> From ! {Ref, ok}, serve() end.

call_for_ever(Server) -> call(Server), call_for_ever(Server).

call(Server) ->
    Ref = make_ref(),
    Server ! {call, self(), Ref},
    receive {Ref, Answer} -> Answer end.

suspended() ->
    Server = spawn_link(fun serve/0),
    ok = call(Server),
    Ref = make_ref(),
    Server ! {call, self(), Ref},
    erlang:suspend_process(Server),
    erlang:yield(),
    erlang:resume_process(Server),
    receive {Ref, ok} -> answered end.

ended() ->
    {Server, Monitor} = spawn_monitor(fun serve/0),
    ok = call(Server),
    Server ! {call, self(), make_ref()},
    exit(Server, kill),
    receive {'DOWN', Monitor, process, Server, Reason} -> Reason end.
