%% Selective receive: order of clauses against order of messages, what stays in the queue.
-module(recv_selective).
-export([main/1]).

main(_) ->
    [self() ! M || M <- [{a, 1}, b, {a, 2}, c, {d, 3}, b]],
    t:w(second_clause_first_message, receive {d, X} -> {d, X}; {a, Y} -> {a, Y} end),
    t:w(guarded, receive {a, N} when N > 1 -> N end),
    t:w(c, receive c -> c end),
    t:w(rest, t:flush()),
    [self() ! {N, N rem 7} || N <- lists:seq(1, 2000)],
    t:w(backwards, lists:sum([receive {N, R} -> R end || N <- lists:seq(2000, 1, -1)])),
    t:w(empty, t:flush()),
    self() ! {x, 1}, self() ! {x, 2},
    K = 2,
    t:w(bound, receive {x, K} -> K end),
    t:w(left, process_info(self(), [message_queue_len, messages])),
    t:w(nested, begin self() ! inner, receive {x, 1} -> receive inner -> both end end end),
    t:e(guard_error, fun() -> self() ! foo, receive M when hd(M) =:= 1 -> hd; M when is_atom(M) -> {atom, M} end end),
    t:e(error_in_body, fun() -> self() ! boom, receive boom -> hd(t:id([])) end end),
    t:w(after_error, t:flush()).
