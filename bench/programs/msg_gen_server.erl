%% Calls to a gen_server.
-module(msg_gen_server).
-behaviour(gen_server).
-export([main/1, group/0, init/1, handle_call/3, handle_cast/2]).

group() -> message.

main(_) ->
    bench:time(?MODULE, fun() -> work() end).

work() ->
    {ok, P} = gen_server:start_link(?MODULE, 0, []), [gen_server:call(P, {add, N}) || N <- lists:seq(1, 200000)], gen_server:call(P, {add, 0}).

init(N) -> {ok, N}.
handle_call({add, X}, _, N) -> {reply, N + X, N + X}.
handle_cast(_, N) -> {noreply, N}.
