%% A gen_statem: a door with a code, timeouts, postponed events, enter calls.
-module(gen_statem_basic).
-export([main/1]).
-behaviour(gen_statem).
-export([callback_mode/0, init/1, locked/3, open/3]).
main(_) ->
    {ok, P} = gen_statem:start_link(?MODULE, self(), []),
    t:w(wrong, gen_statem:call(P, {code, 1})), t:w(right, gen_statem:call(P, {code, 42})), t:w(state, element(1, sys:get_state(P))), t:w(relocked, receive {entered, locked, again} -> ok after 1000 -> no end),
    gen_statem:cast(P, knock), t:w(code, gen_statem:call(P, {code, 42})), t:w(postponed, receive {knocked, S} -> S after 1000 -> no end), t:w(info, begin P ! hello, receive {info, X} -> X end end), t:e(timeout, fun() -> gen_statem:call(P, silence, 10) end), t:w(stop, gen_statem:stop(P)), t:e(dead, fun() -> gen_statem:call(P, x) end).
callback_mode() -> [state_functions, state_enter].
init(P) -> {ok, locked, #{owner => P, times => 0}}.
locked(enter, _, #{owner := P, times := N} = D) -> N > 0 andalso (P ! {entered, locked, again}), {keep_state, D#{times := N + 1}};
locked({call, F}, {code, 42}, D) -> {next_state, open, D, [{reply, F, opened}, {state_timeout, 30, lock}]};
locked({call, F}, {code, _}, _) -> {keep_state_and_data, {reply, F, wrong}};
locked(cast, knock, _) -> {keep_state_and_data, postpone};
locked(T, E, D) -> common(T, E, locked, D).
open(enter, _, _) -> keep_state_and_data;
open(state_timeout, lock, D) -> {next_state, locked, D};
open(cast, knock, #{owner := P}) -> P ! {knocked, open}, keep_state_and_data;
open(T, E, D) -> common(T, E, open, D).
common(info, M, _, #{owner := P}) -> P ! {info, M}, keep_state_and_data;
common({call, _}, _, _, _) -> keep_state_and_data.
