%% How `open_port` fails: by what is wrong with its options first, then by what it must open.
-module(port_bad_options).
-export([main/1]).

main(_) ->
    Names = [{spawn, "true"}, {spawn, 1}, {spawn_executable, "/bin/no_such"}, {spawn_executable, 1}, {spawn_driver, 1}, {fd, x, 1}, bad],
    Options = [no_list, [in | out], [bad], [{line, 0}], [{packet, 3}], [{args, x}], [{arg0, 1}], [stderr_to_stdout, nouse_stdio]],
    [t:w({Name, Wrong}, failure(Name, Wrong)) || Name <- Names, Wrong <- Options],
    [t:w(Name, failure(Name, [])) || Name <- Names, Name =/= {spawn, "true"}],
    [t:w({Name, Extra}, failure(Name, Extra)) || Name <- [{spawn, "true"}, {spawn, 1}], Extra <- [[{args, []}], [{arg0, "x"}]]].

failure(Name, Options) ->
    try open_port(Name, Options) of
        Port when is_port(Port) -> opened
    catch
        error:Why:Stack ->
            [{Module, Function, _, Info} | _] = Stack,
            {Why, Module, Function, case lists:keyfind(error_info, 1, Info) of {_, Map} -> maps:get(cause, Map, none); false -> no_info end}
    end.
