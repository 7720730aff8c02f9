%% The other node, and the processes that the measuring node starts on it. They end with the process that started them.
-module(nodes_peer).
-behaviour(gen_server).
-export([main/0, about/0, start/2, counters/2, init/1, handle_call/3, handle_cast/2]).

main() ->
    {ok, _} = pg:start_link(nodes),
    {ok, _} = gen_server:start_link({local, nodes_server}, ?MODULE, [], []),
    io:put_chars(["@ready ", json:encode(#{about => about()}), "\n"]),
    %% Until the input ends.
    eof = io:get_line(""),
    halt(0).

about() ->
    Heddle = case erlang:function_exported(heddle_stats, gc, 0) of true -> "Heddle, "; false -> "" end,
    unicode:characters_to_binary([Heddle, "OTP ", erlang:system_info(otp_release), ", erts ", erlang:system_info(version)]).

%% ---- a server for calls ----

init([]) -> {ok, none}.

handle_call(X, _, State) -> {reply, X, State}.

handle_cast(_, State) -> {noreply, State}.

%% ---- processes of a row ----

%% echo: sends back {From, X}. sink: acknowledges {From, X} with `got`. stamps: sends a stamp on to the process in {To, Stamp}.
start(Peer, Kind) ->
    Home = self(),
    spawn_link(Peer, fun() -> loop(Kind, monitor(process, Home)) end).

loop(Kind, M) ->
    receive
        {'DOWN', M, _, _, _} -> ok;
        {From, X} ->
            From ! case Kind of echo -> {self(), X}; sink -> got; stamps -> X end,
            loop(Kind, M)
    end.

%% Receivers of one-way messages, which acknowledge the last one.
counters(Peer, N) ->
    Home = self(),
    Ref = make_ref(),
    spawn_link(Peer, fun() -> Home ! {Ref, [spawn_link(fun() -> count(0) end) || _ <- lists:seq(1, N)]}, wait(monitor(process, Home)) end),
    receive {Ref, Ps} -> Ps end.

wait(M) -> receive {'DOWN', M, _, _, _} -> exit(over) end.

count(N) ->
    receive
        {message, _} -> count(N + 1);
        {last, From, N} -> From ! {got, N}, count(0)
    end.
