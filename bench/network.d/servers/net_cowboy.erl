%% The handler that cowboy calls: 128 bytes of text, as the page of httpd.
-module(net_cowboy).
-export([init/2]).

init(Request, State) ->
    {ok, cowboy_req:reply(200, #{<<"content-type">> => <<"text/plain">>}, binary:copy(<<"0123456789abcdef">>, 8), Request), State}.
