%% A web server's log is read line by line from a file, parsed, filtered and counted.
-module(real_logs).
-export([main/1, group/0]).

group() -> real.

main(_) ->
    File = filename:join(os:getenv("TMPDIR", "/tmp"), "real_logs." ++ os:getpid()),
    ok = file:write_file(File, [line(N) || N <- lists:seq(1, 40000)]),
    try
        bench:time(?MODULE, fun() -> {device(File), raw(File), whole(File)} end)
    after
        file:delete(File)
    end.

line(N) ->
    io_lib:format("10.0.~b.~b - user~b [25/Nov/2026:12:~2..0b:~2..0b +0000] \"~s /shop/item/~b?ref=~b HTTP/1.1\" ~b ~b\n",
                  [N rem 256, N * 7 rem 256, N rem 97, N div 60 rem 60, N rem 60, lists:nth(1 + N rem 3, ["GET", "POST", "HEAD"]),
                   N rem 211, N rem 5, lists:nth(1 + N rem 8, [200, 200, 200, 304, 200, 404, 500, 200]), N * 31 rem 9000]).

%% Through a file's process, as lists, as io:get_line/2 gives them: the first lines alone.
device(File) ->
    {ok, Device} = file:open(File, [read]),
    Lengths = device(Device, 8000, 0),
    ok = file:close(Device),
    Lengths.

device(_, 0, Sum) -> Sum;
device(Device, N, Sum) -> device(Device, N - 1, Sum + length(string:tokens(io:get_line(Device, ""), " "))).

%% As binaries, from a raw file.
raw(File) ->
    {ok, Device} = file:open(File, [read, raw, binary, {read_ahead, 65536}]),
    Counts = raw(Device, #{}, 0),
    ok = file:close(Device),
    Counts.

raw(Device, Counts, Bytes) ->
    case file:read_line(Device) of
        {ok, Line} ->
            {Status, Path, Size} = parse(Line),
            raw(Device, maps:update_with({Status, Path}, fun(Count) -> Count + 1 end, 1, Counts), Bytes + Size);
        eof -> {Bytes, lists:sublist(lists:reverse(lists:keysort(2, lists:sort(maps:to_list(Counts)))), 20)}
    end.

parse(Line) ->
    [_, Request, Rest] = binary:split(Line, <<"\"">>, [global]),
    [_, Path, _] = binary:split(Request, <<" ">>, [global]),
    [Status, Size] = binary:split(string:trim(Rest), <<" ">>),
    [Page | _] = binary:split(Path, <<"?">>),
    {binary_to_integer(Status), Page, binary_to_integer(Size)}.

%% At once, with a regular expression for each line.
whole(File) ->
    {ok, Bytes} = file:read_file(File),
    {ok, Pattern} = re:compile("^(\\S+) - (\\S+) \\[([^\\]]+)\\] \"(\\w+) ([^ ?]+)[^\"]*\" (5\\d\\d) (\\d+)$"),
    Errors = [Fields || Line <- binary:split(Bytes, <<"\n">>, [global, trim]),
                        {match, Fields} <- [re:run(Line, Pattern, [{capture, [2, 4, 5], binary}])]],
    Users = lists:foldl(fun([User, _, _], Users) -> Users#{User => maps:get(User, Users, 0) + 1} end, #{}, Errors),
    {length(Errors), lists:sort(maps:to_list(Users))}.
