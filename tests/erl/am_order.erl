%% The keys of a small map stand in the order of the numbers of their atoms: that of the atoms that the machine itself
%% names is part of what programs print.
-module(am_order).
-export([main/1]).

main(_) ->
    Atoms = [
        false, true, 'nonode@nohost', '', infinity, normal, throw, error, exit, undefined, nocatch, nil, apply, badarg,
        badarith, badarity, badfun, badkey, badmap, badmatch, badrecord, badsig, case_clause, cause, erlang, error_handler,
        error_info, ets, function_clause, if_clause, init, kill, killed, line, logger, module, monitor, noconnection,
        noproc, not_owner, notsup, ok, send, system_limit, timeout_value, try_clause, undef, yield, link, raise,
        emulator, error_logger, include_shared_binaries, memory, pid, size, tag, time
    ],
    %% Pairs: a map of more than 32 keys has no order.
    [io:format("~w~n", [#{A => 1, B => 2}]) || A <- Atoms, B <- Atoms, A =/= B, erlang:phash2({A, B}, 10) =:= 0],
    io:format("~p~n", [#{module => a, cause => b, line => c}]),
    ok.
