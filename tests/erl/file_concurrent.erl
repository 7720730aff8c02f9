%% Many processes writing and reading files of their own at once.
-module(file_concurrent).
-export([main/1]).

main(_) -> D = t:tmp(?MODULE), Me = self(), [spawn(fun() -> F = filename:join(D, integer_to_list(N)), ok = file:write_file(F, binary:copy(<<N>>, 1000 * N)), {ok, B} = file:read_file(F), {ok, H} = file:open(F, [append, raw]), ok = file:write(H, <<"end">>), file:close(H), Me ! {N, byte_size(B), filelib:file_size(F)} end) || N <- lists:seq(1, 40)], t:w(sizes, [receive {N, A, B} -> {A, B} end || N <- lists:seq(1, 40)]), t:w(list, length(element(2, file:list_dir(D)))), file:del_dir_r(D).
