-module(file_devices).
-export([main/1]).

%% Devices open like files.
main(_) ->
    [io:format("~s ~p~n", [Name, try_write(file:open(Name, Modes))])
     || {Name, Modes} <- [{"/dev/full", [write]}, {"/dev/full", [write, raw]}, {"/dev/full", [append]},
                          {"/dev/zero", [read]}, {"/dev/null", [write]}, {"/tmp", [read]}, {"/tmp", [write]}]].

try_write({ok, File}) -> {ok, file:write(File, "x"), file:close(File)};
try_write(Error) -> Error.
