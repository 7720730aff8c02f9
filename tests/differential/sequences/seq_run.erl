%% Runs sequences of steps and tells what each gave, as digests or in full.
%%
%%     -run seq_run sequences FAMILY FIRST COUNT LENGTH OUT     a line `SEED DIGEST` for each of COUNT sequences from FIRST on
%%     -run seq_run trace FAMILY SEED LENGTH OUT                a line for each step of one sequence; its steps go to OUT.steps
%%     -run seq_run several FAMILY FILE OUT                     FILE: a list of lists of steps, as terms; OUT: a line of digests for each
%%
%% A family is a module seq_FAMILY that has step/0 (a random step `{Operation, Arguments, Type}`: its result is an argument of
%% that type later), init/0 (what the steps share), run/3 (what a step gives, and what the steps share then) and done/1.
%% A sequence runs in a process of its own. OUT.running has the seed of the sequence that runs: where the VM dies, that one did it.
-module(seq_run).
-export([sequences/1, trace/1, several/1]).

-define(MAX_BYTES, 3000).  % of a result's external form: a larger one is no argument of later steps
-define(TIMEOUT_MS, 20000).

sequences([Family, First, Count, Length, Out]) ->
    Module = module(Family),
    {ok, File} = file:open(Out, [write, raw, delayed_write]),
    [begin
         ok = file:write_file(Out ++ ".running", integer_to_list(Seed)),
         Digest = alone(fun() -> Module:init(), erlang:phash2([digest(R) || R <- run(Module, generate(Module, Seed, list_to_integer(Length)))], 1 bsl 32) end),
         ok = file:write(File, io_lib:format("~w ~w~n", [Seed, Digest]))
     end || Seed <- lists:seq(list_to_integer(First), list_to_integer(First) + list_to_integer(Count) - 1)],
    ok = file:close(File),
    halt(0, [{flush, false}]).

trace([Family, Seed, Length, Out]) ->
    Module = module(Family),
    {Steps, Results} = alone(fun() -> Steps = generate(Module, list_to_integer(Seed), list_to_integer(Length)), {Steps, run(Module, Steps)} end),
    ok = file:write_file(Out ++ ".steps", unicode:characters_to_binary(io_lib:format("~0tp.~n", [Steps]))),
    ok = file:write_file(Out, [text(R) || R <- Results]),
    halt(0, [{flush, false}]).

several([Family, File, Out]) ->
    Module = module(Family),
    {ok, [Candidates]} = file:consult(File),
    ok = file:write_file(Out, [line(alone(fun() -> run(Module, Steps) end)) || Steps <- Candidates]),
    halt(0, [{flush, false}]).

line(Results) when is_list(Results) -> [[io_lib:format("~w ", [digest(R)]) || R <- Results], $\n];
line(Ended) -> io_lib:format("~0tp~n", [Ended]).

module(Family) ->
    error_logger:tty(false),
    Module = list_to_atom("seq_" ++ Family),
    {module, Module} = code:ensure_loaded(Module),
    Module.

%% The result of a function in a process of its own.
alone(F) ->
    {Pid, Monitor} = spawn_monitor(fun() -> exit({result, F()}) end),
    receive
        {'DOWN', Monitor, process, Pid, {result, Result}} -> Result;
        {'DOWN', Monitor, process, Pid, Why} -> {died, erlang:phash2(Why, 1 bsl 32), Why}
    after ?TIMEOUT_MS -> exit(Pid, kill), too_slow
    end.

generate(Module, Seed, Length) ->
    rand:seed(exsss, Seed),
    Steps = [Module:step() || _ <- lists:seq(1, Length)],
    erase(),
    Steps.

run(Module, Steps) ->
    run(Steps, Module, Module:init(), #{}, 0).

run([], Module, State, _, _) ->
    Module:done(State), [];
run([{Operation, Arguments, Type} | Steps], Module, State0, Slots, N) ->
    {Result, State} = try Module:run(Operation, seq_value:resolve(Arguments, Slots), State0)
                      catch Class:Reason -> {{Class, plain(Reason)}, State0}
                      end,
    Fits = is_small(Result),
    [Result | run(Steps, Module, State, if Fits, Type =/= none -> Slots#{{Type, N rem 3} => Result}; true -> Slots end, N + 1)].

%% A reason that names a function of the family itself says nothing.
plain({badarity, {_, Args}}) -> {badarity, Args};
plain({badfun, _}) -> badfun;
plain({case_clause, _} = R) -> R;
plain(R) -> R.

is_small(Term) -> erlang:external_size(Term) < ?MAX_BYTES.

%% term_to_binary tells apart what phash2 does not; the order of keys in large maps is each emulator's own.
digest(Result) -> erlang:crc32(term_to_binary(Result, [deterministic])).

text(Result) ->
    Text = unicode:characters_to_binary(io_lib:format("~0tp", [Result])),
    [integer_to_binary(digest(Result)), $\s, case Text of <<Short:2000/binary, _, _/binary>> -> <<Short/binary, "...">>; _ -> Text end, $\n].
