%% What suites call of `test_server` when plain_run runs them; see ct.erl.
-module(test_server).
-compile(nowarn_export_all).
-compile(export_all).

fail() -> ct:fail(no_reason).
fail(Reason) -> ct:fail(Reason).
sleep(Time) -> ct:sleep(Time).
comment(_) -> ok.
format(_) -> ok.
format(_, _) -> ok.
format(_, _, _) -> ok.

timetrap(_) -> none.
timetrap_cancel() -> ok.
timetrap_cancel(_) -> ok.
timetrap_scale_factor() -> 1.
seconds(N) -> timer:seconds(N).
minutes(N) -> timer:minutes(N).
hours(N) -> timer:hours(N).

is_native(_) -> false.
is_cover() -> false.
is_debug() -> false.
is_asan() -> false.
is_valgrind() -> false.
memory_checker() -> none.
os_type() -> os:type().
lookup_config(Key, Config) -> proplists:get_value(Key, Config).
start_node(_, _, _) -> exit({skipped, no_distribution}).
start_peer(_, _) -> exit({skipped, no_distribution}).
stop_node(_) -> ok.

do_times(0, _) -> ok;
do_times(N, Fun) -> Fun(), do_times(N - 1, Fun).
do_times(0, _, _, _) -> ok;
do_times(N, Module, Function, Args) -> apply(Module, Function, Args), do_times(N - 1, Module, Function, Args).

timecall(Module, Function, Args) ->
    {Microseconds, Value} = timer:tc(Module, Function, Args),
    {Microseconds / 1.0e6, Value}.
