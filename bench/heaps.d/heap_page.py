"""The report of bench/heaps as one HTML page that needs nothing else: tables and inline SVG."""

import html
from pathlib import Path

import heap_plot
import verdict
from heap_programs import GROUPS
from page import circumstances, document, number, percent

PARTS = Path(__file__).parent

HOW = """<details class="box" open><summary>How to read this</summary>
<p>The programs and the tables are those of Wilhelmsson, "Exploring Alternative Memory Architectures for Erlang" (2002), section 6.</p>
<p><b>Time</b> is the median of the runs, of the program's own work inside the emulator, in ms. <b>Spread</b> is (slowest - fastest) / median:
above 20 % do not trust small differences. Dots in the bars are single runs. <b>CPU</b> is the processor time of the emulator over the same time.</p>
<p><b>Copy</b> is the time that copying messages took, estimated from one copy in 64 of each size. <b>Send</b>, without the copy, is not measured:
reading the clock at each send would cost more than many sends. <b>Minor</b> and <b>major</b> are collections: how many, their time over all
threads, the longest one of all runs (with the histogram of the runs below), and the words that survived them. Stock tells this only while it is
traced: its figures are of one traced run, whose time is not used, and include the tracing.</p>
<p><b>Used and allocated</b> are words of the heaps of all processes and of messages, at their highest, as seen every 5 ms in a separate run; a
program that ends sooner has none. With a hybrid heap the message area counts too. <b>RSS</b> is the highest resident memory of the emulator,
code included. A dash stands for what was not measured, and M for
a million.</p></details>"""

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
    warning = [f'<p class="bad">{html.escape(verdict.WARNING)}</p>'] if verdict.single_runs(report) else []
    body = ["<h1>Memory architectures</h1>", head(report), *warning, HOW, "<h2>Which wins where</h2>", wins(report)]
    body += [summary(report), "<h2>Why</h2>", *(f"<p>{html.escape(text)}</p>" for text in verdict.paragraphs(report)), reasons(report)]
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


def wins(report):
    """The architectures with the lowest figure, by program: time at each initial heap size, the others at the first."""
    first, names = report["settings"]["hms"][0], [c["name"] for c in report["columns"]]
    columns = [("median_ms", hms) for hms in report["settings"]["hms"]] + [(figure, first) for figure, _ in verdict.COMPARED[1:]]
    found = [dict(verdict.wins(report, figure, hms)) for figure, hms in columns]
    rows = "".join(f'<tr><td><a href="#{anchor(p)}">{html.escape(p["name"])}</a></td>{"".join(winners(column[p["name"]]) for column in found)}</tr>'
                   for p in report["programs"])
    alone = [verdict.won_alone(report, figure, hms) for figure, hms in columns]
    sums = "".join(f'<tr class="{"first" if k == 0 else ""}"><td class="{name}">only {html.escape(name)}</td>{"".join(f"<td>{n[name]}</td>" for n in alone)}</tr>'
                   for k, name in enumerate(names))
    sizes = "".join(f"<th>{hms} words</th>" for hms in report["settings"]["hms"])
    return ('<p>The architecture with the lowest figure; several where they differ by no more than 5 % or the spread of their runs. Below: in how many '
            'programs an architecture alone is the lowest.</p>'
            f'<div class="wide"><table class="wins"><tr><th></th><th colspan="{len(report["settings"]["hms"])}">time, by initial heap</th>'
            f'<th colspan="3" class="edge">with {first} words</th></tr><tr><th>program</th>{sizes}<th class="edge">memory allocated</th>'
            f'<th>longest minor collection</th><th>longest major collection</th></tr>{rows}{sums}</table></div>')


def winners(names):
    if names is None:
        return f"<td>{number(None)}</td>"
    return f'<td>{", ".join(f"""<span class="{name}">{html.escape(name)}</span>""" for name in names)}</td>'


def reasons(report):
    """Each architecture against private: the ratio of times, and the figures that point the same way."""
    names = [c["name"] for c in report["columns"] if c["name"] not in ("private", "stock")]
    found = {(name, architecture): (ratio, causes) for name, architecture, ratio, causes in verdict.reasons(report)}
    rows = []
    for p in report["programs"]:
        cells = [reason(*found.get((p["name"], name), (None, None))) for name in names]
        ratio, _ = found.get((p["name"], "stock"), (None, None))
        rows.append(f'<tr><td><a href="#{anchor(p)}">{html.escape(p["name"])}</a></td>{"".join(cells)}<td class="edge">{number(ratio)}</td></tr>')
    tops = "".join(f'<th class="edge {name}" colspan="{1 + len(verdict.CAUSES)}">{html.escape(name)}</th>' for name in names)
    heads = ('<th class="edge">time</th>' + "".join(f"<th>{html.escape(what)}</th>" for _, what, _ in verdict.CAUSES)) * len(names)
    return ('<p>Time divided by that of private, with the first initial heap; bold where they differ by more than 5 % and the spread of their runs. There '
            'a figure stands beside it if it differs the same way, with that of private in brackets.</p>'
            f'<div class="wide"><table class="figures reasons"><tr><th></th>{tops}<th class="edge stock">stock</th></tr>'
            f'<tr><th>program</th>{heads}<th class="edge">time</th></tr>{"".join(rows)}</table></div>')


def reason(ratio, causes):
    told = {what: f"{number(here, digits)} ({number(there, digits)})" for what, digits, here, there in causes or []}
    return (f'<td class="edge{"" if causes is None else " won"}">{number(ratio)}</td>'
            + "".join(f"<td>{told.get(what, '')}</td>" for _, what, _ in verdict.CAUSES))


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
    figures = [(heap_plot.bars(times, names, "time, ms"), "median time, dots are runs"),
               (heap_plot.bars(memory, names, "1,000 words"), "allocated for heaps, at its highest")]
    pauses = {kind: [(n, labels[n], first[n][f"{kind}_pauses"]) for n in names] for kind in ("minor", "major")}
    reach = heap_plot.reach([h for kind in pauses.values() for h in kind])
    figures += [(heap_plot.pauses(histograms, reach), f"{kind} collections that took at least this long") for kind, histograms in pauses.items()]
    figures = [(plot, f"{text}<div>{key}</div>") for plot, text in figures]
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
