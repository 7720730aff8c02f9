%% Every way to send.
-module(proc_send_forms).
-export([main/1]).

main(_) ->
    register(sf, self()),
    sf ! a, self() ! b, {sf, node()} ! c, erlang:send(sf, d), erlang:send(self(), e, []), erlang:send_nosuspend(self(), f), erlang:send_nosuspend(sf, g, [noconnect]), (alias()) ! h,
    t:w(all, t:flush()),
    t:w(values, [self() ! v, erlang:send(sf, w), erlang:send(sf, x, [noconnect]), t:flush()]),
    t:e(undefined_name, fun() -> nobody_here ! x end),
    t:e(bad_dest, fun() -> t:id("str") ! x end),
    t:e(bad_tuple, fun() -> {a, b, c} ! x end),
    t:e(bad_opts, fun() -> erlang:send(self(), x, [wrong]) end),
    t:e(dead_pid, fun() -> spawn(fun() -> ok end) ! x end),
    t:e(port_closed, fun() -> P = open_port({spawn, "cat"}, []), port_close(P), P ! {self(), close} end).
