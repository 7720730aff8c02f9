%% A client of a cluster of RabbitMQ: publishes to a quorum queue while nodes are lost, and takes what is there.
%% Says `@half` when half of the messages are confirmed, then `@confirmed N`; `@taken N InOrder`.
-module(cluster_client).
-export([main/1]).
-include_lib("amqp_client/include/amqp_client.hrl").

%% Messages that are sent and not confirmed yet, at most.
-define(WINDOW, 50).

main([Port, Command, Queue | Rest]) ->
    {ok, Connection} = amqp_connection:start(#amqp_params_network{host = "127.0.0.1", port = list_to_integer(Port)}),
    {ok, Channel} = amqp_connection:open_channel(Connection),
    command(Command, Channel, list_to_binary(Queue), [list_to_integer(Number) || Number <- Rest]),
    halt(0).

command("declare", Channel, Queue, [Size]) ->
    Arguments = [{<<"x-queue-type">>, longstr, <<"quorum">>}, {<<"x-quorum-initial-group-size">>, long, Size}],
    #'queue.declare_ok'{} = amqp_channel:call(Channel, #'queue.declare'{queue = Queue, durable = true, arguments = Arguments}),
    io:format("@declared~n");
command("publish", Channel, Queue, [First, Last]) ->
    #'confirm.select_ok'{} = amqp_channel:call(Channel, #'confirm.select'{}),
    ok = amqp_channel:register_confirm_handler(Channel, self()),
    publish(Channel, Queue, First, Last, #{first => First, half => (First + Last) div 2, confirmed => #{}, sent => 0}),
    io:format("@confirmed ~b~n", [Last - First + 1]);
command("take", Channel, Queue, []) ->
    Numbers = taken(Channel, Queue),
    io:format("@taken ~b ~s~n", [length(Numbers), Numbers =:= lists:seq(1, length(Numbers))]).

%% The tags of a channel begin with 1.
publish(_, _, Number, Last, #{sent := Sent, confirmed := Confirmed}) when Number > Last, Sent =:= map_size(Confirmed) -> ok;
publish(Channel, Queue, Number, Last, #{sent := Sent, confirmed := Confirmed} = State) when Number =< Last, Sent - map_size(Confirmed) < ?WINDOW ->
    Number =:= maps:get(half, State) andalso io:format("@half~n"),
    Message = #amqp_msg{props = #'P_basic'{delivery_mode = 2}, payload = integer_to_binary(Number)},
    ok = amqp_channel:cast(Channel, #'basic.publish'{routing_key = Queue}, Message),
    publish(Channel, Queue, Number + 1, Last, State#{sent := Sent + 1});
publish(Channel, Queue, Number, Last, #{confirmed := Confirmed} = State) ->
    receive
        #'basic.ack'{delivery_tag = Tag, multiple = false} ->
            publish(Channel, Queue, Number, Last, State#{confirmed := Confirmed#{Tag => true}});
        #'basic.ack'{delivery_tag = Tag, multiple = true} ->
            publish(Channel, Queue, Number, Last, State#{confirmed := maps:merge(Confirmed, maps:from_keys(lists:seq(1, Tag), true))});
        Other ->
            io:format("@refused ~0p~n", [Other]),
            halt(1)
    after 90000 ->
        io:format("@missing ~b of ~b~n", [maps:get(sent, State) - map_size(Confirmed), maps:get(sent, State)]),
        halt(1)
    end.

taken(Channel, Queue) ->
    #'basic.consume_ok'{} = amqp_channel:subscribe(Channel, #'basic.consume'{queue = Queue, no_ack = true}, self()),
    delivered([]).

%% All numbers, when none has come for five seconds.
delivered(Numbers) ->
    receive
        #'basic.consume_ok'{} -> delivered(Numbers);
        {#'basic.deliver'{}, #amqp_msg{payload = Payload}} -> delivered([binary_to_integer(Payload) | Numbers])
    after 5000 -> lists:reverse(Numbers)
    end.
