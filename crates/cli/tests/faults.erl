%% For faults.rs: loads faults.so from a folder and has it fault in a way of its choice.
-module(faults).
-export([main/1, writes/1, measures/1, aborts/1, dirty/1, works/1]).

main([Folder, "driver"]) ->
    ok = erl_ddll:load(Folder, "faults"),
    port_command(open_port({spawn_driver, "faults"}, []), <<"bytes">>),
    receive nothing -> ok end;
main([Folder, "waits"]) ->
    ok = erlang:load_nif(filename:join(Folder, "faults"), waits),
    spawn(fun() -> works(1) end),
    timer:sleep(100),
    halt(3);
main([Folder, "load"]) ->
    erlang:load_nif(filename:join(Folder, "faults"), load);
main([Folder, Function]) ->
    ok = erlang:load_nif(filename:join(Folder, "faults"), none),
    apply(?MODULE, list_to_atom(Function), [1]).

writes(_) -> erlang:nif_error(not_loaded).
measures(_) -> erlang:nif_error(not_loaded).
aborts(_) -> erlang:nif_error(not_loaded).
dirty(_) -> erlang:nif_error(not_loaded).
works(_) -> erlang:nif_error(not_loaded).
