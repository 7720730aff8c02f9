%% A network and processes that watch it, after the simulator that Wilhelmsson (2002, section 6) measures (whose text was not published): nodes with elements
%% that raise alarms in bursts, an alarm server that keeps those that are active, a management server that hears of each and keeps
%% a log of the last ones, and a coordinator that starts the nodes, orders the bursts and waits for their ends.
%%
%% An element is a process, so is a node. An alarm goes from the element to its node, which adds what it knows of the place, on to
%% the alarm server, which forwards it as it is to the management server; an acknowledgement goes back to the element, which keeps
%% its own history.
-module(network).
-export([run/3]).

-define(HISTORY, 8).
-define(LOG, 200).

%% Nodes, elements of each, and bursts of each node. {alarms, acknowledged, active at the end, logged}
run(Nodes, Elements, Bursts) ->
    Coordinator = self(),
    Management = spawn_link(fun() -> management(0, queue:new()) end),
    Alarms = spawn_link(fun() -> alarms(Management, #{}, 0) end),
    Pids = [spawn_link(fun() -> node_start(Coordinator, Alarms, N, Elements) end) || N <- lists:seq(1, Nodes)],
    [receive {Pid, started} -> ok end || Pid <- Pids],
    [Pid ! {bursts, Bursts} || Pid <- Pids],
    Acknowledged = lists:sum([receive {Pid, done, Sum} -> Sum end || Pid <- Pids]),
    {Sent, Active} = ask(Alarms),
    {Logged, Kept} = ask(Management),
    [Pid ! stop || Pid <- Pids],
    {Sent, Acknowledged, Active, Logged, Kept}.

ask(Server) -> Server ! {self(), tell}, receive {Server, Answer} -> unlink(Server), exit(Server, kill), Answer end.

node_start(Coordinator, Alarms, N, Count) ->
    Me = self(),
    Elements = [spawn_link(fun() -> element_loop(Me, E, []) end) || E <- lists:seq(1, Count)],
    Place = {network, [{region, N rem 4}, {site, "site " ++ integer_to_list(N)}, {equipment, {rack, N rem 7, shelf, N rem 3}}]},
    Coordinator ! {self(), started},
    receive {bursts, Bursts} -> bursts(Coordinator, Alarms, N, Place, Elements, Bursts, 0) end.

%% In a burst each element raises or clears one alarm; the next begins when all are acknowledged.
bursts(Coordinator, _, _, _, Elements, 0, Acknowledged) ->
    Coordinator ! {self(), done, Acknowledged},
    receive stop -> [E ! stop || E <- Elements] end;
bursts(Coordinator, Alarms, N, Place, Elements, Left, Acknowledged) ->
    [E ! {burst, Left} || E <- Elements],
    Count = length(Elements),
    forward(Count, Alarms, N, Place),
    [receive {acknowledged, _} -> ok end || _ <- Elements],
    bursts(Coordinator, Alarms, N, Place, Elements, Left - 1, Acknowledged + Count).

forward(0, _, _, _) -> ok;
forward(Left, Alarms, N, Place) ->
    receive
        {alarm, From, Id, Severity, Attributes} ->
            Alarms ! {alarm, self(), From, {N, Id}, Severity, [Place | Attributes]},
            forward(Left - 1, Alarms, N, Place)
    end.

element_loop(Node, Id, History) ->
    receive
        {burst, Burst} ->
            Node ! {alarm, self(), Id, severity(Id + Burst), attributes(Id, Burst)},
            element_loop(Node, Id, History);
        {acknowledge, Text} ->
            Node ! {acknowledged, Id},
            element_loop(Node, Id, lists:sublist([Text | History], ?HISTORY));
        stop -> ok
    end.

severity(N) -> element(N rem 5 + 1, {cleared, warning, minor, major, critical}).

attributes(Id, Burst) ->
    [{cause, element((Id * Burst) rem 3 + 1, {link_down, high_temperature, loss_of_signal})}, {burst, Burst},
     {text, "Threshold crossed at port " ++ integer_to_list(Id)}, {values, [{V, Burst * V rem 101} || V <- lists:seq(1, 10)]}].

alarms(Management, Active, Count) ->
    receive
        {alarm, _Node, From, Key, Severity, _} = Alarm ->
            Management ! Alarm,
            From ! {acknowledge, {Severity, Count}},
            alarms(Management, if Severity =:= cleared -> maps:remove(Key, Active); true -> Active#{Key => Alarm} end, Count + 1);
        {From, tell} -> From ! {self(), {Count, map_size(Active)}}
    end.

management(Count, Log) ->
    receive
        {alarm, _, _, _, _, Attributes} ->
            {values, Values} = lists:keyfind(values, 1, Attributes),
            Long = queue:in({lists:sum([V || {_, V} <- Values]), Attributes}, Log),
            management(Count + 1, case queue:len(Long) > ?LOG of true -> queue:drop(Long); false -> Long end);
        {From, tell} -> From ! {self(), {Count, queue:len(Log)}}
    end.
