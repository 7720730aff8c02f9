"""Results of foreign test suites, test by test, against those recorded from stock OTP (tests/elixir/run, tests/proper/run).

A test's key is (part, module, test). baseline.tsv has a line a test that stock passes; known-gaps.tsv has lines
PART MODULE TEST REASON (tab separated, `*` for any) for tests that are known to fail here."""

import json
from collections import Counter


def load(file):
    return {tuple(line.split("\t")) for line in file.read_text().splitlines() if line} if file.exists() else set()


def record(file, parts, results):
    """Replaces the lines of `parts` by what passed."""
    kept = {key for key in load(file) if key[0] not in parts}
    passed = {key for key, (result, _) in results.items() if result == "ok"}
    file.write_text("".join("\t".join(key) + "\n" for key in sorted(kept | passed)))
    print(f"{len(passed)} of {len(results)} tests passed, recorded")


def load_gaps(file):
    gaps = []
    for number, line in enumerate(file.read_text().splitlines() if file.exists() else [], 1):
        fields = line.split("\t")
        if line and not line.startswith("#"):
            if len(fields) != 4:
                raise SystemExit(f"{file}:{number}: a gap is PART MODULE TEST REASON, tab separated")
            gaps.append(fields)
    return gaps


def gap_of(key, gaps):
    return next((gap for gap in gaps if all(want in ("*", have) for want, have in zip(gap, key))), None)


def compare(folder, parts, results, report):
    """Prints what became of the tests that stock passes, writes all of it to the file `report`; exit code 1 on a regression."""
    base = {key for key in load(folder / "baseline.tsv") if key[0] in parts}
    gaps = load_gaps(folder / "known-gaps.tsv")
    per_part, failures, known = {part: Counter() for part in parts}, [], 0
    for key in sorted(base):
        result, reason = results.get(key, ("missing", ""))
        gap = gap_of(key, gaps)
        per_part[key[0]]["stock"] += 1
        per_part[key[0]]["passed"] += result == "ok"
        if result == "ok":
            if gap and gap[2] == key[2]:
                print(f"passes now, take it out of known-gaps.tsv: {' '.join(key)}")
        elif gap:
            known += 1
        else:
            failures.append({"part": key[0], "module": key[1], "test": key[2], "result": result, "reason": reason})
            print(f"{result.upper()} {' '.join(key)}: {reason[:300]}")
    stock, passed = len(base), sum(row["passed"] for row in per_part.values())
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps({"stock": stock, "passed": passed, "known": known, "parts": per_part, "failures": failures}, indent=1))
    for part, row in per_part.items():
        if row["passed"] < row["stock"]:
            print(f"{part}: {row['passed']} of {row['stock']}")
    print(f"{passed} passed, {stock - passed} failed of the {stock} tests that stock passes "
          f"({100 * passed / max(stock, 1):.2f} %); {known} of the failures are known gaps; {report}")
    return 1 if failures else 0
