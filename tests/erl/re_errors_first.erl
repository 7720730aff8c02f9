%% What re:run/3 says when both the subject and the pattern are bad: which of them it looks at first.
-module(re_errors_first).
-export([main/1]).

main(_) ->
    [io:format("~0p ~0p ~0p: ~0p~n", [S, P, O, try re:run(S, P, O) catch C:R -> {C, R} end])
     || S <- [<<0, 255>>, [<<0, 255>>], [255, 0], a, [300], [a], <<1:3>>, <<"abc">>, [<<"abc">>], [<<195>>, <<164>>]],
        P <- [")", <<")">>, "[", [<<")">>]],
        O <- [[report_errors, unicode], [report_errors], [report_errors, unicode, global], [report_errors, unicode, {capture, none}],
              [report_errors, global]]],
    %% A number that is too big is too big at its first digit that is.
    [io:format("~p ~0p~n", [P, re:compile(P)])
     || P <- ["a{65536}", "a{72057594037927936}", "{72057594037927936}", "a{3,72057594037927936}", "a{72057594037927936,3}", "a{00000072057594,}",
              "a{3,000655360}", "ab{5,655360}c", "(a){1234567}", "a{65535,65536}x"]].
