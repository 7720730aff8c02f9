%% Driver and event handler of tests/conformance: runs one suite (or group, or case)
%% under common_test and appends one line a finished case to an event file,
%% so that the results up to a crash or a time limit are kept.
-module(conf_run).
-behaviour(gen_event).
-export([main/1, init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).

%% erl ... -s conf_run main ARGFILE     (ARGFILE: one Erlang term, a list)
main([ArgFile]) ->
    {ok, [A]} = file:consult(atom_to_list(ArgFile)),
    Get = fun(K) -> proplists:get_value(K, A) end,
    Dir = Get(dir),
    os:putenv("PATH", Dir ++ ":" ++ os:getenv("PATH", "/usr/bin:/bin")),
    os:putenv("ERL_CRASH_DUMP", Get(crash_dump)),
    ok = file:set_cwd(Dir),
    Common = [{logdir, Get(logdir)}, {auto_compile, false},
              {event_handler, [{?MODULE, [Get(events)]}]},
              {enable_builtin_hooks, false},
              {ct_hooks, [{ts_install_cth, [{nodenames, 2}]}]},
              {config, Get(config)},
              {abort_if_missing_suites, true},
              {scale_timetraps, true}] ++ Get(extra),
    R = try ct:run_test(Get(what) ++ Common)
        catch C:E:S -> {crash, {C, E, S}} end,
    line(Get(events), ["end\t", str(R)]),
    erlang:halt(0, [{flush, false}]).

init([File]) ->
    put(groups, []),
    {ok, #{file => File, t => #{}}}.

handle_event({event, start_info, _, {Tests, Suites, Cases}}, S) ->
    out(S, ["info\t", str(Tests), $\t, str(Suites), $\t, str(Cases)]);
handle_event({event, tc_start, _, {Suite, {Conf, _Group, _}}}, S) when Conf =:= init_per_group; Conf =:= end_per_group ->
    start({Suite, Conf}, S);
handle_event({event, tc_start, _, {Suite, {F, _Group}}}, S) ->
    start({Suite, F}, S);
handle_event({event, tc_start, _, {Suite, F}}, S) ->
    start({Suite, F}, S);
handle_event({event, tc_done, _, {Suite, {init_per_group, G, _}, R}}, S) ->
    put(groups, [G | get(groups)]),
    notok(Suite, init_per_group, R, S);
handle_event({event, tc_done, _, {Suite, {end_per_group, G, _}, R}}, S) ->
    S1 = notok(Suite, end_per_group, R, S),
    case get(groups) of
        [G | T] -> put(groups, T);
        L -> put(groups, lists:delete(G, L))
    end,
    S1;
handle_event({event, tc_done, _, {Suite, F, R}}, S)
  when F =:= init_per_suite; F =:= end_per_suite ->
    notok(Suite, F, R, S);
handle_event({event, tc_done, _, {Suite, {F, G}, R}}, S) ->
    done(Suite, [G], F, R, S);
handle_event({event, tc_done, _, {Suite, F, R}}, S) ->
    done(Suite, get(groups), F, R, S);
handle_event({event, K, _, {Suite, {init_per_group, _G}, Why}}, S) when K =:= tc_user_skip; K =:= tc_auto_skip ->
    done(Suite, get(groups), init_per_group, {skip_conf, Why}, S);
handle_event({event, K, _, {Suite, {F, G}, Why}}, S) when K =:= tc_user_skip; K =:= tc_auto_skip ->
    done(Suite, grp(G), F, {K, Why}, S);
handle_event({event, K, _, {Suite, F, Why}}, S) when K =:= tc_user_skip; K =:= tc_auto_skip ->
    done(Suite, get(groups), F, {K, Why}, S);
handle_event({event, test_stats, _, {Ok, Failed, {U, A}}}, S) ->
    out(S, ["stats\t", str(Ok), $\t, str(Failed), $\t, str(U), $\t, str(A)]);
handle_event(_, S) ->
    {ok, S}.

handle_call(_, S) -> {ok, ok, S}.
handle_info(_, S) -> {ok, S}.
terminate(_, _) -> ok.

grp(G) when is_atom(G) -> [G | lists:delete(G, get(groups))];
grp(_) -> get(groups).

start(Key, #{t := T} = S) ->
    {ok, S1} = out(S, ["start\t", str(element(1, Key)), $\t, path(get(groups)), $\t, str(element(2, Key))]),
    {ok, S1#{t := T#{Key => erlang:monotonic_time(millisecond)}}}.

notok(_, _, ok, S) -> {ok, S};
notok(Suite, F, R, S) -> done(Suite, get(groups), F, R, S).

done(Suite, Groups, F, R, #{t := T} = S) ->
    {Res, Why} = case R of
                     ok -> {"ok", ""};
                     %% as in common_test's own count
                     {failed, {Suite, end_per_testcase, W}} -> {"ok", {end_per_testcase, W}};
                     {skipped, W} -> {"skip", W};
                     {auto_skipped, W} -> {"auto_skip", W};
                     {tc_user_skip, W} -> {"skip", W};
                     {tc_auto_skip, W} -> {"auto_skip", W};
                     {skip_conf, W} -> {"skip_conf", W};
                     {failed, W} -> {"FAILED", W};
                     W -> {"FAILED", W}
                 end,
    Ms = case T of
             #{{Suite, F} := T0} -> erlang:monotonic_time(millisecond) - T0;
             _ -> 0
         end,
    out(S, ["case\t", str(Suite), $\t, path(Groups), $\t, str(F), $\t, Res, $\t,
            integer_to_list(Ms), $\t, str(Why)]).

path(Gs) -> lists:join("/", [str(G) || G <- lists:reverse(Gs)]).

str("") -> "";
str(T) ->
    L = lists:flatten(io_lib:format("~0tP", [T, 40])),
    [if C < $\s -> $\s; true -> C end || C <- lists:sublist(L, 400)].

out(#{file := File} = S, Line) ->
    line(File, Line),
    {ok, S}.

line(File, Line) ->
    ok = file:write_file(File, unicode:characters_to_binary([Line, $\n]), [append]).
