%% Rounds of timers: each fires once, not too early, or the process that cancelled it was told so.
-module(stress_timers).
-export([rounds/0]).
-import(stress_round, [some/1, chance/1, pick/1, usual/1, name/1, child/1, children/2, payload/1, check/2, gone/1]).

-define(LONGEST, 60).

rounds() ->
    [{set_and_cancel, fun() -> own(some(?LONGEST)) end}, {cancelled_by_others, fun others/0}, {receive_after, fun receive_after/0},
     {timers_of_the_dead, fun of_the_dead/0}, {many_timers, fun many/0}].

now_us() -> erlang:monotonic_time(microsecond).

%% Set here for here, for a name, as a message or as `timeout`; some are cancelled soon, some late.
own(Longest) ->
    Name = name(40),
    true = register(Name, self()),
    Timers = maps:from_list([{set(X, pick([self(), Name]), some(Longest) - 1), X} || X <- lists:seq(1, usual(150))]),
    chance(2) andalso stress_round:in_a_while(),
    Cancelled = [R || R <- maps:keys(Timers), chance(3), cancel(R)],
    fired(maps:from_list([{X, {R, Due}} || {R, _, Due} := X <- maps:without(Cancelled, Timers)])),
    %% None of the cancelled comes later.
    case chance(3) of true -> receive after Longest + 5 -> ok end; false -> ok end,
    true = unregister(Name),
    stress:count(timers, map_size(Timers)).

%% {Reference, Kind, when it is due at the earliest}.
set(X, To, Ms) ->
    Due = now_us() + Ms * 1000,
    case some(3) of
        1 -> {erlang:send_after(Ms, To, {fired, X, payload(X)}), send, Due};
        2 -> {erlang:start_timer(Ms, To, {X, payload(X)}), start, Due};
        3 -> {erlang:send_after(erlang:monotonic_time(millisecond) + Ms, To, {fired, X, payload(X)}, [{abs, true}]), send, Due - 1000}
    end.

%% True if it will not fire.
cancel({R, _, _}) ->
    chance(2) andalso (_ = erlang:read_timer(R)),
    case some(3) of
        1 -> is_integer(erlang:cancel_timer(R));
        2 -> ok = erlang:cancel_timer(R, [{async, true}]), receive {cancel_timer, R, Left} -> is_integer(Left) end;
        3 -> Left = erlang:cancel_timer(R), false = erlang:cancel_timer(R), is_integer(Left)
    end.

%% Waits for all of these: #{Number => {Reference, Due}}.
fired(Waiting) when map_size(Waiting) =:= 0 -> ok;
fired(Waiting) ->
    {X, R, Content} = receive
                          {fired, N, C} -> {N, any, C};
                          {timeout, Ref, {N, C}} -> {N, Ref, C}
                      end,
    Now = now_us(),
    case maps:take(X, Waiting) of
        {{Ref1, Due}, Rest} when R =:= any; R =:= Ref1 ->
            Now >= Due orelse exit({too_early, X, Due - Now}),
            check(X, Content),
            fired(Rest);
        _ -> exit({fired_again_or_though_cancelled, X})
    end.

%% Several cancel the same timers of one: at most one of them is told that it did.
others() ->
    Round = self(),
    Count = usual(80),
    Owner = child(fun() ->
        Timers = [{X, set(X, self(), some(?LONGEST) - 1)} || X <- lists:seq(1, Count)],
        Round ! {set, Timers},
        receive {keep, Numbers} -> fired(maps:from_list([{X, {R, Due}} || {X, {R, _, Due}} <- Timers, lists:member(X, Numbers)])) end,
        {messages, []} = process_info(self(), messages)
    end),
    Timers = receive {set, T} -> T end,
    Cancellers = children(3, fun() ->
        Done = [X || {X, {R, _, _}} <- stress_round:shuffle(Timers), chance(3), is_integer(cancel_of_another(R))],
        Round ! {result, self(), Done},
        {messages, []} = process_info(self(), messages)
    end),
    Done = lists:append(stress_round:results(Cancellers)),
    [] = Done -- lists:usort(Done),
    M = monitor(process, Owner),
    Owner ! {keep, lists:seq(1, Count) -- Done},
    stress_round:down(M, normal),
    gone(Cancellers),
    stress:count(timers, Count).

cancel_of_another(R) ->
    case some(3) of
        1 -> erlang:cancel_timer(R);
        2 -> ok = erlang:cancel_timer(R, [{async, true}, {info, true}]), receive {cancel_timer, R, Left} -> Left end;
        3 -> _ = erlang:read_timer(R, [{async, false}]), erlang:cancel_timer(R)
    end.

%% Timeouts against messages: each message comes, and a timeout not too early.
receive_after() ->
    Count = usual(60),
    Sender = child(fun() -> receive {to, P} -> [begin stress_round:in_a_while(), P ! {numbered, X} end || X <- lists:seq(1, Count)] end end),
    Sender ! {to, self()},
    wait_for(1, Count),
    gone([Sender]),
    stress:count(timers, Count).

wait_for(X, Count) when X > Count -> ok;
wait_for(X, Count) ->
    Ms = some(4) - 1,
    Start = now_us(),
    receive {numbered, N} -> N = X, wait_for(X + 1, Count)
    after Ms ->
        now_us() - Start >= Ms * 1000 orelse exit({timeout_too_early, Ms}),
        wait_for(X, Count)
    end.

%% Timers whose owner or receiver ends: nothing comes, and nothing stays.
of_the_dead() ->
    Ps = children(usual(10), fun() -> _ = [set(X, self(), some(3) * 20000) || X <- lists:seq(1, usual(40))], receive after some(10) -> ok end end),
    Targets = children(usual(10), fun() -> receive never -> ok after some(10) -> ok end end),
    Refs = [erlang:send_after(some(?LONGEST), T, late) || T <- Targets, _ <- lists:seq(1, 5)],
    %% The process that set them has ended: they fire all the same.
    Self = self(),
    Setter = child(fun() -> _ = [erlang:send_after(some(30), Self, {from_the_dead, X}) || X <- lists:seq(1, 20)] end),
    gone([Setter | Ps ++ Targets]),
    [receive {from_the_dead, X} -> ok end || X <- lists:seq(1, 20)],
    [erlang:cancel_timer(R) || R <- Refs, chance(2)],
    stress:count(timers, usual(10) * usual(40) + length(Refs) + 20).

%% Many at a time, far away and near, all cancelled.
many() ->
    Refs = [erlang:send_after(1000000 + some(1 bsl (X rem 30)), self(), {never, X}) || X <- lists:seq(1, usual(5000))],
    chance(2) andalso stress_round:in_a_while(),
    [true = is_integer(erlang:cancel_timer(R)) || R <- stress_round:shuffle(Refs)],
    stress:count(timers, length(Refs)).
