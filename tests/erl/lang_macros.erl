%% Macros with arguments, stringification, conditionals.
-module(lang_macros).
-export([main/1]).
-define(PAIR(A, B), {A, B}).
-define(SHOW(E), {??E, E}).
-define(LIST, [1, 2, 3]).
-ifdef(NOT_DEFINED).
f() -> defined.
-else.
f() -> undefined_.
-endif.
-if(?OTP_RELEASE >= 25).
g() -> new.
-else.
g() -> old.
-endif.
main(_) -> t:w(macros, {?PAIR(1, ?LIST), ?SHOW(1 + 2), f(), g()}), t:w(nested, ?PAIR(?PAIR(a, b), ?SHOW(lists:sum(?LIST)))).
