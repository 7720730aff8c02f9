%% What the rounds of the stress share: chances from the seed, children of all kinds, contents that can be checked, and waiting.
%%
%% A round is a process that starts others, gives them work, and knows exactly what must come of it. It ends `normal` when all did,
%% with nothing left over: no process, no message, no table, no name. Whatever else ends it is a failure.
-module(stress_round).
-export([run/4, some/1, chance/1, pick/1, sample/2, shuffle/1, usual/1, name/1, child/1, child/2, children/2, seeded/1, options/0, payload/1, check/2, down/2, gone/1,
         ask/2, results/1, is_heddle/0, in_a_while/0]).

%% The life of the process of a round.
run(Fun, Seed, Slot, Size) ->
    rand:seed(exsss, Seed),
    put(slot, Slot),
    put(size, Size),
    Fun(),
    case process_info(self(), [message_queue_len, messages, links, monitors]) of
        [{message_queue_len, 0} | _] -> ok;
        [_, {messages, Left} | _] -> exit({messages_left_over, lists:sublist(Left, 20)})
    end.

%% ---- chances ----

some(N) -> rand:uniform(N).

%% Once in N times.
chance(N) -> rand:uniform(N) =:= 1.

pick(List) -> lists:nth(rand:uniform(length(List)), List).

shuffle(List) -> [X || {_, X} <- lists:sort([{rand:uniform(1 bsl 30), X} || X <- List])].

sample(N, List) -> lists:sublist(shuffle(List), N).

%% How many, where N are usual.
usual(N) -> max(2, N * get(size) div 100).

%% One of a few names that no other slot uses: atoms stay bounded.
name(I) -> list_to_atom("stress_" ++ integer_to_list(get(slot)) ++ "_" ++ integer_to_list(I)).

in_a_while() -> receive after rand:uniform(4) - 1 -> ok end.

%% ---- children ----

is_heddle() -> erlang:function_exported(heddle_sched, place, 1).

%% With chances of its own, that follow from ours.
seeded(Fun) ->
    Seed = rand:uniform(1 bsl 50),
    {Slot, Size} = {get(slot), get(size)},
    fun() -> rand:seed(exsss, Seed), put(slot, Slot), put(size, Size), Fun() end.

child(Fun) -> child(Fun, [link | options()]).

child(Fun, Options) -> spawn_opt(seeded(Fun), Options).

children(N, Fun) -> [child(Fun) || _ <- lists:seq(1, N)].

%% Mostly none. No process waits forever for one of low priority: those have their share.
options() ->
    case rand:uniform(24) of
        1 -> [{priority, low}];
        2 -> [{priority, high}];
        3 -> [{message_queue_data, off_heap}];
        4 -> [{min_heap_size, rand:uniform(5000)}];
        5 -> [{fullsweep_after, rand:uniform(3) - 1}];
        6 -> [{min_bin_vheap_size, 100}, {async_dist, true}];
        7 -> [{scheduler, rand:uniform(erlang:system_info(schedulers))}];
        8 -> [{priority, low}, {message_queue_data, off_heap}];
        9 -> case is_heddle() of true -> [{thread, private}]; false -> [] end;
        10 -> case is_heddle() of true -> [{queue, rand:uniform(erlang:system_info(schedulers))}]; false -> [] end;
        _ -> []
    end.

%% ---- contents ----

%% A term that follows from its number: of all kinds and sizes, some large.
payload(N) ->
    case N rem 23 of
        0 -> lists:seq(N, N + 30);
        1 -> <<N:64>>;
        2 -> binary:copy(<<N:16>>, 50);
        3 -> #{n => N, N => [N]};
        4 -> (N + 1) bsl 100;
        5 -> N / 3;
        6 -> {N, [{N, <<N:32>>}], "text"};
        7 -> maps:from_list([{I, N} || I <- lists:seq(1, 40)]);
        8 -> <<_:7, Part/bitstring>> = <<N:40, 5:3>>, Part;
        9 -> fun erlang:abs/1;
        10 when N rem 5 =:= 0 -> binary:copy(<<N:8>>, 70000);
        11 when N rem 5 =:= 0 -> lists:duplicate(3000, {N, N});
        12 -> <<_:8/binary, Part:100/binary, _/binary>> = binary:copy(<<N:64>>, 30), Part;
        13 -> {N, binary:copy(<<N:24>>, 40), binary:copy(<<N:24>>, 41)};
        _ -> N
    end.

check(N, Content) ->
    case payload(N) of
        Content -> ok;
        _ -> exit({wrong_content, N, Content})
    end.

%% ---- waiting ----

%% The monitor of a process: it ended for that reason.
down(M, Reason) ->
    receive {'DOWN', M, process, _, Reason} -> ok; {'DOWN', M, process, P, Other} -> exit({ended_otherwise, P, Reason, Other}) end.

%% Waits for the end of processes, whatever the reason.
gone(Pids) ->
    Ms = [monitor(process, P) || P <- Pids],
    [receive {'DOWN', M, process, _, _} -> ok end || M <- Ms],
    ok.

%% A child does this, and says what came of it.
ask(P, Do) -> P ! {self(), Do}, receive {P, Answer} -> Answer end.

%% What each of the children says: {result, Child, Term}.
results(Pids) -> [receive {result, P, Result} -> Result end || P <- Pids].
