"""Plots as inline SVG: text and lines in the colours of the page (page.css), one class per emulator."""

import html
import math


class Frame:
    """Where a plot stands: pixels of its inner area, and what the axes reach to."""

    def __init__(self, width, height, x_max, y_max, log_x=False):
        self.width, self.height, self.log_x = width, height, log_x
        # On the left: the name of the axis, and numbers of up to five digits.
        self.left, self.right, self.top, self.bottom = 52, 12, 12, 30
        self.x_max, self.y_max = max(x_max, 1e-9), max(y_max, 1e-9)

    def x(self, value):
        inner = self.width - self.left - self.right
        if self.log_x:
            return self.left + inner * (math.log2(value) / math.log2(self.x_max) if self.x_max > 1 else 0.5)
        return self.left + inner * value / self.x_max

    def y(self, value):
        return self.height - self.bottom - (self.height - self.top - self.bottom) * value / self.y_max

    def at(self, x, y):
        return f"{self.x(x):.1f},{self.y(y):.1f}"


def speedup(curves, counts, cores):
    """Speed-up over schedulers (logarithmic). curves: [(css class, label, [(schedulers, speed-up, speed-ups of each run)])]"""
    ideal = [(n, min(n, cores)) for n in sorted({*counts, *([cores] if counts[0] <= cores <= counts[-1] else [])})]
    highest = max([y for _, y in ideal] + [s for _, _, points in curves for _, m, runs in points for s in [m, *runs] if s])
    frame = Frame(360, 230, counts[-1], nice(highest * 1.05), log_x=True)
    parts = [*y_axis(frame, "speed-up"), *x_axis(frame, counts, "schedulers")]
    parts.append(f'<polyline class="ideal" points="{" ".join(frame.at(*p) for p in ideal)}"><title>no loss: the smaller of schedulers and cores</title></polyline>')
    for css, label, points in curves:
        known = [(n, m) for n, m, _ in points if m]
        parts.append(f'<polyline class="curve {css}" points="{" ".join(frame.at(*p) for p in known)}"/>')
        for n, _, runs in points:
            parts += [f'<circle class="run {css}" r="1.7" cx="{frame.x(n):.1f}" cy="{frame.y(s):.1f}"/>' for s in runs if s]
        parts += [mark(css, frame.x(n), frame.y(m), f"{label}: {m:.2f} at {n}") for n, m in known]
    return svg(frame, parts, "speed-up over schedulers")


def longest(profiles):
    """The end of the time axis in plots that are compared, in ms."""
    return max([samples[-1][0] for _, _, samples in profiles if samples] or [1.0])


def concurrency(profiles, schedulers, x_max):
    """Active schedulers over time. profiles: [(css class, label, [(end in ms, mean since the sample before)])]; `x_max` in ms."""
    frame = Frame(360, 150, x_max, schedulers)
    step = nice_step(x_max / 4)
    times = [step * k for k in range(int(x_max / step) + 1)]
    parts = [*y_axis(frame, "active schedulers", whole=True), *x_axis(frame, times, "time, ms")]
    for css, label, samples in profiles:
        corners, start = [], 0.0
        for end, active in samples:
            corners += [frame.at(start, active), frame.at(end, active)]
            start = end
        if corners:
            area = [frame.at(0, 0), *corners, frame.at(start, 0)]
            parts.append(f'<polygon class="area {css}" points="{" ".join(area)}"/>')
            parts.append(f'<polyline class="step {css}" points="{" ".join(corners)}"><title>{html.escape(label)}</title></polyline>')
    return svg(frame, parts, f"active schedulers over time, of {schedulers}")


def y_axis(frame, name, whole=False):
    """`whole`: numbers at whole steps only."""
    step = nice_step(frame.y_max / 5)
    if whole:
        step = max(step, 1)
    ticks = [step * k for k in range(int(frame.y_max / step + 1e-6) + 1)]
    for tick in ticks:
        y = frame.y(tick)
        yield f'<line class="grid" x1="{frame.left}" x2="{frame.width - frame.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{frame.left - 5}" y="{y + 3.5:.1f}" text-anchor="end">{tick:g}</text>'
    yield from y_name(frame, name)


def y_name(frame, name):
    """The axis itself and its name."""
    middle = (frame.top + frame.height - frame.bottom) / 2
    yield f'<line class="axis" x1="{frame.left}" x2="{frame.left}" y1="{frame.top}" y2="{frame.height - frame.bottom}"/>'
    yield f'<text class="name" transform="translate(10 {middle:.0f}) rotate(-90)" text-anchor="middle">{name}</text>'


def x_axis(frame, ticks, name):
    """Ticks whose numbers would touch the one before, or the name of the axis, stay without one."""
    bottom = frame.height - frame.bottom
    yield f'<line class="axis" x1="{frame.left}" x2="{frame.width - frame.right}" y1="{bottom}" y2="{bottom}"/>'
    free = 0.0
    for tick in ticks:
        x, text = frame.x(tick), f"{tick:g}"
        half = 3.4 * len(text)
        yield f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" y2="{bottom + 3}"/>'
        if x - half > free:
            yield f'<text x="{min(x, frame.width - half):.1f}" y="{bottom + 14}" text-anchor="middle">{text}</text>'
            free = x + half + 4
    yield f'<text class="name" x="{(frame.left + frame.width - frame.right) / 2:.0f}" y="{frame.height - 3}" text-anchor="middle">{name}</text>'


def mark(css, x, y, title):
    """Shapes differ as well as colours."""
    shape = (f'<circle class="mark {css}" r="4" cx="{x:.1f}" cy="{y:.1f}">' if css == "heddle"
             else f'<rect class="mark {css}" width="7" height="7" x="{x - 3.5:.1f}" y="{y - 3.5:.1f}">')
    return f"{shape}<title>{html.escape(title)}</title>{'</circle>' if css == 'heddle' else '</rect>'}"


def svg(frame, parts, label):
    return (f'<svg viewBox="0 0 {frame.width} {frame.height}" width="{frame.width}" height="{frame.height}" role="img" '
            f'aria-label="{html.escape(label)}">{"".join(parts)}</svg>')


def nice_step(rough):
    """1, 2 or 5 times a power of ten, not below `rough`."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))


def nice(value):
    """The end of an axis that reaches `value`, at a whole step."""
    step = nice_step(value / 5)
    return step * math.ceil(value / step - 1e-9)
