%% The compiler at work: these ten programs from text to code.
-module(real_compile).
-export([main/1, group/0]).

group() -> real.

main(_) ->
    Own = proplists:get_value(source, ?MODULE:module_info(compile)),
    Sources = lists:sort(filelib:wildcard(filename:join(filename:dirname(Own), "real_*.erl"))),
    true = length(Sources) >= 10,
    {ok, _, _} = compile:file(hd(Sources), [binary, deterministic]),
    bench:time(?MODULE, fun() -> [compile(Source) || Source <- Sources] end).

compile(Source) ->
    {ok, Module, Code} = compile:file(Source, [binary, deterministic]),
    {ok, {Module, [{exports, Exports}, {locals, Locals}]}} = beam_lib:chunks(Code, [exports, locals]),
    {Module, Exports, Locals}.
