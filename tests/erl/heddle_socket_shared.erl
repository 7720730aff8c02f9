%% A socket that is made from the descriptor of another one, and closed, leaves that one as it is. In stock closing the copy lets the other
%% wait in the system, and with it a scheduler; so stock does not end this program.
-module(heddle_socket_shared).
-export([main/1]).

main(_) ->
    {ok, L} = socket:open(inet, stream, tcp),
    ok = socket:bind(L, #{family => inet, addr => loopback, port => 0}),
    ok = socket:listen(L),
    {ok, Addr} = socket:sockname(L),
    {ok, C} = socket:open(inet, stream, tcp),
    ok = socket:connect(C, Addr),
    {ok, S} = socket:accept(L),
    {ok, Fd} = socket:getopt(S, {otp, fd}),
    Self = self(),
    [begin
         spawn_link(fun() -> Self ! {got, socket:recv(S, 2)} end),
         ok = t:wait_until(fun() -> maps:get(num_readers, socket:info(S)) =:= 1 end),
         {ok, Copy} = socket:open(Fd, #{dup => Dup}),
         t:w({shared, Dup}, [element(1, socket:peername(Copy)), maps:get(ctype, socket:info(Copy)) =:= {fromfd, Fd}, socket:close(Copy)]),
         ok = socket:send(C, <<"ab">>),
         t:w(still, [receive {got, R} -> R after 2000 -> none end, socket:recv(S, 1, 20)])
     end || Dup <- [true, false]].
