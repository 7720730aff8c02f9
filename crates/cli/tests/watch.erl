%% Schedulers that do not come back: see watch.rs.
-module(watch).
-export([main/1, block/1, compare/1, dirty/1, blocking/1]).

main([What]) ->
    erts_debug:set_internal_state(available_internal_state, true),
    erlang:system_monitor(self(), [heddle_stuck, busy_port]),
    {Me, Options} = erlang:system_monitor(),
    true = Me =:= self(),
    io:format("~p~n", [Options]),
    {P, Ref} = start(What),
    receive {'DOWN', Ref, process, P, Reason} -> io:format("~p~n", [Reason]) end,
    told(P, What).

start("busy") -> spawn_monitor(fun() -> busy(depth(20), 3) end);
start("quick") -> spawn_monitor(fun() -> busy(18, 100) end);
start("blocking_all") -> hd([spawn_monitor(?MODULE, blocking, [800]) || _ <- lists:seq(1, 11)]);
start(What) -> spawn_monitor(?MODULE, list_to_atom(What), [700]).

%% After the process ended: what was told until then is there.
told(P, What) ->
    receive
        {monitor, Who, heddle_stuck, Info} when Who =:= P; What =:= "blocking_all" ->
            [{timeout, Ms}, {type, Type}, {scheduler, N} | More] = Info,
            true = is_integer(Ms) andalso Ms >= 300 andalso is_integer(N),
            io:format("~p ~p~n", [Type, More]),
            told(P, What)
    after 0 -> io:format("done~n")
    end.

block(Ms) ->
    register(holder, self()),
    erts_debug:set_internal_state(sleep, Ms).

dirty(Ms) -> erts_debug:dirty_cpu(wait, Ms).

%% What may block has threads where it may.
blocking(Ms) -> erts_debug:dirty_io(wait, Ms).

%% No native: two large terms that are made of few small ones are compared by one instruction.
compare(_) -> depth(20).

shared(0, T) -> [T];
shared(N, T) -> S = shared(N - 1, T), [S | S].

%% Comes back again and again, though it is always at the same.
busy(_, 0) -> ok;
busy(Depth, N) ->
    _ = took(Depth),
    erlang:yield(),
    busy(Depth, N - 1).

%% Each time takes half a second or more, but not much.
depth(Depth) ->
    case took(Depth) of
        Ms when Ms >= 500 -> Depth;
        _ -> depth(Depth + 1)
    end.

took(Depth) ->
    {A, B, Before} = {shared(Depth, a), shared(Depth, a), erlang:monotonic_time(millisecond)},
    true = A == B,
    erlang:monotonic_time(millisecond) - Before.
