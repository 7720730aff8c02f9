%% Binaries made by appending.
-module(binary_build).
-export([main/1, group/0]).

group() -> compute.

main(_) -> bench:time(?MODULE, fun() -> byte_size(build(4000000, <<>>)) end).

build(0, B) -> B;
build(N, B) -> build(N - 1, <<B/binary, N:16, (N band 255)>>).
