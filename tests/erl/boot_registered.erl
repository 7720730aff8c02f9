%% Names, the process dictionary, and references.
-module(boot_registered).
-export([main/1]).

main(_) ->
    register(boot, self()),
    boot ! hi,
    receive M -> erlang:display(M) end,
    erlang:display(whereis(boot) =:= self()),
    unregister(boot),
    erlang:display(whereis(boot)),
    erlang:display(put(k, 1)), erlang:display(put(k, 2)), erlang:display(get(k)), erlang:display(erase(k)), erlang:display(get(k)),
    erlang:display(make_ref() =:= make_ref()),
    erlang:display(is_reference(make_ref())).
