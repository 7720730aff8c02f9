"""Plots of bench/heaps as inline SVG, with the parts of bench/scaling.d/plot.py. One class of CSS per column."""

import html
import math

from plot import Frame, nice, svg, x_axis, y_axis, y_name


def bars(groups, names, unit):
    """groups: [(label, {column: (value, [values of the runs])})]; one bar per column in each group, dots for runs."""
    highest = max([v for _, rows in groups for value, runs in rows.values() if value is not None for v in (value, *runs)] or [1.0])
    frame = Frame(max(200, 60 + 22 * len(groups) * (len(names) + 1)), 190, 1, nice(highest * 1.05))
    parts = [*y_axis(frame, unit), *x_axis(frame, [], "words at first")]
    inner = frame.width - frame.left - frame.right
    for k, (label, rows) in enumerate(groups):
        begin, step = frame.left + inner * k / len(groups), inner / len(groups) / (len(names) + 1)
        for n, name in enumerate(names):
            value, runs = rows.get(name, (None, []))
            if value is None:
                continue
            x, y = begin + step * (n + 0.5), frame.y(value)
            parts.append(f'<rect class="bar {name}" x="{x:.1f}" y="{y:.1f}" width="{step * 0.85:.1f}" height="{frame.height - frame.bottom - y:.1f}">'
                         f"<title>{html.escape(name)}: {value:,.1f}</title></rect>")
            parts += [f'<circle class="dot" r="1.6" cx="{x + step * 0.42:.1f}" cy="{frame.y(v):.1f}"/>' for v in runs]
        parts.append(f'<text x="{begin + inner / len(groups) / 2:.1f}" y="{frame.height - frame.bottom + 14}" text-anchor="middle">{html.escape(label)}</text>')
    return svg(frame, parts, f"{unit}, by architecture")


#: Where a logarithmic axis of counts has its 0.
NONE = 0.2


class Logarithmic(Frame):
    """Both axes are logarithmic: times from x_min, counts from `NONE`."""

    def __init__(self, width, height, x_min, x_max, y_max):
        super().__init__(width, height, x_max, y_max)
        self.x_min = x_min
        # Room for half of the last time's text.
        self.right = 24

    def x(self, value):
        return self.left + (self.width - self.left - self.right) * math.log(value / self.x_min) / math.log(self.x_max / self.x_min)

    def y(self, value):
        inner = self.height - self.top - self.bottom
        return self.height - self.bottom - inner * math.log(max(value, NONE) / NONE) / math.log(self.y_max / NONE)


def reach(histograms):
    """Where the axes of plots that are compared begin and end: (lowest time, highest time, highest count). None if all are empty."""
    known = [h for h in histograms if h[2]]
    if not known:
        return None
    lowest = min(max(h[2][0][0], 1) for h in known)
    return (10 ** math.floor(math.log10(lowest)), 10 ** (math.floor(math.log10(max(h[2][-1][0] for h in known))) + 1),
            10 ** math.ceil(math.log10(max(sum(c for _, c in h[2]) for h in known) + 1)))


def pauses(histograms, axes):
    """How many collections took at least this long, with axes as `reach` returns them. histograms: [(css class, label, [[from_ns, count]...])]"""
    known = [h for h in histograms if h[2]]
    if not known:
        return ""
    frame = Logarithmic(360, 190, *axes)
    decades = range(round(math.log10(frame.x_min)), round(math.log10(frame.x_max)) + 1)
    step = -(-len(decades) // 6)
    parts = [line for d in range(round(math.log10(frame.y_max)) + 1) for line in grid(frame, 10 ** d)]
    parts += [f'<text x="{frame.left - 5}" y="{frame.height - frame.bottom + 3.5:.1f}" text-anchor="end">0</text>', *y_name(frame, "collections")]
    parts += [f'<text x="{frame.x(10 ** d):.1f}" y="{frame.height - frame.bottom + 14}" text-anchor="middle">{human(10 ** d)}</text>' for d in decades[::step]]
    parts += x_axis(frame, [], "took at least")
    for css, label, histogram in known:
        left, corners = sum(c for _, c in histogram), []
        for begin, count in histogram:
            at = max(begin, frame.x_min)
            corners += [frame.at(at, left), frame.at(at, left - count)]
            left -= count
        parts.append(f'<polyline class="step {css}" points="{" ".join(corners)}"><title>{html.escape(label)}</title></polyline>')
    return svg(frame, parts, "collections that took at least this long")


def grid(frame, tick):
    y = frame.y(tick)
    yield f'<line class="grid" x1="{frame.left}" x2="{frame.width - frame.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
    yield f'<text x="{frame.left - 5}" y="{y + 3.5:.1f}" text-anchor="end">{tick if tick < 1000 else f"{tick / 1000:g}k"}</text>'


def human(ns):
    for unit, size in (("s", 10 ** 9), ("ms", 10 ** 6), ("µs", 10 ** 3)):
        if ns >= size:
            return f"{ns / size:g} {unit}"
    return f"{ns:g} ns"
