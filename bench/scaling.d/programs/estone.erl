%% The five parts of EStone that Hedqvist (1998, section 6) compares, written anew after the descriptions there:
%%   small, medium, large   a message goes around a group of processes: a small integer, a mix of types of about a line, half a KB
%%   gs_timeout             a synchronous client of a generic server: every request sets a timeout that never happens
%%   timeout                a process that waits with one timeout after the other; a message always comes first
%% There is no parallelism in them: more schedulers must not make them slower. As there they run on workers, with every process on a
%% thread of its own (scaling:start/1), and without threads (the sequential mode).
-module(estone).
-behaviour(gen_server).
-export([prepare/2, run/1, check/2, init/1, handle_call/3, handle_cast/2]).

-define(GROUP, 4).

prepare(small, Scale) -> {around, 42, scaling:times(1200000, Scale)};
prepare(medium, Scale) -> {around, medium(), scaling:times(1200000, Scale)};
prepare(large, Scale) -> {around, large(), scaling:times(500000, Scale)};
prepare(gs_timeout, Scale) -> {gs_timeout, scaling:times(900000, Scale)};
prepare(timeout, Scale) -> {timeout, scaling:times(3500000, Scale)}.

medium() -> {request, 17, "a line of text", [one, 2, 3.0], <<"binary">>, {key, value}}.

large() -> [{N, atom, [N + 1], 1.0 * N} || N <- lists:seq(1, 5)].

run(Work) ->
    Main = self(),
    [Result] = scaling:collect([scaling:start(fun() -> Main ! {self(), work(Work)} end)]),
    Result.

check({around, Message, Rounds}, Result) -> Result =:= {Rounds, erlang:phash2(Message)};
check({gs_timeout, Requests}, Result) -> Result =:= Requests * (Requests + 1) div 2;
check({timeout, Waits}, Result) -> Result =:= Waits.

work({around, Message, Rounds}) ->
    Last = lists:foldl(fun(_, To) -> scaling:start(fun() -> pass(To) end) end, self(), lists:seq(1, ?GROUP)),
    around(Last, Message, Rounds, 0);
work({gs_timeout, Requests}) ->
    {ok, Server} = gen_server:start_link(?MODULE, [], [{spawn_opt, scaling:options()}]),
    [gen_server:call(Server, {add, N}, 5000) || N <- lists:seq(1, Requests)],
    Sum = gen_server:call(Server, {add, 0}, 5000),
    gen_server:stop(Server),
    Sum;
work({timeout, Waits}) ->
    Timeouts = [50, 50, 50, 100, 1000, 3000, 8000, 50000, 100000],
    waits(Waits, Timeouts, Timeouts, 0).

around(Last, Message, 0, Rounds) -> Last ! stop, receive stop -> {Rounds, erlang:phash2(Message)} end;
around(Last, Message, N, Rounds) ->
    Last ! {self(), {message, Message}},
    receive {_, {message, Same}} -> around(Last, Same, N - 1, Rounds + 1) end.

pass(To) ->
    receive
        {_, {message, Message}} -> To ! {self(), {message, Message}}, pass(To);
        stop -> To ! stop
    end.

%% The message that ends a wait comes from a partner, so that the process really waits and the timer is really set.
waits(Waits, Timeouts, All, Count) ->
    Me = self(),
    Partner = scaling:start(fun() -> wake(Me) end),
    Got = wait(Partner, Waits, Timeouts, All, Count),
    Partner ! stop,
    Got.

wait(_, 0, _, _, Count) -> Count;
wait(Partner, N, [], All, Count) -> wait(Partner, N, All, All, Count);
wait(Partner, N, [Timeout | Rest], All, Count) ->
    Partner ! go,
    receive hello -> wait(Partner, N - 1, Rest, All, Count + 1) after Timeout -> Count end.

wake(Who) ->
    receive
        go -> Who ! hello, wake(Who);
        stop -> ok
    end.

init([]) -> {ok, 0}.
handle_call({add, N}, _, Sum) -> {reply, Sum + N, Sum + N}.
handle_cast(_, Sum) -> {noreply, Sum}.
