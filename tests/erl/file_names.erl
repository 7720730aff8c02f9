%% filename and filelib functions on text.
-module(file_names).
-export([main/1]).

main(_) ->
    t:w(split, [{filename:split(F), filename:basename(F), filename:dirname(F), filename:extension(F), filename:rootname(F), filename:pathtype(F)} || F <- ["/usr/lib/x.erl", "a/b.tar.gz", "/", "", "plain", "dir/", <<"bin/x.c">>, ".hidden", "a.b/c", "../x"]]), t:w(join, [filename:join(X) || X <- [["a", "b"], ["/", "x"], ["a", "/b"], ["a/", "b"], [<<"a">>, "b"], ["a", ".."]]]), t:w(abs, [filename:absname("x", "/base"), filename:absname("/x", "/base"), filename:basename("x.erl", ".erl"), filename:rootname("x.erl", ".c"), filename:flatten(["a", [98]]), filename:nativename("a/b"), filename:join("a", "b"), filelib:safe_relative_path("a/../b", "/"), filelib:safe_relative_path("../x", "/")]), t:e(bad, fun() -> filename:join([]) end), t:e(bad2, fun() -> filename:basename(t:id(1)) end).
