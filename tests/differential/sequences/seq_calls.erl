%% Steps that call functions, from tables of `{Module, Function, Types of arguments, Type of result}`.
-module(seq_calls).
-export([step/1, run/3]).

step(Table) ->
    {M, F, Types, Result} = seq_value:one(Table),
    {{M, F}, [seq_value:arg(T) || T <- Types], Result}.

run({M, F}, Arguments, State) -> {apply(M, F, Arguments), State}.
