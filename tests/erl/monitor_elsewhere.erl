%% Monitors of processes that a node without a name cannot reach.
-module(monitor_elsewhere).
-export([main/1]).

main(_) ->
    Other = binary_to_term(<<131, 88, 119, 7, "foo@bar", 100:32, 0:32, 7:32>>),
    t:e(pid, fun() -> down(monitor(process, Other)) end),
    t:e(tagged, fun() -> down(monitor(process, Other, [{tag, gone}, {alias, demonitor}])) end),
    t:e(here, fun() -> down(monitor(process, {nobody, node()})) end),
    t:e(name, fun() -> monitor(process, {nobody, foo@bar}) end),
    t:e(name_tagged, fun() -> monitor(process, {nobody, foo@bar}, [{tag, gone}]) end),
    t:e(port, fun() -> monitor(port, {nobody, foo@bar}) end),
    t:e(multi_call, fun() -> gen_server:multi_call([node(), foo@bar], nobody, request, 1000) end).

down(Reference) ->
    receive {Tag, Reference, Kind, Object, Reason} -> {Tag, Kind, is_pid(Object), Reason} after 5000 -> nothing end.
