%% Loading a version with an on_load function ends the tracing of the version before, also if on_load fails.
-module(trace_on_load_fails).
-export([main/1]).

main(_) ->
    {module, traced} = load("ok"),
    Main = self(),
    register(tracer, spawn_link(fun() -> forward(Main) end)),
    1 = erlang:trace(self(), true, [call, {tracer, whereis(tracer)}]),
    t:w(patterns, erlang:trace_pattern({traced, f, 0}, true, [local])),
    traced:f(),
    t:w(before, calls()),
    t:w(fails, load("no")),
    traced:f(),
    t:w(failed, {calls(), erlang:trace_info({traced, f, 0}, traced)}),
    t:w(patterns, erlang:trace_pattern({traced, f, 0}, true, [local])),
    traced:f(),
    t:w(again, calls()),
    t:w(works, load("ok")),
    traced:f(),
    t:w(new, calls()).

calls() ->
    Ref = erlang:trace_delivered(self()),
    receive {trace_delivered, _, Ref} -> ok end,
    tracer ! done,
    receive {calls, Calls} -> Calls end.

forward(Main) -> forward(Main, []).

forward(Main, Calls) ->
    receive
        {trace, _, call, Call} -> forward(Main, [Call | Calls]);
        done -> Main ! {calls, lists:reverse(Calls)}, forward(Main, [])
    end.

load(Result) ->
    {ok, traced, Code} = compile:forms(t:forms(
        "-module(traced).\n-export([f/0]).\n-on_load(init/0).\ninit() -> " ++ Result ++ ".\nf() -> here.\n")),
    code:purge(traced),
    code:load_binary(traced, "in memory", Code).
