"""What bench/nodes measures."""

from collections import namedtuple

#: `keys`: of the figures, of which the first is the one that counts; `per`: what is counted in a second.
Row = namedtuple("Row", "name group keys about")

RATE, SPEED, LATENCY = ("per_second",), ("mb_per_second",), ("p50_us", "p99_us", "p999_us")

#: Group, heading, and what is said about it on the page.
GROUPS = {
    "messages": ("Small messages", "Round trips of 64 bytes between two processes, and messages {message, Number} in one direction between 1, 100 and 10,000 pairs of "
                                   "processes; the time ends when all are there."),
    "sizes": ("Messages by size", "MB/s of binaries, lists of integers and maps; up to 32 of them, or 4 MB, are under way at a time. The size of lists and maps is what "
                                  "they take on a heap."),
    "requests": ("Requests", "spawn_request to the other node, one and 100 at a time; spawn_monitor until its DOWN; gen_server:call by one and by 100 processes; erpc:call."),
    "names": ("Names", "global: register and unregister a name; look one up. pg: join and leave a group, until the other node has seen it; the members of a group with 11."),
    "latency": ("Latency of small messages", "One message each millisecond, there and back, alone and beside messages of 100 MB; microseconds from the time at which it was due."),
}

ROWS = [
    Row("ping_64", "messages", RATE, "round trips/s"),
    *(Row(f"oneway_{n}", "messages", RATE, "messages/s") for n in (1, 100, 10000)),
    *(Row(f"{kind}_{size}", "sizes", SPEED, "MB/s") for kind in ("binary", "list", "map") for size in ("1k", "64k", "1m", "100m")),
    *(Row(name, "requests", RATE, "requests/s") for name in ("spawn_1", "spawn_100", "spawn_monitor", "call_1", "call_100", "erpc_1")),
    Row("global_register", "names", RATE, "names/s"),
    Row("global_whereis", "names", RATE, "look-ups/s"),
    Row("pg_join_leave", "names", RATE, "times/s"),
    Row("pg_get_members", "names", RATE, "look-ups/s"),
    *(Row(f"latency_{how}", "latency", LATENCY, "µs") for how in ("quiet", "beside_100mb")),
]

#: Kinds and sizes in KB, for the plot of the group `sizes`; numbers of pairs, for that of one-way messages.
SIZES = {"1k": 1, "64k": 64, "1m": 1000, "100m": 100_000}
PAIRS = (1, 100, 10000)
