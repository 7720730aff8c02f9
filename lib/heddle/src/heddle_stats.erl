%% The documentation and types of heddle_stats. The VM has all of its functions as natives: it never runs the bodies here.
-module(heddle_stats).
-moduledoc """
Figures of the VM.

Counters run from the start of the VM, and counting is always on. The figures of a thread are plain additions in memory, so reading them
does not slow the threads that write them.

Functions without an argument add up all threads. Those with an `Id` read one scheduler thread: normal schedulers have the numbers from 1,
then come the dirty schedulers for CPU, then those for I/O, as in `statistics(scheduler_wall_time_all)`. A wrong `Id` is `badarg`.

Names that end in `_words` count words of 8 bytes, in `_bytes` bytes, in `_ns` nanoseconds.

A first look at what schedulers do:

```erlang
1> [maps:with([id, run_queue, reductions, steals], S) || S <- heddle_stats:schedulers()].
```
""".

-export([jit/0, nodes/0, schedulers/0, gc/0, gc/1, pauses/0, pauses/1, heaps/0, messages/0, messages/1, memory/0, memory/1, locks/0, record/1, events/0]).
-export_type([id/0, count/0, jit/0, scheduler/0, connection/0, collections/0, pause/0, pauses/0, heaps/0, messages/0, memory/0, thread_memory/0, lock/0, event/0]).

-doc "The number of a scheduler thread: normal schedulers, then dirty ones for CPU, then dirty ones for I/O.".
-type id() :: pos_integer().

-type count() :: non_neg_integer().

-doc "What a normal scheduler did, see `schedulers/0`.".
-type scheduler() :: #{id := id(), run_queue := count(), context_switches := count(), reductions := count(), steals := count(),
                       migrations := count(), wake_ups := count(), parks := count(), searches := count(), claims := count(),
                       lock_waits := count(), lock_wait_ns := count()}.

-doc "Collections of process heaps, see `gc/0`.".
-type collections() :: #{minor := count(), major := count(), minor_words := count(), major_words := count(), words_copied := count(),
                         words_reclaimed := count(), last_live_words := count(), minor_ns := count(), major_ns := count(),
                         time_ns := count()}.

-doc """
How long pauses of one kind took. Percentiles are the ends of classes of the histogram, and `undefined` if there was no pause. `histogram`
has `{FromNs, Count}` for each class that is not empty.
""".
-type pause() :: #{count := count(), max_ns := count(), p50_ns := count() | undefined, p90_ns := count() | undefined,
                   p99_ns := count() | undefined, p999_ns := count() | undefined, histogram := [{FromNs :: count(), Count :: pos_integer()}]}.

-doc "Pauses by kind, see `pauses/0`.".
-type pauses() :: #{minor := pause(), major := pause(), own := pause(), stopping := pause()}.

-doc "What all processes hold, see `heaps/0`.".
-type heaps() :: #{processes := count(), used_words := count(), allocated_words := count(), live_words := count(), stack_words := count(),
                   fragment_words := count(), queued_words := count(), message_words := count(), block_words := count()}.

-doc "Messages to local processes, see `messages/0`.".
-type messages() :: #{messages := count(), words := count(), copying_ns := count(), by_reference := count(),
                      partly_by_reference := count(), words_by_reference := count(), words_foreseen := count(), to_self := count(),
                      to_same_scheduler := count(), to_other_scheduler := count(), sizes := #{FromWords :: count() => count()}}.

-doc "What a thread allocated and freed, see `memory/1`.".
-type thread_memory() :: #{blocks_allocated := count(), bytes_allocated := count(), blocks_freed := count(), bytes_freed := count(),
                           blocks_freed_for_others := count(), bytes_freed_for_others := count(), kept_bytes := count()}.

-doc "What the VM allocated, see `memory/0`.".
-type memory() :: #{blocks_allocated := count(), bytes_allocated := count(), blocks_freed := count(), bytes_freed := count(),
                    blocks_freed_for_others := count(), bytes_freed_for_others := count(), kept_bytes := count(),
                    resident_bytes := count(), reserved_bytes := count(), given_back_bytes := count(), times_given_back := count(),
                    kinds := #{Kind :: atom() => #{bytes := count(), blocks := count(), block_bytes := count(), areas := count(),
                                                   area_bytes := count()}}}.

