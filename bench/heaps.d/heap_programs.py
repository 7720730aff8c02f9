"""The programs of bench/heaps: a name, the module and what it is started with, and what it does."""

from collections import namedtuple

#: `work` is the last argument if --scale changes it (0: it changes nothing); `scale` is for modules that are prepared, as those of
#: bench/scaling are, and take no arguments.
Program = namedtuple("Program", "name group module arguments work scale what")

#: Group, heading, and what is said about it on the page.
GROUPS = {
    "procs": ("procs", "A ring of processes; each message is a list that every receiver makes anew, sent 100 times. Processes and elements of a list."),
    "programs": ("Programs", "What Wilhelmsson (2002) measures besides: a few messages, many small ones, or none to speak of."),
    "messages": ("same, garbage, keep", "Processes and elements of a list; each message is sent 10 times. same forwards one list, garbage makes one each time, keep also holds all it got."),
}

SIZES = [(250, 250), (1000, 250), (250, 1000), (1000, 1000)]

PROGRAMS = [
    *(Program(f"procs {p} {s}", "procs", "procs", (p, s), 0, 1, f"{p} processes, lists of {s} elements.") for p, s in ((100, 100), (100, 1000), (1000, 100))),
    Program("ring", "programs", "ring", (), 0, 0.1, "A token around 100 processes."),
    Program("life", "programs", "life", (), 0, 1, "Conway's game of life on 32x32 cells, a process a cell."),
    Program("http parser", "programs", "http_parser", (4,), 20000, 1, "Four processes parse requests of HTTP."),
    Program("compiler", "programs", "compile_module", (), 0, 1, "The compiler on erl_lint, a module of 4,000 lines."),
    Program("network", "programs", "network", (20, 100), 100, 1, "A simulator of a network: 20 nodes of 100 elements, each a process, raise alarms in 100 bursts."),
    *(Program(f"{m} {p} {s}", "messages", m, (p, s), 0, 1, f"{p} processes, lists of {s} elements.") for m in ("same", "garbage", "keep") for p, s in SIZES),
]
