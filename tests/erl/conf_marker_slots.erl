%% A receive with a bad timeout leaves the next one at the first message, and short calls within a long one leave its marker alone.
-module(conf_marker_slots).
-export([main/1]).

main(_) ->
    io:format("~p~n", [catch bad_timeout(id(now_and_then))]),
    self() ! first,
    io:format("~p~n", [catch bad_timeout(id(-1))]),
    Ref = make_ref(),
    id(self()) ! Ref,
    receive first -> ok after 0 -> io:format("first is missing~n") end,
    receive Ref -> ok after 0 -> io:format("the reference is missing~n") end,
    process_flag(message_queue_data, off_heap),
    Echo = spawn_link(fun echo/0),
    calls(Echo, 100),
    Empty = timed(Echo),
    [self() ! {msg, N} || N <- lists:seq(1, 50_000)],
    io:format("~p~n", [fast(Echo, 10 * (Empty + 5000), 15)]).

%% One fast round is enough: a busy computer delays some.
fast(Echo, Limit, N) ->
    case timed(Echo) of
        Time when Time < Limit -> fast;
        Time when N =:= 1 -> {slow, Time, Limit};
        _ -> fast(Echo, Limit, N - 1)
    end.

bad_timeout(Timeout) ->
    id(self()) ! init,
    try
        receive never -> ok after Timeout -> ok end
    catch
        error:Reason -> receive init -> {seen, Reason} after 0 -> unseen end
    end.

timed(Echo) ->
    {Time, ok} = timer:tc(fun() -> calls(Echo, 100) end),
    Time.

%% Each long call has ten short ones in between, more than there are markers.
calls(Echo, N) ->
    Nothing = fun() -> ok end,
    Short = fun() -> [call(Echo, 1, I, 2, Nothing) || I <- lists:seq(1, 10)] end,
    call(Echo, N, outer, 20, Short).

call(_, 0, _, _, _) -> ok;
call(Echo, N, What, Answers, Between) ->
    Ref = erlang:monitor(process, Echo),
    Echo ! {Ref, self(), What, Answers},
    Between(),
    answers(Ref, What, Answers),
    erlang:demonitor(Ref, [flush]),
    call(Echo, N - 1, What, Answers, Between).

answers(_, _, 0) -> ok;
answers(Ref, What, N) ->
    receive
        {Ref, Answer} -> Answer = What;
        {'DOWN', Ref, process, _, Reason} -> exit(Reason)
    end,
    answers(Ref, What, N - 1).

echo() ->
    receive {Ref, From, What, N} -> [From ! {Ref, What} || _ <- lists:seq(1, N)] end,
    echo().

id(X) -> X.
