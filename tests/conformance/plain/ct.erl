%% What suites call of `ct` when plain_run runs them: failing fails, logging is dropped, time limits are plain_run's.
-module(ct).
-compile(nowarn_export_all).
-compile(export_all).

fail(Reason) -> exit({test_case_failed, Reason}).
fail(Format, Args) -> fail(lists:flatten(io_lib:format(Format, Args))).

sleep({hours, N}) -> timer:sleep(timer:hours(N));
sleep({minutes, N}) -> timer:sleep(timer:minutes(N));
sleep({seconds, N}) -> timer:sleep(timer:seconds(N));
sleep(N) -> timer:sleep(N).

get_progname() -> case init:get_argument(progname) of {ok, [[Name]]} -> Name; _ -> "erl" end.
get_config(_) -> undefined.
get_config(_, Default) -> Default.
timetrap(_) -> ok.
get_timetrap_info() -> {infinity, {false, 1}}.

comment(_) -> ok.
comment(_, _) -> ok.
log(_) -> ok.
log(_, _) -> ok.
log(_, _, _) -> ok.
pal(_) -> ok.
pal(_, _) -> ok.
pal(_, _, _) -> ok.
print(_) -> ok.
print(_, _) -> ok.
