%% What a process sent to itself has arrived when it asks for its own messages, links or monitors.
-module(process_info_own_signals).
-export([main/1]).

main(_) ->
    self() ! a, self() ! b,
    t:w(messages, process_info(self(), messages)),
    self() ! c,
    t:w(length, process_info(self(), message_queue_len)),
    self() ! d,
    t:w(both, process_info(self(), [message_queue_len, messages])),
    self() ! e,
    t:w(default, proplists:get_value(message_queue_len, process_info(self()))),
    %% A signal that another process sent before its message.
    Me = self(),
    spawn(fun() -> link(Me), Me ! linked, receive after infinity -> ok end end),
    t:w(heard, receive linked -> length(element(2, process_info(self(), links))) end),
    %% A fatal one ends the process there.
    {Pid, Monitor} = spawn_monitor(fun() ->
        Self = self(),
        spawn(fun() -> exit(Self, gone), Self ! sent end),
        (fun Ask(_) -> Ask(process_info(self(), status)) end)(none)
    end),
    t:w(ended, receive {'DOWN', Monitor, process, Pid, Why} -> Why end).
