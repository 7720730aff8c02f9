"""From runs to figures: medians, and those of the pair under test against those of the stock pair. What was not measured is None, never a number."""

import math
import statistics


def summary(runs, keys):
    """{key: median, "spread": of the first key, "runs": ...} of some runs; None without runs."""
    if not runs:
        return None
    first = [run[keys[0]] for run in runs]
    middle = statistics.median(first)
    return {key: statistics.median(run[key] for run in runs) for key in keys} | {
        "spread": (max(first) - min(first)) / middle if len(first) > 1 and middle else None, "runs": runs}


def ratio(tested, stock, key):
    """The figure of the pair under test / the stock pair's."""
    if not tested or not stock or not stock[key]:
        return None
    return tested[key] / stock[key]


def geometric_mean(ratios):
    """Of those that were measured; None without any."""
    known = [r for r in ratios if r]
    return math.exp(sum(map(math.log, known)) / len(known)) if known else None
