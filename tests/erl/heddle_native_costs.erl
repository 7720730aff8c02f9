%% A native costs by what it looks at: where that is little no call goes to a dirty thread, however large the arguments are.
-module(heddle_native_costs).
-export([main/1]).

main(_) ->
    Self = self(),
    Worker = spawn_link(fun() -> Calls = calls(), Self ! ready, receive go -> [Call() || Call <- Calls], Self ! {done, length(Calls)} end end),
    receive ready -> ok end,
    1 = erlang:trace(Worker, true, [running, {tracer, spawn_link(fun() -> tracer([]) end)}]),
    {tracer, Tracer} = erlang:trace_info(Worker, tracer),
    Worker ! go,
    receive {done, Count} -> io:format("~p calls~n", [Count]) end,
    Ref = erlang:trace_delivered(Worker),
    receive {trace_delivered, Worker, Ref} -> ok end,
    Tracer ! {self(), outs},
    receive {outs, Outs} -> io:format("left at ~p~n", [Outs]) end.

%% The natives at which the worker left its scheduler.
tracer(Outs) ->
    receive
        {trace, _, out, {M, F, A}} ->
            case M =/= ?MODULE andalso erlang:is_builtin(M, F, A) of
                true -> tracer([{M, F, A} | Outs]);
                false -> tracer(Outs)
            end;
        {From, outs} -> From ! {outs, lists:usort(Outs)};
        _ -> tracer(Outs)
    end.

calls() ->
    Text = binary:copy(<<"2026-11-25 12:00:00 [info] request 4711 took 18 ms, status 200 \n">>, 65536),
    <<_:3, Unaligned/bitstring>> = <<0:3, (binary:part(Text, 0, 100000))/binary>>,
    Pattern = binary:compile_pattern([<<"took">>, <<"gave">>]),
    {ok, Re} = re:compile("took ([0-9]+) ms"),
    {ok, Unicode} = re:compile("took ([0-9]+) ms", [unicode]),
    List = lists:seq(1, 100000),
    Map = maps:from_keys(List, 1),
    Big = 1 bsl 4000000,
    Term = <<(term_to_binary({ok, [1, 2, 3], <<"abc">>}))/binary, Text/binary>>,
    Million = binary:part(Text, 0, 1000000),
    [
        fun() -> binary:split(Text, <<"\n">>) end,
        fun() -> binary:split(Text, [<<"\r\n">>, <<"\n">>]) end,
        fun() -> binary:split(Unaligned, <<"\n">>) end,
        fun() -> binary:match(Text, Pattern) end,
        fun() -> string:split(Text, "\n") end,
        fun() -> string:find(Text, "took") end,
        fun() -> re:run(Text, Re) end,
        fun() -> re:run(Text, Re, [{offset, 1000000}]) end,
        fun() -> re:run(Text, "TOOK", [caseless]) end,
        fun() -> re:run(Text, "^abc", []) end,
        fun() -> re:run(Text, Re, [anchored]) end,
        fun() -> re:run(Million, Unicode) end,
        fun() -> re:replace(Text, Re, "x") end,
        fun() -> binary:longest_common_prefix([Text, <<"2026", Text/binary>>]) end,
        fun() -> binary:longest_common_suffix([Text, <<Text/binary, "x">>]) end,
        fun() -> binary_to_term(Term) end,
        fun() -> binary_to_term(Term, [used]) end,
        fun() -> catch binary_to_term(<<131, 255, Text/binary>>) end,
        fun() -> unicode:characters_to_list(<<255, Text/binary>>) end,
        fun() -> unicode:characters_to_binary(<<"abc", 255, Text/binary>>) end,
        fun() -> erlang:decode_packet(line, Text, []) end,
        fun() -> [1] -- List end,
        fun() -> List -- [3, 1, 2] end,
        fun() -> maps:merge(Map, #{1 => 2}) end,
        fun() -> maps:merge(#{1 => 2}, Map) end,
        fun() -> maps:merge(Map, #{}) end,
        fun() -> Big band 1 end,
        fun() -> erlang:external_size([Text]) end
    ].
