%% A supervisor: restarts, strategies, intensity, children added and removed.
-module(supervisor_basic).
-export([main/1]).
-behaviour(supervisor).
-export([init/1, start_child/2]).
main(_) ->
    process_flag(trap_exit, true),
    [begin {ok, S} = supervisor:start_link(?MODULE, {St, [a, b, c]}), Old = [{I, P} || {I, P, _, _} <- supervisor:which_children(S)], exit(proplists:get_value(b, Old), kill), t:wait_until(fun() -> New = [{I, P} || {I, P, _, _} <- supervisor:which_children(S), is_pid(P)], length(New) =:= 3 andalso proplists:get_value(b, New) =/= proplists:get_value(b, Old) end), New = [{I, P} || {I, P, _, _} <- supervisor:which_children(S)], t:w(St, lists:sort([{I, P =/= proplists:get_value(I, Old)} || {I, P} <- New])), t:w(count, lists:sort(supervisor:count_children(S))),
        t:w(add, element(1, supervisor:start_child(S, spec(d)))), t:w(twice, element(1, element(2, supervisor:start_child(S, spec(d))))), t:w(terminate, [supervisor:terminate_child(S, d), supervisor:terminate_child(S, zz), supervisor:delete_child(S, a), supervisor:delete_child(S, d), element(1, supervisor:restart_child(S, a))]), exit(S, shutdown), receive {'EXIT', S, R} -> t:w(ended, R) end end || St <- [one_for_one, one_for_all, rest_for_one]],
    {ok, T} = supervisor:start_link(?MODULE, {one_for_one, [x]}), kill_loop(T, 5), t:w(intensity, receive {'EXIT', T, R2} -> R2 end), {ok, U} = supervisor:start_link(?MODULE, simple), Cs = [element(2, supervisor:start_child(U, [N])) || N <- [1, 2, 3]], t:w(simple, {length(Cs), lists:sort(supervisor:count_children(U)), supervisor:terminate_child(U, hd(Cs)), length(supervisor:which_children(U))}), t:w(check, [supervisor:check_childspecs([spec(q)]), element(1, supervisor:check_childspecs([#{id => x}]))]), t:w(bad_init, supervisor:start_link(?MODULE, bad)).
kill_loop(_, 0) -> ok; kill_loop(S, N) -> try [exit(P, kill) || {_, P, _, _} <- supervisor:which_children(S), is_pid(P)], receive after 2 -> ok end, kill_loop(S, N - 1) catch exit:_ -> ok end.
init({St, Ids}) -> {ok, {#{strategy => St, intensity => 2, period => 10}, [spec(I) || I <- Ids]}}; init(simple) -> {ok, {#{strategy => simple_one_for_one}, [#{id => s, start => {?MODULE, start_child, [s]}, restart => temporary}]}}; init(bad) -> oops.
spec(I) -> #{id => I, start => {?MODULE, start_child, [I, 0]}, shutdown => brutal_kill}.
start_child(_, _) -> {ok, spawn_link(fun() -> receive stop -> ok end end)}.
