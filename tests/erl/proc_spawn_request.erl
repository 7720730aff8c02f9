%% spawn_request: which options answer how, wrong ones included, and what another node says when there is none.
-module(proc_spawn_request).
-export([main/1]).
main(_) ->
    F = fun() -> ok end,
    [ask(O, fun() -> spawn_request(F, O) end) || O <-
        [[], [monitors, links, {reply_tag, t1}], [{reply_tag, t1}, monitors], [{reply, error_only}, bad], [{reply, no}, bad],
         [{reply, success_only}, bad], [bad, {reply, success_only}], [{reply, bad}], [{reply_tag, t2}, {reply, bad}], [link | bad],
         [{reply_tag, t1} | bad], bad, [{reply_tag, a}, {reply_tag, b}], [{reply_tag, a}, {reply_tag, b}, bad],
         [bad, {reply_tag, a}], [bad, {reply, no}], [{reply, no}, {reply, yes}, bad], [{reply_tag, a}, {priority, bad}],
         [{reply_tag, a}, {priority, bad}, {reply, error_only}], [{reply_tag, a}, {reply, success_only}], [{reply, no}],
         [{reply, error_only}], [{monitor, bad}], [{min_heap_size, -1}, {reply_tag, z}], [{reply_tag, {z, y}}, {max_heap_size, a}]]],
    Me = node(),
    [ask(As, fun() -> apply(erlang, spawn_request, As) end) || As <-
        [[lists, reverse, []], [Me, lists, reverse, [[]], [{reply_tag, x}]], [Me, m, f, [], [{reply_tag, x}, bad]], [m, f, a],
         [m, f, [], bad], [1, f, []], [m, 2, [], [{reply_tag, y}]], [m, f, [a | b], [{reply_tag, y}]],
         [foo@bar, m, f, [], [{reply_tag, x}]], [foo@bar, m, f, []], [foo@bar, m, f, [], [{reply, success_only}]],
         [foo@bar, m, f, [], [{reply, no}, monitor]], [foo@bar, m, f, [], [{reply, wrong}, {reply_tag, t}, monitor]],
         [foo@bar, m, f, a, [{reply, no}, monitor]], [foo@bar, m, f, [], [monitor]], [foo@bar, m, f, [], [{monitor, wrong}]],
         [foo@bar, m, f, [], [{monitor, [{tag, t}]}]], [foo@bar, F, [monitor]], [foo@bar, F], ["a", m, f, []],
         [foo@bar, m, f, [], [bad]], [foo@bar, m, f, [], [monitor | bad]], [foo@bar, m, f, [], bad]]],
    %% Those that answer at once start a process that only says why.
    logger:set_primary_config(level, none),
    process_flag(trap_exit, true),
    [began(As) || As <- [[spawn, foo@bar, m, f, []], [spawn_link, foo@bar, m, f, []], [spawn_opt, foo@bar, m, f, [], [link]],
                         [spawn_monitor, foo@bar, m, f, []], [spawn_opt, foo@bar, m, f, [], [monitor, {priority, high}]],
                         [spawn_opt, foo@bar, m, f, [], [bad]], [spawn_opt, foo@bar, m, f, [], [{reply, no}]],
                         [spawn_opt, foo@bar, m, f, [], [link | bad]]]].
ask(Label, F) ->
    t:e(Label, fun() -> R = F(), receive {T, R, K, V} -> {T, K, V} after 30 -> {none, R} end end),
    receive after 2 -> t:flush() end.
began([F | As]) ->
    t:e([F | As], fun() ->
        R = apply(erlang, F, As),
        receive {'EXIT', R, Why} -> {exit, Why}; {'DOWN', M, process, P, Why} when R =:= {P, M} -> {down, Why} after 100 -> none end
    end).
