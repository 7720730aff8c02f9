%% Natives given a value of the wrong kind, a few of each family.
-module(bif_type_errors).
-export([main/1]).

main(_) ->
    [t:e({F, A}, fun() -> apply(erlang, F, A) end) || {F, A} <- [
        {binary_to_list, [a]}, {binary_to_list, [<<1:4>>]}, {binary_to_list, [<<1, 2, 3>>, 2, 3]}, {binary_to_list, [<<1, 2, 3>>, 0, 3]}, {binary_to_list, [<<1, 2, 3>>, 3, 2]},
        {bitstring_to_list, [<<1, 2:3>>]}, {bitstring_to_list, [x]}, {binary_part, [<<1, 2, 3>>, 1, 2]}, {binary_part, [<<1, 2, 3>>, 1, 3]}, {binary_part, [<<1, 2, 3>>, 3, -2]},
        {binary_part, [<<1, 2, 3>>, {0, 1}]}, {binary_part, [<<1, 2, 3>>, {0, 9}]}, {binary_part, [x, 0, 0]}, {split_binary, [<<1, 2, 3>>, 1]}, {split_binary, [<<1, 2, 3>>, 4]}, {split_binary, [x, 1]},
        {byte_size, [x]}, {bit_size, [x]}, {byte_size, [<<1:9>>]}, {map_size, [x]}, {map_get, [a, #{}]}, {map_get, [a, x]}, {is_map_key, [a, x]},
        {pid_to_list, [x]}, {list_to_pid, ["foo"]}, {list_to_pid, [x]}, {list_to_ref, ["x"]}, {list_to_port, ["x"]}, {ref_to_list, [x]}, {fun_to_list, [x]}, {port_to_list, [x]},
        {register, [undefined, self()]}, {register, [a, x]}, {register, [1, self()]}, {unregister, [no_such_name_here]}, {unregister, [1]}, {whereis, [1]},
        {send, [no_such_name_here, x]}, {send, [1, x]}, {link, [x]}, {unlink, [x]}, {monitor, [process, 1]}, {monitor, [foo, self()]}, {demonitor, [x]}, {demonitor, [make_ref(), [foo]]},
        {exit, [x, y]}, {process_flag, [foo, 1]}, {process_flag, [trap_exit, 1]}, {process_flag, [priority, huge]}, {process_info, [x]}, {process_info, [self(), foo]}, {process_info, [self(), [foo]]},
        {spawn, [x]}, {spawn, [a, b, c]}, {spawn, [1, b, []]}, {spawn_opt, [fun() -> ok end, x]}, {spawn_opt, [fun() -> ok end, [foo]]}, {spawn_opt, [lists, reverse, [[]], [{priority, x}]]},
        {apply, [a, b, c]}, {apply, [1, b, []]}, {apply, [fun() -> ok end, x]}, {make_ref, [1]}, {halt, [x]}, {halt, [-1]}, {get_cookie, [1]},
        {system_flag, [foo, 1]}, {system_info, [foo]}, {statistics, [foo]}, {phash2, [a, 0]}, {phash2, [a, x]}, {phash2, [a, 1 bsl 33]},
        {send_after, [-1, self(), x]}, {send_after, [a, self(), x]}, {send_after, [1, 1, x]}, {cancel_timer, [x]}, {read_timer, [x]}, {start_timer, [1 bsl 70, self(), x]},
        {binary_to_term, [x]}, {binary_to_term, [<<1, 2>>]}, {binary_to_term, [<<131>>]}, {term_to_binary, [a, [foo]]}, {md5, [x]}, {crc32, [x]}, {adler32, [[256]]},
        {group_leader, [x, self()]}, {group_leader, [self(), x]}, {monotonic_time, [foo]}, {convert_time_unit, [1, foo, second]}, {unique_integer, [[foo]]}, {unique_integer, [x]},
        {atom_to_list, [1]}, {tuple_to_list, [[]]}, {float, [a]}, {nonsense, []}, {function_exported, [1, b, 1]}, {function_exported, [a, b, -1]}, {garbage_collect, [x]},
        {list_to_existing_atom, [1]}, {setelement, [1, [], a]}, {fun_info, [x, y]}, {raise, [a, b, c]}, {raise, [error, b, x]}, {is_function, [x, -1]}, {is_function, [x, a]}, {node, [x]}, {yield, []}, {is_process_alive, [x]}]].
