%% The compiler on a large module: Wilhelmsson (2002, section 6) compiles one of its libraries. Here it is erl_lint of the emulator's own OTP, from the
%% abstract code in its beam file. One process works (the compiler makes another one for some passes).
-module(compile_module).
-export([prepare/2, run/1, check/2]).

prepare(_, Scale) ->
    {module, _} = code:ensure_loaded(compile),
    {ok, {_, [{abstract_code, {raw_abstract_v1, Forms}}]}} = beam_lib:chunks(code:which(erl_lint), [abstract_code]),
    %% So that loading is not measured.
    {ok, small, _} = compile:forms([{attribute, 1, module, small}], [binary]),
    {max(1, round(Scale)), Forms}.

run({Times, Forms}) ->
    lists:usort([begin {ok, erl_lint, Beam} = compile:forms(Forms, [binary, deterministic]), erlang:md5(Beam) end || _ <- lists:seq(1, Times)]).

check(_, Result) -> length(Result) =:= 1.
