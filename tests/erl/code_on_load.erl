%% on_load functions that succeed and fail, and code paths.
-module(code_on_load).
-export([main/1]).

main(_) ->
    L = fun(M, R) -> {ok, M, B} = compile:forms([{attribute, 1, module, M}, {attribute, 1, export, [{f, 0}]}, {attribute, 1, on_load, {init, 0}}, {function, 2, init, 0, [{clause, 2, [], [], [R]}]}, {function, 3, f, 0, [{clause, 3, [], [], [{atom, 3, here}]}]}]), code:load_binary(M, "x", B) end,
    t:w(ok, [L(on_load_a, {atom, 2, ok}), on_load_a:f()]), t:w(fails, [L(on_load_b, {atom, 2, no}), catch element(1, element(2, (catch on_load_b:f())))]), t:w(crash, L(on_load_c, {call, 2, {atom, 2, error}, [{atom, 2, oops}]})), t:w(path, [code:which(lists) =/= non_existing, code:which(no_such_mod), code:is_loaded(no_such_mod), code:ensure_loaded(no_such_mod), code:load_file(no_such_mod), is_list(code:get_path()), is_list(code:lib_dir(stdlib)), code:lib_dir(nope), code:is_sticky(lists), code:ensure_loaded(lists), is_list(code:root_dir())]), t:w(loaded, lists:keymember(lists, 1, code:all_loaded())), t:w(sticky, begin {lists, B, F} = code:get_object_code(lists), code:load_binary(lists, F, B) end), t:w(chunks, begin {ok, {lists, [{exports, E}]}} = beam_lib:chunks(code:which(lists), [exports]), lists:member({map, 2}, E) end), t:w(modified, [code:modified_modules() =:= [] orelse some, erlang:pre_loaded() =/= [], lists:member(erlang, erlang:loaded())]).
