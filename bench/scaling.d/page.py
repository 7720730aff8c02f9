"""The report as one HTML page that needs nothing else: tables and inline SVG."""

import html
from pathlib import Path

import plot
from figures import against, thin
from programs import GROUPS

LABELS = {"heddle": "Heddle", "stock": "stock OTP"}
COUNTERS = ("context_switches", "collections", "migrations", "steals", "wake_ups", "lock_waits", "lock_wait_ns")
MISSING = '<span class="soft">not available</span>'

WARNING = "Some times are of a single run and have no spread: small differences mean nothing."

HOW = """<details class="box" open><summary>How to read this</summary>
<p>The figures are those of Zhang, "Characterizing the Scalability of Erlang VM on Many-core Processors" (2011), chapter 4.</p>
<p><b>Time</b> is the median of the runs, of the program's own work inside the emulator. <b>Spread</b> is (slowest - fastest) / median:
above 20 % do not trust small differences. <b>Speed-up</b> is the time with one scheduler divided by the time with N, each emulator
against itself. Small dots in the curves are single runs, and the dashed line is the smaller of schedulers and cores.
<b>Heddle / stock</b> compares the medians with the same number of schedulers: below 1 Heddle is faster.</p>
<p><b>Reductions</b> is the number of reductions with N schedulers divided by that with one, without the main process (Zhang's
table 4.3): how much more work the same program makes when it is spread. Reductions of the two emulators are not the same unit.
<b>SMP / sequential</b> is the time with one scheduler divided by the time of an emulator without the machinery for several (Zhang's table 4.4).</p>
<p><b>Active schedulers</b> (Zhang's figures 4.3 to 4.6) are differences of <code>scheduler_wall_time</code>, read every few milliseconds in runs of
their own, whose time is not used: reading the clock at each change between work and waiting, a process of priority max at each
sample, and stock wakes all its schedulers to answer. With more schedulers than cores, one that waits for a core counts as active.
How much each scheduler worked is from there too. What the schedulers counted is of the run with the median time; what an emulator
does not count is shown as not available.</p></details>"""


def page(report):
    css = (Path(__file__).parent / "page.css").read_text()
    warning = [f'<p class="bad">{WARNING}</p>'] if single_runs(report) else []
    body = ["<h1>Scaling over schedulers</h1>", head(report), *warning, HOW, summary(report)]
    for group, (title, about) in GROUPS.items():
        rows = [p for p in report["programs"] if p["group"] == group]
        if rows:
            body += [f"<h2>{title}</h2><p>{about}</p>", threads(report, rows), *(program(report, p) for p in rows)]
    return document("Scaling over schedulers", css, body)


def single_runs(report):
    return any(len(q["times_ms"]) == 1 for p in report["programs"] for row in p["emulators"].values() for q in row["points"])


def document(title, css, body):
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{title}</title><style>{css}</style><body>{"".join(body)}</body></html>\n')


def circumstances(report, about):
    """Rows on when and where it ran; `about` says what is special in its settings."""
    machine, settings = report["machine"], report["settings"]
    return [("when", report["when"]), ("computer", f"{machine['cores']} cores, {machine['cpu']}, {machine['system']}"),
            ("load before, after", f"{machine['load_before']:.2f}, {machine['load_after']:.2f} "
             + ("(the computer was busy before it began: do not trust these figures)" if machine["load_before"] > 0.5 else "")),
            ("runs", f"{settings['runs']} of each, in turn; {about}; scale {settings['scale']:g}")]


def head(report):
    rows = circumstances(report, f"schedulers {', '.join(map(str, report['settings']['schedulers']))}")
    rows += [(LABELS[who], f"{' '.join([e['path'], *e['flags']])}: {e['about']}; {e['sequential']}") for who, e in report["emulators"].items()]
    return "<dl>" + "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in rows) + "</dl>"


def summary(report):
    """A line per program, at the highest number of schedulers that the cores can serve, and at the highest of all."""
    counts, cores = report["settings"]["schedulers"], report["machine"]["cores"]
    shown = sorted({max(n for n in counts if n <= cores), counts[-1]})
    top = "".join(f'<th colspan="3" class="edge">{n} scheduler{"s" if n > 1 else ""}</th>' for n in shown)
    names = "".join('<th class="edge heddle">Heddle speed-up</th><th class="stock">stock speed-up</th><th>Heddle / stock</th>' for _ in shown)
    rows = []
    for p in report["programs"]:
        heddle, stock = (by_count(p, who) for who in ("heddle", "stock"))
        cells = "".join(f'<td class="edge">{number(heddle[n]["speedup"])}</td><td>{number(stock[n]["speedup"])}</td>'
                        f"<td>{number(against(heddle[n], stock[n]))}</td>" for n in shown)
        rows.append(f'<tr><td><a href="#{p["name"]}">{p["name"]}</a></td><td class="edge">{number(against(heddle[1], stock[1]))}</td>{cells}</tr>')
    return (f'<h2>All programs</h2><div class="wide"><table><tr><th></th><th class="edge">1 scheduler</th>{top}</tr>'
            f'<tr><th>program</th><th class="edge">Heddle / stock</th>{names}</tr>{"".join(rows)}</table></div>')


def threads(report, programs):
    """No threads, workers, a thread for each process: the comparison of Hedqvist (1998), section 6, of the programs that were measured so."""
    rows, counts = [], report["settings"]["schedulers"]
    for p in programs:
        for who, label in LABELS.items():
            row = p["emulators"][who]
            if all(p["emulators"][other]["private"]["median_ms"] is None for other in LABELS):
                continue
            modes = [cell(row["sequential"]), *(number(q["median_ms"], 1) for q in row["points"]), cell(row["private"])]
            rows.append(f'<tr><td>{p["name"]}</td><td class="{who}">{label}</td>' + "".join(f"<td>{c}</td>" for c in modes) + "</tr>")
    heads = "".join(f"<th>{n} worker{'s' if n > 1 else ''}, ms</th>" for n in counts)
    return (f'<div class="wide"><table><tr><th>program</th><th>emulator</th><th>no threads, ms</th>{heads}<th>private threads, ms</th></tr>'
            f'{"".join(rows)}</table></div>') if rows else ""


