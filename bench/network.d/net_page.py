"""The report of bench/network as one HTML page that needs nothing else."""

import html
from pathlib import Path

import net_plot
from net_figures import ratio
from page import LABELS, document, number, percent
from scenarios import GROUPS

HOW = """<details class="box" open><summary>How to read this</summary>
<p>The clients are a program of its own. <b>Answers/s</b> is the median of the runs in which each client has one request under way and asks again as
soon as it is answered. <b>Spread</b> is (fastest - slowest) / median of these runs: above 20 % do not trust small differences.</p>
<p><b>At a rate</b> requests are due at even distances, the same for both emulators, whether or not the earlier ones are answered. A latency
counts from the time at which the request was due. So a server that stops for a while pays for every request that was due meanwhile. <b>Left</b> is how many
requests were due and not answered at the end, in all runs; <b>lost</b> how many datagrams were not answered.</p>
<p><b>Heddle / stock</b> of answers is above 1 where Heddle does more; of latencies and memory it is below 1 where Heddle is better.</p></details>"""


def page(report):
    css = (Path(__file__).parent.parent / "scaling.d" / "page.css").read_text()
    body = ["<h1>Servers under load</h1>", head(report), HOW]
    for group, (title, about) in GROUPS.items():
        rows = [row for row in report["scenarios"] if row["group"] == group]
        if rows:
            body += [f"<h2>{title}</h2><p>{html.escape(about)}</p>", table(rows), plots(rows)]
    if report["idle"]:
        body += ["<h2>Memory of idle connections</h2><p>Bytes by which the emulator's process grew for each open connection that carries nothing.</p>",
                 idle(report["idle"])]
    return document("Servers under load", css, body)


def head(report):
    machine, settings = report["machine"], report["settings"]
    rows = [("when", report["when"]), ("computer", f"{machine['cores']} cores, {machine['cpu']}, {machine['system']}"),
            ("load before, after", f"{machine['load_before']:.2f}, {machine['load_after']:.2f} "
             + ("(the computer was busy before it began: do not trust these figures)" if machine["load_before"] > 0.5 else "")),
            ("runs", f"{settings['runs']} of each, in turn; parts of {settings['seconds']:g} s; {settings['schedulers']} schedulers; "
                     f"fixed rate: {settings['share']:.0%} of what stock did without one")]
    rows += [(LABELS[who], " ".join([e["path"], *e["flags"]])) for who, e in report["emulators"].items()]
    return "<dl>" + "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in rows) + "</dl>"


def table(rows):
    top = "".join(f'<th colspan="{n}" class="edge">{name}</th>' for name, n in (("answers/s", 4), ("at a rate, µs", 7)))
    names = ('<th>scenario</th><th class="edge heddle">Heddle</th><th class="stock">stock</th><th>spread</th><th>Heddle / stock</th>'
             '<th class="edge">rate/s</th>' + "".join(f'<th class="heddle">{q}</th><th class="stock">{q}</th>' for q in ("p50", "p99", "p99.9")))
    return f'<div class="wide"><table><tr><th></th>{top}</tr><tr>{names}</tr>{"".join(map(line, rows))}</table></div>' + "".join(map(said, rows))


def line(row):
    free, paced = row["free"], row["paced"]
    spreads = " ".join(percent(free[who]["spread"]) if free[who] else number(None) for who in LABELS)
    cells = [f'<td class="edge">{figure(free["heddle"], "per_second")}</td>', f'<td>{figure(free["stock"], "per_second")}</td>', f"<td>{spreads}</td>",
             f'<td>{number(ratio(free["heddle"], free["stock"], "per_second"))}</td>', f'<td class="edge">{number(row["rate"], 0)}</td>']
    cells += [f"<td>{figure(paced[who], key)}</td>" for key, _ in net_plot.QUANTILES for who in LABELS]
    return f'<tr><td id="{row["name"]}">{row["name"]}</td>{"".join(cells)}</tr>'


def figure(part, key):
    return number(part[key] if part else None, 0)


def said(row):
    """What went wrong in a scenario, and what was not answered."""
    texts = [f"{LABELS[who]}: {row['errors'][who]}" for who in LABELS if row["errors"][who]]
    for who in LABELS:
        for part, name in (("free", "as many as are answered"), ("paced", "at a rate")):
            figures = row[part][who]
            if figures and figures["lost"]:
                texts.append(f"{LABELS[who]}, {name}: {figures['lost']} datagrams were lost")
        paced, label = row["paced"][who], LABELS[who]
        if paced and paced["left"] > row["connections"] * len(paced["runs"]):
            texts.append(f"{label}, at a rate: {paced['left']} requests were left at the end")
    return "".join(f'<p class="bad">{row["name"]}: {html.escape(text)}</p>' for text in texts)


def plots(rows):
    key = " and ".join(f'<b class="{who}">{shape} {LABELS[who]}</b>' for who, shape in (("heddle", "●"), ("stock", "■")))
    figures = []
    for kind in dict.fromkeys((row["server"], row["bytes"]) for row in rows):
        mine = [row for row in rows if (row["server"], row["bytes"]) == kind]
        curves = [(who, LABELS[who], [(row["connections"], row["free"][who]["per_second"]) for row in mine if row["free"][who]]) for who in LABELS]
        if any(points for _, _, points in curves):
            drawn = net_plot.throughput(curves, sorted(row["connections"] for row in mine))
            figures.append(f"<figure>{drawn}<figcaption>{kind[0]}: {key}</figcaption></figure>")
    for row in rows:
        curves = [(who, LABELS[who], row["paced"][who]) for who in LABELS if row["paced"][who]]
        if curves:
            figures.append(f"<figure>{net_plot.latencies(curves)}<figcaption>{row['name']}, {row['rate']:,.0f}/s: {key}</figcaption></figure>")
    return f'<div class="plots">{"".join(figures)}</div>'


def idle(rows):
    cells = "".join(f'<tr><td>{row["connections"]:,}</td><td>{number(row["bytes"]["heddle"], 0)}</td><td>{number(row["bytes"]["stock"], 0)}</td>'
                    f'<td>{number(row["bytes"]["heddle"] / row["bytes"]["stock"] if all(row["bytes"].values()) else None)}</td></tr>' for row in rows)
    wrong = "".join(f'<p class="bad">{row["connections"]:,} connections, {LABELS[who]}: {html.escape(row["errors"][who])}</p>'
                    for row in rows for who in LABELS if row["errors"][who])
    return (f'<table><tr><th>connections</th><th class="heddle">Heddle</th><th class="stock">stock OTP</th><th>Heddle / stock</th></tr>{cells}</table>{wrong}')
