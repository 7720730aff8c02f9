%% Server loops in tail position through receive, with state of many kinds.
-module(lang_receive_tail).
-export([main/1]).

main(_) ->
    Me = self(), P = spawn(fun() -> loop(0, #{}, [], <<>>) end), [P ! {add, N} || N <- lists:seq(1, 20000)], P ! {get, Me}, t:w(state, receive {S, M, L, B} -> {S, M, length(L), byte_size(B)} end), {total_heap_size, H} = process_info(P, total_heap_size), t:w(bounded, H < 1000000), P ! stop.
loop(S, M, L, B) -> receive {add, N} -> loop(S + N, M#{N rem 7 => N}, [N | lists:sublist(L, 9)], <<N:16, (binary:part(B, 0, min(byte_size(B), 30)))/binary>>); {get, P} -> P ! {S, M, L, B}, loop(S, M, L, B); stop -> ok end.
