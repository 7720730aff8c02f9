%% Large input of a stream: nothing is lost or exchanged in any mode, and a size of the buffer that a program sets is the most a message has.
-module(tcp_large_input).
-export([main/1]).

-define(BYTES, 300000).

main(_) ->
    Data = binary:list_to_bin([<<N:32>> || N <- lists:seq(1, ?BYTES div 4)]),
    [io:format("~p: ~p~n", [Options, transfer(Data, Options)])
     || Options <- [[{active, once}], [{active, true}], [{active, 7}], [{active, false}], [{active, once}, {buffer, 1000}],
                    [{active, false}, {buffer, 5000}], [{active, true}, {buffer, 1000}, {header, 3}], [{active, once}, list]]].

%% Returns {All bytes came in their order, No message had more bytes than the size of the buffer that the program set}.
transfer(Data, Options) ->
    {ok, Listener} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listener),
    {Sender, Ref} = spawn_monitor(fun() ->
        {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
        ok = gen_tcp:send(Socket, Data),
        ok = gen_tcp:shutdown(Socket, write),
        {error, closed} = gen_tcp:recv(Socket, 0)
    end),
    {ok, Socket} = gen_tcp:accept(Listener),
    ok = inet:setopts(Socket, Options),
    Parts = take(Socket, proplists:get_value(active, Options)),
    gen_tcp:close(Socket),
    receive {'DOWN', Ref, process, Sender, Reason} -> normal = Reason end,
    gen_tcp:close(Listener),
    Most = lists:max([iolist_size(Part) || Part <- Parts]),
    {iolist_to_binary(Parts) =:= Data, Most =< proplists:get_value(buffer, Options, ?BYTES)}.

take(Socket, false) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, Part} -> [Part | take(Socket, false)];
        {error, closed} -> []
    end;
take(Socket, Active) ->
    receive
        {tcp, Socket, Part} ->
            Active =:= once andalso inet:setopts(Socket, [{active, once}]),
            [Part | take(Socket, Active)];
        {tcp_passive, Socket} ->
            ok = inet:setopts(Socket, [{active, Active}]),
            take(Socket, Active);
        {tcp_closed, Socket} -> []
    end.
