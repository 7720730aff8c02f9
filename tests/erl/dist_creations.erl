%% A node that starts takes no creation that identifiers of an earlier life, which are still in use, have.
-module(dist_creations).
-export([main/1]).

main(_) ->
    %% It starts epmd if there is none.
    {ok, Peer, _} = peer:start_link(#{name => peer:random_name(), connection => standard_io}),
    Name = list_to_atom("dist_creations" ++ os:getpid()),
    Life = fun() -> {node(), erlang:system_info(creation)} end,
    Lives = [{Node, First} | _] = [life(Name, Life) || _ <- lists:seq(1, 3)],
    io:format("one after the other ~p~n", [[C - First || {N, C} <- Lives, N =:= Node]]),
    {Node, Last} = lists:last(Lives),
    Text = atom_to_binary(Node),
    %% epmd offers the next number.
    Pid = binary_to_term(<<131, $X, 119, (byte_size(Text)), Text/binary, 4711:32, 0:32, (Last + 1):32>>),
    Ref = binary_to_term(<<131, $Z, 3:16, 119, (byte_size(Text)), Text/binary, (Last + 2):32, 1:32, 2:32, 3:32>>),
    {Node, Next} = life(Name, fun() -> io:format("names ~p~n", [node(Pid) =:= node()]), {node(), erlang:system_info(creation)} end),
    io:format("avoided ~p~n", [Next > Last + 2]),
    peer:stop(Peer),
    {Pid, Ref}.

life(Name, F) ->
    {ok, _} = net_kernel:start([Name, shortnames]),
    Result = F(),
    ok = net_kernel:stop(),
    Result.
