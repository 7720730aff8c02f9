%% Every exported function of every module that has natives, with arguments that are mostly wrong: class, reason, and the text
%% that the shell would print.
-module(seq_wrong).
-export([step/0, init/0, run/3, done/1]).

init() -> ok.
done(_) -> ok.

step() ->
    {M, F, A} = seq_value:one(functions()),
    {{M, F}, [argument() || _ <- lists:seq(1, A)], none}.

functions() ->
    case get(functions) of
        undefined ->
            Natives = [{M, F, A} || M <- [erlang, ets, lists, maps, binary, unicode, re, os, math, atomics, counters, persistent_term, erl_ddll, string, zlib, io_lib, code, trace, erts_debug],
                                    {module, _} <- [code:ensure_loaded(M)], {F, A} <- M:module_info(exports), A > 0, safe(M, F, A)],
            Found = list_to_tuple(lists:sort(Natives)),
            put(functions, Found),
            Found;
        Found -> Found
    end.

%% Not called: what ends the emulator or the process, waits, changes the whole node, asks for memory by an integer, tells of
%% this very node, or is not the same twice; nor what stock does wrong (years before -2386 are a day late in posixtime_to_universaltime).
safe(_, module_info, _) -> false;
safe(_, behaviour_info, _) -> false;
safe(erlang, F, A) ->
    not lists:member(F, [halt, hibernate, system_flag, process_flag, trace, trace_pattern, trace_info, trace_delivered, suspend_process, resume_process, display, display_string, display_nl, dist_ctrl_get_data, memory, system_info,
                         statistics, processes, ports, now, monotonic_time, system_time, time_offset, timestamp, unique_integer, make_ref, self, spawn, spawn_link, spawn_monitor, spawn_opt, spawn_request, nodes, node, get_cookie, set_cookie,
                         disconnect_node, iolist_to_iovec, send, send_nosuspend, '!', exit, group_leader, register, unregister, open_port, purge_module, delete_module, check_old_code, load_module, load_nif, nif_error, apply, localtime, universaltime, date, time,
                         localtime_to_universaltime, universaltime_to_localtime, yield, put, erase, get, get_keys, system_monitor, system_profile, seq_trace, seq_trace_info, seq_trace_print, crasher, raise, start_timer, send_after, cancel_timer, read_timer, bump_reductions, garbage_collect,
                         port_command, port_info, process_info, dmonitor_node, monitor_node, monitor, setnode, call_on_load_function, finish_after_on_load, finish_loading, prepare_loading, module_loaded, pre_loaded, loaded, has_prepared_code_on_load, get_module_info,
                         registered, whereis, list_to_existing_atom, binary_to_existing_atom, fun_info, fun_to_list, pid_to_list, ref_to_list, port_to_list, alias, demonitor, spawn_request_abandon, decode_packet, posixtime_to_universaltime, dt_append_vm_tag_data, dt_get_tag, dt_get_tag_data, dt_prepend_vm_tag_data, dt_put_tag, dt_restore_tag, dt_spread_tag, gather_gc_info, alloc_info, alloc_sizes, dist_ctrl_get_opt, dist_ctrl_set_opt, dist_ctrl_get_data_notification, dist_ctrl_input_handler, dist_ctrl_put_data, dist_get_stat,
                         delay_trap, port_call, port_close, port_connect, port_control, port_get_data, port_set_data, is_process_alive, process_display, set_cpu_topology, function_exported, check_process_code, get_stacktrace, link, unlink, is_builtin, make_fun, make_tuple, gather_sched_wall_time_result, get_system_info, unalias, error, throw])
        andalso not (F =:= 'bsl' orelse F =:= '*') orelse (F =:= 'bsl' andalso A =:= 0);
