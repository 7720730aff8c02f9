"""The report of bench/nodes as one HTML page that needs nothing else."""

import html
from pathlib import Path

import net_plot
import node_plot
from node_figures import ratio
from node_rows import GROUPS, PAIRS, SIZES
from page import document, number, percent

#: The pairs, with the class of their colour and the shape of their marks.
LABELS = {"tested": "tested", "stock": "stock"}
COLOURS = {"tested": ("heddle", "●"), "stock": ("stock", "■")}

HOW = """<details class="box" open><summary>How to read this</summary>
<p>Two nodes on one computer, with one connection over the loopback interface. Figures are medians of the runs; the pairs run in turn, a row of one and the
same row of the other. <b>Spread</b> is (highest - lowest) / median: above 20 % do not trust small differences.</p>
<p><b>Tested / stock</b> of rates and MB/s is above 1 where the tested pair does more; of latencies it is below 1 where the tested pair is better.</p></details>"""


def page(report):
    css = (Path(__file__).parent.parent / "scaling.d" / "page.css").read_text()
    body = ["<h1>Two nodes</h1>", head(report), HOW]
    for group, (title, about) in GROUPS.items():
        rows = [row for row in report["rows"] if row["group"] == group]
        if rows:
            body += [f"<h2>{html.escape(title)}</h2><p>{html.escape(about)}</p>", table(rows), plots(group, rows)]
    return document("Two nodes", css, body)


def head(report):
    machine, settings = report["machine"], report["settings"]
    rows = [("when", report["when"]), ("computer", f"{machine['cores']} cores, {machine['cpu']}, {machine['system']}"),
            ("load before, after", f"{machine['load_before']:.2f}, {machine['load_after']:.2f} "
             + ("(the computer was busy before it began: do not trust these figures)" if machine["load_before"] > 0.5 else "")),
            ("runs", f"{settings['runs']} of each, in turn, of {settings['seconds']:g} s; {settings['schedulers']} schedulers")]
    rows += [(f"{LABELS[who]} pair", f"{' – '.join(pair['paths'])}: {pair['about'] or 'it did not start'}") for who, pair in report["pairs"].items()]
    return "<dl>" + "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in rows) + "</dl>"


def table(rows):
    names = f'<th>row</th><th></th>{"".join(cell_of(name) for name in LABELS)}<th>spread</th><th>tested / stock</th>'
    return f'<div class="wide"><table><tr>{names}</tr>{"".join(line(row, key) for row in rows for key in row["keys"])}</table></div>' + "".join(map(said, rows))


def cell_of(who):
    return f'<th class="{COLOURS[who][0]}">{LABELS[who]}</th>'


def line(row, key):
    what = row["about"] if len(row["keys"]) == 1 else f'{key.split("_")[0]}, {row["about"]}'
    figures = row["figures"]
    values = "".join(f"<td>{number(figures[who][key] if figures[who] else None, digits(figures[who], key))}</td>" for who in LABELS)
    spreads = " ".join(percent(figures[who]["spread"]) if figures[who] and key == row["keys"][0] else number(None) for who in LABELS)
    return (f'<tr><td id="{row["name"]}">{row["name"]}</td><td>{html.escape(what)}</td>{values}<td>{spreads}</td>'
            f'<td>{number(ratio(figures["tested"], figures["stock"], key))}</td></tr>')


def digits(figures, key):
    return 1 if figures and figures[key] < 100 else 0


def said(row):
    """What went wrong in a row."""
    return "".join(f'<p class="bad">{row["name"]}, {LABELS[who]} pair: {html.escape(row["errors"][who])}</p>' for who in LABELS if row["errors"][who])


def plots(group, rows):
    key = " and ".join(f'<b class="{css}">{shape} {LABELS[who]}</b>' for who, (css, shape) in COLOURS.items())
    figures = []
    if group == "messages":
        figures.append(("one-way messages", curve(rows, {f"oneway_{n}": n for n in PAIRS}, 1e6, dict(zip(PAIRS, map(str, PAIRS))), "million messages/s", "pairs")))
    elif group == "sizes":
        for kind in ("binary", "list", "map"):
            at = {f"{kind}_{size}": count for size, count in SIZES.items()}
            figures.append((kind, curve(rows, at, 1, {count: size for size, count in SIZES.items()}, "MB/s", "KB")))
    elif group == "latency":
        for row in rows:
            curves = [(COLOURS[who][0], LABELS[who], row["figures"][who]) for who in LABELS if row["figures"][who]]
            figures.append((row["name"], net_plot.latencies(curves) if curves else ""))
    drawn = "".join(f"<figure>{plot}<figcaption>{name}: {key}</figcaption></figure>" for name, plot in figures if plot)
    return f'<div class="plots">{drawn}</div>' if drawn else ""


def curve(rows, at, unit, names, y_text, x_text):
    """A plot of the rows that `at` names, {name: place on the x axis}; empty without figures."""
    curves = []
    for who in LABELS:
        points = [(at[row["name"]], row["figures"][who][row["keys"][0]] / unit) for row in rows if row["name"] in at and row["figures"][who]]
        if points:
            curves.append((COLOURS[who][0], LABELS[who], sorted(points)))
    return node_plot.over(curves, sorted(at.values()), names, y_text, x_text, f"{y_text} over {x_text}") if curves else ""
