%% Web pages from a template: it is parsed once, then rendered for many records, with escaping and formatting.
-module(real_template).
-export([main/1, group/0]).

group() -> real.

main(_) ->
    Template = parse(template()),
    Records = [record(N) || N <- lists:seq(1, 200)],
    bench:time(?MODULE, fun() ->
        lists:foldl(fun(_, Sum) -> Sum + lists:sum([size(iolist_to_binary(render(Template, Record))) || Record <- Records]) end, 0, lists:seq(1, 10))
    end).

template() ->
    <<"<html><head><title>{{ title | upper }}</title></head>\n<body><h1>{{ title }}</h1>\n<p>{{ text | wrap }}</p>\n<table>\n"
      "{% for row in rows %}<tr class=\"{{ row.class }}\"><td>{{ row.name | escape }}</td><td>{{ row.price | money }}</td>"
      "<td>{{ row.share | percent }}</td><td>{{ row.code | hex }}</td></tr>\n{% end %}</table>\n<pre>{{ debug | term }}</pre></body></html>\n">>.

record(N) ->
    #{<<"title">> => <<"Page ", (integer_to_binary(N))/binary, " of the catalogue für alle"/utf8>>,
      <<"text">> => lists:duplicate(6, "some words that make lines, and more of them; "),
      <<"debug">> => {N, [{key, N * 3}, {list, [a, "text", <<"binary">>, 1.5]}, #{n => N}]},
      <<"rows">> => [#{<<"class">> => lists:nth(1 + I rem 2, [<<"odd">>, <<"even">>]), <<"name">> => <<"Bolts & <nuts> \"", (integer_to_binary(I * N))/binary, "\"">>,
                       <<"price">> => I * N * 37 rem 100000, <<"share">> => I / (N + 1), <<"code">> => I * N * 7919 rem 65536} || I <- lists:seq(1, 12)]}.

%% A list of binaries, {Name, Filters} and {for, Variable, Name, Body}.
parse(Text) ->
    {Nodes, <<>>} = parse(Text, []),
    Nodes.

parse(Text, Nodes) ->
    case binary:match(Text, [<<"{{">>, <<"{%">>]) of
        nomatch -> {lists:reverse([Text | Nodes]), <<>>};
        {At, 2} ->
            <<Before:At/binary, Open:2/binary, Rest/binary>> = Text,
            [Inside, After] = binary:split(Rest, case Open of <<"{{">> -> <<"}}">>; <<"{%">> -> <<"%}">> end),
            tag(Open, string:lexemes(Inside, " |"), After, [Before | Nodes])
    end.

tag(<<"{{">>, [Name | Filters], Rest, Nodes) -> parse(Rest, [{binary:split(Name, <<".">>), Filters} | Nodes]);
tag(<<"{%">>, [<<"end">>], Rest, Nodes) -> {lists:reverse(Nodes), Rest};
tag(<<"{%">>, [<<"for">>, Variable, <<"in">>, Name], Rest, Nodes) ->
    {Body, After} = parse(Rest, []),
    parse(After, [{for, Variable, Name, Body} | Nodes]).

render(Nodes, Values) -> [render_node(Node, Values) || Node <- Nodes].

render_node(Text, _) when is_binary(Text) -> Text;
render_node({for, Variable, Name, Body}, Values) -> [render(Body, Values#{Variable => Row}) || Row <- maps:get(Name, Values)];
render_node({Path, Filters}, Values) -> lists:foldl(fun filter/2, lists:foldl(fun maps:get/2, Values, Path), Filters).

filter(<<"upper">>, Value) -> string:uppercase(Value);
filter(<<"escape">>, Value) -> escape(Value, <<>>);
filter(<<"money">>, Value) -> io_lib:format("~b.~2..0b", [Value div 100, Value rem 100]);
filter(<<"percent">>, Value) -> io_lib:format("~6.2f%", [Value * 100]);
filter(<<"hex">>, Value) -> string:pad(integer_to_list(Value, 16), 6, leading, $0);
filter(<<"term">>, Value) -> io_lib:format("~tp", [Value]);
filter(<<"wrap">>, Value) -> lists:join("<br/>", wrap(string:lexemes(unicode:characters_to_list(Value), " "), [], [])).

escape(<<$&, Rest/binary>>, Done) -> escape(Rest, <<Done/binary, "&amp;">>);
escape(<<$<, Rest/binary>>, Done) -> escape(Rest, <<Done/binary, "&lt;">>);
escape(<<$>, Rest/binary>>, Done) -> escape(Rest, <<Done/binary, "&gt;">>);
escape(<<$", Rest/binary>>, Done) -> escape(Rest, <<Done/binary, "&quot;">>);
escape(<<Byte, Rest/binary>>, Done) -> escape(Rest, <<Done/binary, Byte>>);
escape(<<>>, Done) -> Done.

wrap([], Line, Lines) -> lists:reverse([lists:join(" ", lists:reverse(Line)) | Lines]);
wrap([Word | Words], Line, Lines) ->
    case lists:sum([1 + length(W) || W <- Line]) + length(Word) of
        Long when Long > 40 -> wrap(Words, [Word], [lists:join(" ", lists:reverse(Line)) | Lines]);
        _ -> wrap(Words, [Word | Line], Lines)
    end.
