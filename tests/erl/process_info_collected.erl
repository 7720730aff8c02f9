%% A process that looks at itself handles its signals; one of them may be a request to collect it there and then.
-module(process_info_collected).
-export([main/1]).

main(_) ->
    Self = self(),
    Asker = spawn_link(fun() -> ask(Self) end),
    L = [{N, integer_to_binary(N), [N]} || N <- lists:seq(1, 200)],
    io:format("~p~n", [rounds(3000, L, erlang:phash2(L))]),
    unlink(Asker),
    exit(Asker, kill).

rounds(0, L, Hash) -> Hash =:= erlang:phash2(L);
rounds(N, L, Hash) ->
    New = {N, [integer_to_binary(N) | L]},
    [{message_queue_len, 0}, {dictionary, []}, {reductions, R}] = process_info(self(), [message_queue_len, dictionary, reductions]),
    true = is_integer(R),
    {N, [B | L]} = New,
    B = integer_to_binary(N),
    rounds(N - 1, L, Hash).

ask(P) -> erlang:garbage_collect(P, [{async, x}]), receive {garbage_collect, x, _} -> ok end, ask(P).
