%% What functions of match specifications that concern the token of sequential tracing return where a specification is only tried out.
-module(spec_trial).
-export([main/1]).

main(_) ->
    shown(no_token, all()),
    seq_trace:set_token(label, {some, label}),
    seq_trace:set_token(send, true),
    seq_trace:set_token(serial, {3, 4}),
    WithToken = all(),
    seq_trace:set_token([]),
    shown(token, WithToken).

shown(Label, Results) ->
    [t:w({Label, What}, Result) || {What, Result} <- Results].

all() ->
    Components = [
        label, serial, send, 'receive', print, spawn, timestamp, monotonic_timestamp, strict_monotonic_timestamp, sequential_trace_token, yxa, 17, []
    ],
    [{C, in_message({set_seq_token, C, true})} || C <- Components] ++
        [
            {alone, trial([], [{set_seq_token, label, true}])},
            {alone_wrong, trial([], [{set_seq_token, yxa, true}])},
            {is_seq_trace, in_message({is_seq_trace})},
            {guard, trial([{is_seq_trace}], [])},
            {get_seq_token, without_sender(in_message({get_seq_token}))}
        ].

without_sender({ok, Token, [], []}) when is_tuple(Token) -> setelement(4, Token, sender);
without_sender(Result) -> Result.

in_message(Call) -> trial([], [{message, Call}]).

trial(Guards, Body) -> catch erlang:match_spec_test([], [{'_', Guards, Body}], trace).
