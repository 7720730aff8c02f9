"""Plots of bench/nodes: one-way messages over pairs, and MB/s over sizes. Drawn with the parts of bench/scaling."""

from plot import Frame, mark, nice, svg, x_axis, y_axis


def over(curves, counts, names, y_text, x_text, label):
    """curves: [(css class, label, [(count, value)])], the counts on a logarithmic axis; names: {count: text}."""
    highest = max((value for _, _, points in curves for _, value in points), default=1)
    frame = Frame(360, 230, max(counts), nice(highest * 1.05), log_x=True)
    parts = [*y_axis(frame, y_text), *x_axis(frame, counts, x_text)]
    for css, who, points in curves:
        parts.append(f'<polyline class="curve {css}" points="{" ".join(frame.at(n, value) for n, value in points)}"/>')
        parts += [mark(css, frame.x(n), frame.y(value), f"{who}: {value:,.1f} at {names[n]}") for n, value in points]
    return svg(frame, parts, label)
