%% The compiler knows that these maps are maps and leaves its proof out of the file: after the failure label of a BIF that
%% cannot fail, the BIF's result is read.
-module(loader_proved_bifs).
-export([main/1]).

main(_) ->
    io:format("~p~n", [[keys(M) || M <- [#{a => 1, b => 2}, #{a => 1}, #{c => 1, b => 2}, #{c => 3}, #{a => 1, d => 4}]]]),
    io:format("~p~n", [catch list([])]),
    io:format("~p~n", [catch list(x)]),
    io:format("~p~n", [waits(5)]).

keys(M) when is_map_key(a, M), is_map_key(b, M) -> both;
keys(M) when is_map_key(c, M), is_map_key(b, M) -> c_and_b;
keys(M) when is_map_key(a, M), is_map_key(d, M) -> a_and_d;
keys(M) when is_map_key(c, M) -> c;
keys(_) -> other.

list([]) -> ok;
list(X) ->
    case is_list(X) of
        Y when Y =:= true -> Y;
        _ -> binary_to_integer(<<>>)
    end.

%% Woken by a message, a receive that takes none goes on waiting; its time was in a register that is gone.
waits(T) ->
    Self = self(),
    spawn(fun() -> Self ! hello end),
    receive after T -> receive hello -> woken end end.
