%% string_to_term round trips, ram files, and io on binaries.
-module(string_io_devices).
-export([main/1]).

main(_) -> {ok, F} = file:open(<<"one\ntwo\nthree">>, [ram, read, write, binary]), t:w(ram, [file:read(F, 4), file:position(F, cur), file:write(F, <<"XX">>), file:position(F, 0), file:read(F, 100), file:read(F, 1), file:pread(F, 2, 3), file:close(F)]), t:w(terms, [begin {ok, Ts, _} = erl_scan:string(S), erl_parse:parse_term(Ts) end || S <- ["{a, [1, 2.5]}.", "#{k => <<1, 2>>}.", "\"str\".", "f(x)."]]).
