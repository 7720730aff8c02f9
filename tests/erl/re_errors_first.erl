%% What re:run/3 says when both the subject and the pattern are bad: which of them it looks at first.
-module(re_errors_first).
-export([main/1]).

main(_) ->
    [io:format("~0p ~0p ~0p: ~0p~n", [S, P, O, try re:run(S, P, O) catch C:R -> {C, R} end])
     || S <- [<<0, 255>>, [<<0, 255>>], [255, 0], a, [300], [a], <<1:3>>, <<"abc">>, [<<"abc">>], [<<195>>, <<164>>]],
        P <- [")", <<")">>, "[", [<<")">>]],
        O <- [[report_errors, unicode], [report_errors], [report_errors, unicode, global], [report_errors, unicode, {capture, none}],
              [report_errors, global]]].
