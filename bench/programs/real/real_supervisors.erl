%% A storm in a tree of supervisors: trees start, children crash and are restarted, trees stop.
-module(real_supervisors).
-behaviour(supervisor).
-export([main/1, group/0, init/1, start_worker/2]).

-define(TREES, 12).
-define(CHILDREN, 40).

group() -> real.

main(_) ->
    logger:set_primary_config(level, none),
    bench:time(?MODULE, fun() ->
        process_flag(trap_exit, true),
        register(?MODULE, self()),
        lists:sum([storm() || _ <- lists:seq(1, 12)])
    end).

storm() ->
    {ok, Top} = supervisor:start_link(?MODULE, top),
    Workers = [up() || _ <- lists:seq(1, ?TREES * ?CHILDREN)],
    Counts = supervisor:count_children(Top),
    [Worker ! {crash, kind(N)} || {Worker, N} <- lists:zip(Workers, lists:seq(1, length(Workers)))],
    Again = [up() || _ <- Workers],
    Answers = [begin Ref = monitor(process, Worker), Worker ! {ask, self(), Ref}, receive {Ref, Answer} -> demonitor(Ref, [flush]), Answer end end || Worker <- Again],
    More = [up_after(Worker) || _ <- lists:seq(1, 3), Worker <- lists:sublist([W || {_, W, _, _} <- deep(Top)], 30)],
    unlink(Top),
    exit(Top, shutdown),
    Ref = monitor(process, Top),
    receive {'DOWN', Ref, _, _, _} -> ok end,
    receive {'EXIT', Top, _} -> ok after 0 -> ok end,
    lists:sum(Answers) + length(More) + proplists:get_value(active, Counts).

up() -> receive {up, Pid} -> Pid end.

up_after(Worker) -> exit(Worker, kill), up().

deep(Top) -> lists:append([supervisor:which_children(Tree) || {_, Tree, supervisor, _} <- supervisor:which_children(Top)]).

kind(N) -> lists:nth(1 + N rem 4, [exit, error, throw, kill]).

init(top) ->
    {ok, {#{strategy => one_for_one, intensity => 100000, period => 1}, [#{id => {tree, N}, start => {supervisor, start_link, [?MODULE, {tree, N}]}, type => supervisor} || N <- lists:seq(1, ?TREES)]}};
init({tree, N}) ->
    {ok, {#{strategy => one_for_one, intensity => 100000, period => 1}, [#{id => {worker, I}, start => {?MODULE, start_worker, [N, I]}, shutdown => 1000} || I <- lists:seq(1, ?CHILDREN)]}}.

start_worker(Tree, I) ->
    proc_lib:start_link(erlang, apply, [fun() ->
        ?MODULE ! {up, self()},
        proc_lib:init_ack({ok, self()}),
        worker(Tree * I, maps:from_list([{K, Tree} || K <- lists:seq(1, 20)]))
    end, []]).

worker(State, Map) ->
    receive
        {ask, From, Ref} -> From ! {Ref, State + map_size(Map)}, worker(State, Map);
        {crash, exit} -> exit(crashed);
        {crash, error} -> error({bad_state, State});
        {crash, throw} -> throw(State);
        {crash, kill} -> exit(self(), kill)
    end.
