-module(chaos_nif).
-export([make/0, count/0]).
-on_load(load/0).
-nifs([make/0, count/0]).

%% The server has said where the library is.
load() -> erlang:load_nif(persistent_term:get(chaos_library), 0).

make() -> erlang:nif_error(not_loaded).
count() -> erlang:nif_error(not_loaded).
