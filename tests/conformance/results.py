"""Case results: the baseline, known gaps, comparing, and the tables as Markdown and JSON.

A case's key is (app, suite, group, case). A case that ran several times (groups that repeat) is `ok` only if it always was."""

import json
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
GAPS = HERE / "known-gaps.txt"
ARCHITECTURES = ("private", "hybrid", "shared")
LEFT_OUT = HERE / "left-out.tsv"
HANGS = HERE / "hangs.tsv"
CONFIGURATION = ("init_per_suite", "end_per_suite", "init_per_group", "end_per_group")


def load_cases(file):
    """{key: (result, reason)} of a file of lines `app suite group case result [milliseconds reason]`."""
    found = {}
    for line in open(file, errors="replace"):
        fields = line.rstrip("\n").split("\t")
        if len(fields) < 5 or fields[3] in CONFIGURATION:
            continue
        key, result, reason = tuple(fields[:4]), fields[4], fields[6] if len(fields) > 6 else ""
        if found.get(key, ("ok",))[0] == "ok":
            found[key] = (result, reason)
    return found


def baseline(node=False):
    return HERE / ("baseline-node.tsv" if node else "baseline.tsv")


def save_baseline(cases, node):
    """Adds (or replaces) the suites in `cases`."""
    file = baseline(node)
    old = load_cases(file) if file.exists() else {}
    new_suites = {key[:2] for key in cases}
    merged = {key: value for key, value in old.items() if key[:2] not in new_suites} | cases
    file.write_text("".join("\t".join((*key, merged[key][0])) + "\n" for key in sorted(merged)))


def load_left_out():
    """{(app, suite): reason}"""
    rows = (line.split("\t") for line in LEFT_OUT.read_text().splitlines() if line and not line.startswith("#"))
    return {(app, suite): reason for app, suite, reason in rows}


def load_gaps(hmem="private", mode="normal", node=False):
    """[(app, suite, group/case with *, reason)]: those of a memory architecture first, then those of a mode that has a list, then
    those of a node with a name."""
    files = [GAPS.with_stem(f"{GAPS.stem}-{name}") for name in (hmem, mode, *(["node"] if node else []))] + [GAPS]
    of_mode = [hang[:4] for hang in load_hangs() if hang[4] and mode in hang[4]]
    return of_mode + [gap for file in files if file.exists() for gap in gaps_of(file)]


def load_hangs():
    """[(app, suite, case, reason, modes in which it is not run, none for all)]"""
    rows = (line.split("\t") for line in HANGS.read_text().splitlines() if line and not line.startswith("#"))
    return [(*row[:4], row[4].split(",") if len(row) > 4 else []) for row in rows]


def not_run(app, suite, mode):
    """The cases of a suite that would keep the rest of it from running."""
    return [case for of_app, of_suite, case, _, modes in load_hangs() if (of_app, of_suite) == (app, suite) and (not modes or mode in modes)]


def gaps_of(file):
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split(None, 3)
        if len(fields) < 4:
            raise SystemExit(f"{file}:{number}: a gap is APP SUITE CASE REASON")
        yield tuple(fields)


def gap_of(key, gaps):
    app, suite, group, case = key
    names = (case, f"{group}/{case}" if group else case, f"{group}/*", "*")
    return next((gap for gap in gaps if gap[:2] == (app, suite) and gap[2] in names), None)


class Comparison:
    """What an emulator's cases say against the baseline, suite by suite for the suites that ran."""

    def __init__(self, cases, ran, hmem="private", mode="normal", node=False):
        base, gaps = load_cases(baseline(node)), load_gaps(hmem, mode, node)
        self.where = "in a node with a name" if node else "on one node without distribution"
        self.ran = ran  # {(app, suite): (status, seconds)}
        self.regressions, self.known, self.repaired = [], [], []
        self.rows = {suite: Counter() for suite in ran}
        for key in sorted(base.keys() | cases.keys()):
            if key[:2] not in ran:
                continue
            row = self.rows[key[:2]]
            result, reason = cases.get(key, ("missing", ""))
            row["cases"] += key in base
            row["heddle"] += result == "ok"
            if base.get(key, ("",))[0] != "ok":
                continue
            row["stock"] += 1
            gap = gap_of(key, gaps)
            if result == "ok":
                row["both"] += 1
                if gap and gap[2] != "*" and not gap[2].endswith("/*"):
                    self.repaired.append((key, gap[3]))
            elif gap:
                self.known.append((key, result, gap[3]))
            else:
                self.regressions.append((key, result, reason))

    def totals(self):
        totals = defaultdict(Counter)
        for (app, _), row in self.rows.items():
            totals[app].update(row)
        return totals

    def markdown(self):
        lines = ["# Conformance", "", f"Cases of OTP 27's own suites, {self.where}. *both*: passed by stock and by",
                 "this machine.", "", "| application | stock passes | both | share |", "|---|---:|---:|---:|"]
        for app, row in sorted(self.totals().items()):
            lines.append(f"| {app} | {row['stock']} | {row['both']} | {percent(row)} |")
        lines += ["", "| suite | cases | stock passes | both | share | status | seconds |", "|---|---:|---:|---:|---:|---|---:|"]
        for (app, suite), row in sorted(self.rows.items()):
            status, seconds = self.ran[app, suite]
            lines.append(f"| {app} {suite} | {row['cases']} | {row['stock']} | {row['both']} | {percent(row)} | {status} | {seconds} |")
        for title, rows in (("Regressions", self.regressions), ("Known gaps", self.known)):
            lines += ["", f"## {title}: {len(rows)}", ""]
            lines += [f"- {name(key)}: {result}: `{reason[:160].replace('`', chr(39))}`" for key, result, reason in rows]
        lines += ["", f"## Gaps that pass now: {len(self.repaired)}", ""]
        lines += [f"- {name(key)} (was: {reason})" for key, reason in self.repaired]
        return "\n".join(lines) + "\n"

    def as_json(self):
        suites = [{"app": app, "suite": suite, "status": self.ran[app, suite][0], "seconds": self.ran[app, suite][1],
                   "cases": row["cases"], "stock": row["stock"], "both": row["both"]} for (app, suite), row in sorted(self.rows.items())]
        return json.dumps({"suites": suites,
                           "regressions": [{"case": name(key), "result": result, "reason": reason} for key, result, reason in self.regressions],
                           "known_gaps": [{"case": name(key), "result": result, "reason": reason} for key, result, reason in self.known],
                           "repaired": [name(key) for key, _ in self.repaired]}, indent=1)


def percent(row):
    return f"{100 * row['both'] / row['stock']:.1f} %" if row["stock"] else "-"


def name(key):
    app, suite, group, case = key
    return f"{app} {suite} {group + '/' if group else ''}{case}"
