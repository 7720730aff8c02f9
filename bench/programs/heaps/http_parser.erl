%% Requests of HTTP as text, parsed to terms: Wilhelmsson (2002, section 6) has eddie for this, whose text was not published. Workers parse, nothing is
%% sent but one small answer each.
-module(http_parser).
-export([run/2]).

%% Workers, and requests of each. Returns how many bytes all targets, names and values had.
run(Workers, Requests) ->
    Me = self(),
    Texts = list_to_tuple([request(N) || N <- lists:seq(1, 50)]),
    Pids = [spawn_link(fun() -> Me ! {self(), parse_all(Requests, Texts, W, 0)} end) || W <- lists:seq(1, Workers)],
    lists:sum([receive {Pid, Sum} -> Sum end || Pid <- Pids]).

parse_all(0, _, _, Sum) -> Sum;
parse_all(N, Texts, W, Sum) ->
    parse_all(N - 1, Texts, W, Sum + weight(parse(element((N + W) rem tuple_size(Texts) + 1, Texts)))).

weight(#{method := get, path := Path, query := Query, headers := Headers}) ->
    lists:sum([length(P) || P <- Path]) + lists:sum([length(K) + length(V) || {K, V} <- Query])
        + maps:fold(fun(K, V, Sum) -> Sum + length(K) + length(V) end, 0, Headers).

request(N) ->
    I = integer_to_list(N),
    lists:append(["GET /shop/items%20of%20the%20week/", I, "/view?user=", I, "&sort=price%2Cname&page=", I, " HTTP/1.1\r\n",
                  "Host: www.example.com\r\nUser-Agent: Browser/", I, ".0 (X11; Linux)\r\n",
                  "Accept: text/html,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-gb,en;q=0.5\r\n",
                  "Cookie: session=", lists:duplicate(N, $a + N rem 26), "; theme=dark\r\n",
                  "X-Folded: first\r\n  second\r\nConnection: keep-alive\r\n\r\n"]).

parse(Text) ->
    {"GET", [$\s | AfterMethod]} = until($\s, Text, []),
    {Target, [$\s | "HTTP/1." ++ [_ | AfterVersion]]} = until($\s, AfterMethod, []),
    {Path, Query} = target(Target),
    {Headers, []} = headers(line_end(AfterVersion), #{}),
    #{method => get, path => Path, query => Query, headers => Headers}.

until(C, [C | _] = Rest, Taken) -> {lists:reverse(Taken), Rest};
until(C, [Other | Rest], Taken) -> until(C, Rest, [Other | Taken]);
until(_, [], Taken) -> {lists:reverse(Taken), []}.

line_end("\r\n" ++ Rest) -> Rest.

target(Target) ->
    {Path, Query} = until($?, Target, []),
    {[decode(P, []) || P <- string:lexemes(Path, "/")], fields(Query)}.

fields([]) -> [];
fields([_ | Text]) ->
    {Field, Rest} = until($&, Text, []),
    {Name, Value} = until($=, Field, []),
    [{decode(Name, []), decode(tl(Value), [])} | fields(Rest)].

decode([$%, A, B | Rest], Done) -> decode(Rest, [list_to_integer([A, B], 16) | Done]);
decode([$+ | Rest], Done) -> decode(Rest, [$\s | Done]);
decode([C | Rest], Done) -> decode(Rest, [C | Done]);
decode([], Done) -> lists:reverse(Done).

headers("\r\n" ++ Rest, Headers) -> {Headers, Rest};
headers(Text, Headers) ->
    {Name, [$: | AfterName]} = until($:, Text, []),
    {Value, Rest} = value(AfterName, []),
    headers(Rest, Headers#{string:lowercase(Name) => string:trim(Value)}).

%% A line that begins with a blank goes on with the value.
value("\r\n" ++ [C | Rest], Done) when C =:= $\s; C =:= $\t -> value(Rest, [$\s | Done]);
value("\r\n" ++ Rest, Done) -> {lists:reverse(Done), Rest};
value([C | Rest], Done) -> value(Rest, [C | Done]).
