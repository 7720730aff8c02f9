%% Identifiers of this node stay keys of tables and maps while the node gets a name and loses it, and hash as before.
-module(dist_name_changes).
-export([main/1]).

main(_) ->
    Tables = [ets:new(t, []), ets:new(t, [bag]), ets:new(t, [ordered_set])],
    Me = self(),
    Keys = [make_ref(), alias(), Me, hd(erlang:ports()), fun() -> Me end, fun ?MODULE:main/1, {make_ref()}, ets:whereis(code), [self() | make_ref()]],
    [ets:insert(Table, {Key}) || Key <- Keys, Table <- Tables],
    %% 40 more keys, since a small map looks at each key.
    Map = maps:from_list([{Key, 1} || Key <- Keys ++ lists:seq(1, 40)]),
    Hashes = hashes(Keys),
    See = fun() ->
        [io:format("~w~n", [[ets:member(Table, Key) || Key <- Keys]]) || Table <- Tables],
        [io:format("~w~n", [ets:foldl(fun(_, N) -> N + 1 end, 0, Table)]) || Table <- Tables],
        io:format("~w ~w~n", [[is_map_key(Key, Map) || Key <- Keys], hashes(Keys) =:= Hashes])
    end,
    See(),
    {ok, _} = net_kernel:start([list_to_atom("dist_name_changes" ++ os:getpid()), shortnames]),
    io:format("alive ~w~n", [is_alive()]),
    See(),
    More = [make_ref(), self(), {alias()}],
    [ets:insert(Table, {Key}) || Key <- More, Table <- Tables],
    ok = net_kernel:stop(),
    io:format("alive ~w ~w~n", [is_alive(), [ets:member(Table, Key) || Key <- More, Table <- Tables]]),
    See().

hashes(Keys) ->
    [erlang:phash2(Key) || Key <- Keys].
