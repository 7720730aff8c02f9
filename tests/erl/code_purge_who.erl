%% Which processes use old code and are ended by its purge: those that stand in it, or will return there, in all their states.
-module(code_purge_who).
-export([main/1, relay/2, busy/1]).

-define(CODE, code_purge_who_code).

main(_) ->
    [show(Name) || Name <- [waits, loops, polls, ticks, below, has_fun, hibernates, caught, literal, left, trap,
                                  asleep, computes]],
    suspended(),
    itself(),
    pending_fun().

%% Loaded, entered, replaced; then asked, purged softly and for good.
show(Name) ->
    load(1),
    {P, M} = spawn_monitor(fun() -> enter(Name) end),
    P ! {from, self()},
    receive {P, entered} -> ok end,
    [receive {P, again} -> ok end || Name =:= left],
    settle(Name, P),
    load(2),
    [begin P ! {from, self()}, receive {P, left} -> ok end end || Name =:= left],
    Uses = erlang:check_process_code(P, ?CODE),
    Soft = code:soft_purge(?CODE),
    %% What was not purged softly is.
    Killed = code:purge(?CODE),
    Ended =
        case Killed of
            true -> receive {'DOWN', M, process, P, Reason} -> Reason end;
            false -> is_process_alive(P)
        end,
    io:format("~p: uses ~p, soft ~p, killed ~p, ~p~n", [Name, Uses, Soft, Killed, Ended]),
    exit(P, kill),
    demonitor(M, [flush]),
    code:purge(?CODE),
    code:delete(?CODE),
    code:purge(?CODE).

settle(Name, P) when Name =:= hibernates; Name =:= waits; Name =:= has_fun; Name =:= literal ->
    t:wait_until(fun() -> process_info(P, status) =:= {status, waiting} end);
settle(_, _) -> ok.

enter(Name) ->
    receive {from, From} -> ok end,
    case Name of
        waits -> ?CODE:waits(From);
        loops -> From ! {self(), entered}, ?CODE:loops();
        polls -> From ! {self(), entered}, ?CODE:polls();
        ticks -> From ! {self(), entered}, ?CODE:ticks();
        below -> ?CODE:below(?MODULE, From);
        has_fun -> F = ?CODE:a_fun(), relay(From, F), F(1);
        hibernates -> ?CODE:sleeps(From);
        caught -> ?CODE:caught(?MODULE, From);
        literal -> L = ?CODE:literal(), relay(From, L), put(l, L);
        left -> ?CODE:called(?MODULE, From);
        trap -> process_flag(trap_exit, true), ?CODE:waits(From);
        asleep -> From ! {self(), entered}, ?CODE:asleep();
        computes -> From ! {self(), entered}, ?CODE:computes(?MODULE)
    end.

relay(From, Term) ->
    From ! {self(), entered},
    receive nothing -> Term end.

busy(N) -> busy(N + 1).

%% A suspended process has no turn in which it could leave.
suspended() ->
    load(1),
    P = spawn(fun() -> receive go -> ?CODE:loops() end end),
    P ! go,
    t:wait_until(fun() -> process_info(P, current_function) =:= {current_function, {?CODE, loops, 0}} end),
    true = erlang:suspend_process(P),
    load(2),
    io:format("suspended: ~p ~p ~p~n", [erlang:check_process_code(P, ?CODE), code:soft_purge(?CODE), code:purge(?CODE)]).

itself() ->
    code:purge(?CODE),
    load(1),
    io:format("itself: ~p ~p~n", [?CODE:itself(), erlang:check_process_code(self(), ?CODE)]).

%% A process that calls a fun of the version that is about to go waits for what becomes of it.
pending_fun() ->
    code:purge(?CODE),
    load(1),
    F = ?CODE:a_fun(),
    Blocker = spawn(fun() -> receive {from, From} -> ?CODE:waits(From) end end),
    Blocker ! {from, self()},
    receive {Blocker, entered} -> ok end,
    load(2),
    Me = self(),
    P = spawn(fun() -> calls(F, Me) end),
    io:format("pending: ~p~n", [[code:soft_purge(?CODE) || _ <- lists:seq(1, 20)] =:= lists:duplicate(20, false)]),
    io:format("still: ~p~n", [F(1)]),
    exit(Blocker, kill),
    t:wait_until(fun() -> not is_process_alive(Blocker) end),
    io:format("then: ~p~n", [code:soft_purge(?CODE)]),
    receive {P, Result} -> io:format("~p~n", [Result]) end.

calls(F, Me) ->
    try F(1) of
        2 -> calls(F, Me)
    catch
        error:Reason -> Me ! {self(), element(1, Reason)}
    end.

load(V) ->
    Text = [
        "-module(" ++ atom_to_list(?CODE) ++ ").",
        "-export([waits/1, loops/0, polls/0, ticks/0, below/2, a_fun/0, sleeps/1, woken/0, caught/2, literal/0, called/2,"
        " asleep/0, computes/1, itself/0]).",
        "waits(From) -> From ! {self(), entered}, receive nothing -> VERSION end.",
        "loops() -> loops().",
        "polls() -> receive nothing -> VERSION after 0 -> polls() end.",
        "ticks() -> receive nothing -> VERSION after 1 -> ticks() end.",
        "below(M, From) -> {VERSION, M:relay(From, VERSION)}.",
        "a_fun() -> fun(X) -> X + VERSION end.",
        "sleeps(From) -> From ! {self(), entered}, erlang:hibernate(" ++ atom_to_list(?CODE) ++ ", woken, []).",
        "woken() -> VERSION.",
        "caught(M, From) -> try M:relay(From, VERSION) catch _:_ -> VERSION end.",
        "literal() -> {[a, b, c], \"literal\", VERSION}.",
        "called(M, From) -> From ! {self(), entered}, From ! {self(), again}, receive {from, _} -> ok end, From ! {self(), left}, M:relay(From, VERSION).",
        "asleep() -> timer:sleep(infinity), VERSION.",
        "computes(M) -> {VERSION, M:busy(1)}.",
        "itself() -> {erlang:check_process_code(self(), " ++ atom_to_list(?CODE) ++ "), VERSION}."
    ],
    Forms = [form(re:replace(T, "VERSION", integer_to_list(V), [global, {return, list}])) || T <- Text],
    {ok, _, Beam} = compile:forms(Forms),
    code:purge(?CODE),
    {module, _} = code:load_binary(?CODE, "none", Beam).

form(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.
