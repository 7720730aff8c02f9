%% A compiled regular expression of stock in a module, as Elixir keeps it: it is used if the version is that of `re`, and else compiled again.
-module(re_version).
-export([main/1]).

main(_) ->
    {Source, Version, Compiled} = kept(),
    t:w(run, case re:version() of
        Version -> re:run("xabbc", Compiled);
        _ -> re:run("xabbc", Source)
    end),
    t:w(form, re:run(re:version(), "^[0-9]\\.[0-9]{2} 20[0-9]{2}-[0-9]{2}-[0-9]{2}$", [{capture, none}])).

%% What stock's re:compile("ab+c") returned, and its re:version().
kept() ->
    {"ab+c", <<"8.45 2021-06-15">>,
     {re_pattern, 0, 0, 0,
      <<69, 82, 67, 80, 77, 0, 0, 0, 0, 0, 0, 0, 81, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 97, 0, 99, 0, 0, 0, 0, 0, 0, 0, 64, 0:232, 131, 0,
        9, 29, 97, 43, 98, 29, 99, 120, 0, 9, 0>>}}.