def cell(mode):
    return number(mode["median_ms"], 1) if mode["ratio"] else f'<span class="soft">{html.escape(mode["missing"])}</span>'


def program(report, p):
    counts = report["settings"]["schedulers"]
    parts = [f'<h3 id="{p["name"]}">{p["name"]}</h3><p>{html.escape(p["what"])}</p>']
    for who, row in p["emulators"].items():
        if row["error"]:
            parts.append(f'<p class="bad">{LABELS[who]}: {html.escape(row["error"])}</p>')
    curves = [(who, LABELS[who], [(q["schedulers"], q["speedup"], q["run_speedups"]) for q in row["points"]]) for who, row in p["emulators"].items()]
    key = ' and '.join(f'<b class="{who}">{shape} {LABELS[who]}</b>' for who, shape in (("heddle", "●"), ("stock", "■")))
    lines = ' and '.join(f'<b class="{who}">– {LABELS[who]}</b>' for who in LABELS)
    figures = [f'<figure>{plot.speedup(curves, counts, report["machine"]["cores"])}<figcaption>speed-up: {key}</figcaption></figure>']
    profiles = {n: [(who, LABELS[who], thin(by_count(p, who)[n]["profile"]["samples"], 250)) for who in p["emulators"] if by_count(p, who)[n]["profile"]]
                for n in counts}
    x_max = plot.longest([profile for shown in profiles.values() for profile in shown])
    for n, shown in profiles.items():
        if shown:
            figures.append(f'<figure>{plot.concurrency(shown, n, x_max)}<figcaption>active schedulers, of {n}: {lines}</figcaption></figure>')
    parts += [f'<div class="plots">{"".join(figures)}</div>', times(p, counts), beside(p), schedulers(p, counts)]
    return "".join(parts)


def times(p, counts):
    names = '<th class="edge">ms</th><th>spread</th><th>speed-up</th><th>of the fastest</th><th>reductions</th>'
    rows = []
    for n in counts:
        cells = []
        for who in LABELS:
            q = by_count(p, who)[n]
            cells.append(f'<td class="edge">{number(q["median_ms"], 1)}</td><td>{percent(q["spread"])}</td><td>{number(q["speedup"])}</td>'
                         f'<td>{number(q["fastest_speedup"])}</td><td>{number(q["reductions_ratio"], 3)}</td>')
        ratio = against(by_count(p, "heddle")[n], by_count(p, "stock")[n])
        rows.append(f'<tr><td>{n}</td>{"".join(cells)}<td class="edge">{number(ratio)}</td></tr>')
    tops = "".join(f'<th colspan="5" class="edge {who}">{label}</th>' for who, label in LABELS.items())
    return (f'<div class="wide"><table><tr><th></th>{tops}<th class="edge"></th></tr><tr><th>schedulers</th>{names * len(LABELS)}'
            f'<th class="edge">Heddle / stock</th></tr>{"".join(rows)}</table></div>')


def beside(p):
    """SMP with one scheduler against the sequential mode, where an emulator has one."""
    told = []
    for who, label in LABELS.items():
        sequential = p["emulators"][who]["sequential"]
        told.append(f'{label} {number(sequential["ratio"]) if sequential["ratio"] else html.escape(sequential["missing"])}')
    return f'<p class="soft">SMP / sequential: {"; ".join(told)}</p>'


def schedulers(p, counts):
    """What the emulators counted: for the whole machine, and per scheduler."""
    counted = {name for row in p["emulators"].values() for q in row["points"] for name in q["counters"]}
    names = [name for name in COUNTERS if name in counted]
    heads = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    rows = []
    for n in counts:
        for who, label in LABELS.items():
            q = by_count(p, who)[n]
            counters, busy = q["counters"], q["profile"]["busy"] if q["profile"] else []
            if counters:
                cells = "".join(f"<td>{MISSING if not counters.get(c) else f'{sum(counters[c]):,}'}</td>" for c in names)
                rows.append(f"<tr><td>{n}</td><td>{label}</td><td>all</td><td>{percent(sum(busy) / len(busy) if busy else None)}</td>{cells}</tr>")
            each = [c for c in names if len(counters.get(c) or []) == n and n > 1]
            for k in range(n if n > 1 and (busy or each) else 0):
                cells = "".join(f"<td>{f'{counters[c][k]:,}' if c in each else ''}</td>" for c in names)
                rows.append(f'<tr class="soft"><td></td><td>{label}</td><td>{k + 1}</td><td>{percent(busy[k] if k < len(busy) else None)}</td>{cells}</tr>')
    return (f'<details><summary>What the schedulers did</summary><div class="wide"><table class="counted"><tr><th>schedulers</th><th>emulator</th><th>scheduler</th>'
            f'<th>worked</th>{heads}</tr>{"".join(rows)}</table></div></details>') if rows else ""


def by_count(p, who):
    return {q["schedulers"]: q for q in p["emulators"][who]["points"]}


def number(value, digits=2):
    """Large counts are in millions, which keeps columns narrow."""
    if value is None:
        return '<span class="soft">–</span>'
    return f"{value / 1e6:,.1f} M" if digits == 0 and value >= 10_000_000 else f"{value:,.{digits}f}"


def percent(value):
    return number(value) if value is None else f"{value:.0%}"
