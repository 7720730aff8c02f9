%% system_flag(cpu_topology, _) and (scheduler_bind_type, _): which topologies there are, how they are shown again, and the orders in
%% which schedulers would be bound to them.
-module(cpu_binding).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    Type = erlang:system_info(scheduler_bind_type),
    [topology(T) || T <- topologies()],
    [orders(T) || T <- machines()],
    [t:w(Type1, [flag(scheduler_bind_type, Type1), erlang:system_info(scheduler_bind_type), tuple_size(erlang:system_info(scheduler_bindings)) =:= erlang:system_info(schedulers)])
     || Type1 <- types() ++ [nonsense, 1]],
    flag(scheduler_bind_type, Type),
    t:w(back, [erlang:system_info({cpu_topology, defined}), erlang:system_info({cpu_topology, used}) =:= erlang:system_info(cpu_topology),
               erlang:system_info({cpu_topology, used}) =:= erlang:system_info({cpu_topology, detected}),
               try erlang:system_info({cpu_topology, nonsense}) catch error:R -> R end]).

flag(Flag, Value) -> try erlang:system_flag(Flag, Value) catch error:R -> R end.

types() -> [unbound, no_spread, thread_spread, processor_spread, spread, no_node_thread_spread, no_node_processor_spread,
            thread_no_node_processor_spread, default_bind].

topology(T) ->
    Set = flag(cpu_topology, T),
    t:w(T, case Set of badarg -> badarg; _ -> erlang:system_info(cpu_topology) =:= erlang:system_info({cpu_topology, defined}) andalso erlang:system_info(cpu_topology) end),
    erlang:system_flag(cpu_topology, undefined).

orders(T) ->
    erlang:system_flag(cpu_topology, T),
    t:w(T, [{Type, try erts_debug:get_internal_state({fake_scheduler_bindings, Type}) catch error:R -> R end} || Type <- types() ++ [nonsense]]),
    erlang:system_flag(cpu_topology, undefined).

l(N) -> {logical, N}.

topologies() ->
    [[{core, l(0)}, {core, l(1)}], [{thread, l(0)}, {thread, l(1)}], [{node, l(0)}, {node, l(1)}], [{node, l(0)}], [{processor, l(3)}],
     [{core, [{thread, l(0)}, {thread, l(1)}]}], [{core, [{thread, l(0)}, {thread, l(1)}]}, {core, [{thread, l(2)}, {thread, l(3)}]}],
     [{core, [{thread, l(0)}]}, {core, [{thread, l(1)}]}], [{processor, [{core, [{thread, l(0)}]}, {core, [{thread, l(1)}]}]}],
     [{processor, [{core, l(0)}]}, {processor, [{core, l(1)}]}], [{processor, [{thread, l(0)}, {thread, l(1)}]}, {processor, [{thread, l(2)}]}],
     [{node, [{core, l(0)}, {core, l(1)}]}, {node, [{core, l(2)}, {core, l(3)}]}], [{node, [{processor, l(0)}, {processor, l(1)}]}],
     [{node, [{thread, l(0)}, {thread, l(1)}]}, {node, [{thread, l(3)}]}], [{processor, [{node, l(0)}, {node, l(1)}]}],
     [{processor, [{node, [{thread, l(0)}, {thread, l(1)}]}]}], [{processor, [{core, l(0)}, {thread, l(1)}]}],
     [{processor, [{core, l(0)}, {node, l(1)}]}], [{processor, [{core, [{thread, l(0)}]}, {core, [{thread, l(1)}, {thread, l(2)}]}]}],
     [{processor, [{core, l(0)}]}, {core, l(1)}], [{node, [{processor, [{node, l(0)}]}]}], [{node, [{node, l(0)}]}], [{core, [{core, l(0)}]}],
     [{processor, l(0)}, {node, [{processor, l(1)}]}], [{thread, [l(0)]}], [{node, [{processor, [{core, l(0)}, {core, l(1)}]}, {processor, [{core, l(2)}]}]}],
     [{processor, [{core, l(5)}, {core, l(1)}]}, {processor, [{core, l(4)}, {core, l(2)}]}], undefined, nonsense, [], [{processor, []}],
     [{processor, [{core, l(0)}, {core, l(0)}]}], [{nonsense, l(1)}], [{processor, [{core, l(7)}, {core, l(-1)}]}], {core, l(1)},
     [{processor, [], l(0)}], [{processor, [{info, x}], [{core, l(0)}, {core, [], l(1)}]}], [{node, {processor, [{core, l(3)}]}}],
     [{core, [l(0), l(1)]}], [{processor, [{core, l(0)}]} | x], [{processor, [{core, l(70000)}]}], [{processor, [{core, l(0)}, {processor, l(1)}]}]].

machines() ->
    [[{processor, [{core, [{thread, l(4 * P + 2 * C + T)} || T <- [0, 1]]} || C <- [0, 1]]} || P <- [0, 1]],
     [{processor, l(0)}, {processor, l(1)}, {processor, l(2)}],
     [{node, [{processor, [{core, l(8 * N + 4 * P + C)} || C <- [3, 1, 2, 0]]} || P <- [0, 1]]} || N <- [0, 1]],
     [{processor, [{node, [{core, [{thread, l(8 * P + 4 * N + 2 * C + T)} || T <- [0, 1]]} || C <- [0, 1]]} || N <- [0, 1]]} || P <- [0, 1]],
     [{node, [{processor, [{core, l(0)}, {core, l(1)}]}, {processor, [{core, l(2)}, {core, l(3)}]}]},
      {processor, [{node, [{core, l(4)}, {core, l(5)}]}, {node, [{core, l(6)}, {core, l(7)}]}]},
      {node, [{processor, [{core, [{thread, l(8)}, {thread, l(9)}]}, {core, [{thread, l(10)}]}]}]}],
     [{processor, [{core, l(0)}, {core, l(1)}, {core, l(2)}]}, {processor, [{core, [{thread, l(3)}, {thread, l(4)}]}]}]].
