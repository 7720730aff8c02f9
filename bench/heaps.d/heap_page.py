"""The report of bench/heaps as one HTML page that needs nothing else: tables and inline SVG."""

import html
from pathlib import Path

import heap_plot
import verdict
from heap_programs import GROUPS
from page import circumstances, document, number, percent

PARTS = Path(__file__).parent

HOW = """<details class="box" open><summary>How to read this</summary>
<p><b>Time</b> is the median of the runs, of the program's own work inside the emulator, in ms; <b>spread</b> is (slowest - fastest) / median:
above 20 % do not trust small differences. Dots in the bars are single runs. <b>CPU</b> is the emulator's over the same time.</p>
<p><b>Copy</b> is what copying messages took, told from one copy in 64 of each size; <b>send</b>, without the copy, is not measured: to read the
clock at each send would cost more than many sends. <b>Minor</b> and <b>major</b> are collections: how many, their time over all threads, the
longest one of all runs (with the runs' histogram below), and the words that survived them. Stock tells this only while it is traced: its
figures are of one traced run, whose time is not used, and include the tracing.</p>
<p><b>Used and allocated</b> are words of the heaps of all processes and of messages, at their most, as seen every 5 ms in a run of its own; a
program that is done sooner has none. Hybrid: with the message area. <b>RSS</b> is the emulator's highest, code and all.
A dash is what was not measured.</p></details>"""

#: Groups of figures, each with the key in a row, what it is called, and digits (None: a percentage).
FIGURES = ((("runs", "runs", 0), ("median_ms", "time, ms", 1), ("spread", "spread", None), ("cpu_ms", "CPU, ms", 0)),
           (("send_ms", "send, ms", 1), ("copy_ms", "copy, ms", 1), ("messages", "messages", 0), ("words_copied", "words copied", 0),
            ("by_reference", "by reference", 0), ("partly_by_reference", "partly by reference", 0)),
           (("minor_collections", "minor collections", 0), ("minor_ms", "minor, ms", 1), ("longest_minor_ms", "longest minor, ms", 3),
            ("minor_live_words", "words that survived minor", 0)),
           (("major_collections", "major collections", 0), ("major_ms", "major, ms", 1), ("longest_major_ms", "longest major, ms", 3),
            ("major_live_words", "words that survived major", 0)),
           (("used_words", "used, words", 0), ("allocated_words", "allocated, words", 0), ("peak_rss_kb", "RSS, KB", 0)))


def page(report):
    css = (PARTS.parent / "scaling.d" / "page.css").read_text() + (PARTS / "heap_page.css").read_text()
    body = ["<h1>Memory architectures</h1>", head(report), HOW, "<h2>Which wins where</h2>"]
    body += [f"<p>{html.escape(text)}</p>" for text in verdict.paragraphs(report)] + [summary(report)]
    for group, (title, about) in GROUPS.items():
        programs = [p for p in report["programs"] if p["group"] == group]
        if programs:
            body += [f"<h2>{html.escape(title)}</h2><p>{html.escape(about)}</p>", *(program(report, p) for p in programs)]
    return document("Memory architectures", css, body)


def head(report):
    rows = circumstances(report, f"{', '.join(map(str, report['settings']['hms']))} words at first")
    rows += [(c["label"], f"{c['path']} {' '.join(c['flags'])}: {c['about']}") for c in report["columns"]]
    rows += [(f"not {name}", why) for name, why in report["missing"].items()]
    return "<dl>" + "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in rows) + "</dl>"


def summary(report):
    """Median times of all programs with the first initial heap size."""
    size, names = str(report["settings"]["hms"][0]), [c["name"] for c in report["columns"]]
    rows = []
    for p in report["programs"]:
        won = verdict.winner(p["sizes"][size], "median_ms")
        cells = "".join(f'<td{" class=won" if won and name in won[0] else ""}>{number(p["sizes"][size][name]["median_ms"], 1)}</td>' for name in names)
        rows.append(f'<tr><td><a href="#{anchor(p)}">{html.escape(p["name"])}</a></td>{cells}</tr>')
    heads = "".join(f'<th class="{c["name"]}">{html.escape(c["label"])}</th>' for c in report["columns"])
    return f'<h3>Time, ms, {size} words at first</h3><div class="wide"><table><tr><th>program</th>{heads}</tr>{"".join(rows)}</table></div>'


def anchor(p):
    return p["name"].replace(" ", "_")


def program(report, p):
    names, labels = [c["name"] for c in report["columns"]], {c["name"]: c["label"] for c in report["columns"]}
    parts = [f'<h3 id="{anchor(p)}">{html.escape(p["name"])}</h3><p>{html.escape(p["what"])}</p>']
    for hms, rows in p["sizes"].items():
        parts += [f'<p class="bad">{labels[n]}, {hms} words: {html.escape(rows[n]["error"])}</p>' for n in names if rows[n]["error"]]
    key = " ".join(f'<b class="{n}">■ {html.escape(labels[n])}</b>' for n in names)
    times = [(hms, {n: (r["median_ms"], r["times_ms"]) for n, r in rows.items()}) for hms, rows in p["sizes"].items()]
    memory = [(hms, {n: (r["allocated_words"] and r["allocated_words"] / 1e3, []) for n, r in rows.items()}) for hms, rows in p["sizes"].items()]
    first = next(iter(p["sizes"].values()))
    figures = [(heap_plot.bars(times, names, "ms"), f"time: {key}"), (heap_plot.bars(memory, names, "1,000 words"), "allocated for heaps, at its most")]
    figures += [(heap_plot.pauses([(n, labels[n], first[n][f"{kind}_pauses"]) for n in names]), f"{kind} collections of at least so long") for kind in ("minor", "major")]
    parts.append('<div class="plots">' + "".join(f"<figure>{plot}<figcaption>{text}</figcaption></figure>" for plot, text in figures if plot) + "</div>")
    return "".join(parts) + table(p, names, labels)


def table(p, names, labels):
    """Figures downwards; across, the columns at each initial heap size."""
    sizes = "".join(f'<th class="edge" colspan="{len(names)}">{hms} words at first</th>' for hms in p["sizes"])
    heads = "".join(f'<th class="{edge(k)}{name}">{html.escape(labels[name])}</th>' for _ in p["sizes"] for k, name in enumerate(names))
    rows = [line(p, names, figure, "first" if k == 0 else "") for group in FIGURES for k, figure in enumerate(group)]
    return f'<div class="wide"><table class="figures"><tr><th></th>{sizes}</tr><tr><th></th>{heads}</tr>{"".join(rows)}</table></div>'


def edge(k):
    return "edge " if k == 0 else ""


def line(p, names, figure, css):
    key, label, digits = figure
    cells = []
    for rows in p["sizes"].values():
        won = verdict.winner(rows, key) if key == "median_ms" else None
        for k, name in enumerate(names):
            text = percent(rows[name][key]) if digits is None else number(rows[name][key], digits)
            cells.append(f'<td class="{edge(k)}{"won" if won and name in won[0] else ""}">{text}</td>')
    return f'<tr class="{css}"><td>{label}</td>{"".join(cells)}</tr>'
