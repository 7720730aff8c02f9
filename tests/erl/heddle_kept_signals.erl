%% A thread keeps signals that it freed for those that it sends next; one that has nothing to do gives them back, a second later.
-module(heddle_kept_signals).
-export([main/1]).

-define(MESSAGES, 16000).
%% A megabyte would be kept.
-define(BYTES, 300000).

main(_) ->
    messages(),
    %% What else was freed so far is given back, and they with it.
    receive after 3500 -> ok end,
    Before = system_bytes(),
    messages(),
    %% Not looked at meanwhile: a process that runs sends and receives as well.
    receive after 3500 -> ok end,
    io:format("given back: ~p~n", [system_bytes() < Before + ?BYTES]).

messages() ->
    Self = self(),
    Last = min(2, erlang:system_info(schedulers)),
    Reader = spawn_opt(fun() -> receive go -> ok end, read(?MESSAGES), Self ! done end, [{scheduler, Last}]),
    spawn_opt(fun() -> [Reader ! N || N <- lists:seq(1, ?MESSAGES)], Reader ! go end, [{scheduler, 1}]),
    receive done -> ok end.

read(0) -> ok;
read(N) -> receive X when is_integer(X) -> read(N - 1) end.

system_bytes() -> erlang:memory(system).
