%% The external term format: encoding with options, decoding, and decoding of what was damaged. Not the option `safe`: which atoms
%% there are depends on all that an emulator did before.
-module(seq_external).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() ->
    case seq_value:below(6) of
        0 -> {encode, [seq_value:arg(any), options()], bin};
        1 -> {round_trip, [seq_value:arg(any), options()], any};
        2 -> {iovec, [seq_value:arg(any), options()], none};
        3 -> {size, [seq_value:arg(any), seq_value:one({[], [{minor_version, 0}], [{minor_version, 1}], [{minor_version, 2}], [bad]})], none};
        4 -> {damaged, [seq_value:arg(any), [damage() || _ <- lists:seq(1, 1 + seq_value:below(3))], seq_value:one({[], [used], [bad]})], any};
        5 -> {made, [bytes(), seq_value:one({[], [used]})], any}
    end.

options() -> [seq_value:one({compressed, {compressed, 0}, {compressed, 9}, {minor_version, 0}, {minor_version, 1}, {minor_version, 2}, local_x, deterministic, {compressed, 10}, {minor_version, 3}}) || _ <- lists:seq(1, seq_value:below(3))].

%% Where (of 1,000 parts of the length), and what comes there.
damage() -> {seq_value:below(1000), seq_value:one({cut, {set, seq_value:below(256)}, {set, seq_value:one({70, 77, 80, 82, 83, 88, 89, 90, 97, 98, 99, 100, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 115, 116, 118, 119, 120})}, {add, seq_value:below(256)}, drop})}.

%% Valid beginnings and tags, then anything.
bytes() ->
    Tag = seq_value:one({70, 77, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 118, 119, 120, 121}),
    Atom = seq_value:one({<<119, 1, $a>>, <<119, 13, "nonode@nohost">>, <<100, 0, 1, $b>>, <<118, 0, 2, 195, 164>>, <<115, 1, 200>>, <<119, 1, 200>>, <<97, 1>>}),
    Rest = seq_value:make(bin),
    N = 1 + seq_value:below(5),  % not 0: stock reads on after the end of a reference without words, which is refused here
    seq_value:one({<<131, Tag, Rest/binary>>, <<131, Tag, Atom/binary, Rest/binary>>, <<131, Tag, N, Rest/binary>>, <<131, Tag, 0:24, N, Atom/binary, Rest/binary>>,
                   <<131, 90, 0, N, Atom/binary, 1:32, (seq_value:below(1 bsl 32)):32, 2:32, 3:32>>, <<131, 88, Atom/binary, (seq_value:below(1 bsl 32)):32, N:32, 7:32>>,
                   <<131, 120, Atom/binary, (seq_value:below(1 bsl 32)):64, 7:32>>, <<131, 114, 0, N, Atom/binary, N, 5:32, 6:32>>, <<131, 113, Atom/binary, Atom/binary, 97, N>>,
                   <<131, 110, N, (N rem 3), Rest/binary>>, <<131, 116, 0:24, 2, Atom/binary, 97, 1, Atom/binary, 97, 2>>, <<131, 108, 0:24, N, (binary:copy(<<97, 1>>, N))/binary, 106>>,
                   <<131, 77, N:32, (seq_value:below(10)), Rest/binary>>, <<131, 99, (list_to_binary(io_lib:format("~.20e", [1.5 + N])))/binary, 0:40>>, <<131, 107, 0, N, Rest/binary>>,
                   <<131, 80, 3:32, (zlib:compress(<<97, N, 0>>))/binary, Rest/binary>>, <<131, 80, 2:32, (zlib:compress(<<97, N>>))/binary, Rest/binary>>}).

run(encode, [T, Options], S) -> {term_to_binary(fold(T), Options), S};
run(round_trip, [T, Options], S) -> B = term_to_binary(T, Options), {{binary_to_term(B), binary_to_term(B) =:= T}, S};
run(iovec, [T, Options], S) -> {iolist_to_binary(erlang:term_to_iovec(fold(T), Options)), S};
run(size, [T, Options], S) -> {erlang:external_size(fold(T), Options), S};
run(damaged, [T, Damage, Options], S) -> {decode(lists:foldl(fun damaged/2, term_to_binary(fold(T)), Damage), Options), S};
run(made, [B, Options], S) -> {decode(B, Options), S}.

%% Identifiers of other nodes look the same on both; those that were decoded are told by their text and encoding.
decode(B, Options) ->
    T = case has_internal(B) of
            true -> internal;
            false -> binary_to_term(B, Options)
        end,
    case T of {Value, Used} when is_integer(Used) -> {shown(Value), Used}; _ -> shown(T) end.

%% Tags that only the emulator itself writes: stock decodes those that others wrote, as an atom by its index or memory by its address.
has_internal(B) -> binary:match(B, [<<"I">>, <<"J">>, <<"K">>, <<"L">>]) =/= nomatch.

shown(T) when is_pid(T); is_port(T); is_reference(T) -> {node(T), T};
shown(T) -> T.

%% Large maps are encoded in an order of the emulator's own, atoms that are keys of others in that in which they were made.
fold(M) when is_map(M), map_size(M) > 32 -> seq_value:sorted(maps:to_list(M));
fold([H | T]) -> [fold(H) | fold(T)];
fold(T) when is_tuple(T) -> list_to_tuple([fold(E) || E <- tuple_to_list(T)]);
fold(M) when is_map(M) ->
    Folded = [{fold(K), fold(V)} || {K, V} <- maps:to_list(M)],
    case [K || {K, _} <- Folded, is_atom(K)] of
        [_, _ | _] -> seq_value:sorted(Folded);
        _ -> maps:from_list(Folded)
    end;
fold(T) -> T.

damaged({_, _}, <<>>) -> <<>>;
damaged({Part, How}, B) ->
    At = byte_size(B) * Part div 1000,
    <<Before:At/binary, Byte, After/binary>> = B,
    case How of
        cut -> Before;
        drop -> <<Before/binary, After/binary>>;
        {set, New} -> <<Before/binary, New, After/binary>>;
        {add, New} -> <<Before/binary, New, Byte, After/binary>>
    end.
