%% The documentation and types of heddle_sched. The VM has all of its functions as natives: it never runs the bodies here.
-module(heddle_sched).
-moduledoc """
Where processes run.

A process is in one of four places:

- `any`: it runs where there is room
- `{next, N}`: it is on its way to the queue of scheduler `N`, and is `any` once it is there
- `{pinned, N}`: it runs on scheduler `N` alone
- `{private, Id}`: it runs on a thread that runs no other process, so it may block there

A process changes its place when it handles the signal that asks for it. The caller waits until that is done. Any process may be named,
also the caller.

The options `{scheduler, N}` (pinned), `{queue, N}` (starts there) and `{thread, private}` of `spawn_opt` choose the place at the start.

A process that is pinned to a scheduler that goes offline runs like others until that scheduler is online again. An isolated scheduler is open
to all while no other one is online. While multi-scheduling is blocked, private processes run on scheduler 1.

Wrong arguments are `badarg`, with a reason that the shell shows.
""".

-export([pin/2, unpin/1, move/2, private/1, shared/1, isolate/2, release/1, isolated/0, place/1, list/0, format_error/2]).
-export_type([scheduler/0, place/0, place_info/0]).

-doc "The number of a normal scheduler, from 1.".
-type scheduler() :: pos_integer().

-doc "Where a process is to run.".
-type place() :: any | {next, scheduler()} | {pinned, scheduler()} | {private, Id :: pos_integer()}.

-doc "Where a process is to run, and the scheduler that it ran on last.".
-type place_info() :: #{place := place(), last := pos_integer()}.

-doc "Makes the process run on scheduler `N` alone.".
-spec pin(Pid :: pid(), N :: scheduler()) -> ok.
pin(_Pid, _N) -> erlang:nif_error(undef).

-doc "Lets a pinned process run anywhere again. A private process keeps its thread.".
-spec unpin(Pid :: pid()) -> ok.
unpin(_Pid) -> erlang:nif_error(undef).

-doc "Puts the process on the queue of scheduler `N` once; it is free from there on. A pinned process becomes pinned to `N`.".
-spec move(Pid :: pid(), N :: scheduler()) -> ok.
move(_Pid, _N) -> erlang:nif_error(undef).

-doc """
Starts a thread that runs this process alone. The process may block there, and delays no other process by that. Does nothing if the process
has such a thread already.

At most 512 processes can be private at once; one more, or an operating system that refuses a thread, is `system_limit`.
""".
-spec private(Pid :: pid()) -> ok.
private(_Pid) -> erlang:nif_error(undef).

-doc "Ends the process' private thread; the process then runs anywhere. Changes nothing for a process that is not private.".
-spec shared(Pid :: pid()) -> ok.
shared(_Pid) -> erlang:nif_error(undef).

-doc """
Reserves scheduler `N` for processes that are pinned to it, and pins `Pids` to it. No other process is put, stolen or balanced there.

`N` must be online, and another scheduler that is online must stay open to all processes. A process of `Pids` that ends meanwhile is left out.
""".
-spec isolate(N :: scheduler(), Pids :: [pid()]) -> ok.
isolate(_N, _Pids) -> erlang:nif_error(undef).

-doc "Opens the isolated scheduler `N` to all processes again. Processes that are pinned to it stay pinned.".
-spec release(N :: scheduler()) -> ok.
release(_N) -> erlang:nif_error(undef).

-doc "Returns the numbers of the isolated schedulers.".
-spec isolated() -> [scheduler()].
isolated() -> erlang:nif_error(undef).

-doc "Returns the place of a process, as `process_info(Pid, placement)` does.".
-spec place(Pid :: pid()) -> place_info().
place(_Pid) -> erlang:nif_error(undef).

-doc "Returns the places of all processes, ordered by pid.".
-spec list() -> [{pid(), place_info()}].
list() -> erlang:nif_error(undef).

-doc false.
-spec format_error(term(), erlang:stacktrace()) -> #{pos_integer() | general | reason => string()}.
format_error(_Reason, _StackTrace) -> erlang:nif_error(undef).