safe(ets, F, _) -> not lists:member(F, [i, all, new, tab2file, file2tab, tabfile_info, whereis, internal_request_all, internal_delete_all, internal_select_delete, fun2ms, table, give_away]);
safe(lists, F, _) -> not lists:member(F, [seq, duplicate, seq_loop, foreach]);
safe(binary, F, _) -> not lists:member(F, [copy, referenced_byte_size]);  % the second tells of memory
safe(os, F, _) -> not lists:member(F, [cmd, getpid, getenv, putenv, unsetenv, set_signal, timestamp, system_time, perf_counter, env, find_executable, type, version, internal_init_cmd_shell]);
safe(string, F, _) -> not lists:member(F, [chars, copies, pad, centre, left, right]);
safe(atomics, F, _) -> F =/= new;
safe(counters, F, _) -> F =/= new;
safe(persistent_term, F, _) -> not lists:member(F, [info, 'get', erase]);
safe(erl_ddll, F, _) -> F =:= format_error;
safe(zlib, F, _) -> lists:member(F, [compress, uncompress, zip, unzip, gzip, gunzip, deflate, inflate, close, crc32, adler32, deflateInit, inflateInit, set_controlling_process]);
safe(io_lib, F, _) -> not lists:member(F, [format_prompt, fread]);
safe(code, F, _) -> lists:member(F, [ensure_loaded, is_loaded, get_mode, module_status, is_sticky, get_doc]) andalso F =/= get_doc andalso F =/= module_status;
safe(trace, F, _) -> lists:member(F, [function, process, port, send, recv, info, session_destroy]) andalso F =:= session_destroy;
safe(erts_debug, F, _) -> lists:member(F, [flat_size, same, size, map_info]) andalso F =/= map_info andalso F =/= size;
safe(re, F, _) -> not lists:member(F, [internal_run, compile, ucompile]);  % a compiled expression is the emulator's own
safe(maps, F, _) -> not lists:member(F, [keys, values, to_list, iterator, next, internal_iterator, fold, foreach, take]);
safe(unicode, bin_is_7bit, _) -> false;  % stock says no to every binary
safe(_, _, _) -> true.

argument() ->
    seq_value:one({a, true, [], {}, #{}, 0, 1, -1, 7, 1 bsl 70, -(1 bsl 64), 1.5, -0.0, <<>>, <<1, 2, 3>>, <<5:3>>, [1, 2], [a | b], [{a, 1}], {a, b}, {1, 2, 3}, #{a => 1}, "text", <<"text">>, [256, 1 bsl 40],
                   fun lists:map/2, fun erlang:is_atom/1, '$1', '_', latin1, utf8, [[]], [<<"a">>, <<"b">>], {scope, {0, 1}}, [global], seq_value:make(any), seq_value:make(any), seq_value:make(list), seq_value:make(bin), seq_value:make(int),
                   seq_value:make(tuple), undefined, infinity, nosuchtable, [compact], [{decimals, 2}], [1 | 2], [[1 | 2]], $a, 36, 255, 256}).

run({M, F}, Arguments, S) ->
    {try apply(M, F, Arguments) of
         Value -> {value, shown(Value)}
     catch Class:Reason:Stack ->
         Own = [case E of {?MODULE, _, _, _} -> us; {Mo, Fu, Ar, _} -> {Mo, Fu, if is_list(Ar) -> shown(Ar); true -> Ar end} end || E <- lists:sublist(Stack, 1)],
         {Class, shown(Reason), Own, text(Class, Reason, lists:sublist(Stack, 1))}
     end, S}.

text(Class, Reason, Stack) ->
    try unnamed(unicode:characters_to_list(erl_error:format_exception(Class, Reason, Stack)))
    catch C:R -> {C, shown(R)}
    end.

%% Without the numbers of references and processes.
%% White space goes too: the length of a reference decides where lines are broken.
unnamed([C | T]) when C =:= $\s; C =:= $\n -> unnamed(T);
unnamed("#Ref<" ++ T) -> "#Ref" ++ unnamed(lists:dropwhile(fun(C) -> C =/= $> end, T));
unnamed("<0." ++ T) -> "<pid" ++ unnamed(lists:dropwhile(fun(C) -> C =/= $> end, T));
unnamed([C | T]) -> [C | unnamed(T)];
unnamed([]) -> [].

%% References and processes differ from run to run; large maps come in an order of the emulator's own.
shown(R) when is_reference(R); is_pid(R); is_port(R) -> identifier;
shown(F) when is_function(F) -> case erlang:fun_info(F, type) of {type, external} -> F; _ -> local_fun end;
shown([H | T]) -> [shown(H) | shown(T)];
shown(T) when is_tuple(T) -> list_to_tuple(shown(tuple_to_list(T)));
shown(T) -> T.
