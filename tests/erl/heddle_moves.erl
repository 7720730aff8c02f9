%% Processes under message load from each other are moved, pinned, kept, released and given threads, by several others at a time and
%% by themselves, while the number of online schedulers changes: each message arrives exactly once and in order for each sender,
%% no process is lost, and no thread is left.
-module(heddle_moves).
-export([main/1]).

-define(WORKERS, 12).
-define(MESSAGES, 400).

main(_) ->
    Before = t:threads(),
    Online = erlang:system_info(schedulers_online),
    Self = self(),
    Ids = lists:seq(1, ?WORKERS),
    Workers = [spawn_link(fun() -> receive {all, Pids} -> worker(Id, Pids, Self) end end) || Id <- Ids],
    All = list_to_tuple(Workers),
    [W ! {all, All} || W <- Workers],
    Movers = [spawn_link(fun() -> rand:seed(exsss, I), mover(All, Online, Self) end) || I <- [1, 2, 3]],
    Results = [receive {done, W, Result} -> Result end || W <- Workers],
    io:format("~p~n", [lists:usort(Results)]),
    [M ! stop || M <- Movers],
    [receive {M, stopped} -> ok end || M <- Movers],
    erlang:system_flag(schedulers_online, Online),
    [ok = heddle_sched:release(S) || S <- heddle_sched:isolated()],
    %% Each still answers, wherever it is; then it ends.
    io:format("~p~n", [lists:usort([begin W ! {ping, Self}, receive {pong, W} -> pong end end || W <- Workers])]),
    [begin M = monitor(process, W), unlink(W), W ! stop, receive {'DOWN', M, _, _, Reason} -> normal = Reason end end || W <- Workers],
    io:format("threads left: ~p~n", [t:threads_left(Before)]).

%% Sends numbered messages to all in turn and checks what comes: the next number from each, with its sum.
worker(Id, All, Parent) ->
    rand:seed(exsss, Id * 7),
    Expected = maps:from_list([{I, 1} || I <- lists:seq(1, ?WORKERS)]),
    Got = work(1, Id, All, Expected),
    Parent ! {done, self(), check(Got)},
    rest(Got).

check(Got) ->
    case lists:usort(maps:values(Got)) of
        [?MESSAGES + 1] -> all_in_order;
        _ -> {wrong, Got}
    end.

work(N, Id, All, Expected) when N =< ?MESSAGES ->
    Data = lists:seq(N, N + N rem 10),
    [P ! {Id, N, Data} || P <- tuple_to_list(All)],
    N rem 50 =:= 0 andalso move(self(), erlang:system_info(schedulers), rand:uniform(6)),
    %% Some are taken at once, some wait in the queue.
    work(N + 1, Id, All, take(Expected, 0));
work(_, _, _, Expected) ->
    take(Expected, infinity).

take(Expected, Wait) ->
    case lists:all(fun(N) -> N > ?MESSAGES end, maps:values(Expected)) of
        true -> Expected;
        false ->
            receive
                {Id, N, Data} when is_integer(Id) ->
                    #{Id := N} = Expected,
                    true = Data =:= lists:seq(N, N + N rem 10),
                    take(Expected#{Id := N + 1}, Wait)
            after Wait -> Expected
            end
    end.

%% Nothing else may come.
rest(Got) ->
    receive
        {ping, From} -> From ! {pong, self()}, rest(Got);
        stop -> ok;
        Other -> exit({too_much, Other})
    end.

mover(All, Online, Parent) ->
    receive
        stop -> Parent ! {self(), stopped}
    after 0 ->
        P = element(rand:uniform(tuple_size(All)), All),
        N = erlang:system_info(schedulers),
        case rand:uniform(10) of
            7 -> catch heddle_sched:isolate(rand:uniform(N), [P]);
            8 -> [catch heddle_sched:release(S) || S <- heddle_sched:isolated()];
            9 -> erlang:system_flag(schedulers_online, rand:uniform(N));
            10 -> erlang:system_flag(schedulers_online, Online), erlang:yield();
            Which -> move(P, N, Which)
        end,
        mover(All, Online, Parent)
    end.

move(P, N, 1) -> heddle_sched:pin(P, rand:uniform(N));
move(P, N, 2) -> heddle_sched:move(P, rand:uniform(N));
move(P, _, 3) -> heddle_sched:private(P);
move(P, _, 4) -> heddle_sched:shared(P);
move(P, _, 5) -> heddle_sched:unpin(P);
move(P, _, 6) when P =:= self() -> erlang:yield();
move(P, _, 6) -> erlang:suspend_process(P), erlang:resume_process(P).
