%% Literals of each type, chosen where machines go wrong: around word and small-integer limits, the flat-map limit, the
%% size below which binaries live on the heap, empty things, odd bit lengths.
%%
%% Atoms are only such that an emulator starts with: small maps keep their keys in the order of atom numbers.
-module(fuzz_literal).
-export([make/1, atom/0, small/0]).

-import(fuzz_choice, [below/1, one/1, some/2, weighted/1]).

make(int) ->
    weighted([{6, fun() -> integer_to_list(below(20) - 4) end},
              {2, fun() -> integer_to_list(below(100000) - 50000) end},
              {3, fun edge/0},
              {1, fun() -> sign([integer_to_list(rand:uniform(1 bsl one([70, 130, 200, 521])))]) end},
              {1, fun() -> [$$, one("aZ0 {~")] end}]);
make(small) -> small();
make(float) ->
    weighted([{4, fun() -> one(["0.0", "-0.0", "1.0", "-1.5", "2.5", "0.1", "1.0e10", "3.14159", "1.0e-3", "100.0"]) end},
              {2, fun() -> one(["1.0e308", "-1.0e308", "5.0e-324", "2.2250738585072014e-308", "9007199254740992.0",
                                "9007199254740993.0", "4611686018427387904.0", "-9223372036854775808.0", "1.0e22",
                                "1.0e23", "123456789.123456789", "576460752303423488.0"]) end},
              {1, fun() -> io_lib:format("~w", [(rand:uniform() - 0.5) * math:pow(10, below(40) - 20)]) end}]);
make(num) -> make(one([int, int, float]));
make(atom) -> atom();
make(bool) -> one(["true", "false"]);
make(list) -> ["[", lists:join(", ", some(5, fun() -> make(any) end)), "]"];
make(ilist) -> ["[", lists:join(", ", some(7, fun() -> make(int) end)), "]"];
make(str) -> one(["\"\"", "\"abc\"", "\"hello world\"", "\"12345\"", "\"a,b,,c\"", "\"\\x{e5}\\x{3bb}z\"", "\" x  y\"", "\"AbC\"",
                  "\"0x1F\"", "\"1.5e3\"", "\"\\x{1F600}\"", "\"-42\""]);
make(tuple) -> ["{", lists:join(", ", some(5, fun() -> make(any) end)), "}"];
make(map) ->
    Count = weighted([{12, fun() -> below(5) end}, {1, fun() -> 30 + below(6) end}]),
    ["#{", lists:join(", ", [[key(Count), " => ", make(any)] || _ <- lists:seq(1, Count)]), "}"];
make(bin) ->
    weighted([{3, fun() -> one(["<<>>", "<<\"abc\">>", "<<0>>", "<<255,254,0,1>>", "<<\"hello, world\">>",
                                "<<\"\\x{e5}\\x{1F600}z\"/utf8>>", "<<\"12345\">>", "<<\"3.25\">>", "<<16#ff,16#fe,16#c3>>"]) end},
              {2, fun() -> ["<<", lists:join(",", [integer_to_list(below(256)) || _ <- lists:seq(1, 1 + below(12))]), ">>"] end},
              {1, fun() -> io_lib:format("<<~w:~w>>", [below(1 bsl 30), 8 * one([63, 64, 65, 70])]) end}]);
make(bits) -> one(["<<1:1>>", "<<5:3>>", "<<1,2,3:2>>", "<<16#abcdef:23>>", "<<0:7>>", "<<-1:65>>", make(bin)]);
make(_) ->
    make(weighted([{5, fun() -> int end}, {3, fun() -> atom end}, {2, fun() -> float end}, {1, fun() -> str end},
                   {2, fun() -> bin end}, {1, fun() -> bits end}, {1, fun() -> one([list, tuple, ilist]) end},
                   {1, fun() -> bool end}])).

small() -> integer_to_list(below(12)).

atom() ->
    one(["ok", "error", "true", "false", "undefined", "infinity", "timeout", "normal", "none", "nil", "all", "binary", "''",
         "call", "data", "'end'", "name", "badarg", "return", "first", "last", "start", "stop"]).

edge() ->
    Power = one([7, 8, 15, 16, 27, 28, 31, 32, 47, 53, 58, 59, 60, 61, 62, 63, 64, 65, 127, 128]),
    sign([integer_to_list((1 bsl Power) + below(3) - 1)]).

sign(Text) -> [one(["", "-"]), Text].

%% Keys of a larger map must differ, or there is nothing large about it.
key(Count) when Count > 8 -> integer_to_list(below(100));
key(_) -> make(one([atom, atom, int, int, bin, float, any])).
