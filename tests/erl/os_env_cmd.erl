%% Environment variables, os:cmd, init arguments.
-module(os_env_cmd).
-export([main/1]).

main(_) ->
    t:w(env, [os:getenv("HEDDLE_NO_SUCH"), os:getenv("HEDDLE_NO_SUCH", "dflt"), os:putenv("HEDDLE_X", "välue"), os:getenv("HEDDLE_X"), os:unsetenv("HEDDLE_X"), os:getenv("HEDDLE_X"), os:putenv("HEDDLE_E", ""), os:getenv("HEDDLE_E")]), t:w(list, {lists:all(fun is_list/1, os:getenv()), lists:all(fun({A, B}) -> is_list(A) andalso is_list(B) end, os:env())}), t:e(bad, fun() -> os:putenv("A=B", "x") end), t:e(bad2, fun() -> os:getenv(t:id(x)) end), t:e(nul, fun() -> os:putenv("a", [0]) end),
    t:w(cmd, [os:cmd("echo hello"), os:cmd("printf 'a\\nb'"), os:cmd("exit 3"), os:cmd("echo err 1>&2"), os:cmd("cat", #{max_size => 10}), os:cmd("echo $HEDDLE_E-$((1+2))"), os:cmd('echo atom'), length(os:cmd("seq 1 5000")), os:cmd("seq 1 100", #{max_size => 12})]), t:w(type, {os:type(), is_tuple(os:version()), is_list(os:getpid()), os:find_executable("sh") =/= false, os:find_executable("no-such-program-x")}), t:w(init, [init:get_argument(noshell), init:get_argument(nope), is_list(init:get_arguments()), init:get_status(), element(1, init:script_id())]), t:e(cmd_bad, fun() -> os:cmd(t:id({x})) end).
