%% For servers that run until their input ends.
-module(until_end).
-export([wait/0]).

%% Returns when there is no more input.
wait() ->
    case io:get_line("") of
        eof -> ok;
        {error, _} -> ok;
        _ -> wait()
    end.
