%% The order in which module_info lists functions (main/1 was known before the module, so stock has it elsewhere).
-module(module_info_order).
-export([main/1, zeta/0, alpha/0, mid/1]).

main(_) ->
    io:format("~p~n~p~n", [lists:delete({main, 1}, ?MODULE:module_info(exports)), ?MODULE:module_info(functions)]).

zeta() -> 1.
alpha() -> 2.
mid(X) -> X.
