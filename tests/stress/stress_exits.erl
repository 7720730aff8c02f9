%% Rounds of processes that start and end: every link and every monitor tells exactly once, and with the right reason.
-module(stress_exits).
-export([rounds/0]).
-import(stress_round, [some/1, chance/1, pick/1, shuffle/1, sample/2, usual/1, child/1, child/2, children/2, options/0, down/2, gone/1, in_a_while/0]).

rounds() ->
    [{tree, fun tree/0}, {chain, fun chain/0}, {trapped, fun trapped/0}, {monitors, fun monitors/0}, {unlinked, fun unlinked/0}, {requests, fun requests/0},
     {short_lives, fun short_lives/0}, {suspended, fun suspended/0}, {names_of_the_dead, fun names/0}].

%% Each node starts its children linked, monitored or both, and adds up what they count.
tree() ->
    {Depth, Branches} = pick([{5, 3}, {3, 6}, {8, 2}, {1, usual(100)}]),
    {_, M} = spawn_opt(stress_round:seeded(fun() -> exit({count, node_of(Depth, Branches)}) end), [monitor]),
    down(M, {count, count_of(Depth, Branches)}),
    stress:count(processes, count_of(Depth, Branches)).

count_of(0, _) -> 1;
count_of(Depth, Branches) -> 1 + Branches * count_of(Depth - 1, Branches).

node_of(0, _) -> 1;
node_of(Depth, Branches) ->
    process_flag(trap_exit, true),
    Below = fun() -> exit({count, node_of(Depth - 1, Branches)}) end,
    Children = [case some(3) of
                    1 -> {link, spawn_opt(stress_round:seeded(Below), [link | options()])};
                    2 -> {_, M} = spawn_opt(stress_round:seeded(Below), [monitor | options()]), {monitor, M};
                    3 -> {P, M} = spawn_opt(stress_round:seeded(Below), [monitor, link]), {both, P, M}
                end || _ <- lists:seq(1, Branches)],
    1 + lists:sum([heard(C) || C <- Children]).

heard({link, P}) -> receive {'EXIT', P, {count, N}} -> N end;
heard({monitor, M}) -> receive {'DOWN', M, process, _, {count, N}} -> N end;
heard({both, P, M}) -> N = heard({link, P}), N = heard({monitor, M}), N.

%% A chain of links: a process that ends takes all with it, one that traps exits stops it.
chain() ->
    Length = some(usual(60)) + 2,
    Start = fun Start(0) -> receive never -> ok end; Start(N) -> child(fun() -> Start(N - 1) end, [link]), receive never -> ok end end,
    {Top, M} = spawn_opt(stress_round:seeded(fun() -> Start(Length) end), [monitor]),
    chance(2) andalso in_a_while(),
    Below = below([Top]),
    Monitors = [{P, monitor(process, P)} || P <- Below],
    Reason = pick([shutdown, {bad, [1, 2, 3]}, kill]),
    exit(pick([Top | Below]), Reason),
    receive {'DOWN', M, process, Top, Why} when Reason =:= kill, Why =:= killed; Why =:= Reason -> ok end,
    %% (Those that had not begun when we looked are linked as well.)
    [receive {'DOWN', X, process, P, _} -> ok end || {P, X} <- Monitors],
    stress:count(processes, Length).

below(Ps) ->
    case lists:usort(Ps ++ lists:append([Links || P <- Ps, {links, Links} <- [process_info(P, links)]])) of
        Ps -> Ps;
        More -> below(More)
    end.

%% One that traps hears of each that it is linked to, once, and why.
trapped() ->
    {_, M} = spawn_opt(stress_round:seeded(fun hears/0), [monitor]),
    down(M, normal).

hears() ->
    process_flag(trap_exit, true),
    Self = self(),
    Count = usual(60),
    Started = [begin
                   {How, Reason} = pick([{fun() -> ok end, normal}, {fun() -> exit(X) end, X}, {fun() -> exit(Self, {told, X}), receive never -> ok end end, none},
                                         {fun() -> exit(self(), kill), receive never -> ok end end, killed},
                                         {fun() -> process_flag(trap_exit, true), in_a_while(), exit(trapper) end, trapper},
                                         {fun() -> exit({large, lists:seq(1, 500), binary:copy(<<X>>, 200)}) end, {large, lists:seq(1, 500), binary:copy(<<X>>, 200)}},
                                         {fun() -> erlang:hibernate(erlang, exit, [X]) end, none}]),
                   {child(How, [link | options()]), X, Reason}
               end || X <- lists:seq(1, Count)],
    Told = lists:foldl(fun({P, X, none}, N) ->
                           %% It tells us something first, or waits for nothing: it is ended here.
                           receive {'EXIT', P, {told, X}} -> exit(P, {bye, X}), receive {'EXIT', P, {bye, X}} -> N + 1 end
                           after 0 -> finish(P, X, N)
                           end;
                          ({P, _, Reason}, N) -> receive {'EXIT', P, Reason} -> N end
                       end, 0, Started),
    true = Told =< Count,
    %% Those that are no more.
    Dead = [P || {P, _, _} <- Started],
    gone(Dead),
    [true = link(P) || P <- sample(5, Dead)],
    [receive {'EXIT', _, noproc} -> ok end || _ <- lists:seq(1, min(5, Count))],
    0 = element(2, process_info(self(), message_queue_len)),
    stress:count(processes, Count).

finish(P, X, N) ->
    exit(P, {bye, X}),
    receive
        {'EXIT', P, {bye, X}} -> receive {'EXIT', P, {told, X}} -> exit({said_after_its_end, P}) after 0 -> N end;
        {'EXIT', P, {told, X}} -> receive {'EXIT', P, {bye, X}} -> N + 1 end
    end.

