%% statistics(runtime) is the user time of all threads: what the system did for them is not in it.
-module(stat_runtime).
-export([main/1]).

main(_) ->
    {ok, File} = file:open("/dev/zero", [read, raw, binary]),
    work(File),
    {Runtime, _} = statistics(runtime),
    {User, System} = times(),
    %% Ticks are 10 ms; a little goes by between the two questions.
    case abs(Runtime - User) < System div 2 of
        true -> io:format("user time~n");
        false -> io:format("~p, user ~p, system ~p~n", [Runtime, User, System])
    end.

%% Until the system's part is large enough to be told from a delay.
work(File) ->
    [{ok, _} = file:read(File, 1 bsl 20) || _ <- lists:seq(1, 50)],
    case times() of
        {_, System} when System >= 200 -> ok;
        _ -> work(File)
    end.

times() ->
    {ok, Stat} = file:read_file("/proc/self/stat"),
    [_, After] = binary:split(Stat, <<") ">>),
    Fields = binary:split(After, <<" ">>, [global]),
    list_to_tuple([10 * binary_to_integer(lists:nth(N, Fields)) || N <- [12, 13]]).
