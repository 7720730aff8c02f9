%% A gen_server: calls, casts, info, timeouts, stop, errors seen by the caller.
-module(gen_server_basic).
-export([main/1]).
-behaviour(gen_server).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, handle_continue/2, terminate/2, code_change/3]).
main(_) ->
    process_flag(trap_exit, true),
    {ok, P} = gen_server:start_link({local, my_gs}, ?MODULE, [self()], []),
    t:w(call, [gen_server:call(my_gs, {add, 5}), gen_server:call(P, get), gen_server:cast(P, {add, 1}), gen_server:call(P, get)]),
    P ! {info, 10}, t:w(info, gen_server:call(P, get)), t:w(later, gen_server:call(P, later)), t:w(continue, gen_server:call(P, continue)),
    t:e(timeout, fun() -> gen_server:call(P, never, 20) end), t:w(started_twice, case gen_server:start({local, my_gs}, ?MODULE, [self()], []) of {error, {already_started, P}} -> already end),
    t:w(state, sys:get_state(P)), t:w(replace, sys:replace_state(P, fun({S, X}) -> {S * 2, X} end) =/= x), t:w(suspend, [sys:suspend(P), sys:resume(P)]), t:w(timeout_msg, begin gen_server:call(P, idle), receive idle_timeout -> ok end end),
    t:w(reqids, begin Rs = [gen_server:send_request(P, get) || _ <- [1, 2]], [gen_server:receive_response(R, 1000) || R <- Rs] end), t:w(stop, gen_server:stop(P)), t:w(terminated, receive {terminated, R0} -> R0 end), t:w('EXIT', receive {'EXIT', P, R1} -> R1 end), t:e(dead, fun() -> gen_server:call(my_gs, get) end),
    {ok, Q} = gen_server:start_link(?MODULE, [self()], []), t:e(crash, fun() -> try gen_server:call(Q, crash) catch exit:{{R2, _}, {M, F, [_ | A]}} -> {R2, M, F, A} end end), t:w(crashed, receive {'EXIT', Q, {R3, _}} -> R3 end), t:w(init_fails, [gen_server:start(?MODULE, X, []) || X <- [stop, ignore, {error, e}]]), t:w(init_crash, element(1, element(2, gen_server:start(?MODULE, crash, [])))), t:w(multi, gen_server:abcast(nobody, x)), t:w(left, [X || X <- t:flush(), element(1, X) =/= 'EXIT']).
init([P]) -> {ok, {0, P}}; init(stop) -> {stop, why}; init(ignore) -> ignore; init({error, E}) -> {error, E}; init(crash) -> error(init_crash).
handle_call({add, N}, _, {S, P}) -> {reply, S, {S + N, P}}; handle_call(get, _, {S, _} = St) -> {reply, S, St}; handle_call(later, F, S) -> gen_server:cast(self(), {reply, F}), {noreply, S}; handle_call(continue, F, S) -> {noreply, S, {continue, F}}; handle_call(never, _, S) -> {noreply, S}; handle_call(idle, _, S) -> {reply, ok, S, 5}; handle_call(crash, _, _) -> error(crashed).
handle_cast({add, N}, {S, P}) -> {noreply, {S + N, P}}; handle_cast({reply, F}, S) -> gen_server:reply(F, replied), {noreply, S}.
handle_info({info, N}, {S, P}) -> {noreply, {S + N, P}}; handle_info(timeout, {_, P} = S) -> P ! idle_timeout, {noreply, S}; handle_info(_, S) -> {noreply, S}.
handle_continue(F, S) -> gen_server:reply(F, continued), {noreply, S}.
terminate(R, {_, P}) -> P ! {terminated, R}. 
code_change(_, S, _) -> {ok, S}.
