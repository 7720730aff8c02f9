%% What this node counted, and which rules it found broken. A broken rule is said at once, on a line `@broken JSON` of the output.
-module(cluster_book).
-export([start/0, count/1, count/2, take_counts/0, broken/3, place/1, note/1]).

%% Broken rules that are told in full; later ones are only counted.
-define(TOLD, 20).
%% Events that a process remembers.
-define(EVENTS, 24).

start() ->
    ?MODULE = ets:new(?MODULE, [named_table, public, {write_concurrency, true}]),
    ok.

count(What) -> count(What, 1).

count(What, N) -> ets:update_counter(?MODULE, What, N, {What, 0}).

%% #{What => N} since the last call; of kinds of rounds under names that begin with `of_`.
take_counts() ->
    #{name(What) => N || {What, _} <- ets:tab2list(?MODULE), {_, N} <- ets:take(?MODULE, What), What =/= broken}.

name({of_kind, Kind}) -> <<"of_", (atom_to_binary(Kind))/binary>>;
name(What) -> What.

%% Where the calling process is at work: told with what it finds broken.
place(Place) -> put(cluster_place, Place).

%% The calling process notes what happens to it; the last of these events are told with what it finds broken.
note(Event) -> put(cluster_events, lists:sublist([Event | case get(cluster_events) of undefined -> []; Events -> Events end], ?EVENTS)).

%% Rule: an atom of the list in rules.py. Details: what was, and what had to be.
broken(Rule, Expected, Found) ->
    case count(broken) of
        N when N =< ?TOLD ->
            Told = #{rule => Rule, where => text(get(cluster_place)), expected => text(Expected), found => text(Found), process => text(self()), events => events()},
            io:put_chars(user, ["@broken ", json:encode(Told), "\n"]);
        _ -> ok
    end,
    broken.

events() -> [text(Event) || is_list(get(cluster_events)), Event <- lists:reverse(get(cluster_events))].

text(undefined) -> <<>>;
text(Text) when is_binary(Text), byte_size(Text) < 200 -> Text;
text(Term) -> unicode:characters_to_binary(io_lib:format("~0tP", [Term, 40])).
