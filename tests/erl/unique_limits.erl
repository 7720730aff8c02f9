%% Monotonic unique integers from the least one on, over the limits of small integers and of 64 bits, and from the last one to the least one.
-module(unique_limits).
-export([main/1]).

main(_) ->
    erts_debug:set_internal_state(available_internal_state, true),
    Least = erts_debug:get_internal_state(min_unique_monotonic_integer),
    State = erts_debug:get_internal_state(unique_monotonic_integer_state),
    t:w(least, Least),
    Small = (1 bsl 59) - 1,
    [t:w(Name, from(Least, First)) || {Name, First} <- [{zero, -2}, {small, Small - 2}, {word, (1 bsl 63) - 3}, {last, Least - 3}]],
    t:w(positive, begin from(Least, Least), erlang:unique_integer([monotonic, positive]) end),
    t:w(set, erts_debug:set_internal_state(unique_monotonic_integer_state, State)),
    t:e(bad, fun() -> erts_debug:set_internal_state(unique_monotonic_integer_state, a) end).

from(Least, First) ->
    erts_debug:set_internal_state(unique_monotonic_integer_state, First - Least - 1),
    [erlang:unique_integer([monotonic]) || _ <- lists:seq(1, 6)].
