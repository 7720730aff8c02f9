%% The queue module in all three interfaces.
-module(data_queue).
-export([main/1]).

main(_) ->
    Q = queue:from_list([1, 2, 3]), t:w(q, [queue:to_list(queue:in(4, Q)), queue:to_list(queue:in_r(0, Q)), element(1, queue:out(Q)), element(1, queue:out_r(Q)), queue:len(Q), queue:is_empty(queue:new()), queue:member(2, Q), queue:to_list(queue:reverse(Q)), queue:to_list(queue:join(Q, Q)), queue:peek(Q), queue:peek_r(queue:new()), queue:get(Q), queue:to_list(queue:drop(Q)), queue:to_list(queue:filter(fun(X) -> X > 1 end, Q)), queue:fold(fun(X, A) -> X + A end, 0, Q), queue:any(fun(X) -> X =:= 2 end, Q), queue:to_list(queue:delete(2, Q)), [queue:to_list(X) || X <- tuple_to_list(queue:split(1, Q))], queue:head(Q), queue:daeh(Q), queue:out(queue:new())]), t:e(empty, fun() -> queue:get(queue:new()) end), t:e(bad, fun() -> queue:in(1, t:id(x)) end), t:w(long, begin L = lists:foldl(fun queue:in/2, queue:new(), lists:seq(1, 1000)), drain(queue:out(L), 0) end).
drain({empty, _}, A) -> A; drain({{value, X}, Q}, A) -> drain(queue:out(Q), A * 3 + X rem 7).
