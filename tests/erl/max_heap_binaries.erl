%% A limit of the heap that counts binaries may be every process' default, and the default alone kills.
-module(max_heap_binaries).
-export([main/1]).

main(_) ->
    Usual = erlang:system_info(max_heap_size),
    t:w(usual, Usual),
    Limit = #{size => 1 bsl 16, kill => true, error_logger => false},
    Reasons = [begin
                   t:w(before, erlang:system_flag(max_heap_size, Limit#{include_shared_binaries => Counted})),
                   t:w(now, erlang:system_info(max_heap_size)),
                   ended(fun() -> grow(10, []) end)
               end || Counted <- [false, true]],
    t:w(before, erlang:system_flag(max_heap_size, Usual)),
    t:w(reasons, Reasons),
    t:w(now, ended(fun() -> grow(10, []) end)).

ended(F) ->
    {Pid, Ref} = spawn_monitor(F),
    receive {'DOWN', Ref, process, Pid, Why} -> Why after 20000 -> lives end.

grow(0, Kept) -> exit(length(Kept));
grow(N, Kept) ->
    erlang:garbage_collect(),
    grow(N - 1, [binary:copy(<<N>>, 160000) | Kept]).
