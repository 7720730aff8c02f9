%% Applications: loaded, started, environment, keys, dependencies, a small one of our own.
-module(application_control).
-export([main/1]).
-behaviour(application).
-export([start/2, stop/1]).
main(_) -> t:w(running, [lists:keymember(A, 1, application:which_applications()) || A <- [kernel, stdlib, nope]]), S = {application, heddle_app, [{description, "d"}, {vsn, "1.2"}, {modules, []}, {registered, []}, {applications, [kernel, stdlib]}, {env, [{k, v}]}, {mod, {?MODULE, [arg]}}]}, t:w(load, [application:load(S), application:load(S), application:get_key(heddle_app, vsn), application:get_env(heddle_app, k), application:get_env(heddle_app, zz), application:get_env(heddle_app, zz, d), application:set_env(heddle_app, k, 2), application:get_all_env(heddle_app)]), t:w(start, [application:start(heddle_app), application:start(heddle_app), application:get_application(whereis(heddle_app_proc)), application:ensure_all_started(heddle_app), application:stop(heddle_app), application:stop(heddle_app), application:unload(heddle_app), application:start(no_such_app_zz), application:get_key(nope, vsn)]).
start(normal, [arg]) -> P = spawn_link(fun() -> receive stop -> ok end end), register(heddle_app_proc, P), {ok, P}.
stop(_) -> ok.
