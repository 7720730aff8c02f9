%% Many processes on all schedulers set, read and cancel timers of each other: each timer comes once, or was cancelled once.
-module(timers_crossed).
-export([main/1]).

-define(PROCESSES, 40).
-define(TIMERS, 250).

main(_) ->
    Me = self(),
    Workers = [spawn_link(fun() -> worker(Me, I) end) || I <- lists:seq(1, ?PROCESSES)],
    [W ! {others, Workers} || W <- Workers],
    All = lists:append([receive {set, W, Keys} -> Keys end || W <- Workers]),
    t:w(set, length(All)),
    %% All have been set, and all that any process cancels has been cancelled, when all processes say so.
    Cancelled = lists:append([receive {cancelled, W, Keys} -> Keys end || W <- Workers]),
    t:w(cancelled_once, length(Cancelled) =:= length(lists:usort(Cancelled))),
    Expected = lists:sort(All -- Cancelled),
    [W ! {expect, length([x || {To, _, _} <- Expected, To =:= I])} || {I, W} <- lists:zip(lists:seq(1, ?PROCESSES), Workers)],
    Come = lists:append([receive {come, W, Keys} -> Keys end || W <- Workers]),
    t:w(come, lists:sort(Come) =:= Expected),
    t:w(some_of_both, Cancelled =/= [] andalso Come =/= []),
    timer:sleep(300),
    [W ! {late, Me} || W <- Workers],
    t:w(late, lists:append([receive {late, W, Keys} -> Keys end || W <- Workers])),
    t:w(left, t:flush()).

%% A key is the receiver, the process that set it, and its number.
worker(Main, I) ->
    Others = receive {others, Pids} -> list_to_tuple(Pids) end,
    rand:seed(exsss, I),
    Refs = [set(Others, I, N) || N <- lists:seq(1, ?TIMERS)],
    Main ! {set, self(), [Key || {Key, _} <- Refs]},
    Mine = cancel(Refs, []),
    Main ! {cancelled, self(), Mine ++ handed(Others)},
    Expect = receive {expect, Count} -> Count end,
    Main ! {come, self(), [receive {timer, Key} -> Key; {timeout, Ref, {timer, Key, Ref0}} -> true = Ref =/= Ref0, Key end || _ <- lists:seq(1, Expect)]},
    receive {late, Main} -> Main ! {late, self(), t:flush()} end.

set(Others, I, N) ->
    To = rand:uniform(tuple_size(Others)),
    Key = {To, I, N},
    %% Every tenth is cancelled by the process that set it, and waits for that however slow the computer is.
    Time = case rand:uniform(4) of _ when N rem 10 =:= 0 -> 60_000; 1 -> rand:uniform(5) - 1; 2 -> rand:uniform(60); _ -> 200 + rand:uniform(300) end,
    Pid = element(To, Others),
    Ref = case N rem 2 of
        0 -> erlang:send_after(Time, Pid, {timer, Key});
        1 -> erlang:start_timer(Time, Pid, {timer, Key, make_ref()})
    end,
    %% A third is for another one to cancel as well.
    N rem 3 =:= 0 andalso (element(rand:uniform(tuple_size(Others)), Others) ! {hand, Key, Ref}),
    {Key, Ref}.

%% Every second of one's own.
cancel([{{_, _, N} = Key, Ref} | Rest], Acc) when N rem 2 =:= 0; N rem 5 =:= 0 ->
    Before = erlang:read_timer(Ref),
    Left = erlang:cancel_timer(Ref),
    true = Left =:= false orelse (is_integer(Left) andalso Left >= 0 andalso is_integer(Before) andalso Left =< Before),
    false = erlang:cancel_timer(Ref),
    false = erlang:read_timer(Ref),
    cancel(Rest, if is_integer(Left) -> [Key | Acc]; true -> Acc end);
cancel([_ | Rest], Acc) -> cancel(Rest, Acc);
cancel([], Acc) -> Acc.

%% What others handed to us, until all have said that this was all.
handed(Others) ->
    [W ! {all, self()} || W <- tuple_to_list(Others)],
    handed_loop(tuple_size(Others), []).

handed_loop(0, Acc) -> Acc;
handed_loop(Left, Acc) ->
    receive
        {hand, Key, Ref} ->
            case Key of
                {_, _, N} when N rem 4 =:= 0 ->
                    ok = erlang:cancel_timer(Ref, [{async, true}]),
                    receive
                        {cancel_timer, Ref, false} -> handed_loop(Left, Acc);
                        {cancel_timer, Ref, Ms} when is_integer(Ms) -> handed_loop(Left, [Key | Acc])
                    end;
                _ ->
                    case erlang:cancel_timer(Ref) of
                        false -> handed_loop(Left, Acc);
                        Ms when is_integer(Ms) -> handed_loop(Left, [Key | Acc])
                    end
            end;
        {all, _} -> handed_loop(Left - 1, Acc)
    end.
