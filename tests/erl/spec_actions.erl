%% Which functions of match specifications are for calls, for messages that are sent, and for those that are received: in guards and in bodies.
-module(spec_actions).
-export([main/1, traced/0]).

traced() -> ok.

main(_) ->
    Actions = [
        {message, true}, {return_trace}, {exception_trace}, {display, x}, {caller}, {caller_line}, {current_stacktrace}, {current_stacktrace, 2},
        {get_seq_token}, {is_seq_trace}, {set_seq_token, label, 1}, {get_tcw}, {set_tcw, 1}, {process_dump}, {enable_trace, call},
        {enable_trace, self(), call}, {disable_trace, call}, {disable_trace, self(), call}, {trace, [call], []}, {trace, self(), [], [call]},
        {silent, true}, {self}, {node}, {node, self()}
    ],
    [each(Action) || Action <- Actions].

each(Action) ->
    Name = list_to_tuple([element(1, Action), tuple_size(Action) - 1]),
    Events = [{?MODULE, traced, 0}, send, 'receive'],
    t:w(Name, [{Event, used(Event, [], [Action]), used(Event, [Action], []), used(Event, [], [{message, Action}])} || Event <- Events]),
    t:w({in_guard, Name}, tried([Action], [])).

used(Event, Guards, Body) ->
    Arguments = case Event of send -> ['$1', '_']; 'receive' -> ['$1', '_', '_']; _ -> [] end,
    try erlang:trace_pattern(Event, [{Arguments, Guards, Body}], []) of
        Count -> Count
    catch
        error:Why -> Why
    after
        erlang:trace_pattern(Event, case Event of {_, _, _} -> false; _ -> true end, [])
    end.

tried(Guards, Body) ->
    case catch erlang:match_spec_test([], [{'_', Guards, Body}], trace) of
        {ok, _, _, _} -> ok;
        {error, Errors} -> [list_to_atom(Error) || {error, Error} <- Errors];
        Other -> Other
    end.
