%% Several external programs at once.
-module(port_many).
-export([main/1]).

main(_) -> Ps = [begin P = open_port({spawn, "cat"}, [binary, {packet, 4}]), {P, N} end || N <- lists:seq(1, 10)], [port_command(P, term_to_binary({N, lists:seq(1, N)})) || {P, N} <- Ps], t:w(echoed, [receive {P, {data, D}} -> binary_to_term(D) =:= {N, lists:seq(1, N)} end || {P, N} <- Ps]), [port_close(P) || {P, _} <- Ps], t:w(left, [X || X <- t:flush(), element(1, X) =/= 'EXIT']), t:w(cmds, begin Me = self(), [spawn(fun() -> Me ! {N, os:cmd("echo " ++ integer_to_list(N))} end) || N <- lists:seq(1, 8)], [receive {N, S} -> S end || N <- lists:seq(1, 8)] end).
