%% Writes of many binaries of all sizes, whole and parts, and reads of more than there is, or than is taken at once.
-module(file_pieces).
-export([main/1]).

main(_) ->
    Name = "file_pieces" ++ os:getpid(),
    Large = binary:copy(<<"0123456789abcdef">>, 4096),
    <<_:3, Shifted:40000/binary, _/bits>> = Large,
    <<_:7/binary, Part:50000/binary, _/binary>> = Large,
    Pieces = [<<"a">>, Large, <<"b">>, <<"c">>, Part, Shifted, <<>>, Large, <<"d">>],
    Whole = iolist_to_binary(Pieces),
    {ok, F} = file:open(Name, [raw, read, write, binary]),
    t:w(write, file:write(F, Pieces)),
    t:w(size, {byte_size(Whole), file:position(F, cur)}),
    t:w(pread_all, file:pread(F, 0, byte_size(Whole)) =:= {ok, Whole}),
    t:w(pwrite, file:pwrite(F, 3, [Large, <<"x">>, Part])),
    t:w(pread_part, file:pread(F, 3, byte_size(Large) + 1 + byte_size(Part)) =:= {ok, <<Large/binary, "x", Part/binary>>}),
    t:w(position, file:position(F, cur)),
    %% A read of more than the file has.
    {ok, _} = file:position(F, bof),
    t:w(read_more, [case file:read(F, 1 bsl 28) of {ok, B} -> byte_size(B); Other -> Other end || _ <- [1, 2]]),
    t:w(pread_more, [case file:pread(F, At, 1 bsl 28) of {ok, B} -> byte_size(B); Other -> Other end || At <- [10, 1 bsl 20]]),
    %% A file of more than 64 MiB comes in one read, and the binary stays right after collections.
    Far = 70 bsl 20,
    ok = file:pwrite(F, Far, <<"end">>),
    {ok, _} = file:position(F, bof),
    {ok, Big} = file:read(F, Far + 100),
    garbage_collect(),
    t:w(big, {byte_size(Big) - Far, binary:part(Big, Far, 3), binary:part(Big, 3, 10), file:read(F, 1)}),
    {ok, Tail} = file:pread(F, 5, Far),
    garbage_collect(),
    t:w(tail, {byte_size(Tail) - Far, binary:part(Tail, Far - 5, 3), (<<Tail/binary, "more">>) =/= Tail}),
    ok = file:close(F),
    t:w(read_file, file:read_file(Name) =:= {ok, Big}),
    t:w(not_binaries, catch prim_file:write(F, [{}])),
    file:delete(Name).
