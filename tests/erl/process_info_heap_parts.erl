%% process_info(_, garbage_collection_info): the parts that the heap of a process has, in words, and their sum.
-module(process_info_heap_parts).
-export([main/1]).

main(_) ->
    Me = self(),
    P = spawn_link(fun() -> process_flag(message_queue_data, off_heap), receive go -> ok end, deep(Me, 300), Me ! shallow, receive done -> ok end end),
    Before = look(P),
    P ! go,
    receive deep -> ok end,
    Deep = look(P),
    P ! {back, make_ref()},
    receive shallow -> ok end,
    After = look(P),
    t:w(names, [Name || {Name, _} <- Before]),
    t:w(stack, {value(stack_size, Before) < value(stack_size, Deep), value(stack_size, After) < value(stack_size, Deep)}),
    Used = fun(Info) -> value(heap_size, Info) + value(old_heap_size, Info) end,
    t:w(heap, {Used(Before) < Used(Deep), Used(Before) < Used(After)}),
    t:w(fits, [value(heap_size, I) =< value(heap_block_size, I) andalso value(old_heap_size, I) =< value(old_heap_block_size, I)
               || I <- [Before, Deep, After]]),
    P ! done.

%% In one question, so that it is the same moment.
look(P) ->
    [{_, Info}, {_, Total}] = process_info(P, [garbage_collection_info, total_heap_size]),
    t:w(sum, Total =:= value(heap_block_size, Info) + value(old_heap_block_size, Info) + value(mbuf_size, Info)),
    Info.

value(Name, Info) -> {Name, Value} = lists:keyfind(Name, 1, Info), Value.

deep(To, 0) -> To ! deep, receive {back, _} -> [] end;
deep(To, N) -> [lists:seq(1, 100) | deep(To, N - 1)].
