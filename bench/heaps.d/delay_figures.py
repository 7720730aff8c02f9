"""What bench/programs/heaps/delays.erl says, and its table."""

from emulator import checked
from heap_figures import PERCENTILES, percentile

PHASES = (("alone", "alone"), ("computes", "one computes"), ("collects", "one collects"))


def parse(output):
    said = checked(output)
    delays = {phase: {"histogram": [], "longest_ns": 0} for phase, _ in PHASES}
    pauses = {"minor": [], "major": []}
    for line in said.get("delay", []):
        phase, begin, count = line.split()
        delays[phase]["histogram"].append([int(begin), int(count)])
    for line in said.get("longest", []):
        phase, longest = line.split()
        delays[phase]["longest_ns"] = int(longest)
    for line in said.get("pause", []):
        kind, begin, count = line.split()
        pauses[kind].append([int(begin), int(count)])
    rounds, micros = map(int, said["collected"][0].split())
    return {"slice_ns": int(said["slice"][0]), "delays": delays, "collections": rounds, "collecting_ms": micros / 1000, "pauses": pauses}


def table(label, row):
    for phase, text in PHASES:
        histogram = row["delays"][phase]["histogram"]
        woken = sum(count for _, count in histogram)
        cells = "".join(f"{us(percentile(histogram, p)):>9}" for p in PERCENTILES)
        longer = sum(count for begin, count in histogram if begin > row["slice_ns"])
        share = f"{longer / woken:.2%}" if woken else ""
        yield f"{label:10} {text:14}{woken:>8}{cells}{us(row['delays'][phase]['longest_ns']):>10}{share:>10}"
        label = ""
    yield f"{'':10} a slice takes {us(row['slice_ns'])} µs; {row['collections']} collections asked for, {row['collecting_ms'] / max(row['collections'], 1):,.1f} ms each"
    for kind, histogram in row["pauses"].items():
        if histogram:
            counts = ", ".join(f"p{p:g} {us(percentile(histogram, p))}" for p in PERCENTILES)
            yield f"{'':10} {kind} collections meanwhile: {sum(count for _, count in histogram)}; µs: {counts}"


def majors(output):
    """What collections took, in ms (bench/programs/heaps/majors.erl)."""
    return [int(micros) / 1000 for micros in checked(output)["collection"]]


def major_line(processes, times):
    held = "one list" if processes == 1 else f"{processes} processes"
    return f"{'':10} major collections of {held}: {times['several']:.1f} ms by several threads, {times['one']:.1f} by one ({times['several'] / times['one']:.2f})"


def us(ns):
    return "–" if ns is None else f"{ns / 1000:,.1f}"
