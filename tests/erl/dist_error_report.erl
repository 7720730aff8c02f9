%% The report of a process that ends by an error names the node, if it has a name.
-module(dist_error_report).
-export([main/1, log/2]).

main(_) ->
    ok = logger:add_handler(?MODULE, ?MODULE, #{config => self()}),
    logger:set_handler_config(default, level, none),
    ok = logger:set_primary_config(level, all),
    t:w(without_a_name, report()),
    {ok, _} = net_kernel:start([list_to_atom(?MODULE_STRING ++ os:getpid()), shortnames]),
    t:w(with_a_name, report()).

report() ->
    Pid = spawn(fun() -> erlang:raise(error, why, [{m, f, 0, []}]) end),
    receive
        {Format, [Pid | Rest]} -> {Format, [case X of _ when X =:= node() -> this_node; _ -> X end || X <- Rest]}
    after 5000 -> none
    end.

log(#{msg := {Format, Args}}, #{config := To}) -> To ! {Format, Args};
log(_, _) -> ok.
