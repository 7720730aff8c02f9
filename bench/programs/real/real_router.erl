%% A router: packets are parsed by bit syntax, checked, looked up in a table of prefixes, changed and counted.
-module(real_router).
-export([main/1, group/0]).

group() -> real.

main(_) ->
    Packets = [packet(N) || N <- lists:seq(1, 4000)],
    Routes = routes(),
    bench:time(?MODULE, fun() ->
        Flows = ets:new(?MODULE, [set]),
        Ports = lists:foldl(fun(_, Counts) -> lists:foldl(fun(Packet, C) -> forward(Packet, Routes, Flows, C) end, Counts, Packets) end, #{}, lists:seq(1, 36)),
        {lists:sort(maps:to_list(Ports)), ets:info(Flows, size), lists:sum([Count || {_, Count} <- ets:tab2list(Flows)])}
    end).

%% Prefixes by length, the longest first.
routes() ->
    [{Length, #{(N * 2654435761) band 16#ffffffff bsr (32 - Length) => N rem 16 || N <- lists:seq(1, 60)}} || Length <- [24, 20, 16, 12, 8]].

packet(N) ->
    Source = (N * 48271) band 16#ffffffff,
    Destination = case N rem 3 of 0 -> (N * 69621) band 16#ffffffff; _ -> ((N rem 60 + 1) * 2654435761) band 16#ffffffff end,
    Body = case N rem 4 of
        0 -> <<(1024 + N rem 5000):16, 53:16, 28:16, 0:16, N:64, "dns query">>;
        _ -> <<(1024 + N rem 5000):16, (lists:nth(1 + N rem 3, [80, 443, 22])):16, N:32, (N * 3):32, 5:4, 0:6, (N rem 64):6, 8192:16, 0:32, (binary:copy(<<"x">>, N rem 200))/binary>>
    end,
    Protocol = case N rem 4 of 0 -> 17; _ -> 6 end,
    Total = 20 + byte_size(Body),
    Header = fun(Sum) -> <<4:4, 5:4, 0, Total:16, N:16, 0:3, 0:13, (2 + N rem 60), Protocol, Sum:16, Source:32, Destination:32>> end,
    Sum = checksum(Header(0), 0),
    Bad = case N rem 101 of 0 -> 1; _ -> 0 end,
    <<16#0a0b0c0d0e0f:48, 16#010203040506:48, 16#0800:16, (Header(Sum bxor Bad))/binary, Body/binary>>.

forward(<<_:48, From:48, 16#0800:16, Packet/binary>>, Routes, Flows, Counts) ->
    <<4:4, Words:4, Service, Total:16, Id:16, Flags:3, Offset:13, Ttl, Protocol, _Sum:16, Source:32, Destination:32, _/binary>> = Packet,
    Length = Words * 4,
    <<Header:Length/binary, Body/binary>> = Packet,
    case checksum(Header, 0) of
        0 when Ttl > 2, byte_size(Packet) =:= Total ->
            Out = route(Destination, Routes),
            {A, B} = ports(Protocol, Body),
            Flow = {Source, Destination, Protocol, A, B},
            ets:update_counter(Flows, Flow, {2, 1}, {Flow, 0}),
            Unsummed = <<4:4, Words:4, Service, Total:16, Id:16, Flags:3, Offset:13, (Ttl - 1), Protocol, 0:16, Source:32, Destination:32>>,
            New = checksum(Unsummed, 0),
            <<Start:10/binary, 0:16, Rest/binary>> = Unsummed,
            Frame = <<From:48, Out:48, 16#0800:16, Start/binary, New:16, Rest/binary, Body/binary>>,
            count({port, Out}, byte_size(Frame), Counts);
        0 -> count(expired, 1, Counts);
        _ -> count(bad, 1, Counts)
    end;
forward(_, _, _, Counts) -> count(unknown, 1, Counts).

ports(6, <<A:16, B:16, _Sequence:32, _Acknowledged:32, _:4, _:6, _Flags:6, _/binary>>) -> {A, B};
ports(17, <<A:16, B:16, _Length:16, _Sum:16, _/binary>>) -> {A, B}.

route(_, []) -> 0;
route(Address, [{Length, Prefixes} | Routes]) ->
    case Prefixes of
        #{Address bsr (32 - Length) := Out} -> Out;
        _ -> route(Address, Routes)
    end.

count(Key, N, Counts) ->
    case Counts of
        #{Key := Old} -> Counts#{Key := Old + N};
        #{} -> Counts#{Key => N}
    end.

checksum(<<Word:16, Rest/binary>>, Sum) -> checksum(Rest, Sum + Word);
checksum(<<>>, Sum) when Sum > 16#ffff -> checksum(<<>>, (Sum band 16#ffff) + (Sum bsr 16));
checksum(<<>>, Sum) -> bnot Sum band 16#ffff.
