%% Hackbench, a chat room: in every group 20 writers send 100 messages to each of 20 listeners.
-module(hackbench).
-export([prepare/2, run/1, check/2]).

-define(SIDE, 20).
-define(MESSAGES, 100).

prepare(_, Scale) -> scaling:times(100, Scale).

run(Groups) ->
    Main = self(),
    scaling:collect([spawn_link(fun() -> group(Main) end) || _ <- lists:seq(1, Groups)]).

%% Each writer's messages add up to 1 + ... + MESSAGES at each listener.
check(Groups, Result) ->
    Result =:= lists:duplicate(Groups, ?SIDE * ?SIDE * ?MESSAGES * (?MESSAGES + 1) div 2).

group(Main) ->
    Group = self(),
    Listeners = [spawn_link(fun() -> listen(Group, ?SIDE * ?MESSAGES, 0) end) || _ <- lists:seq(1, ?SIDE)],
    [spawn_link(fun() -> write(Listeners, ?MESSAGES) end) || _ <- lists:seq(1, ?SIDE)],
    Main ! {self(), lists:sum(scaling:collect(Listeners))}.

write(_, 0) -> ok;
write(Listeners, N) ->
    [L ! {message, self(), N} || L <- Listeners],
    write(Listeners, N - 1).

listen(Group, 0, Sum) -> Group ! {self(), Sum};
listen(Group, N, Sum) -> receive {message, _, X} -> listen(Group, N - 1, Sum + X) end.
