%% Wrong tables and wrong limits in every reading function.
-module(ets_bound_errors).
-export([main/1]).

main(_) -> T = ets:new(t, [ordered_set]), ets:insert(T, {1, 2}), [t:e({F, A}, fun() -> apply(ets, F, [T | A]) end) || {F, A} <- [{match, [{'$1', '_'}, 0]}, {match, [{'$1', '_'}, a]}, {select, [[], 1]}, {select, [[]]}, {select, [[{'$1'}]]}, {select, [[{'$1', [], x}]]}, {select, [[{{'$1', '_'}, x, ['$1']}]]}, {select_count, [[{'_', [], [false]}]]}, {select_delete, [x]}, {slot, [-1]}, {slot, [a]}, {lookup_element, [1, a]}, {lookup_element, [1, 3]}, {update_counter, [1, {3, 1}]}, {update_counter, [1, {0, 1}]}, {insert, [[{}]]}, {foldl, [x, 0]}, {next, [zz]}, {prev, [zz]}, {info, [x]}, {safe_fixtable, [1]}, {setopts, [{heir, 1}]}, {give_away, [self(), x]}]], t:w(cont, ets:repair_continuation('$end_of_table', [])), t:w(compiled, ets:is_compiled_ms(ets:match_spec_compile([{'_', [], [true]}]))).
