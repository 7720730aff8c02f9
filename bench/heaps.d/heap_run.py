"""Runs one program once on one emulator and reads what the run says (bench/heaps.d/programs/heap_bench.erl)."""

from collections import namedtuple

from emulator import Emulator, Failed, checked, lines

#: What the command line may call a heap; which of them an emulator has, it is asked.
HEAP_TYPES = ("private", "shared", "hybrid")

#: An architecture on an emulator: a column of the tables.
Column = namedtuple("Column", "name label emulator flags")


def columns(erl, stock, beams, timeout):
    """The columns that can be measured, and why others cannot: {name: reason}."""
    heddle = Emulator("heddle", erl, [], beams, timeout)
    found, missing = [], {}
    for name in HEAP_TYPES:
        flags = ["+hmem", name]
        try:
            said = lines(heddle.start(flags, ["-eval", 'io:format("@heap_type ~w~n", [erlang:system_info(heap_type)])']))
            if said.get("heap_type") != [name]:
                raise Failed(f"with {' '.join(flags)} it has the heap type {' '.join(said.get('heap_type', ['unknown']))}")
            found.append(Column(name, name, heddle, flags))
        except Failed as failed:
            missing[name] = str(failed)
    if not found:
        raise Failed(next(iter(missing.values())))
    return [*found, Column("stock", "stock OTP", Emulator("stock", stock, [], beams, timeout), [])], missing


def run(column, program, hms, scale, mode):
    """Figures as `parse` returns them. `mode` is "time" or "watch"."""
    work = [max(1, round(program.work * scale))] if program.work else []
    what = ["-run", "heap_bench", "main", mode, program.module, repr(float(program.scale * scale)), *map(str, [*program.arguments, *work])]
    return parse(column.emulator.start([*column.flags, "+hms", str(hms)], what))


def parse(output):
    """{heap_type, ms, hash, figures: {name: value}, pauses: {kind: [[from_ns, count]...]}}"""
    said = checked(output)
    pauses = {"minor": [], "major": []}
    for line in said.get("pause", []):
        kind, begin, count = line.split()
        pauses[kind].append([int(begin), int(count)])
    figures = dict(line.split() for line in said.get("figure", []))
    return {"heap_type": said["heap_type"][0], "ms": max(int(said["time"][0]), 1) / 1000, "hash": said["hash"][0],
            "figures": {name: int(value) for name, value in figures.items()}, "pauses": pauses}
