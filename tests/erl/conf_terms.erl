%% Identifiers of this node read from outside, monitors of what is not there, dates at the ends, memory by allocator.
-module(conf_terms).
-export([main/1]).

main(_) ->
    identifiers(),
    monitors(),
    dates(),
    memory().

identifiers() ->
    Node = atom_to_binary(node()),
    Creation = erlang:system_info(creation),
    Pid = fun(Number, Serial) ->
                  binary_to_term(<<131, 88, 119, (byte_size(Node)), Node/binary, Number:32, Serial:32, Creation:32>>)
          end,
    Ref = fun(Words) ->
                  binary_to_term(<<131, 90, (length(Words)):16, 119, (byte_size(Node)), Node/binary, Creation:32,
                                   << <<W:32>> || W <- Words >>/binary>>)
          end,
    io:format("~p~n", [[is_pid(Pid(4711, 17)), try Pid(1 bsl 28, 17) catch error:E -> E end]]),
    io:format("~p~n", [[Ref([4711]), Ref([4711, 0]), Ref([4711]) =:= Ref([4711, 0, 0]), Ref([4711, 1]) =:= Ref([4711, 1, 1])]]),
    io:format("~p~n", [byte_size(term_to_binary(Ref([4711])))]).

monitors() ->
    [begin
         M = erlang:monitor(Type, Name, Options),
         io:format("~p~n", [receive
                                Down when element(2, Down) =:= M -> setelement(2, Down, ref)
                            after 1000 -> none
                            end])
     end || Type <- [process, port], Name <- [no_such_name, {no_such_name, node()}],
            Options <- [[], [{tag, my_tag}], [{alias, demonitor}, {tag, {a, b}}]]],
    %% A process of this node in an earlier life.
    Binary = term_to_binary(self()),
    Size = byte_size(Binary) - 4,
    <<Start:Size/binary, Creation:32>> = Binary,
    Other = binary_to_term(<<Start/binary, (Creation bxor 1):32>>),
    M = erlang:monitor(process, Other, [{tag, earlier}]),
    io:format("~p~n", [receive {earlier, M, process, Other, Reason} -> Reason after 1000 -> none end]).

dates() ->
    Noon = {12, 0, 0},
    [io:format("~p ~p~n", [Y, [try is_tuple(erlang:F({{Y, 1, 2}, Noon})) orelse erlang:F({{Y, 1, 2}, Noon}) catch error:E -> E end
                               || F <- [universaltime_to_localtime, localtime_to_universaltime, universaltime_to_posixtime]]])
     || Y <- [-5, 0, 1, 1599, 1600, 1900, 1901, 1902, 1950, 9999, 30000, 1 bsl 31, 1 bsl 40, 1 bsl 70]].

%% A megabyte more of each kind shows where it belongs.
memory() ->
    Before = sizes(),
    T = ets:new(t, []),
    ets:insert(T, {1, lists:seq(1, 100_000)}),
    Bin = binary:copy(<<1>>, 4_000_000),
    Grown = lists:zipwith(fun({K, A}, {K, B}) -> {K, A - B > 1_000_000} end, sizes(), Before),
    io:format("~p~n", [[lists:keyfind(K, 1, Grown) || K <- [ets_alloc, binary_alloc]]]),
    ets:delete(T),
    io:format("~p~n", [byte_size(Bin)]),
    io:format("~p~n", [erts_debug:alloc_blocks_size(no_such_alloc) =:= undefined
                       orelse erts_debug:alloc_blocks_size(no_such_alloc)]),
    io:format("~p~n", [try erlang:system_info({allocator_sizes, [nonsense]}) catch error:E -> E end]).

sizes() ->
    [{K, erts_debug:alloc_blocks_size(K)} || K <- [ets_alloc, binary_alloc]].
