%% A process that calls a fun of old code while the code is being purged waits, suspended, until it is known what becomes of it.
-module(purge_calls_wait).
-export([main/1]).

main(_) ->
    [io:format("~p~n", [{Type, run(Type)}]) || Type <- [soft, gone, replaced]].

run(Type) ->
    load("make() -> fun(X) -> X + 1 end. run(F) -> F(), ok."),
    Fun = purged:make(),
    Self = self(),
    %% A soft purge fails while this one runs old code.
    {User, UserRef} = spawn_monitor(fun() -> purged:run(fun() -> Self ! ready, receive stop -> ok end, ok end), exit(stopped) end),
    receive ready -> ok end,
    erlang:delete_module(purged),
    Type =:= replaced andalso load("make() -> other."),
    Ref = make_ref(),
    erts_code_purger ! {test_purge, purged, Self, Type =/= soft, Ref},
    receive {started, Ref} -> ok end,
    {_, CallerRef} = Caller = spawn_monitor(fun() -> caller(Fun) end),
    Waiting = wait(element(1, Caller), 100),
    erts_code_purger ! {continue, Ref},
    receive {continued, Ref} -> ok end,
    erts_code_purger ! {complete, Ref},
    Result = receive {test_purge, R, Ref} -> R end,
    User ! stop,
    Ends = [receive {'DOWN', M, process, _, E} -> brief(E) end || M <- [CallerRef, UserRef]],
    code:purge(purged),
    code:delete(purged),
    code:purge(purged),
    {Waiting, Result, Ends}.

caller(Fun) ->
    {name, []} = erlang:fun_info(Fun, name),
    {purged, [], 1} = erlang:fun_info_mfa(Fun),
    exit({got, Fun(41)}).

wait(_, 0) -> never;
wait(Pid, N) ->
    case process_info(Pid, [status, current_function]) of
        [{status, suspended}, {current_function, Where}] -> Where;
        _ -> receive after 20 -> ok end, wait(Pid, N - 1)
    end.

brief({undef, _}) -> undef;
brief({{badfun, F}, _}) -> {badfun, erlang:fun_info(F, name)};
brief(Other) -> Other.

load(Text) ->
    {ok, Tokens, _} = erl_scan:string("-module(purged). -export([make/0, run/1]). -compile(nowarn_export_all). " ++ Text ++
        case string:find(Text, "run(") of nomatch -> " run(_) -> ok."; _ -> "" end),
    Forms = forms(Tokens, []),
    {ok, purged, Code} = compile:forms(Forms),
    {module, purged} = code:load_binary(purged, "purged.erl", Code).

forms([], []) -> [];
forms([{dot, _} = Dot | Rest], Form) ->
    {ok, Parsed} = erl_parse:parse_form(lists:reverse([Dot | Form])),
    [Parsed | forms(Rest, [])];
forms([Token | Rest], Form) -> forms(Rest, [Token | Form]).
