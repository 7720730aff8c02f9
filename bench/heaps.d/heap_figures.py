"""From the runs of a program with one heap to a row of the tables. What was not measured is None, never a number."""

import statistics

#: A pause is in a class of which only the begin is told; the class is a sixteenth of that wide.
PERCENTILES = (50, 90, 99, 99.9)


class Measured:
    """All runs of one program in one column with one initial heap size."""

    def __init__(self):
        self.runs, self.watched, self.error = [], None, ""

    def row(self):
        """As it stands in the JSON file. Times in ms, sizes in words unless a name says otherwise."""
        runs = [] if self.error else self.runs
        times = [r["ms"] for r in runs]
        median = statistics.median(times) if times else None
        typical = min(runs, key=lambda r: abs(r["ms"] - median)) if runs else None
        watched = self.watched or {"figures": {}, "pauses": {"minor": [], "major": []}}
        # Stock tells collections only while it is watched.
        counted = typical if typical and "minor" in typical["figures"] else None
        source = counted or watched
        figure = (typical or watched)["figures"].get
        row = {"runs": len(times), "times_ms": times, "median_ms": median, # One run has no spread.
               "spread": round((max(times) - min(times)) / median, 4) if len(times) > 1 else None,
               "error": self.error, "cpu_ms": figure("cpu_ms"), "send_ms": None, "copy_ms": ms(figure("copying_ns")),
               "collections_from": "the run" if counted else "a traced run" if "minor" in watched["figures"] else None,
               "messages": figure("messages"), "words_copied": figure("words"), "by_reference": figure("by_reference"),
               "partly_by_reference": figure("partly_by_reference"), "words_by_reference": figure("words_by_reference"),
               "used_words": watched["figures"].get("used_words"), "allocated_words": watched["figures"].get("allocated_words"),
               "peak_rss_kb": figure("peak_rss_kb")}
        for kind in ("minor", "major"):
            # Of all runs that tell: the longest is rare.
            told = [r for r in runs if kind in r["figures"]] or ([watched] if kind in watched["figures"] else [])
            pauses = merged(r["pauses"][kind] for r in told)
            row |= {f"{kind}_collections": source["figures"].get(kind), f"{kind}_ms": ms(source["figures"].get(f"{kind}_ns")),
                    f"{kind}_live_words": source["figures"].get(f"{kind}_words"), f"{kind}_pauses": pauses,
                    f"longest_{kind}_ms": longest(told, kind),
                    f"{kind}_percentiles_ms": [ms(percentile(pauses, p)) for p in PERCENTILES]}
        return row


def ms(ns):
    return None if ns is None else round(ns / 1e6, 4)


def merged(histograms):
    """[[from_ns, count]...] of several, with the sum of each class."""
    sums = {}
    for histogram in histograms:
        for begin, count in histogram:
            sums[begin] = sums.get(begin, 0) + count
    return [[begin, sums[begin]] for begin in sorted(sums)]


def longest(runs, kind):
    """The longest pause of all runs: exact where a run tells, the begin of its class elsewhere. 0 if there was no collection."""
    if not runs:
        return None
    return ms(max(r["figures"].get(f"longest_{kind}_ns") or max((begin for begin, _ in r["pauses"][kind]), default=0) for r in runs))


def percentile(histogram, percent):
    """The begin of the class in which it is, in ns."""
    wanted, seen = sum(count for _, count in histogram) * percent / 100, 0
    for begin, count in histogram:
        seen += count
        if seen >= wanted:
            return begin
    return None