-doc "What the second tier did, see `jit/0`.".
-type jit() :: #{functions := count(), unfit := count(), segments := count(), with_frame := count(), thrown_away := count(), sweeps := count(),
                 compile_ns := count(), code_bytes := count(), left := #{Operation :: atom() | mfa() => count()}}.

-doc "What a connection to another node carried, see `nodes/0`.".
-type connection() :: #{node := node(), state := pending | up | ended, type := visible | hidden, carrier := port() | pid() | undefined,
                        sent_messages := count(), sent_bytes := count(), sent_packets := count(),
                        received_messages := count(), received_bytes := count(), received_packets := count(),
                        queued_bytes := count(), large_bytes := count(), stalls := count(), encode_ns := count(), decode_ns := count()}.

-doc "Waits for locks of one class by one thread, see `locks/0`.".
-type lock() :: #{class := atom(), scheduler := count(), waits := pos_integer(), wait_ns := count()}.

-doc "What a scheduler did, see `events/0`.".
-type event() :: busy | idle | park | unpark | {wake_up, id()} | {steal, From :: id(), Processes :: count()}
               | {migrate, Other :: id(), Processes :: count()}.

-doc """
Returns what each normal scheduler did, in the order of their numbers.

- `run_queue`: processes in its run queue now
- `context_switches`, `reductions`: slices that it ran, and reductions of these
- `steals`: processes that it stole from other queues
- `migrations`: processes that it moved along paths of the balance
- `wake_ups`: times others woke it; `parks`: times it went to sleep
- `searches`: times it looked at the queues of others
- `claims`: times it began to be alone, that is, the only scheduler that works
- `lock_waits`, `lock_wait_ns`: times it waited for a lock, and how long in all
""".
-spec schedulers() -> [scheduler()].
schedulers() -> erlang:nif_error(undef).

-doc """
Returns what the second tier (`+jit`) did since the start of the VM.

`functions` became machine code, in `segments` pieces, of which `with_frame` have values that do not fit in machine registers. `unfit`
functions were called often, but are left to the interpreter. Compiling took `compile_ns`. `code_bytes` is the machine code that there is now:
that of modules that were purged is gone. When it reached the limit (`+JMlimit`), cold functions were looked for in `sweeps`, and
`thrown_away` functions lost their code. `left` has the places in compiled functions that are left to the interpreter, by instruction, or by native
if it is a call of one.

```erlang
1> maps:get(functions, heddle_stats:jit()).
```
""".
-spec jit() -> jit().
jit() -> erlang:nif_error(undef).

-doc """
Returns what each connection to another node carried since it was made, in the order of the names of the nodes.

- `node`, `type`, `state`; `carrier`: the port or process that carries it
- `sent_messages`, `sent_bytes`, `received_messages`, `received_bytes`: messages and other signals, and the bytes of their terms
- `sent_packets`, `received_packets`: a large message has several, a tick is one without a message
- `queued_bytes`: what is not written yet; `large_bytes`: the part of it that is in messages of several packets
- `stalls`: times that a sender had to wait since too much was queued
- `encode_ns`, `decode_ns`: time of all senders and receivers
""".
-spec nodes() -> [connection()].
nodes() -> erlang:nif_error(undef).

-doc """
Returns what collections of all threads came to.

- `minor`, `major`: collections
- `minor_words`, `major_words`: words that survived, copied by the collections (not words that move because a heap block is exchanged for
  one that fits); `words_copied` is both
- `words_reclaimed`: words that did not survive
- `last_live_words`: live data of the process that a thread collected last, added up over threads
- `minor_ns`, `major_ns`: time of collections; `time_ns` is both
""".
-spec gc() -> collections().
gc() -> erlang:nif_error(undef).

-doc "Returns what collections of one thread came to. The keys are those of `gc/0`.".
-spec gc(Id :: id()) -> collections().
gc(_Id) -> erlang:nif_error(undef).

-doc """
Returns how long the collections of all threads took.

- `minor`, `major`: collections of either kind
- `own`: collections of one process' block alone (with a shared heap, `+hmem shared`)
- `stopping`: from the request to collect until all threads stand still (with a shared heap); no part of the others

A histogram has 16 classes for each power of two of nanoseconds. The classes never change, so the difference of two histograms is what
happened between them.
""".
-spec pauses() -> pauses().
pauses() -> erlang:nif_error(undef).

