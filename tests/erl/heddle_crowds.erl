%% With a shared heap a small message is a pointer, unless its receiver has a long queue; and a new process has none, whichever process had its place.
-module(heddle_crowds).
-export([main/1]).

main(_) ->
    io:format("new ~p~n", [new()]),
    io:format("long ~p~n", [long()]).

copied() -> maps:get(words, heddle_stats:messages()).

is_shared() -> erlang:system_info(heap_type) =:= shared.

%% Each gets one message, takes it and ends.
new() ->
    Before = copied(),
    [begin
         {Pid, Ref} = spawn_monitor(fun() -> receive {one, N} -> ok end end),
         Pid ! {one, N},
         receive {'DOWN', Ref, process, Pid, normal} -> ok end
     end || N <- lists:seq(1, 20_000)],
    %% Some that others sent meanwhile, and a few whose place's last one had as many turns.
    not is_shared() orelse copied() - Before < 6_000.

%% One's own, as long as nothing is taken: at most once between two slices. With slices of one reduction that is each time.
long() ->
    Before = copied(),
    [self() ! {one, N} || N <- lists:seq(1, 200)],
    Words = copied() - Before,
    [receive {one, N} -> ok end || N <- lists:seq(1, 200)],
    not is_shared() orelse Words > 300 orelse string:find(os:getenv("HEDDLE_ZEAL", ""), "yield") =/= nomatch.
