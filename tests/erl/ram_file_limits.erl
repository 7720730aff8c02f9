%% What a file in memory answers at its limits: offsets of two gigabytes, ends, and what its modes do not allow.
-module(ram_file_limits).
-export([main/1]).

main(_) ->
    T = 1 bsl 31,
    {ok, Fd} = file:open("1234567890", [ram, read, write]),
    [show(X) || X <- [file:read(Fd, T), file:read(Fd, T - 1), file:read(Fd, 1), file:pread(Fd, T, 1), file:pread(Fd, 0, T),
                      file:pread(Fd, -1, 1), file:pread(Fd, 20, 1), file:pread(Fd, -T - 1, 1), file:pwrite(Fd, T, "@"),
                      file:pwrite(Fd, -1, "@"), file:position(Fd, {bof, T}), file:position(Fd, {bof, T - 1}),
                      file:position(Fd, {cur, T}), file:position(Fd, {eof, T}), file:position(Fd, {eof, -T - 1}),
                      file:position(Fd, {bof, -1}), file:position(Fd, {cur, 0}), file:read(Fd, 1), file:position(Fd, {eof, -20}),
                      file:position(Fd, {eof, -2}), file:read(Fd, 5), file:position(Fd, {bof, 20}), file:read(Fd, 5), file:read(Fd, 0)]],
    {ok, Read} = file:open("abc", [ram]),
    [show(X) || X <- [file:write(Read, "x"), file:pwrite(Read, 0, "x"), file:truncate(Read), file:read(Read, 2), ram_file:get_file(Read)]],
    {ok, Write} = file:open("abc", [ram, write]),
    [show(X) || X <- [file:read(Write, 2), file:pread(Write, 0, 2), ram_file:get_file(Write), ram_file:get_size(Write)]].

show(X) ->
    io:format("~0p~n", [X]).