%% Many watch one; some stop watching; each of the others hears once.
monitors() ->
    Target = child(fun() -> receive {stop, How} -> exit(How) end end, []),
    Watchers = children(some(usual(20)), fun() ->
        receive begin_ -> ok end,
        Ms = [monitor(process, Target, case some(3) of 1 -> [{tag, tagged}]; 2 -> [{alias, explicit_unalias}]; 3 -> [] end) || _ <- lists:seq(1, some(usual(20)))],
        {Off, On} = lists:split(rand:uniform(length(Ms) + 1) - 1, shuffle(Ms)),
        [demonitor(M, [flush]) || M <- Off],
        Reasons = [receive {Tag, M, process, Target, R} when Tag =:= 'DOWN'; Tag =:= tagged -> unalias(M), R end || M <- On],
        true = lists:all(fun(R) -> R =:= enough orelse R =:= noproc end, Reasons),
        [false = demonitor(M, [flush, info]) || M <- Ms],
        [demonitor(monitor(process, Target), [flush]) || _ <- [1, 2, 3]],
        {messages, []} = process_info(self(), messages)
    end),
    Ms = [monitor(process, W) || W <- Watchers],
    [W ! begin_ || W <- Watchers],
    chance(2) andalso in_a_while(),
    Target ! {stop, enough},
    [down(M, normal) || M <- Ms].

%% After an unlink nothing is heard, whenever the other ends.
unlinked() ->
    {_, M} = spawn_opt(stress_round:seeded(fun() ->
        process_flag(trap_exit, true),
        [begin
             P = child(fun() -> chance(2) andalso erlang:yield(), exit(X) end, [link]),
             chance(2) andalso erlang:yield(),
             case some(3) of
                 1 -> unlink(P), receive {'EXIT', P, X} -> ok after 0 -> ok end, gone([P]), receive {'EXIT', P, _} = Late -> exit({after_unlink, Late}) after 0 -> ok end;
                 2 -> unlink(P), link(P), receive {'EXIT', P, Why} when Why =:= X; Why =:= noproc -> ok end,
                      %% (The first end may have come before the unlink, noproc after it.)
                      receive {'EXIT', P, noproc} -> ok after 0 -> ok end, gone([P]), receive {'EXIT', P, noproc} -> ok after 0 -> ok end;
                 3 -> receive {'EXIT', P, X} -> unlink(P) end
             end
         end || X <- lists:seq(1, usual(100))],
        {messages, []} = process_info(self(), messages)
    end), [monitor]),
    down(M, normal),
    stress:count(processes, usual(100)).

%% Asked for, answered once, or given up.
requests() ->
    Count = usual(60),
    Asked = [begin
                 Give = some(4),
                 Req = spawn_request(stress_round:seeded(fun() -> exit({was, X}) end), [monitor, {reply_tag, {started, X}}]),
                 case Give =:= 1 andalso spawn_request_abandon(Req) of
                     true -> abandoned;
                     false -> {Req, X}
                 end
             end || X <- lists:seq(1, Count)],
    [begin
         P = receive {{started, X}, Req, ok, Started} -> Started end,
         receive {'DOWN', Req, process, P, {was, X}} -> ok end
     end || {Req, X} <- Asked],
    {'EXIT', {badarg, _}} = (catch spawn_request(nothing, [monitor])),
    stress:count(processes, Count).

short_lives() ->
    Count = usual(300),
    Ms = [begin
              {_, M} = spawn_opt(stress_round:seeded(fun() ->
                  case X rem 3 of
                      0 -> ok;
                      1 -> self() ! {payload, stress_round:payload(X)}, exit(normal);
                      2 -> put(x, lists:seq(1, X)), erlang:garbage_collect()
                  end
              end), [monitor | options()]),
              M
          end || X <- lists:seq(1, Count)],
    [down(M, normal) || M <- Ms],
    stress:count(processes, Count).

%% A suspended process does nothing until each that suspended it resumed it, or ended.
suspended() ->
    P = child(fun Answer() -> receive {From, N} -> From ! {self(), N}, Answer(); stop -> ok end end, [link]),
    Self = self(),
    true = erlang:suspend_process(P),
    Holders = children(some(3), fun() -> true = erlang:suspend_process(P), Self ! {holds, self()}, receive Go when Go =:= resume; Go =:= die -> Go =:= resume andalso erlang:resume_process(P) end end),
    [receive {holds, H} -> ok end || H <- Holders],
    [P ! {self(), N} || N <- lists:seq(1, 20)],
    Silent = fun(When) -> receive {P, N} -> exit({answers_while_suspended, When, N}) after some(5) - 1 -> ok end end,
    Silent(all),
    erlang:resume_process(P),
    Silent(holders),
    [H ! pick([resume, die]) || H <- tl(Holders)],
    Silent(last),
    hd(Holders) ! pick([resume, die]),
    [receive {P, N} -> ok end || N <- lists:seq(1, 20)],
    gone(Holders),
    %% Ended while it is suspended.
    true = erlang:suspend_process(P),
    M = monitor(process, P),
    unlink(P),
    exit(P, kill),
    down(M, killed).

%% A name is free as soon as its process is no more.
names() ->
    Name = stress_round:name(50),
    [begin
         {P, M} = spawn_opt(stress_round:seeded(fun() -> true = register(Name, self()), X =:= 1 andalso exit(X), receive {From, ask} -> From ! {self(), X} end, exit(X) end), [monitor]),
         case X of
             1 -> ok;
             _ -> P ! {self(), ask}, receive {P, X} -> ok end
         end,
         down(M, X),
         undefined = whereis(Name)
     end || X <- lists:seq(1, usual(40))].
