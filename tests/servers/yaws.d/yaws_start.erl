%% Starts yaws inside this emulator: `Folder` has the pages. Says `@port N`, and runs until its input ends.
-module(yaws_start).
-export([main/1, out/1]).
-include_lib("yaws/include/yaws_api.hrl").

main([Folder, Port]) ->
    {ok, _} = application:ensure_all_started(ssl),
    Server = [{port, list_to_integer(Port)}, {listen, {127, 0, 0, 1}}, {servername, "localhost"}, {appmods, [{"/sum", ?MODULE}]}],
    Global = [{id, "test"}, {logdir, Folder}, {tmpdir, Folder}],
    ok = yaws:start_embedded(Folder, Server, Global, "test"),
    io:format("@port ~s~n", [Port]),
    until_end:wait(),
    halt(0).

%% Adds the numbers of a form.
out(Request) ->
    Sum = lists:sum([list_to_integer(Value) || {_, Value} <- yaws_api:parse_post(Request)]),
    [{status, 200}, {content, "text/plain", integer_to_list(Sum)}].
