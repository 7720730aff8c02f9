%% What process_info says of a process in each of its states, asked from each scheduler: current_function, message_queue_len,
%% and reductions, which never fall.
-module(proc_info_states).
-export([main/1, spin/0, spin/1, polls/0, deep/1, woken/0, waits/0, waits_long/0]).

main(_) ->
    [t:w(Name, seen(F, N, Place)) || {Name, F, N, Place} <- states()],
    t:w(suspended, suspended(fun spin/0)),
    t:w(suspended_waiting, suspended(fun waits/0)),
    t:w(itself, begin [self() ! x || _ <- [1, 2, 3]], process_info(self(), [current_function, message_queue_len, status]) end),
    [receive x -> ok end || _ <- [1, 2, 3]],
    t:w(reductions_of_itself, begin
        {reductions, A} = process_info(self(), reductions),
        lists:seq(1, 1000),
        {reductions, B} = process_info(self(), reductions),
        [{reductions, C}] = process_info(self(), [reductions]),
        A =< B andalso B =< C
    end).

%% Name, what the process does, messages that it is sent and leaves in its queue, the function that it comes to.
states() ->
    [{spins, fun spin/0, 0, spin}, {spins_with_messages, fun spin/0, 7, spin}, {spins_with_an_argument, fun() -> spin(1) end, 3, spin},
     {polls, fun polls/0, 5, polls}, {waits, fun waits/0, 0, waits}, {waits_with_messages, fun waits/0, 9, waits},
     {waits_deep, fun() -> deep(1000) end, 2, waits}, {waits_with_timeout, fun waits_long/0, 1, waits_long},
     {hibernates, fun() -> erlang:hibernate(?MODULE, woken, []) end, 0, hibernate},
     {hibernates_with_messages, fun() -> receive go -> ok after 0 -> erlang:hibernate(?MODULE, woken, []) end end, 4, waits},
     {high, fun() -> process_flag(priority, high), waits() end, 2, waits}, {low, fun() -> process_flag(priority, low), spin() end, 2, spin},
     {off_heap, fun() -> process_flag(message_queue_data, off_heap), waits() end, 6, waits},
     {traps, fun() -> process_flag(trap_exit, true), waits() end, 2, waits}, {sleeps, fun() -> timer:sleep(100000) end, 2, sleep}].

spin() -> spin().
spin(N) -> spin(-N).
polls() -> receive nothing -> ok after 0 -> polls() end.
waits() -> receive nothing -> ok end.
waits_long() -> receive nothing -> ok after 100000 -> ok end.
deep(0) -> waits();
deep(N) -> deep(N - 1), N.
woken() -> waits().

seen(F, Messages, Place) ->
    P = spawn(F),
    [P ! {message, N} || N <- lists:seq(1, Messages)],
    t:wait_until(fun() -> {{_, {_, Now, _}}, {_, N}} = ask(P), {Now, N} =:= {Place, Messages} end),
    All = lists:append([from(S, P) || S <- schedulers()]),
    exit(P, kill),
    {lists:usort([Said || {Said, _} <- All]), falls([R || {_, R} <- All])}.

suspended(F) ->
    P = spawn(F),
    t:wait_until(fun() -> {{_, {_, Now, _}}, _} = ask(P), lists:member(Now, [spin, waits]) end),
    true = erlang:suspend_process(P),
    [P ! {message, N} || N <- [1, 2, 3]],
    All = lists:append([from(S, P) || S <- schedulers()]),
    exit(P, kill),
    {lists:usort([Said || {Said, _} <- All]), falls([R || {_, R} <- All])}.

%% What a process that stays on one scheduler is told.
from(Scheduler, P) ->
    Self = self(),
    {_, M} = spawn_opt(fun() -> Self ! {self(), [asked(P) || _ <- lists:seq(1, 10)]} end, [monitor, {scheduler, Scheduler}]),
    receive {_, Answers} when is_list(Answers) -> receive {'DOWN', M, _, _, _} -> Answers end end.

ask(P) ->
    [F, L] = process_info(P, [current_function, message_queue_len]),
    {F, L}.

asked(P) ->
    [F, L, {reductions, R}] = process_info(P, [current_function, message_queue_len, reductions]),
    {{F, L}, R}.

%% Some of all.
schedulers() ->
    N = erlang:system_info(schedulers_online),
    lists:usort([1, N div 3 + 1, N]).

%% How often a later number is smaller.
falls(Rs) -> length([x || {A, B} <- lists:zip(lists:droplast(Rs), tl(Rs)), B < A]).
