%% The texts of pids, ports and references of another node stand for these again, as long as the node is connected.
-module(dist_identifier_texts).
-export([main/1]).

main(_) ->
    {ok, _} = net_kernel:start([list_to_atom(?MODULE_STRING ++ os:getpid()), shortnames]),
    {ok, Peer, Node} = peer:start_link(#{name => peer:random_name(), connection => standard_io}),
    pong = net_adm:ping(Node),
    Pid = erpc:call(Node, erlang, whereis, [init]),
    Port = hd(erpc:call(Node, erlang, ports, [])),
    Ref = erpc:call(Node, erlang, make_ref, []),
    t:w(pid, list_to_pid(pid_to_list(Pid)) =:= Pid),
    t:w(port, list_to_port(port_to_list(Port)) =:= Port),
    t:w(ref, list_to_ref(ref_to_list(Ref)) =:= Ref),
    t:w(alive, erpc:call(Node, erlang, is_process_alive, [list_to_pid(pid_to_list(Pid))])),
    t:w(unknown, [catch element(1, F(Text)) || {F, Text} <- texts(99999999)]),
    Texts = [pid_to_list(Pid), port_to_list(Port), ref_to_list(Ref)],
    peer:stop(Peer),
    t:w(stopped, length(Texts)).

texts(N) ->
    Number = integer_to_list(N),
    [{fun(T) -> try {ok, list_to_pid(T)} catch error:badarg -> {badarg} end end, "<" ++ Number ++ ".1.0>"},
     {fun(T) -> try {ok, list_to_port(T)} catch error:badarg -> {badarg} end end, "#Port<" ++ Number ++ ".1>"},
     {fun(T) -> try {ok, list_to_ref(T)} catch error:badarg -> {badarg} end end, "#Ref<" ++ Number ++ ".1.2.3>"}].
