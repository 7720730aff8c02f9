%% gen_event: handlers added, notified, called, swapped, failing.
-module(gen_event_basic).
-export([main/1]).
-behaviour(gen_event).
-export([init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).
main(_) ->
    {ok, P} = gen_event:start_link(), Me = self(),
    t:w(add, [gen_event:add_handler(P, ?MODULE, {Me, one}), gen_event:add_handler(P, {?MODULE, b}, {Me, two}), gen_event:which_handlers(P)]), gen_event:sync_notify(P, ev), t:w(notified, lists:sort(t:flush())), t:w(call, [gen_event:call(P, ?MODULE, count), gen_event:call(P, {?MODULE, b}, count), gen_event:call(P, nope, x)]), P ! raw, t:w(info, lists:sort([receive X -> X end || _ <- [1, 2]])), t:w(swap, gen_event:swap_handler(P, {?MODULE, swap}, {?MODULE, {Me, three}})), t:w(swapped, lists:sort(t:flush())), gen_event:sync_notify(P, crash), t:w(which, gen_event:which_handlers(P)), t:w(delete, gen_event:delete_handler(P, ?MODULE, bye)), t:w(stop, gen_event:stop(P)), t:w(left, lists:sort([X || X <- t:flush(), is_tuple(X), element(1, X) =/= 'EXIT'])).
init({{P, N}, _}) -> {ok, {P, N, 0}}; init({P, N}) -> {ok, {P, N, 0}}.
handle_event(crash, {_, two, _}) -> error(crash); handle_event(E, {P, N, C}) -> P ! {N, E}, {ok, {P, N, C + 1}}.
handle_call(count, {_, _, C} = S) -> {ok, C, S}.
handle_info(I, {P, N, _} = S) -> P ! {N, I}, {ok, S}.
terminate(R, {P, N, _}) -> P ! {N, terminated, case R of {error, {'EXIT', {X, _}}} -> {error, X}; _ -> R end}, {P, N}.
