"""The programs of bench/scaling: which module and variant a name stands for, and what it does."""

from collections import namedtuple

Program = namedtuple("Program", "name group module variant what")

#: Group, heading, and what is said about it on the page.
GROUPS = {
    "study": ("Programs of Zhang (2011)", "The four workloads with which Zhang (\"Characterizing the Scalability of Erlang VM on Many-core Processors\", 2011, chapter 4) judged the emulator on 64 cores."),
    "classic": ("Orbit and life", "Many processes that depend on each other."),
    "tables": ("Tables", "Sixteen processes on one public ETS table."),
    "serial": ("Without parallelism", "One message is under way at any time: more schedulers cannot help, and must not hurt."),
    "estone": ("EStone", "The five parts of EStone that Hedqvist (\"A Parallel and Multithreaded ERLANG Implementation\", 1998, section 6) compares, as there without threads, on workers and with a thread for each process. No parallelism in them either."),
}

PROGRAMS = [
    Program("bang", "study", "bang", "plain", "Big Bang: 1000 processes, each pings every other one and answers the pings it gets."),
    Program("hackbench", "study", "hackbench", "plain", "100 groups of 20 writers and 20 listeners; each writer sends 100 messages to each listener."),
    Program("mandelbrot", "study", "mandelbrot_images", "plain", "240 processes, each computes an image of 50x50 points, up to 255 iterations a point."),
    Program("random", "study", "random_sort", "plain", "24 processes, each sorts a list of 100,000 random integers and splits it."),
    Program("orbit", "classic", "orbits", "plain", "Orbits of a vertex under three generators, each spread over 32 workers that own parts of the table."),
    Program("life", "classic", "life", "plain", "Conway's game of life on 32x32 cells, a process a cell, 960 generations."),
    Program("ets_set", "tables", "ets_mix", "set", "Insert, lookup, update_counter, delete on a hash table with default options."),
    Program("ets_ordered", "tables", "ets_mix", "ordered_set", "The same on an ordered table with default options."),
    Program("ets_set_tuned", "tables", "ets_mix", "set_tuned", "The hash table with {write_concurrency, auto} and {read_concurrency, true}."),
    Program("ets_ordered_tuned", "tables", "ets_mix", "ordered_set_tuned", "The ordered table with the same two options."),
    Program("ets_set_read", "tables", "ets_mix", "set_read", "99 lookups, then an update_counter, on a hash table with {read_concurrency, true}."),
    Program("ets_ordered_read", "tables", "ets_mix", "ordered_set_read", "The same on an ordered table."),
    Program("ring", "serial", "ring", "plain", "A token around 100 processes, 120,000 times."),
    Program("pingpong", "serial", "pingpong", "plain", "5 million messages there and back between two processes."),
    Program("estone_small", "estone", "estone", "small", "A small integer around a group of processes."),
    Program("estone_medium", "estone", "estone", "medium", "A mix of types of about a line around the group."),
    Program("estone_large", "estone", "estone", "large", "About half a KB around the group."),
    Program("estone_gs_timeout", "estone", "estone", "gs_timeout", "Synchronous calls to a generic server; each sets a timeout that never happens."),
    Program("estone_timeout", "estone", "estone", "timeout", "A process waits with timeouts that never happen."),
]
