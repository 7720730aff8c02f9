%% A panic in any call-back ends that task, with a reason that says where, and nothing else.
-module(heddle_task_panic).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    erts_debug:set_internal_state(heddle_task_probe, true),
    [io:format("~p: ~p~n", [Place, try_it(Place)]) || Place <- [setup, handle_event, idle, handle_timeout, handle_info, terminate, drop]],
    %% A linked process hears of it like of any other end.
    {P, M} = spawn_monitor(fun() ->
        {ok, T} = heddle_task:start_link(probe, none),
        T ! {panic, self(), <<"ends us both">>},
        receive after infinity -> ok end
    end),
    receive {'DOWN', M, process, P, Reason} -> io:format("linked: ~p~n", [reason(Reason)]) end,
    %% Many at once, on all schedulers.
    Many = [begin {ok, {T, Ref}} = heddle_task:start(probe, none, [monitor]), T ! {panic, self(), <<"many">>}, Ref end || _ <- lists:seq(1, 200)],
    Reasons = [receive {'DOWN', Ref, process, _, R} -> reason(R) end || Ref <- Many],
    io:format("many: ~p~n", [lists:usort(Reasons)]),
    settle(1000),
    io:format("living: ~p~n", [erts_debug:get_internal_state(heddle_task_probe)]).

settle(0) -> ok;
settle(N) ->
    case erts_debug:get_internal_state(heddle_task_probe) of
        0 -> ok;
        _ -> timer:sleep(5), settle(N - 1)
    end.

try_it(Place) ->
    {ok, {T, M}} = heddle_task:start(probe, {panic, Place}, [monitor]),
    poke(Place, T),
    receive {'DOWN', M, process, T, Reason} -> reason(Reason) after 20000 -> timeout end.

poke(setup, _) -> ok;
poke(handle_event, T) -> T ! {panic, self(), <<"told to">>};
poke(idle, T) -> T ! {work, self(), 10};
poke(handle_timeout, T) -> T ! {timer, self(), 1};
poke(handle_info, T) -> #{type := probe, info := undefined} = heddle_task:info(T);
poke(_, T) -> exit(T, shutdown).

%% The line in the source may change.
reason({task_panic, Type, Text}) ->
    [What, Where] = binary:split(Text, <<" (">>),
    {match, _} = re:run(Where, "probe\\.rs:[0-9]+\\)$"),
    {task_panic, Type, What};
reason(Other) -> Other.
