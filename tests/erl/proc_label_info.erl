%% process_info(P, label) tells what proc_lib:set_label/1 said.
-module(proc_label_info).
-export([main/1]).

main(_) ->
    io:format("~p~n", [process_info(self(), label)]),
    ok = proc_lib:set_label({my, "label", 1}),
    io:format("~p~n", [process_info(self(), label)]),
    Other = spawn(fun() -> proc_lib:set_label(other), receive stop -> ok end end),
    timer:sleep(100),
    io:format("~p~n", [process_info(Other, label)]),
    io:format("~p~n", [process_info(Other, [label, sequential_trace_token, min_bin_vheap_size, max_heap_size, suspending])]),
    Other ! stop,
    ok.
