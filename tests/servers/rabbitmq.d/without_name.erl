%% What RabbitMQ expects of a node with a name, for one without.
-module(without_name).
-behaviour(gen_server).
-export([prepare/1, init/1, handle_call/3, handle_cast/2]).

%% `Folder` has our rabbit_prelaunch_dist. It is loaded before RabbitMQ looks for its own.
prepare(Folder) ->
    {module, _} = code:load_abs(filename:join(Folder, "rabbit_prelaunch_dist")),
    {ok, _} = gen_server:start({local, net_kernel}, ?MODULE, [], []),
    ok.

%% The process of net_kernel, of which RabbitMQ asks one time, and its table, in which the management plugin looks for other nodes.
init([]) ->
    sys_dist = ets:new(sys_dist, [named_table, public, {keypos, 2}]),
    {ok, none}.

handle_call(ticktime, _, State) -> {reply, 60000, State};
handle_call(_, _, State) -> {reply, ignored, State}.

handle_cast(_, State) -> {noreply, State}.
