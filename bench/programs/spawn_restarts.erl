%% A supervisor restarts its children, with some thousands of restarts in its period.
-module(spawn_restarts).
-export([main/1, group/0, init/1, start_child/1, child/1]).

group() -> spawn.

main(_) ->
    logger:set_primary_config(level, none),
    bench:time(?MODULE, fun() ->
        process_flag(trap_exit, true),
        register(?MODULE, self()),
        {ok, Supervisor} = supervisor:start_link(?MODULE, []),
        [{ok, _} = supervisor:start_child(Supervisor, [I]) || I <- lists:seq(1, 10)],
        crash(10000)
    end).

init(_) -> {ok, {{simple_one_for_one, 1000000, 1}, [#{id => child, start => {?MODULE, start_child, []}}]}}.

start_child(I) -> proc_lib:start_link(?MODULE, child, [I]).

child(I) ->
    proc_lib:init_ack({ok, self()}),
    ?MODULE ! {up, I, self()},
    receive crash -> exit(crashed) end.

crash(0) -> done;
crash(N) -> receive {up, _, Child} -> Child ! crash, crash(N - 1) end.
