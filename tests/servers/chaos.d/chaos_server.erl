%% A server that acknowledges messages, and does harm to itself meanwhile: it loads and unloads a library, kills programs of ports, and uses up its
%% descriptors. A message is <<Client:32, Number:32, Filler/binary>> in a packet of four bytes length; the answer is <<Number:32>>.
%% Lines of the input are questions: `harm`, `calm`, `state`, `counts`. Answers begin with `@`.
-module(chaos_server).
-export([main/0]).

main() ->
    %% A module cannot be loaded while there are no descriptors.
    ok = code:ensure_modules_loaded([timer, rand, prim_inet, inet_tcp, gen_tcp, erl_eval, proc_lib, io_lib_pretty]),
    {chaos_nif, Code, File} = code:get_object_code(chaos_nif),
    persistent_term:put(chaos_code, {Code, File}),
    persistent_term:put(chaos_library, filename:rootname(File)),
    ets:new(counts, [named_table, public, {write_concurrency, true}]),
    {ok, Listener} = gen_tcp:listen(0, [binary, {packet, 4}, {active, false}, {reuseaddr, true}, {backlog, 1024}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(Listener),
    [spawn_link(fun() -> accept(Listener) end) || _ <- lists:seq(1, 4)],
    io:format("@port ~b~n@os_pid ~s~n", [Port, os:getpid()]),
    %% What is loaded once is there from the beginning.
    [begin harm(Kind), calm(Kind) end || Kind <- [library, program, descriptors]],
    answer(none).

answer(Harmful) ->
    case io:get_line("") of
        "harm\n" ->
            io:format("@harm ok~n"),
            answer([{Kind, spawn_link(fun() -> repeat(Kind) end)} || Kind <- [library, program, descriptors]]);
        "calm\n" ->
            [begin Process ! {self(), stop}, receive {Process, stopped} -> ok end end || {_, Process} <- Harmful],
            [calm(Kind) || {Kind, _} <- Harmful],
            io:format("@calm ok~n"),
            answer(none);
        "state\n" ->
            [garbage_collect(Process) || Process <- processes()],
            {ok, Descriptors} = file:list_dir("/proc/self/fd"),
            io:format("@state ~b ~b ~b ~b~n", [length(processes()), length(erlang:ports()), length(Descriptors), erlang:memory(total)]),
            answer(Harmful);
        "counts\n" ->
            io:put_chars(iolist_to_binary(["@counts", [[" ", integer_to_binary(Client), ":", integer_to_binary(Count)] || {Client, Count} <- ets:tab2list(counts)], "\n"])),
            ets:delete_all_objects(counts),
            answer(Harmful);
        eof -> halt(0)
    end.

accept(Listener) ->
    case gen_tcp:accept(Listener) of
        {ok, Socket} ->
            Server = spawn(fun() -> receive go -> serve(Socket) end end),
            case gen_tcp:controlling_process(Socket, Server) of
                ok -> Server ! go;
                {error, _} -> exit(Server, kill)
            end;
        {error, Reason} when Reason =:= emfile; Reason =:= enfile; Reason =:= econnaborted ->
            timer:sleep(10)
    end,
    accept(Listener).

serve(Socket) ->
    case inet:setopts(Socket, [{active, once}]) of
        ok ->
            receive
                {tcp, Socket, <<Client:32, Number:32, _/binary>>} ->
                    ets:update_counter(counts, Client, 1, {Client, 0}),
                    _ = gen_tcp:send(Socket, <<Number:32>>),
                    serve(Socket);
                {tcp_closed, Socket} -> gen_tcp:close(Socket);
                {tcp_error, Socket, _} -> gen_tcp:close(Socket)
            end;
        {error, _} -> gen_tcp:close(Socket)
    end.

repeat(Kind) ->
    harm(Kind),
    receive {From, stop} -> From ! {self(), stopped}
    after 20 -> repeat(Kind)
    end.

%% Objects of a library keep it loaded after its module is gone; new ones may be of the next load.
harm(library) ->
    code:purge(chaos_nif),
    {Code, File} = persistent_term:get(chaos_code),
    case code:load_binary(chaos_nif, File, Code) of
        {module, chaos_nif} ->
            _ = [chaos_nif:make() || _ <- lists:seq(1, 20)],
            code:delete(chaos_nif);
        %% The dynamic linker has no descriptor for the library.
        {error, on_load_failure} -> ok
    end;
harm(program) ->
    %% The first ends by a signal, the others wait for input.
    Arguments = case rand:uniform(3) of 1 -> ["-c", "kill -9 $$"]; _ -> ["-c", "exec cat 2>/dev/null"] end,
    try open_port({spawn_executable, "/bin/sh"}, [{args, Arguments}, binary, exit_status]) of
        Port ->
            unlink(Port),
            case {Arguments, rand:uniform(2)} of
                {["-c", "kill" ++ _], _} -> receive {Port, {exit_status, 137}} -> ok after 10000 -> exit(no_exit_status) end;
                {_, 1} -> true = port_command(Port, <<"some data">>), true = port_close(Port);
                {_, 2} -> exit(Port, kill)
            end,
            flush(Port)
    catch
        %% No descriptors are left.
        error:Reason when Reason =:= emfile; Reason =:= enfile; Reason =:= eagain -> ok
    end;
harm(descriptors) ->
    Files = open_all([]),
    timer:sleep(rand:uniform(30)),
    [file:close(File) || File <- Files],
    timer:sleep(500 + rand:uniform(1000)).

calm(library) -> code:purge(chaos_nif);
calm(_) -> ok.

flush(Port) ->
    receive {Port, _} -> flush(Port)
    after 0 -> ok
    end.

open_all(Files) ->
    case file:open("/dev/null", [read, raw]) of
        {ok, File} -> open_all([File | Files]);
        {error, Reason} when Reason =:= emfile; Reason =:= enfile -> Files
    end.
