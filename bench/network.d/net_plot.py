"""Plots of bench/network: throughput over connections, and latencies on a logarithmic axis. Drawn with the parts of bench/scaling."""

import math

from plot import Frame, mark, nice, svg, x_axis, y_axis, y_name

#: Where the quantiles of a latency stand, from left to right.
QUANTILES = (("p50_us", "50 %"), ("p99_us", "99 %"), ("p999_us", "99.9 %"))


def throughput(curves, counts):
    """Answers in a second, in thousands, over connections (logarithmic). curves: [(css class, label, [(connections, answers in a second)])]"""
    highest = max((rate for _, _, points in curves for _, rate in points), default=1000) / 1000
    frame = Frame(360, 230, max(counts), nice(highest * 1.05), log_x=True)
    parts = [*y_axis(frame, "thousand answers/s"), *x_axis(frame, counts, "connections")]
    for css, label, points in curves:
        parts.append(f'<polyline class="curve {css}" points="{" ".join(frame.at(n, rate / 1000) for n, rate in points)}"/>')
        parts += [mark(css, frame.x(n), frame.y(rate / 1000), f"{label}: {rate:,.0f}/s at {n}") for n, rate in points]
    return svg(frame, parts, "answers in a second over connections")


def latencies(curves):
    """Quantiles of the latency in microseconds, on a logarithmic axis. curves: [(css class, label, {key of QUANTILES: microseconds})]"""
    values = [quantiles[key] for _, _, quantiles in curves for key, _ in QUANTILES if quantiles[key] > 0]
    low = math.floor(math.log10(min(values, default=10)))
    high = max(math.ceil(math.log10(max(values, default=100))), low + 1)
    frame = Frame(360, 230, len(QUANTILES) - 0.4, high - low)
    parts = [*y_name(frame, "latency, µs"), *decades(frame, low, high)]
    bottom = frame.height - frame.bottom
    parts.append(f'<line class="axis" x1="{frame.left}" x2="{frame.width - frame.right}" y1="{bottom}" y2="{bottom}"/>')
    for at, (_, name) in enumerate(QUANTILES):
        parts.append(f'<text x="{frame.x(at + 0.3):.1f}" y="{bottom + 14}" text-anchor="middle">{name}</text>')
    for css, label, quantiles in curves:
        known = [(at + 0.3, math.log10(quantiles[key]) - low, key) for at, (key, _) in enumerate(QUANTILES) if quantiles[key] > 0]
        parts.append(f'<polyline class="curve {css}" points="{" ".join(frame.at(x, y) for x, y, _ in known)}"/>')
        parts += [mark(css, frame.x(x), frame.y(y), f"{label}: {quantiles[key]:,.0f} µs") for x, y, key in known]
    return svg(frame, parts, "quantiles of the latency")


def decades(frame, low, high):
    for power in range(low, high + 1):
        y = frame.y(power - low)
        yield f'<line class="grid" x1="{frame.left}" x2="{frame.width - frame.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{frame.left - 5}" y="{y + 3.5:.1f}" text-anchor="end">{10 ** power:g}</text>'
