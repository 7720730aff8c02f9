%% Breaks a rule on purpose, once, so that the tests of the tester can see that it finds it (tests/cluster/run --sabotage KIND).
-module(cluster_sabotage).
-export([prepare/1, is/1, is_due/1, is_now/1]).

%% The opportunity that is taken: not the first one, so that connections and names are there.
-define(TURN, 12).
%% What is done again and again: at each eighth opportunity.
-define(OFTEN, 8).

prepare(Kind) ->
    persistent_term:put(?MODULE, {Kind, atomics:new(1, [])}).

%% True if this is the kind that was asked for.
is(Kind) -> case persistent_term:get(?MODULE, none) of {Kind, _} -> true; _ -> false end.

%% True once in the life of the node, if this is the kind that was asked for.
is_due(Kind) ->
    case persistent_term:get(?MODULE, none) of
        {Kind, Turns} -> atomics:add_get(Turns, 1, 1) =:= ?TURN;
        _ -> false
    end.

%% True again and again, if this is the kind that was asked for.
is_now(Kind) ->
    case persistent_term:get(?MODULE, none) of
        {Kind, Turns} -> atomics:add_get(Turns, 1, 1) rem ?OFTEN =:= 0;
        _ -> false
    end.
