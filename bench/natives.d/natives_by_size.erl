%% What a call of a native costs by the size of its arguments: bench/natives-by-size runs it, and says what its lines mean.
-module(natives_by_size).
-export([main/1]).

%% Arguments: how long a figure is measured (microseconds), a pattern of names ("" for all), sizes in bytes.
main([Time, Pattern | Sizes]) ->
    Time1 = list_to_integer(Time),
    [run(Name, Kind, Make, Time1, list_to_integer(Size))
     || {Name, Kind, Make} <- rows(), string:find(atom_to_list(Name), Pattern) =/= nomatch, Size <- Sizes],
    halt().

run(Name, Kind, Make, Time, Size) ->
    Self = self(),
    {_, Ref} = spawn_monitor(fun() ->
        Call = Make(Size),
        Self ! {figure, measure(Call, Time)}
    end),
    receive
        {'DOWN', Ref, process, _, normal} -> receive {figure, Ns} -> io:format("~s ~s ~b ~b~n", [Name, Kind, Size, Ns]) end;
        {'DOWN', Ref, process, _, Reason} -> io:format("~s ~s ~b failed ~0p~n", [Name, Kind, Size, Reason])
    end,
    erlang:garbage_collect().

%% The least number of calls in a round: the collections that large results cost later are in its time. With one or two calls after a
%% collection a heap that happens to have room shows none of them.
-define(MIN_CALLS, 8).

%% The quickest of five rounds, in nanoseconds a call.
measure(Call, Time) ->
    Call(),
    Count = calls(Call, Time, ?MIN_CALLS),
    lists:min([round_of(Call, Count) || _ <- lists:seq(1, 5)]).

calls(Call, Time, Count) ->
    case round_of(Call, Count) * Count div 1000 of
        Took when Took >= Time div 5; Count > 1000000 -> Count;
        _ -> calls(Call, Time, 2 * Count)
    end.

round_of(Call, Count) ->
    erlang:garbage_collect(),
    Start = erlang:monotonic_time(nanosecond),
    repeat(Call, Count),
    (erlang:monotonic_time(nanosecond) - Start) div Count.

repeat(_, 0) -> ok;
repeat(Call, N) -> Call(), repeat(Call, N - 1).

%% Arguments of about a given number of bytes. Lines are 64 bytes long.
text(Size) -> binary:copy(<<"2026-11-25 12:00:00 [info] request 4711 took 18 ms, status 200 \n">>, max(1, Size div 64)).
unaligned(Size) -> <<_:3, B/bitstring>> = <<0:3, (text(Size))/binary>>, B.
rare(Size) -> <<(binary:copy(<<"a">>, Size - 1))/binary, "b">>.
list(Size) -> lists:seq(1, max(1, Size div 16)).
bytes(Size) -> lists:duplicate(max(1, Size div 16), $a).
tuple(Size) -> list_to_tuple(lists:seq(1, min(16777215, max(2, Size div 8)))).
map(Size) -> maps:from_list([{N, N} || N <- lists:seq(1, max(1, Size div 40))]).
big(Size) -> (1 bsl (8 * min(Size, 500000))) - 12345.
pairs(Size) -> [{N, N} || N <- lists:seq(1, max(1, Size div 40))].
first_term(Size) -> <<(term_to_binary({ok, [1, 2, 3], <<"abc">>}))/binary, (text(Size))/binary>>.
table(Type, Object) -> T = ets:new(t, [Type, public]), ets:insert(T, Object), T.

%% Name; whether a call looks at little (so that its cost should not grow) or at all of its arguments; what makes the call.
rows() ->
    [{Name, little, Make} || {Name, Make} <- little()] ++ [{Name, all, Make} || {Name, Make} <- all()].

