%% Runs a suite's cases one after the other without Common Test, which would take hours to start when every allocation
%% collects. Stands-in for `ct` and `test_server` lie beside this file. Groups are run once, in order, whatever their
%% properties say. Writes the event lines that conf_run writes, so that suite.py reads both.
%%
%%     erl ... -s plain_run main ARGFILE     (one term: {suite, data_dir, priv_dir, events, skip, case, seconds a case})
-module(plain_run).
-export([main/1]).

main([ArgFile]) ->
    {ok, [Args]} = file:consult(atom_to_list(ArgFile)),
    maps:foreach(fun(K, V) -> put(K, V) end, Args),
    Config = [{data_dir, get(data_dir)}, {priv_dir, get(priv_dir)}, {nodenames, []}],
    Suite = get(suite),
    {module, Suite} = code:ensure_loaded(Suite),
    put(counts, #{}),
    case part(Suite, init_per_suite, [Config], Config) of
        {ok, Config1} when is_list(Config1) ->
            items(Suite, Suite:all(), Config1, []),
            part(Suite, end_per_suite, [Config1], ok);
        Else ->
            done([], init_per_suite, 0, unfit(Else))
    end,
    Count = fun(Result) -> integer_to_list(maps:get(Result, get(counts), 0)) end,
    line(["stats\t", Count("ok"), $\t, Count("FAILED"), $\t, Count("skip"), "\t0"]),
    line("end\tok"),
    erlang:halt(0, [{flush, false}]).

items(Suite, Items, Config, Path) ->
    [item(Suite, Item, Config, Path) || Item <- Items].

item(Suite, {group, Name}, Config, Path) -> named(Suite, Name, Config, Path);
item(Suite, {group, Name, _}, Config, Path) -> named(Suite, Name, Config, Path);
item(Suite, {group, Name, _, _}, Config, Path) -> named(Suite, Name, Config, Path);
item(Suite, {testcase, Case, _}, Config, Path) -> test_case(Suite, Case, Config, Path);
item(Suite, {Name, _, Items}, Config, Path) -> group(Suite, Name, Items, Config, Path);
item(Suite, Case, Config, Path) -> test_case(Suite, Case, Config, Path).

named(Suite, Name, Config, Path) ->
    Group = lists:keyfind(Name, 1, Suite:groups()),
    group(Suite, Name, element(tuple_size(Group), Group), Config, Path).

group(Suite, Name, Items, Config, Path) ->
    case part(Suite, init_per_group, [Name, Config], Config) of
        {ok, Config1} when is_list(Config1) ->
            items(Suite, Items, Config1, [Name | Path]),
            part(Suite, end_per_group, [Name, Config1], ok);
        Else ->
            done([Name | Path], init_per_group, 0, unfit(Else))
    end.

unfit({ok, Other}) -> Other;
unfit(Failed) -> Failed.

test_case(Suite, Case, Config, Path) ->
    case lists:member(Case, get(skip)) orelse not lists:member(get('case'), [all, Case]) of
        true -> ok;
        false ->
            line(["start\t", text(Suite), $\t, path(Path), $\t, text(Case)]),
            Start = erlang:monotonic_time(millisecond),
            Result = in_process(fun() -> whole_case(Suite, Case, Config) end),
            done(Path, Case, erlang:monotonic_time(millisecond) - Start, unfit(Result))
    end.

%% Beginning, case and end run in one process, as in Common Test.
whole_case(Suite, Case, Config) ->
    case optional(Suite, init_per_testcase, [Case, Config], Config) of
        Config1 when is_list(Config1) ->
            Result = try Suite:Case(Config1)
                     catch exit:{skipped, Why} -> {skip, Why};
                           Class:Reason:Stack -> {failed, {Class, Reason, Stack}}
                     end,
            catch optional(Suite, end_per_testcase, [Case, Config1], ok),
            Result;
        Other -> Other
    end.

part(Suite, Function, Args, Usual) ->
    in_process(fun() -> optional(Suite, Function, Args, Usual) end).

optional(Suite, Function, Args, Usual) ->
    case erlang:function_exported(Suite, Function, length(Args)) of
        true -> apply(Suite, Function, Args);
        false -> Usual
    end.

in_process(Fun) ->
    {P, Monitor} = spawn_monitor(fun() -> exit({here, Fun()}) end),
    receive
        {'DOWN', Monitor, _, _, {here, Result}} -> {ok, Result};
        {'DOWN', Monitor, _, _, Why} -> {failed, Why}
    after get(seconds) * 1000 ->
        exit(P, kill),
        {failed, {timetrap_timeout, erlang:process_info(P, current_stacktrace)}}
    end.

done(Path, Case, Ms, Result) ->
    {Word, Why} = case Result of
                      {skip, W} -> {"skip", W};
                      {skipped, W} -> {"skip", W};
                      {failed, W} -> {"FAILED", W};
                      {fail, W} -> {"FAILED", W};
                      {'EXIT', W} -> {"FAILED", W};
                      _ -> {"ok", ""}
                  end,
    put(counts, maps:update_with(Word, fun(N) -> N + 1 end, 1, get(counts))),
    line(["case\t", text(get(suite)), $\t, path(Path), $\t, text(Case), $\t, Word, $\t, integer_to_list(Ms), $\t, text(Why)]).

path(Path) -> lists:join("/", [text(Name) || Name <- lists:reverse(Path)]).

text("") -> "";
text(Term) -> [max(C, $\s) || C <- lists:sublist(lists:flatten(io_lib:format("~0tP", [Term, 40])), 400)].

line(Line) -> ok = file:write_file(get(events), unicode:characters_to_binary([Line, $\n]), [append]).
