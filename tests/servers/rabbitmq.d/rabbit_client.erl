%% A client of RabbitMQ: publishes messages and waits until each is confirmed, or takes all that are there.
%% Says `@confirmed N`, `@taken N First Last` and so on.
-module(rabbit_client).
-export([main/1]).
-include_lib("amqp_client/include/amqp_client.hrl").

main([Port, Command, Queue | Rest]) ->
    {ok, Connection} = amqp_connection:start(#amqp_params_network{host = "127.0.0.1", port = list_to_integer(Port)}),
    {ok, Channel} = amqp_connection:open_channel(Connection),
    command(Command, Channel, list_to_binary(Queue), Rest),
    ok = amqp_connection:close(Connection),
    halt(0).

command("publish", Channel, Queue, [Type, Count]) ->
    N = list_to_integer(Count),
    Declared = #'queue.declare'{queue = Queue, durable = true, arguments = [{<<"x-queue-type">>, longstr, list_to_binary(Type)}]},
    #'queue.declare_ok'{} = amqp_channel:call(Channel, Declared),
    #'confirm.select_ok'{} = amqp_channel:call(Channel, #'confirm.select'{}),
    ok = amqp_channel:register_confirm_handler(Channel, self()),
    Begun = erlang:monotonic_time(millisecond),
    [ok = amqp_channel:cast(Channel, #'basic.publish'{routing_key = Queue},
                            #amqp_msg{props = #'P_basic'{delivery_mode = 2}, payload = integer_to_binary(Number)})
     || Number <- lists:seq(1, N)],
    ok = confirmed(N, #{}),
    io:format("@confirmed ~b ~b~n", [N, erlang:monotonic_time(millisecond) - Begun]);
command("take", Channel, Queue, []) ->
    Payloads = take(Channel, Queue, []),
    io:format("@taken ~b ~s~n", [length(Payloads), Payloads =:= [integer_to_binary(N) || N <- lists:seq(1, length(Payloads))]]).

%% `Single` are confirmed numbers above the first that is not.
confirmed(0, _) -> ok;
confirmed(N, Seen) ->
    receive
        #'basic.ack'{delivery_tag = Tag, multiple = Multiple} ->
            Tags = [T || T <- case Multiple of true -> lists:seq(1, Tag); false -> [Tag] end, not is_map_key(T, Seen)],
            confirmed(N - length(Tags), maps:merge(Seen, maps:from_keys(Tags, true)));
        #'basic.nack'{} = Nack -> {refused, Nack}
    after 60000 -> {missing, N}
    end.

take(Channel, Queue, Payloads) ->
    case amqp_channel:call(Channel, #'basic.get'{queue = Queue, no_ack = true}) of
        {#'basic.get_ok'{}, #amqp_msg{payload = Payload}} -> take(Channel, Queue, [Payload | Payloads]);
        #'basic.get_empty'{} -> lists:reverse(Payloads)
    end.