little() ->
    {ok, Re} = re:compile("took ([0-9]+) ms"),
    {ok, Caseless} = re:compile("TOOK ([0-9]+) MS", [caseless]),
    {ok, Line} = re:compile("^(\\S+) (\\S+) \\[(\\w+)\\]", [multiline]),
    Newline = binary:compile_pattern(<<"\n">>),
    Many = binary:compile_pattern([<<"\r\n">>, <<"\n">>]),
    [
     {binary_split, fun(S) -> B = text(S), fun() -> binary:split(B, <<"\n">>) end end},
     {binary_split_compiled, fun(S) -> B = text(S), fun() -> binary:split(B, Newline) end end},
     {binary_split_two, fun(S) -> B = text(S), fun() -> binary:split(B, [<<"\r\n">>, <<"\n">>]) end end},
     {binary_split_two_compiled, fun(S) -> B = text(S), fun() -> binary:split(B, Many) end end},
     {binary_match, fun(S) -> B = text(S), fun() -> binary:match(B, <<"took">>) end end},
     {binary_match_scope, fun(S) -> B = text(S), At = byte_size(B) - 64, fun() -> binary:match(B, <<"took">>, [{scope, {At, 64}}]) end end},
     {binary_part, fun(S) -> B = text(S), fun() -> binary:part(B, 10, 20) end end},
     {binary_at, fun(S) -> B = text(S), fun() -> binary:at(B, 10) end end},
     {binary_last, fun(S) -> B = text(S), fun() -> binary:last(B) end end},
     {binary_copy_of_part, fun(S) -> B = binary:part(text(S), 0, 40), fun() -> binary:copy(B) end end},
     {binary_part_unaligned, fun(S) -> B = unaligned(S), fun() -> binary:part(B, 10, 20) end end},
     {binary_longest_common_prefix, fun(S) -> B = text(S), C = <<"2026", (text(S))/binary>>, fun() -> binary:longest_common_prefix([B, C]) end end},
     {binary_longest_common_suffix, fun(S) -> B = text(S), C = <<(text(S))/binary, "x">>, fun() -> binary:longest_common_suffix([B, C]) end end},
     {split_binary, fun(S) -> B = text(S), fun() -> split_binary(B, 32) end end},
     {binary_to_list_3, fun(S) -> B = text(S), fun() -> binary_to_list(B, 1, 32) end end},
     {byte_size, fun(S) -> B = text(S), fun() -> byte_size(B) end end},
     {binary_equal_prefix, fun(S) -> B = text(S), C = <<"2027", B/binary>>, fun() -> B =:= C end end},
     {binary_less, fun(S) -> B = text(S), C = <<"2027", B/binary>>, fun() -> B < C end end},
     {binary_to_term_used, fun(S) -> B = first_term(S), fun() -> binary_to_term(B, [used]) end end},
     {binary_to_term_bad, fun(S) -> B = <<131, 255, (text(S))/binary>>, fun() -> catch binary_to_term(B) end end},
     {binary_to_atom_bad, fun(S) -> B = text(S), fun() -> catch binary_to_atom(B) end end},
     {binary_to_existing_atom_bad, fun(S) -> B = text(S), fun() -> catch binary_to_existing_atom(B) end end},
     {binary_to_atom_latin1_bad, fun(S) -> B = text(S), fun() -> catch binary_to_atom(B, latin1) end end},
     {binary_to_integer_bad, fun(S) -> B = text(S), fun() -> catch binary_to_integer(B) end end},
     {binary_to_float_bad, fun(S) -> B = text(S), fun() -> catch binary_to_float(B) end end},
     {list_to_atom_bad, fun(S) -> L = bytes(S), fun() -> catch list_to_atom(L) end end},
     {list_to_integer_bad, fun(S) -> L = bytes(S), fun() -> catch list_to_integer(L) end end},
     {list_to_float_bad, fun(S) -> L = bytes(S), fun() -> catch list_to_float(L) end end},
     {string_to_integer, fun(S) -> L = "42 " ++ bytes(S), fun() -> string:to_integer(L) end end},
     {string_to_float, fun(S) -> L = "4.2 " ++ bytes(S), fun() -> string:to_float(L) end end},
     {string_split, fun(S) -> B = text(S), fun() -> string:split(B, "\n") end end},
     {string_find, fun(S) -> B = text(S), fun() -> string:find(B, "took") end end},
     {string_prefix, fun(S) -> B = text(S), fun() -> string:prefix(B, "2026") end end},
     {string_next_grapheme, fun(S) -> B = text(S), fun() -> string:next_grapheme(B) end end},
     {string_slice, fun(S) -> B = text(S), fun() -> string:slice(B, 5, 20) end end},
     {string_take, fun(S) -> B = text(S), fun() -> string:take(B, "0123456789-") end end},
     {re_run, fun(S) -> B = text(S), fun() -> re:run(B, Re) end end},
     {re_run_source, fun(S) -> B = text(S), fun() -> re:run(B, "took ([0-9]+) ms") end end},
     {re_run_caseless, fun(S) -> B = text(S), fun() -> re:run(B, Caseless) end end},
     {re_run_offset, fun(S) -> B = text(S), At = byte_size(B) div 128 * 64, fun() -> re:run(B, Re, [{offset, At}]) end end},
     {re_run_line, fun(S) -> B = text(S), fun() -> re:run(B, Line, [{capture, all_but_first, binary}]) end end},
     {re_run_anchored_no, fun(S) -> B = text(S), fun() -> re:run(B, Re, [anchored]) end end},
     {re_replace_first, fun(S) -> B = text(S), fun() -> re:replace(B, Re, "x") end end},
     {re_split_first, fun(S) -> B = text(S), fun() -> re:split(B, "\n", [{parts, 2}]) end end},
     {decode_packet_line, fun(S) -> B = text(S), fun() -> erlang:decode_packet(line, B, []) end end},
     {decode_packet_http, fun(S) -> B = <<"GET / HTTP/1.1\r\n", (text(S))/binary>>, fun() -> erlang:decode_packet(http_bin, B, []) end end},
     {decode_packet_httph, fun(S) -> B = <<"Host: abc\r\n", (text(S))/binary>>, fun() -> erlang:decode_packet(httph_bin, B, []) end end},
     {decode_packet_4, fun(S) -> B = <<4:32, (text(S))/binary>>, fun() -> erlang:decode_packet(4, B, []) end end},
     {unicode_to_list_bad, fun(S) -> B = <<255, (text(S))/binary>>, fun() -> unicode:characters_to_list(B) end end},
     {unicode_to_binary_bad, fun(S) -> B = <<255, (text(S))/binary>>, fun() -> unicode:characters_to_binary(B) end end},
     {iolist_size_of_binaries, fun(S) -> L = [text(S), text(S)], fun() -> iolist_size(L) end end},
     {iolist_to_binary_of_one, fun(S) -> B = text(S), fun() -> iolist_to_binary(B) end end},
     {iolist_to_iovec, fun(S) -> L = [<<"abc">>, text(S)], fun() -> erlang:iolist_to_iovec(L) end end},
     {iolist_to_iovec_binary, fun(S) -> B = text(S), fun() -> erlang:iolist_to_iovec(B) end end},
     {term_to_iovec, fun(S) -> L = [text(S)], fun() -> erlang:term_to_iovec(L) end end},
     {external_size_of_binary, fun(S) -> L = [text(S)], fun() -> erlang:external_size(L) end end},
     {flat_size_of_binary, fun(S) -> L = [text(S)], fun() -> erts_debug:flat_size(L) end end},
     {send_binary, fun(S) -> B = text(S), fun() -> self() ! B, receive B1 -> B1 end end end},
     {put_get, fun(S) -> L = list(S), fun() -> put(key, L), get(key) end end},
     {lists_member_first, fun(S) -> L = list(S), fun() -> lists:member(1, L) end end},
     {lists_keyfind_first, fun(S) -> L = pairs(S), fun() -> lists:keyfind(1, 1, L) end end},
     {lists_append_short, fun(S) -> L = list(S), fun() -> [1, 2, 3] ++ L end end},
     {lists_subtract_few, fun(S) -> L = list(S), fun() -> [-1] -- L end end},
     {lists_equal, fun(S) -> L = list(S), M = [1, 3 | L], fun() -> L =:= M end end},
     {element, fun(S) -> T = tuple(S), fun() -> element(2, T) end end},
     {tuple_size, fun(S) -> T = tuple(S), fun() -> tuple_size(T) end end},
     {tuple_equal, fun(S) -> T = tuple(S), U = setelement(1, T, 0), fun() -> T =:= U end end},
     {maps_get, fun(S) -> M = map(S), fun() -> maps:get(1, M) end end},
     {maps_put, fun(S) -> M = map(S), fun() -> maps:put(1, 2, M) end end},
     {maps_remove, fun(S) -> M = map(S), fun() -> maps:remove(1, M) end end},
     {maps_take, fun(S) -> M = map(S), fun() -> maps:take(1, M) end end},
     {maps_find, fun(S) -> M = map(S), fun() -> maps:find(1, M) end end},
     {maps_size, fun(S) -> M = map(S), fun() -> map_size(M) end end},
     {maps_merge_small, fun(S) -> M = map(S), fun() -> maps:merge(M, #{1 => 2, 3 => 4}) end end},
     {maps_merge_into_large, fun(S) -> M = map(S), fun() -> maps:merge(#{1 => 2, 3 => 4}, M) end end},
     {maps_merge_empty, fun(S) -> M = map(S), fun() -> maps:merge(M, #{}) end end},
     {maps_next, fun(S) -> M = map(S), fun() -> maps:next(maps:iterator(M)) end end},
     {maps_equal, fun(S) -> M = map(S), N = M#{1 => 0}, fun() -> M =:= N end end},
     {maps_with, fun(S) -> M = map(S), fun() -> maps:with([1, 2], M) end end},
     {maps_without, fun(S) -> M = map(S), fun() -> maps:without([1, 2], M) end end},
     {maps_intersect_small, fun(S) -> M = map(S), fun() -> maps:intersect(M, #{1 => 2}) end end},
     {big_band_small, fun(S) -> I = big(S), fun() -> I band 1 end end},
     {small_band_big, fun(S) -> I = big(S), fun() -> 255 band I end end},
     {big_bsr_most, fun(S) -> I = big(S), N = 8 * min(S, 500000) - 20, fun() -> I bsr N end end},
     {big_equal_small, fun(S) -> I = big(S), fun() -> I =:= 1 end end},
     {big_less_small, fun(S) -> I = big(S), fun() -> I < 1 end end},
     {big_less_float, fun(S) -> I = big(S), fun() -> I < 1.5 end end},
     {big_equal_float, fun(S) -> I = big(S), fun() -> I == 1.5 end end},
     {big_to_float_bad, fun(S) -> I = big(S), fun() -> catch float(I) end end},
     {big_plus_float_bad, fun(S) -> I = big(S), fun() -> catch I + 1.5 end end},
     {small_div_big, fun(S) -> I = big(S), fun() -> 5 div I end end},
     {small_rem_big, fun(S) -> I = big(S), fun() -> 5 rem I end end},
     {big_times_zero, fun(S) -> I = big(S), fun() -> I * 0 end end},
     {is_integer_big, fun(S) -> I = big(S), fun() -> is_integer(I) end end},
     {ets_lookup_element, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:lookup_element(T, 1, 3) end end},
     {ets_member, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:member(T, 1) end end},
     {ets_update_counter, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:update_counter(T, 1, {3, 1}) end end},
     {ets_update_element, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:update_element(T, 1, {3, 5}) end end},
     {ets_update_counter_ordered, fun(S) -> T = table(ordered_set, {1, list(S), 2}), fun() -> ets:update_counter(T, 1, {3, 1}) end end},
     {ets_match_part, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:match(T, {1, '_', '$1'}) end end},
     {ets_select_part, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:select(T, [{{'$1', '_', '$2'}, [{'>', '$2', 0}], ['$2']}]) end end},
     {ets_select_count, fun(S) -> T = table(set, {1, list(S), 2}), fun() -> ets:select_count(T, [{{'$1', '_', '$2'}, [], [true]}]) end end},
     {ets_lookup_binary, fun(S) -> T = table(set, {1, text(S), 2}), fun() -> ets:lookup(T, 1) end end},
     {ets_insert_binary, fun(S) -> B = text(S), T = table(set, {1, B, 2}), fun() -> ets:insert(T, {1, B, 3}) end end},
     {ets_next_key, fun(S) -> T = table(ordered_set, {1, list(S)}), fun() -> ets:first(T) end end},
     {ets_in_large_table, fun(S) -> T = table(set, pairs(S)), fun() -> ets:lookup(T, 1) end end},
     {ets_info_size, fun(S) -> T = table(set, pairs(S)), fun() -> ets:info(T, size) end end},
     {ets_info_memory, fun(S) -> T = table(set, pairs(S)), fun() -> ets:info(T, memory) end end},
     {ets_select_limit, fun(S) -> T = table(set, pairs(S)), fun() -> ets:select(T, [{'_', [], ['$_']}], 1) end end},
     {ets_ordered_prefix, fun(S) -> T = table(ordered_set, [{{a, N}} || {N, _} <- pairs(S)]), fun() -> ets:match(T, {{a, 1}}) end end},
     {persistent_term_get, fun(S) -> persistent_term:put({?MODULE, S}, list(S)), fun() -> persistent_term:get({?MODULE, S}) end end},
     {process_info_memory, fun(S) -> L = list(S), fun() -> erlang:process_info(self(), memory), hd(L) end end},
     {process_info_messages, fun(S) -> L = list(S), fun() -> erlang:process_info(self(), message_queue_len), hd(L) end end},
     {process_info_binary, fun(S) -> L = list(S), fun() -> erlang:process_info(self(), binary), hd(L) end end},
     {fun_info, fun(S) -> L = list(S), F = fun() -> L end, fun() -> erlang:fun_info(F, arity) end end},
     {bits_first_byte, fun(S) -> B = text(S), fun() -> <<C, _/binary>> = B, C end end},
     {bits_tail, fun(S) -> B = text(S), fun() -> <<_:20/binary, C/binary>> = B, C end end},
     {bits_append_byte, fun(S) -> put(b, <<(text(S))/binary, 1>>), fun() -> put(b, <<(get(b))/binary, 1>>) end end},
     {crc32_combine, fun(S) -> fun() -> erlang:crc32_combine(1, 2, S) end end},
     {unique_integer, fun(_) -> fun() -> erlang:unique_integer([positive]) end end}
    ].

all() ->
    {ok, None} = re:compile("no such words [0-9]+"),
    [
     {binary_split_global, fun(S) -> B = text(S), fun() -> binary:split(B, <<"\n">>, [global]) end end},
     {binary_matches, fun(S) -> B = text(S), fun() -> binary:matches(B, <<"\n">>) end end},
     {binary_matches_two, fun(S) -> B = text(S), fun() -> binary:matches(B, [<<"\r\n">>, <<"\n">>]) end end},
     {binary_match_last, fun(S) -> B = rare(S), fun() -> binary:match(B, <<"b">>) end end},
     {binary_match_none, fun(S) -> B = text(S), fun() -> binary:match(B, <<"none">>) end end},
     {binary_match_two_none, fun(S) -> B = text(S), fun() -> binary:match(B, [<<"none">>, <<"nothing">>]) end end},
     {binary_replace, fun(S) -> B = text(S), fun() -> binary:replace(B, <<"\n">>, <<"\r\n">>, [global]) end end},
     {binary_copy, fun(S) -> B = text(S), fun() -> binary:copy(B) end end},
     {binary_decode_unsigned, fun(S) -> B = text(min(S, 65536)), fun() -> binary:decode_unsigned(B) end end},
     {binary_encode_unsigned, fun(S) -> I = big(S), fun() -> binary:encode_unsigned(I) end end},
     {binary_to_list, fun(S) -> B = text(S), fun() -> binary_to_list(B) end end},
     {list_to_binary, fun(S) -> L = bytes(S), fun() -> list_to_binary(L) end end},
     {iolist_to_binary, fun(S) -> L = [text(S div 2), text(S div 2)], fun() -> iolist_to_binary(L) end end},
     {binary_equal, fun(S) -> B = text(S), C = text(S), fun() -> B =:= C end end},
     {binary_split_loop, fun(S) -> B = text(S), fun() -> split_loop(B) end end},
     {bits_byte_loop, fun(S) -> B = text(S), fun() -> byte_loop(B, 0) end end},
     {re_run_global, fun(S) -> B = text(S), fun() -> re:run(B, "took ([0-9]+) ms", [global]) end end},
     {re_run_global_unicode, fun(S) -> B = text(S), fun() -> re:run(B, "took ([0-9]+) ms", [global, unicode]) end end},
     {re_run_global_binary, fun(S) -> B = text(S), fun() -> re:run(B, "took ([0-9]+) ms", [global, {capture, all_but_first, binary}]) end end},
     {re_run_none, fun(S) -> B = text(S), fun() -> re:run(B, None) end end},
     {re_run_class_none, fun(S) -> B = text(S), fun() -> re:run(B, "[xyz]+[0-9]{7}q") end end},
     {re_replace_global, fun(S) -> B = text(S), fun() -> re:replace(B, "took", "x", [global, {return, binary}]) end end},
     {re_split, fun(S) -> B = text(S), fun() -> re:split(B, "\n") end end},
     {string_split_all, fun(S) -> B = text(S), fun() -> string:split(B, "\n", all) end end},
     {string_lexemes, fun(S) -> B = text(S), fun() -> string:lexemes(B, "\n") end end},
     {string_length, fun(S) -> B = text(S), fun() -> string:length(B) end end},
     {string_trim, fun(S) -> B = text(S), fun() -> string:trim(B) end end},
     {string_uppercase, fun(S) -> B = text(S), fun() -> string:uppercase(B) end end},
     {decode_packet_loop, fun(S) -> B = text(S), fun() -> packet_loop(B) end end},
     {binary_to_term_loop, fun(S) -> B = binary:copy(term_to_binary({ok, [1, 2, 3], <<"abc">>}), max(1, S div 64)), fun() -> term_loop(B) end end},
     {unicode_to_list, fun(S) -> B = text(S), fun() -> unicode:characters_to_list(B) end end},
     {unicode_to_binary, fun(S) -> B = text(S), fun() -> unicode:characters_to_binary(B) end end},
     {unicode_to_binary_list, fun(S) -> L = bytes(S), fun() -> unicode:characters_to_binary(L) end end},
     {unicode_latin1, fun(S) -> B = text(S), fun() -> unicode:characters_to_binary(B, latin1, utf8) end end},
     {term_to_binary, fun(S) -> L = list(S), fun() -> term_to_binary(L) end end},
     {binary_to_term, fun(S) -> B = term_to_binary(list(S)), fun() -> binary_to_term(B) end end},
     {term_to_binary_binary, fun(S) -> B = text(S), fun() -> term_to_binary(B) end end},
     {binary_to_term_binary, fun(S) -> B = term_to_binary(text(S)), fun() -> binary_to_term(B) end end},
     {external_size, fun(S) -> L = list(S), fun() -> erlang:external_size(L) end end},
     {phash2, fun(S) -> L = list(S), fun() -> erlang:phash2(L) end end},
     {phash2_binary, fun(S) -> B = text(S), fun() -> erlang:phash2(B) end end},
     {md5, fun(S) -> B = text(S), fun() -> erlang:md5(B) end end},
     {crc32, fun(S) -> B = text(S), fun() -> erlang:crc32(B) end end},
     {adler32, fun(S) -> B = text(S), fun() -> erlang:adler32(B) end end},
     {length, fun(S) -> L = list(S), fun() -> length(L) end end},
     {lists_reverse, fun(S) -> L = list(S), fun() -> lists:reverse(L) end end},
     {lists_member_none, fun(S) -> L = list(S), fun() -> lists:member(x, L) end end},
     {lists_append, fun(S) -> L = list(S), fun() -> L ++ [1] end end},
     {lists_subtract, fun(S) -> L = list(S), fun() -> L -- [1, 2, 3] end end},
     {lists_sort, fun(S) -> L = list(S), fun() -> lists:sort(L) end end},
     {list_to_tuple, fun(S) -> L = list(S), fun() -> list_to_tuple(L) end end},
     {tuple_to_list, fun(S) -> T = tuple(S), fun() -> tuple_to_list(T) end end},
     {setelement, fun(S) -> T = tuple(S), fun() -> setelement(1, T, x) end end},
     {append_element, fun(S) -> T = tuple(S div 2), fun() -> erlang:append_element(T, x) end end},
     {maps_from_list, fun(S) -> L = pairs(S), fun() -> maps:from_list(L) end end},
     {maps_to_list, fun(S) -> M = map(S), fun() -> maps:to_list(M) end end},
     {maps_keys, fun(S) -> M = map(S), fun() -> maps:keys(M) end end},
     {maps_values, fun(S) -> M = map(S), fun() -> maps:values(M) end end},
     {maps_merge, fun(S) -> M = map(S div 2), N = maps:from_list([{-K, K} || K <- maps:keys(M)]), fun() -> maps:merge(M, N) end end},
     {maps_from_keys, fun(S) -> L = list(S div 2), fun() -> maps:from_keys(L, 1) end end},
     {maps_map, fun(S) -> M = map(S), fun() -> maps:map(fun(_, V) -> V + 1 end, M) end end},
     {big_plus, fun(S) -> I = big(S), fun() -> I + I end end},
     {big_times_small, fun(S) -> I = big(S), fun() -> I * 7 end end},
     {big_div_small, fun(S) -> I = big(S), fun() -> I div 7 end end},
     {big_bor, fun(S) -> I = big(S), fun() -> I bor 1 end end},
     {big_to_text, fun(S) -> I = big(min(S, 16384)), fun() -> integer_to_binary(I) end end},
     {big_from_text, fun(S) -> B = integer_to_binary(big(min(S, 16384))), fun() -> binary_to_integer(B) end end},
     {ets_lookup_list, fun(S) -> T = table(set, {1, list(S)}), fun() -> ets:lookup(T, 1) end end},
     {ets_insert_list, fun(S) -> L = list(S), T = table(set, {1, L}), fun() -> ets:insert(T, {1, L}) end end},
     {ets_tab2list, fun(S) -> T = table(set, pairs(S)), fun() -> ets:tab2list(T) end end},
     {ets_select_all, fun(S) -> T = table(set, pairs(S)), fun() -> ets:select(T, [{{'$1', '$2'}, [], ['$1']}]) end end},
     {send_list, fun(S) -> L = list(S), fun() -> self() ! L, receive L1 -> hd(L1) end end end},
     {zlib_compress, fun(S) -> B = text(S), fun() -> zlib:compress(B) end end},
     {zlib_uncompress, fun(S) -> B = zlib:compress(text(S)), fun() -> zlib:uncompress(B) end end},
     {base64_encode, fun(S) -> B = text(S), fun() -> base64:encode(B) end end},
     {base64_decode, fun(S) -> B = base64:encode(text(S)), fun() -> base64:decode(B) end end},
     {bitstring_to_list, fun(S) -> B = unaligned(S), fun() -> bitstring_to_list(B) end end},
     {list_to_bitstring, fun(S) -> L = bytes(S), fun() -> list_to_bitstring(L) end end},
     {garbage_collect, fun(S) -> L = list(S), fun() -> erlang:garbage_collect(), hd(L) end end}
    ].

split_loop(B) ->
    case binary:split(B, <<"\n">>) of
        [_, Rest] -> split_loop(Rest);
        [_] -> ok
    end.

byte_loop(<<C, Rest/binary>>, Sum) -> byte_loop(Rest, Sum + C);
byte_loop(<<>>, Sum) -> Sum.

packet_loop(B) ->
    case erlang:decode_packet(line, B, []) of
        {ok, _, Rest} -> packet_loop(Rest);
        {more, _} -> ok
    end.

term_loop(<<>>) -> ok;
term_loop(B) ->
    {_, Used} = binary_to_term(B, [used]),
    <<_:Used/binary, Rest/binary>> = B,
    term_loop(Rest).
