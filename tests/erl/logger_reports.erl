%% What the logger makes of crashing processes and of log calls, through a handler of our own.
-module(logger_reports).
-export([main/1]).
-export([log/2]).
main(_) ->
    logger:remove_handler(default), logger:set_primary_config(level, debug), ok = logger:add_handler(mine, ?MODULE, #{config => #{to => self()}, level => info}), R = fun() -> receive {logged, X} -> X after 1000 -> none end end,
    logger:info("fmt ~p", [1]), t:p(info, R()), logger:error(#{a => 1}), t:p(report, R()), logger:debug("not"), error_logger:error_msg("old ~w", [style]), t:p(old, R()), logger:warning("string"), t:p(string, R()), spawn(fun() -> error(crash_reason) end), t:p(crash, begin {L, M, _} = R(), {L, lists:sublist(M, 16)} end), proc_lib:spawn(fun() -> exit(proc_crash) end), t:p(proc_lib, element(1, R())), logger:log(notice, "meta", #{k => v}), t:p(meta, R()), logger:update_process_metadata(#{id => 7}), logger:notice("with"), t:p(process, R()), logger:remove_handler(mine), logger:set_primary_config(level, none), t:p(levels, [logger:compare_levels(error, info), logger:allow(error, ?MODULE)]), t:p(bad, [logger:add_handler(mine, no_such_module_x, #{}), logger:remove_handler(nope)]).
log(#{level := L, msg := M, meta := Meta}, #{config := #{to := P}}) -> P ! {logged, {L, lists:flatten(case M of {string, S} -> io_lib:format("~ts", [S]); {report, Rp} -> io_lib:format("~kp", [Rp]); {F, A} -> io_lib:format(F, A) end), lists:sort([K || K <- maps:keys(Meta), lists:member(K, [k, id, mfa, error_logger])])}}.
