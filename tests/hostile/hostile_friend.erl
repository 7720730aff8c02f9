%% A node that has a healthy connection to the one that is attacked, and asks it all the time. It says `@friend JSON` when a line comes, or
%% `@broken JSON` as soon as the connection is gone or an answer is wrong.
-module(hostile_friend).
-export([main/1]).

%% Milliseconds between two questions.
-define(PAUSE, 20).

main([Node, Patience]) ->
    Me = self(),
    spawn_link(fun() -> read(Me) end),
    true = net_kernel:connect_node(Node),
    monitor_node(Node, true),
    loop(Node, 1000 * list_to_integer(atom_to_list(Patience)), #{asked => 0, longest_ms => 0}).

read(To) ->
    case io:get_line("") of
        Line when is_list(Line) -> To ! asked, read(To);
        _ -> halt()
    end.

loop(Node, Patience, #{asked := Asked, longest_ms := Longest} = Done) ->
    receive
        asked -> say(friend, Done);
        {nodedown, Node} -> say(broken, #{what => <<"the healthy connection is gone">>}), halt(1)
    after ?PAUSE -> ok
    end,
    Question = {Asked, self(), make_ref(), binary:copy(<<"friend">>, Asked rem 100 * 100)},
    Begun = erlang:monotonic_time(millisecond),
    {hostile, Node} ! {echo, self(), Question},
    receive
        {echo, Question} -> ok;
        {echo, Other} -> say(broken, #{what => iolist_to_binary(io_lib:format("~p instead of ~p", [Other, Question]))}), halt(1);
        {nodedown, Node} -> say(broken, #{what => <<"the healthy connection is gone">>}), halt(1)
    after Patience -> say(broken, #{what => <<"no answer to the healthy connection">>}), halt(1)
    end,
    loop(Node, Patience, Done#{asked := Asked + 1, longest_ms := max(Longest, erlang:monotonic_time(millisecond) - Begun)}).

say(Word, What) -> io:put_chars(["@", atom_to_binary(Word), " ", json:encode(What), "\n"]).
