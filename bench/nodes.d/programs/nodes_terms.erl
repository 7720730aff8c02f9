%% Terms of a size in bytes. Of lists and maps it is what they take on a heap (erts_debug:flat_size/1), of binaries what they hold.
-module(nodes_terms).
-export([make/2]).

%% Words: of a cell of a list; of a pair in a large map, about.
-define(CELL, 2).
-define(PAIR, 3.6).

make(binary, Bytes) -> binary:copy(<<"0123456789abcdef">>, Bytes div 16);
%% Integers that take four bytes of payload in the external format.
make(list, Bytes) -> lists:seq(1000, 1000 + Bytes div (8 * ?CELL) - 1);
make(map, Bytes) -> #{I => I + 1 || I <- lists:seq(1000, 1000 + max(1, round(Bytes / (8 * ?PAIR))) - 1)}.
