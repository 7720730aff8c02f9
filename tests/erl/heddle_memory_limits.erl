%% What would take more memory than any machine has is refused, before anything is taken. (Stock ends with a crash dump for most.)
-module(heddle_memory_limits).
-export([main/1]).

main(_) ->
    Block = binary:copy(<<0>>, 1 bsl 26),
    Blocks = lists:duplicate(1 bsl 15, Block),
    Size = t:id(1 bsl 43),
    Calls = [
        {copy, fun() -> binary:copy(<<0>>, 1 bsl 40) end},
        {copy_words, fun() -> binary:copy(<<0:800>>, 1 bsl 34) end},
        {construct, fun() -> <<0:Size>> end},
        {construct_two, fun() -> <<1, 0:Size>> end},
        {append, fun() -> <<Block/binary, 0:Size>> end},
        {append_again, fun() -> B = <<Block/binary, 1>>, <<B/binary, 0:Size>> end},
        {list_to_binary, fun() -> list_to_binary(Blocks) end},
        {iolist_to_binary, fun() -> iolist_to_binary([Blocks]) end},
        {list_to_bitstring, fun() -> list_to_bitstring(Blocks) end},
        {md5, fun() -> erlang:md5(Blocks) end},
        {crc32, fun() -> erlang:crc32(Blocks) end},
        {term_to_binary, fun() -> term_to_binary(Blocks) end},
        {term_to_binary_compressed, fun() -> term_to_binary(Blocks, [compressed]) end},
        {characters_to_binary, fun() -> unicode:characters_to_binary(Blocks) end},
        {characters_to_list, fun() -> unicode:characters_to_list(Blocks) end},
        {atomics, fun() -> atomics:new(1 bsl 36, []) end},
        {counters, fun() -> counters:new(1 bsl 36, []) end},
        {counters_of_many, fun() -> counters:new(1 bsl 36, [write_concurrency]) end},
        {shift, fun() -> 1 bsl t:id(1 bsl 40) end},
        {product, fun() -> X = t:id(1 bsl 3000000), X * X end},
        {tuple, fun() -> erlang:make_tuple(1 bsl 40, 0) end},
        {min_heap, fun() -> process_flag(min_heap_size, 1 bsl 40) end},
        {min_heap_beyond, fun() -> process_flag(min_heap_size, 1 bsl 58) end},
        {spawn_min_heap, fun() -> spawn_opt(fun() -> ok end, [{min_heap_size, 1 bsl 40}]) end}
    ],
    [io:format("~p ~p~n", [Name, outcome(Call)]) || {Name, Call} <- Calls],
    %% Only counted, so any number will do.
    io:format("~p~n", [process_flag(min_bin_vheap_size, 1 bsl 40) =:= 46422]).

outcome(Call) ->
    try Call() of
        _ -> done
    catch
        error:Reason -> Reason
    end.
