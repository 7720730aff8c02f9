"""From the runs of a program to its figures: medians, fastest runs, speed-up, ratios. What was not measured is None, never a number.

Medians tell what a run takes here and now. What else the host does only ever adds to a time, so where runs of one binary spread by
more than what is compared, the fastest ones tell more: each ratio is given of both.
"""

import statistics

from emulator import PRIVATE, SEQUENTIAL


class Measured:
    """All runs of one program on one emulator. Errors belong to a number of schedulers or to a mode (emulator.SEQUENTIAL, PRIVATE)."""

    def __init__(self, counts):
        self.counts = counts
        self.runs = {}
        self.profiles = {}
        self.errors = {}
        self.profile_errors = {}

    def add(self, schedulers, run):
        self.runs.setdefault(schedulers, []).append(run)

    def row(self, no_sequential, no_private):
        """The figures as they stand in the JSON file."""
        points = [self.point(n) for n in self.counts]
        return {"points": points, "sequential": self.beside(SEQUENTIAL, no_sequential), "private": self.beside(PRIVATE, no_private),
                "error": "; ".join(self.told())}

    def told(self):
        return [f"{f'{n} schedulers' if isinstance(n, int) else n}: {text}" for n, text in self.errors.items()] \
            + [f"{n} schedulers, profile: {text}" for n, text in self.profile_errors.items()]

    def point(self, n):
        point = {"schedulers": n, "error": self.errors.get(n, "")}
        runs = [] if point["error"] else self.runs.get(n, [])
        median = middle(runs, "ms")
        base = None if 1 in self.errors else middle(self.runs.get(1, []), "ms")
        reductions, base_reductions = middle(runs, "reductions"), middle(self.runs.get(1, []), "reductions")
        typical = min(runs, key=lambda r: abs(r["ms"] - median)) if runs else None
        profile = self.profiles.get(n)
        return point | {
            "times_ms": [r["ms"] for r in runs],
            "median_ms": median,
            # One run has none.
            "spread": ratio(max(r["ms"] for r in runs) - min(r["ms"] for r in runs), median) if len(runs) > 1 else None,
            "speedup": ratio(base, median),
            "fastest_ms": fastest(runs),
            "fastest_speedup": None if 1 in self.errors else ratio(fastest(self.runs.get(1, [])), fastest(runs)),
            "run_speedups": [ratio(base, r["ms"]) for r in runs] if base else [],
            "reductions": reductions,
            "reductions_ratio": None if 1 in self.errors else ratio(reductions, base_reductions),
            "counters": typical["counters"] if typical else {},
            "profile": {"samples": profile["samples"], "busy": profile["busy"], "ms": profile["ms"]} if profile else None,
        }

    def beside(self, mode, missing):
        """Time with one scheduler / time of a mode, or why there is none."""
        missing = missing or self.errors.get(mode, "")
        one, other = middle(self.runs.get(1, []), "ms"), middle(self.runs.get(mode, []), "ms")
        if missing or None in (one, other) or 1 in self.errors:
            return {"missing": missing or "not measured", "median_ms": None, "ratio": None, "fastest_ms": None, "fastest_ratio": None}
        best_one, best = fastest(self.runs[1]), fastest(self.runs[mode])
        return {"missing": "", "median_ms": other, "ratio": ratio(one, other), "fastest_ms": best, "fastest_ratio": ratio(best_one, best)}


def middle(runs, key):
    return statistics.median(r[key] for r in runs) if runs else None


def fastest(runs):
    return min((r["ms"] for r in runs), default=None)


def ratio(above, below):
    return round(above / below, 4) if above is not None and below else None


def against(heddle, stock):
    """Heddle's median time / stock's, at the same number of schedulers."""
    return ratio(heddle["median_ms"], stock["median_ms"])


def fastest_against(heddle, stock):
    """The same of the fastest runs."""
    return ratio(heddle["fastest_ms"], stock["fastest_ms"])


def thin(samples, most):
    """No more than that many samples of (end in ms, mean since the one before), with the same area below them."""
    step = -(-len(samples) // most) if samples else 1
    merged, start = [], 0.0
    for at in range(0, len(samples), step):
        area, begin = 0.0, start
        for end, active in samples[at:at + step]:
            area += (end - start) * active
            start = end
        merged.append((start, area / (start - begin) if start > begin else 0.0))
    return merged
