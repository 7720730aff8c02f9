%% What OTP's own suites found: limits, stack traces, options of decode_packet.
-module(conf_errors).
-export([main/1]).

main(_) ->
    limits(),
    traces(),
    packets(),
    huge_match(<<1, 0:200>>),
    states().

limits() ->
    Long = [<<0:512/unit:8, 255>>, <<0:512/unit:8, 255, 0>>, list_to_binary([lists:duplicate(300, $a), 255]), <<255>>],
    [io:format("~p ~p~n", [class(fun() -> binary_to_atom(B) end), class(fun() -> binary_to_existing_atom(B) end)]) || B <- Long],
    io:format("~p~n", [class(fun() -> binary_to_atom(<<0:257/unit:8>>, latin1) end)]),
    [io:format("~p ~p~n", [class(fun() -> atomics:new(N, []) end), class(fun() -> counters:new(N, [write_concurrency]) end)])
     || N <- [1 bsl 64, -(1 bsl 64), 0, -1, a]],
    %% 9 EB: more than a small integer.
    Big = lists:foldl(fun(_, A) -> [A, A] end, <<0:(1 bsl 26)/unit:8>>, lists:seq(1, 6)),
    io:format("~p~n", [iolist_size(Big)]),
    Max = erlang:system_info(max_integer),
    io:format("~p ~p~n", [byte_size(binary:encode_unsigned(Max)), class(fun() -> Max + 1 end)]).

traces() ->
    %% A recursion is one frame.
    {'EXIT', {x, S1}} = (catch recursive(5)),
    io:format("~p~n", [[{F, A} || {M, F, A, _} <- S1, M =:= ?MODULE]]),
    %% Options of error/3 that mean nothing are passed over; error_info stands after the place.
    [io:format("~p~n", [catch failing(O)]) || O <- [[], [{error_info, #{}}], [{error_info, no_map}], [bad], [{bad, tuple}]]],
    %% A class that changed on the way stays changed.
    io:format("~p~n", [class(fun change_class/0)]),
    %% Traces made by hand are cut as well.
    Old = erlang:system_flag(backtrace_depth, 3),
    Frames = [{m, f, N, []} || N <- lists:seq(1, 9)],
    io:format("~p~n", [try erlang:raise(error, r, Frames) catch error:r:S2 -> S2 end]),
    erlang:system_flag(backtrace_depth, 0),
    io:format("~p~n", [length(try error(r) catch error:r:S3 -> S3 end)]),
    erlang:system_flag(backtrace_depth, Old).

recursive(0) -> error(x);
recursive(N) -> [catch_none(N) | recursive(N - 1)].

catch_none(N) when N < 100 -> N;
catch_none(_) -> none.

failing(Options) ->
    {'EXIT', {r, [{_, F, Args, Info} | _]}} = (catch error_3(Options)),
    {F, Args, [element(1, I) || I <- Info]}.

error_3(Options) -> error(r, [1, 2], Options).

change_class() ->
    try change_class_1() after ok end.

change_class_1() ->
    try throw(ball)
    catch throw:R:S -> erlang:raise(error, R, S)
    end.

packets() ->
    Names = ["A-b", "A--b", "A---b", "A----b"],
    [io:format("~p~n", [erlang:decode_packet(httph_bin, list_to_binary([N, ": x\r\n\r\n"]), [])]) || N <- Names],
    Targets = ["http://[FEDC:BA98::10]:4000/x", "http://[::1]/1234", "http://[FEDC:4000/x", "http://h:80/y"],
    [io:format("~p~n", [erlang:decode_packet(http_bin, list_to_binary(["GET ", T, " HTTP/1.1\r\nh: o\r\n\r\n"]), [])]) || T <- Targets],
    %% line_length is for lines.
    Header = list_to_binary(["Link: /", lists:duplicate(100, $X), "\r\n\r\n"]),
    io:format("~p~n", [erlang:decode_packet(httph_bin, Header, [{line_length, 20}])]),
    io:format("~p~n", [erlang:decode_packet(httph_bin, binary:part(Header, 0, 60), [{line_length, 20}])]),
    io:format("~p~n", [erlang:decode_packet(line, Header, [{line_length, 20}])]).

%% A segment that no bitstring can fill loads, and does not match.
huge_match(Bin) ->
    io:format("~p~n", [case Bin of <<B:8, _:16#1_0000_0000_0000_0000>> -> B; _ -> no end]).

states() ->
    io:format("~p~n", [class(fun() -> erts_debug:set_internal_state(reds_left, 1) end)]),
    io:format("~p~n", [erts_debug:set_internal_state(available_internal_state, true)]),
    io:format("~p~n", [erts_debug:get_internal_state(available_internal_state)]),
    io:format("~p~n", [erts_debug:set_internal_state(wait, deallocations)]),
    io:format("~p~n", [erts_debug:set_internal_state(wait, thread_progress)]),
    io:format("~p~n", [erts_debug:set_internal_state(available_internal_state, false)]),
    io:format("~p~n", [class(fun() -> erlang:system_info({memory_checker, running}) end)]).

class(F) ->
    try F() of _ -> returned catch C:R -> {C, R} end.
