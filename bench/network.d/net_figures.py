"""From runs to figures: medians, and Heddle's against stock's. What was not measured is None, never a number."""

import statistics

LATENCIES = ("p50_us", "p99_us", "p999_us")


def summary(runs):
    """Medians of some runs of the load generator; None without runs."""
    if not runs:
        return None
    rates = [run["per_second"] for run in runs]
    middle = {key: statistics.median(run[key] for run in runs) for key in ("per_second", *LATENCIES)}
    return middle | {"best_per_second": max(rates), "spread": (max(rates) - min(rates)) / statistics.median(rates) if len(rates) > 1 else None,
                     "lost": sum(run["lost"] for run in runs), "left": sum(run["left"] for run in runs), "runs": runs}


def ratio(heddle, stock, key):
    """Heddle's figure / stock's."""
    if not heddle or not stock or not stock[key]:
        return None
    return heddle[key] / stock[key]
