%% A process that came from old code to new code within its slice, and handles signals where it looks for a message: it is not in the old code.
-module(code_check_receiving).
-export([main/1]).

-define(MODULES, code_check_receiving_m).

main(_) ->
    [One, Two] = [module(V) || V <- [1, 2]],
    %% The process that asks is on another scheduler, if there is one, and waits awake.
    {_, M} = spawn_opt(fun() -> exit({answers, lists:usort([one_round(One, Two) || _ <- lists:seq(1, 300)])}) end, [monitor, {scheduler, 1}]),
    receive {'DOWN', M, process, _, Ended} -> io:format("~p~n", [Ended]) end.

awake(Message) -> receive Message -> ok after 0 -> awake(Message) end.

%% In version 2 it looks through all that is in its queue first, in which time it is asked.
one_round(One, Two) ->
    {module, _} = code:load_binary(?MODULES, "none", One),
    P = spawn_opt(fun() -> ?MODULES:wait() end, [link, {scheduler, erlang:system_info(schedulers_online)}]),
    [P ! {other, N} || N <- lists:seq(1, 1000)],
    P ! {self(), which},
    receive {P, 1} -> ok end,
    {module, _} = code:load_binary(?MODULES, "none", Two),
    P ! {self(), newest},
    awake({P, newest}),
    Check = erlang:check_process_code(P, ?MODULES),
    P ! {self(), which},
    Version = receive {P, V} -> V end,
    unlink(P),
    M = monitor(process, P),
    exit(P, kill),
    receive {'DOWN', M, process, P, killed} -> ok end,
    false = code:purge(?MODULES),
    true = code:delete(?MODULES),
    false = code:purge(?MODULES),
    {Check, Version}.

%% wait() stays in its version until it is told. A process that is told `newest` answers from the new one.
module(V) ->
    Text = ["-module(" ++ atom_to_list(?MODULES) ++ ").", "-export([wait/0, newest/1]).",
            "newest(From) -> From ! {self(), newest}, wait().",
            "wait() -> receive {From, which} -> From ! {self(), " ++ integer_to_list(V) ++ "}, wait(); {From, newest} -> "
            ++ atom_to_list(?MODULES) ++ ":newest(From) end."],
    Forms = [begin {ok, Tokens, _} = erl_scan:string(T), {ok, Form} = erl_parse:parse_form(Tokens), Form end || T <- Text],
    {ok, _, Beam} = compile:forms(Forms),
    Beam.
