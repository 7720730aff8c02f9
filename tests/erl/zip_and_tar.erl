%% Archives in memory and on disk.
-module(zip_and_tar).
-export([main/1]).

main(_) -> D = t:tmp(?MODULE), {ok, {_, Z}} = zip:create("z.zip", [{"a.txt", <<"alpha">>}, {"d/b.txt", binary:copy(<<"beta">>, 1000)}], [memory]), t:w(zip, begin {ok, L} = zip:unzip(Z, [memory]), [{N, byte_size(B)} || {N, B} <- L] end), T = filename:join(D, "t.tar.gz"), ok = erl_tar:create(T, [{"x", <<"ex">>}, {"y/z", <<"zed">>}], [compressed]), t:w(tar, [erl_tar:table(T, [compressed]), erl_tar:extract(T, [compressed, memory])]), t:w(extract, [erl_tar:extract(T, [compressed, {cwd, D}]), file:read_file(filename:join(D, "y/z"))]), t:w(bad, element(1, erl_tar:table(filename:join(D, "none")))), file:del_dir_r(D).
