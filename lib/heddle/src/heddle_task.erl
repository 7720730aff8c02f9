%% The documentation and types of heddle_task. The VM has all of its functions as natives: it never runs the bodies here.
-module(heddle_task).
-moduledoc """
Processes whose code is Rust.

A task is started from Erlang, and linked, monitored, named, sent to and listed like any other process. The program that Heddle is part of
registers the types of tasks; Heddle itself has the type `pacer`, which sends messages on at a steady rate:

```erlang
1> {ok, Pid} = heddle_task:start_link(pacer, #{to => self(), rate => 100, burst => 5}).
2> Pid ! hello.
```

Wrong arguments are `badarg`, with a reason that the shell shows.
""".

-export([start/2, start/3, start_link/2, start_link/3, types/0, info/1, format_error/2]).
-export_type([option/0, level/0, result/0]).

-doc "The priority of a task as a number: 0 is the most urgent, 31 the least.".
-type level() :: 0..31.

-doc """
An option of a task.

The names of priorities stand for the levels 28 (`low`), 20 (`normal`), 12 (`high`) and 4 (`max`). A type may limit the levels of its tasks,
see `types/0`. The others mean what they mean for `spawn_opt`.
""".
-type option() :: link | monitor | {monitor, [term()]} | {name, atom()} | {priority, low | normal | high | max | level()}
                | {scheduler, N :: pos_integer()} | {queue, N :: pos_integer()} | {thread, private | shared}
                | {message_queue_data, on_heap | off_heap} | {max_heap_size, non_neg_integer() | map()}.

-doc "The new task, with a reference if `monitor` was among the options; or why there is none.".
-type result() :: {ok, pid()} | {ok, {pid(), reference()}} | {error, {already_started, pid()}} | {error, term()}.

-doc #{equiv => start(Type, Args, [])}.
-spec start(Type :: atom(), Args :: term()) -> result().
start(_Type, _Args) -> erlang:nif_error(undef).

-doc """
Starts a task. `Args` are for the type.

`{error, Reason}` means that the type refuses: then there was no task, and no process gets an exit signal.
`{error, {already_started, Pid}}` means that another process has the name.
""".
-spec start(Type :: atom(), Args :: term(), Options :: [option()]) -> result().
start(_Type, _Args, _Options) -> erlang:nif_error(undef).

-doc #{equiv => start_link(Type, Args, [])}.
-spec start_link(Type :: atom(), Args :: term()) -> result().
start_link(_Type, _Args) -> erlang:nif_error(undef).

-doc "Starts a task as `start/3` does, linked to the caller.".
-spec start_link(Type :: atom(), Args :: term(), Options :: [option()]) -> result().
start_link(_Type, _Args, _Options) -> erlang:nif_error(undef).

-doc """
Returns the registered types.

- `level`: the level of a task if no option says another one
- `levels`: the lowest and the highest number that an option may say
- `thread`: `private` if its tasks have threads of their own
""".
-spec types() -> #{Type :: atom() => #{level := level(), levels := {level(), level()}, thread := private | shared}}.
types() -> erlang:nif_error(undef).

-doc "Returns what is known of a task, as `process_info(Pid, task)` does; `undefined` if there is no such task.".
-spec info(Pid :: pid() | port()) -> #{type := atom(), level := level(), info := term()} | undefined.
info(_Pid) -> erlang:nif_error(undef).

-doc false.
-spec format_error(term(), erlang:stacktrace()) -> #{pos_integer() | general | reason => string()}.
format_error(_Reason, _StackTrace) -> erlang:nif_error(undef).
