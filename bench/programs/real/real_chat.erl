%% A chat server: rooms are gen_servers, users are processes that join, talk, leave, and get what others say.
-module(real_chat).
-behaviour(gen_server).
-export([main/1, group/0, init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(ROOMS, 10).
-define(USERS, 150).
-define(LINES, 30).

group() -> real.

main(_) -> bench:time(?MODULE, fun work/0).

work() ->
    Rooms = list_to_tuple([element(2, {ok, _} = gen_server:start_link(?MODULE, Room, [])) || Room <- lists:seq(1, ?ROOMS)]),
    Self = self(),
    Users = [spawn_link(fun() -> user(Self, Rooms, User) end) || User <- lists:seq(1, ?USERS)],
    [receive {joined, User} -> ok end || User <- Users],
    [User ! talk || User <- Users],
    [receive {said, User} -> ok end || User <- Users],
    [gen_server:call(Room, flush) || Room <- tuple_to_list(Rooms)],
    [User ! {finish, self()} || User <- Users],
    Heard = [receive {heard, User, Count, Bytes} -> {Count, Bytes} end || User <- Users],
    Histories = [gen_server:call(Room, count) || Room <- tuple_to_list(Rooms)],
    [gen_server:stop(Room) || Room <- tuple_to_list(Rooms)],
    {lists:sum([Count || {Count, _} <- Heard]), lists:sum([Bytes || {_, Bytes} <- Heard]), lists:sum(Histories)}.

%% A user is in three rooms.
user(Main, Rooms, User) ->
    Mine = [element(1 + (User * Step) rem ?ROOMS, Rooms) || Step <- [1, 3, 7]],
    Name = iolist_to_binary(["user", integer_to_list(User)]),
    [ok = gen_server:call(Room, {join, Name, self()}) || Room <- Mine],
    Main ! {joined, self()},
    receive talk -> ok end,
    Heard = talk(Mine, Name, ?LINES, {0, 0}),
    Main ! {said, self()},
    listen(Heard).

talk(_, _, 0, Heard) -> Heard;
talk(Rooms, Name, N, Heard) ->
    Text = iolist_to_binary(io_lib:format("line ~b by ~s, with a smile", [N, Name])),
    [gen_server:cast(Room, {say, Name, Text}) || Room <- Rooms],
    talk(Rooms, Name, N - 1, drain(Heard)).

drain(Heard) ->
    receive {message, _, _, _, Text} -> drain(count(Text, Heard)) after 0 -> Heard end.

listen({Count, Bytes} = Heard) ->
    receive
        {message, _, _, _, Text} -> listen(count(Text, Heard));
        {finish, Main} -> Main ! {heard, self(), Count, Bytes}
    end.

count(Text, {Count, Bytes}) -> {Count + 1, Bytes + byte_size(Text)}.

init(Room) -> {ok, #{room => Room, members => #{}, history => queue:new(), said => 0}}.

handle_call({join, Name, Pid}, _, #{members := Members} = State) ->
    {reply, ok, State#{members := Members#{{Name, Pid} => monitor(process, Pid)}}};
handle_call(flush, _, State) -> {reply, ok, State};
handle_call(count, _, #{said := Said} = State) -> {reply, Said, State}.

handle_cast({say, Name, Text}, #{room := Room, members := Members, history := History, said := Said} = State) ->
    Clean = binary:replace(Text, <<"smile">>, <<":-)">>, [global]),
    [Pid ! {message, Room, Said, Name, Clean} || {_, Pid} := _ <- maps:iterator(Members)],
    Longer = queue:in({Said, Name, Clean}, History),
    Kept = case queue:len(Longer) of Long when Long > 50 -> queue:drop(Longer); _ -> Longer end,
    {noreply, State#{history := Kept, said := Said + 1}}.

handle_info({'DOWN', _, process, Pid, _}, #{members := Members} = State) ->
    {noreply, State#{members := maps:filter(fun({_, Member}, _) -> Member =/= Pid end, Members)}}.
