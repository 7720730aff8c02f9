%% lib/heddle/src documents the modules that only Heddle has: the same functions as the natives, each with documentation and a type, and
%% maps with the keys that the functions return.
-module(heddle_documentation).
-export([main/1]).

-define(MODULES, [heddle_sched, heddle_stats, heddle_task]).

main(_) ->
    [io:format("~p ~p~n", [Module, check(Module)]) || Module <- ?MODULES],
    {heddle_stats, Forms} = forms(heddle_stats),
    [io:format("~p ~p~n", [Type, keys_of(Type, Forms) -- keys_of(Value)]) || {Type, Value} <- values()],
    [io:format("~p ~p~n", [Type, keys_of(Value) -- keys_of(Type, Forms)]) || {Type, Value} <- values()].

values() ->
    [{scheduler, hd(heddle_stats:schedulers())}, {collections, heddle_stats:gc()}, {collections, heddle_stats:gc(1)},
     {pauses, heddle_stats:pauses()}, {pauses, heddle_stats:pauses(1)}, {pause, map_get(minor, heddle_stats:pauses())},
     {heaps, heddle_stats:heaps()}, {messages, heddle_stats:messages()}, {messages, heddle_stats:messages(1)},
     {memory, heddle_stats:memory()}, {thread_memory, heddle_stats:memory(1)}].

%% What is missing: functions without a native, natives that are not in the file, functions without documentation, and without a type.
check(Module) ->
    {Module, Forms} = forms(Module),
    {ok, Module, Beam} = compile:forms(Forms, [return_errors, deterministic]),
    {ok, {Module, [{exports, Exports}]}} = beam_lib:chunks(Beam, [exports]),
    Natives = Module:module_info(exports),
    {ok, {Module, [{"Docs", Chunk}]}} = beam_lib:chunks(Beam, ["Docs"]),
    {docs_v1, _, erlang, <<"text/markdown">>, #{<<"en">> := _}, _, Entries} = binary_to_term(Chunk),
    Documented = [{Name, Arity} || {{function, Name, Arity}, _, _, Text, About} <- Entries, is_map(Text) orelse is_map_key(equiv, About)
                                                                                         orelse Text =:= hidden],
    Typed = [Function || {attribute, _, spec, {Function, _}} <- Forms],
    Own = Exports -- [{module_info, 0}, {module_info, 1}],
    {lists:sort(Exports -- Natives), lists:sort(Natives -- Exports), Own -- Documented, Own -- Typed}.

forms(Module) ->
    Folder = filename:join([filename:dirname(code:which(?MODULE)), "..", "..", "lib", "heddle", "src"]),
    {ok, Forms} = epp:parse_file(filename:join(Folder, atom_to_list(Module) ++ ".erl"), []),
    {Module, Forms}.

keys_of(Map) -> lists:sort(maps:keys(Map)).

%% The keys of a map type.
keys_of(Name, Forms) ->
    [Fields] = [Fields || {attribute, _, type, {Type, {type, _, map, Fields}, []}} <- Forms, Type =:= Name],
    lists:sort([Key || {type, _, map_field_exact, [{atom, _, Key}, _]} <- Fields]).
