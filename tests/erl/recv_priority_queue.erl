%% Taking urgent messages first with nested receives.
-module(recv_priority_queue).
-export([main/1]).

main(_) -> [self() ! {if N rem 5 =:= 0 -> high; N rem 2 =:= 0 -> mid; true -> low end, N} || N <- lists:seq(1, 30)], t:w(order, take()).
take() -> receive {high, N} -> [N | take()] after 0 -> receive {mid, N} -> [N | take()] after 0 -> receive {low, N} -> [N | take()] after 0 -> [] end end end.
