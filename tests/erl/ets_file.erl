%% Tables to a file and back, table functions of the library.
-module(ets_file).
-export([main/1]).

main(_) ->
    D = t:tmp(?MODULE), F = filename:join(D, "tab"),
    T = ets:new(t, [set]), ets:insert(T, [{N, [N]} || N <- lists:seq(1, 100)]),
    t:w(save, ets:tab2file(T, F)), t:w(verify, element(1, ets:tabfile_info(F))), ets:delete(T),
    {ok, U} = ets:file2tab(F),
    t:w(back, {ets:info(U, size), ets:lookup(U, 50)}),
    t:w(missing, element(1, ets:file2tab(filename:join(D, "none")))),
    t:w(to_ets, begin V = ets:new(v, [bag]), ets:from_dets(V, begin {ok, De} = dets:open_file(d, [{file, filename:join(D, "dets")}]), dets:insert(De, [{a, 1}, {b, 2}]), De end), lists:sort(ets:tab2list(V)) end),
    t:w(dets, {dets:lookup(d, a), dets:info(d, size), dets:close(d)}),
    file:del_dir_r(D).
