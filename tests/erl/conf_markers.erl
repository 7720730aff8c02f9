%% Receives that know their reference do not look at what was there before, many at a time, whatever is taken out in between.
-module(conf_markers).
-export([main/1]).

main(_) ->
    Echo = spawn_link(fun echo/0),
    nested(Echo, 12),
    [self() ! {old, N} || N <- lists:seq(1, 1000)],
    nested(Echo, 12),
    taken_between(Echo),
    collected(Echo),
    io:format("~p~n", [count(0)]),
    ratio(Echo).

%% More open requests than there are markers, answered in both orders.
nested(_, 0) -> ok;
nested(Echo, N) ->
    A = make_ref(),
    Echo ! {A, self(), {a, N}},
    nested(Echo, N - 1),
    B = make_ref(),
    Echo ! {B, self(), {b, N}},
    receive {B, {b, N}} -> ok end,
    receive {A, {a, N}} -> ok end.

%% The message in front of a marker goes while the marker stands.
taken_between(Echo) ->
    self() ! last,
    R = make_ref(),
    Echo ! {R, self(), answer},
    receive last -> ok end,
    receive {old, 1} -> ok end,
    receive {old, 1000} -> ok end,
    receive {R, Answer} -> io:format("~p~n", [Answer]) end.

%% Messages that were looked at survive collections, also when some of them leave in any order.
collected(Echo) ->
    [self() ! {data, N, lists:seq(1, N)} || N <- lists:seq(1, 20)],
    receive never -> ok after 0 -> ok end,
    Taken = [begin
                 erlang:garbage_collect(),
                 receive {data, N, L} -> {N, length(L)} end
             end || N <- [20, 1, 10, 19, 2, 11]],
    io:format("~p~n", [Taken]),
    nested(Echo, 3),
    erlang:garbage_collect(),
    io:format("~p~n", [rest(0)]).

rest(Sum) ->
    receive {data, N, L} -> N = length(L), rest(Sum + lists:sum(L)) after 0 -> Sum end.

count(N) ->
    receive {old, _} -> count(N + 1) after 0 -> N end.

%% A call takes no longer for a hundred thousand messages that wait.
ratio(Echo) ->
    process_flag(message_queue_data, off_heap),
    calls(Echo, 1000),
    Empty = timed(Echo),
    [self() ! {msg, N} || N <- lists:seq(1, 100_000)],
    Full = lists:min([timed(Echo) || _ <- lists:seq(1, 5)]),
    io:format("~p~n", [if Full < 20 * (Empty + 1000) -> fast; true -> {slow, Empty, Full} end]).

timed(Echo) ->
    {Time, ok} = timer:tc(fun() -> calls(Echo, 1000) end),
    Time.

calls(_, 0) -> ok;
calls(Echo, N) ->
    Outer = make_ref(),
    Echo ! {Outer, self(), outer},
    R = make_ref(),
    Echo ! {R, self(), lists:seq(1, 20)},
    receive {R, L} -> 20 = length(L) end,
    receive {Outer, outer} -> ok end,
    calls(Echo, N - 1).

echo() ->
    receive {R, From, What} -> From ! {R, What} end,
    echo().