-doc "Returns how long the collections of one thread took. The keys are those of `pauses/0`.".
-spec pauses(Id :: id()) -> pauses().
pauses(_Id) -> erlang:nif_error(undef).

-doc """
Returns what the heaps of all processes hold.

The caller sends a signal to each process, which answers in order with its other signals, and waits for all answers. So a process that
runs one long native delays the result.

- `processes`: processes that answered
- `used_words`: young and old generation and fragments; `allocated_words`: the blocks that hold them
- `live_words`: live data after the last collection of each
- `stack_words`, `fragment_words`: stacks, and fragments outside of the blocks
- `queued_words`: messages that no `receive` has looked at, also those in the message area
- `message_words`: the message area
- `block_words`: all blocks and messages as the allocator counts them, at one moment
""".
-spec heaps() -> heaps().
heaps() -> erlang:nif_error(undef).

-doc """
Returns the messages that all threads sent to local processes.

- `messages`: how many. `to_self`, `to_same_scheduler` and `to_other_scheduler` divide them by where the receiver ran last
- `words`: words that were copied. A binary above 64 bytes is not copied: it counts as its reference
- `sizes`: messages by size in words. A key is the fewest words of its class: 0, 1, 2, 4, 8 ...
- `copying_ns`: how long copying took, estimated from samples
- `by_reference`: messages of which nothing was copied, because all is in the message area; `partly_by_reference`: some of it was
- `words_by_reference`: words of these. If the sender had just built the message these are its own words, else those of the whole regions
  that it refers to
- `words_foreseen`: of `words` and `words_by_reference`, those that were already known to belong to a message when they were built

With a shared heap a message by reference counts as one word.
""".
-spec messages() -> messages().
messages() -> erlang:nif_error(undef).

-doc "Returns the messages that one thread sent to local processes. The keys are those of `messages/0`.".
-spec messages(Id :: id()) -> messages().
messages(_Id) -> erlang:nif_error(undef).

-doc """
Returns what all threads allocated, and what the operating system gave.

- `blocks_allocated`, `bytes_allocated`, `blocks_freed`, `bytes_freed`: since the start
- `blocks_freed_for_others`, `bytes_freed_for_others`: blocks that a thread freed and another one had allocated, such as binaries and
  messages
- `kept_bytes`: heap blocks that threads keep for their next process
- `resident_bytes`: memory in use as the system sees it; `reserved_bytes`: address space
- `given_back_bytes`, `times_given_back`: memory that went back to the system
- `kinds`: for each kind of memory `bytes` (asked for), `blocks` and `block_bytes` (in use, with rounding, and with what other threads freed
  and the owner has not taken in yet), `areas` and `area_bytes`. The part of the areas that is not in blocks is fragmentation.
""".
-spec memory() -> memory().
memory() -> erlang:nif_error(undef).

-doc "Returns what one thread allocated, freed and keeps. The keys are the first ones of `memory/0`.".
-spec memory(Id :: id()) -> thread_memory().
memory(_Id) -> erlang:nif_error(undef).

-doc """
Returns a map for each class of locks and each thread that had to wait for one. `scheduler` is the number of the thread, or 0 for all threads
that are no schedulers. A lock that is free at once counts nothing here; OTP's `lcnt` shows acquisitions too.
""".
-spec locks() -> [lock()].
locks() -> erlang:nif_error(undef).

-doc "Starts or stops the record of what schedulers do, which `events/0` returns.".
-spec record(start | stop) -> ok.
record(_Switch) -> erlang:nif_error(undef).

-doc """
Returns the recorded events, oldest first: `{MonotonicNs, Id, Event}`. The last 8,191 of each scheduler are kept. `Id` is 0 for threads that
are no schedulers.

- `busy`, `idle`: the scheduler found work, or ran out of it
- `park`, `unpark`: it went to sleep, or came back
- `{wake_up, Id}`: it woke this scheduler
- `{steal, FromId, Processes}`: it took processes from that queue
- `{migrate, OtherId, Processes}`: it moved processes along a path of the balance
""".
-spec events() -> [{MonotonicNs :: integer(), Id :: non_neg_integer(), event()}].
events() -> erlang:nif_error(undef).
