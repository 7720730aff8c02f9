#!/usr/bin/env python3
"""The report of bench/heaps, from figures that are known:  python3 bench/test_heaps.py"""

import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH / "heaps.d"), str(BENCH / "scaling.d"), str(BENCH)]

import heap_plot  # noqa: E402
import verdict  # noqa: E402
from delay_figures import major_line, majors  # noqa: E402
from delay_figures import parse as parse_delays  # noqa: E402
from delay_figures import table as table_of_delays  # noqa: E402
from emulator import Failed  # noqa: E402
from heap_figures import Measured, merged, percentile  # noqa: E402
from heap_page import page  # noqa: E402
from heap_run import columns, parse  # noqa: E402
from browser import misfits  # noqa: E402
from heap_programs import PROGRAMS  # noqa: E402
from test_scaling import Nesting  # noqa: E402

NAMES = ("private", "hybrid", "stock")


def run(ms, minor=10, longest=None, pauses=((1000, 9), (5000, 1)), **figures):
    figures = {"cpu_ms": int(ms), "copying_ns": 2_000_000, "messages": 100, "words": 5000, "by_reference": 0, "partly_by_reference": 0,
               "words_by_reference": 0, "minor": minor, "minor_ns": 14_000, "minor_words": 300, "major": 0, "major_ns": 0,
               "major_words": 0, "peak_rss_kb": 30000} | figures
    if longest:
        figures["longest_minor_ns"] = longest
    return {"heap_type": "private", "ms": ms, "hash": "1", "figures": figures, "pauses": {"minor": [list(p) for p in pauses], "major": []}}


def measured(times, watched=None, **more):
    one = Measured()
    one.runs, one.watched = [run(t, **more) for t in times], watched
    return one


def stock(times):
    """Nothing is counted there but what a traced run tells."""
    one = Measured()
    one.runs = [{"heap_type": "private", "ms": t, "hash": "1", "figures": {"cpu_ms": 1, "collections": 7}, "pauses": {"minor": [], "major": []}} for t in times]
    one.watched = {"heap_type": "private", "ms": 99, "hash": "1", "pauses": {"minor": [[2048, 7]], "major": []},
                   "figures": {"minor": 7, "minor_ns": 21_000, "longest_minor_ns": 3999, "major": 0, "major_ns": 0, "longest_major_ns": 0, "used_words": 10, "allocated_words": 20}}
    return one


def report(hybrid=(50, 52, 51), error=""):
    def sizes():
        rows = {"private": measured([100, 104, 102], {"figures": {"used_words": 900, "allocated_words": 2000}, "pauses": {"minor": [], "major": []}}),
                "hybrid": measured(hybrid, words=10, by_reference=90), "stock": stock([130, 150, 140])}
        rows["stock"].error = error
        return {n: m.row() for n, m in rows.items()}
    columns = [{"name": n, "label": n, "path": "/erl", "about": "BEAM", "flags": []} for n in NAMES]
    return {"when": "now", "machine": {"cores": 2, "cpu": "a cpu", "system": "Linux", "load_before": 0.1, "load_after": 1.0},
            "settings": {"runs": 3, "hms": [233, 1597], "scale": 1.0, "filter": "*", "watch": True}, "columns": columns,
            "missing": {"shared": "ended with 1: <not there>"},
            "programs": [{"name": "same 250 250", "group": "messages", "what": "one & <the same>", "sizes": {"233": sizes(), "1597": sizes()}}]}


class Figures(unittest.TestCase):
    def test_rows_survive_json(self):
        row = json.loads(json.dumps(report()))["programs"][0]["sizes"]["233"]["private"]
        self.assertEqual((row["median_ms"], row["spread"], row["copy_ms"], row["minor_ms"]), (102, 0.0392, 2.0, 0.014))
        self.assertEqual((row["minor_collections"], row["collections_from"], row["allocated_words"]), (10, "the run", 2000))
        self.assertIsNone(row["send_ms"])

    def test_pauses_are_those_of_all_runs(self):
        one = measured([1, 2, 3])
        one.runs[1] = run(2, longest=7000, pauses=((1000, 9), (6900, 1)))
        row = one.row()
        self.assertEqual(row["minor_pauses"], [[1000, 27], [5000, 2], [6900, 1]])
        self.assertEqual((row["longest_minor_ms"], row["longest_major_ms"]), (0.007, 0.0))
        self.assertEqual(merged([[[5, 1]], [[3, 2], [5, 1]]]), [[3, 2], [5, 2]])
        self.assertEqual([percentile([[1, 90], [2, 9], [3, 1]], p) for p in (50, 90, 99, 99.9)], [1, 1, 2, 3])
        self.assertIsNone(percentile([], 50))

    def test_stock_tells_collections_of_a_traced_run_and_nothing_of_messages(self):
        row = stock([10, 20, 30]).row()
        self.assertEqual((row["minor_collections"], row["minor_ms"], row["longest_minor_ms"], row["collections_from"]), (7, 0.021, 0.004, "a traced run"))
        self.assertEqual((row["messages"], row["copy_ms"], row["used_words"], row["minor_live_words"]), (None, None, 10, None))

    def test_a_failed_run_has_no_time(self):
        row = report(error="not done")["programs"][0]["sizes"]["233"]["stock"]
        self.assertEqual((row["median_ms"], row["times_ms"], row["error"]), (None, [], "not done"))


class Verdict(unittest.TestCase):
    def test_says_which_wins_and_why(self):
        text = "\n".join(verdict.lines(report()))
        self.assertRegex(text, r"same 250 250 +hybrid +private|same 250 250 +hybrid +stock")
        self.assertIn("hybrid takes between 0.50 (same 250 250) and 0.50", text)
        self.assertIn("same 250 250: hybrid takes 0.50 of the time of private: words copied 10 instead of 5,000", text)
        self.assertEqual(verdict.won_alone(report(), "median_ms", 233), {"private": 0, "hybrid": 1, "stock": 0})

    def test_follows_the_figures(self):
        slow = report(hybrid=(300, 310, 305))
        text = "\n".join(verdict.lines(slow))
        self.assertEqual(verdict.wins(slow, "median_ms", 233), [("same 250 250", ["private"])])
        self.assertIn("hybrid takes between 2.99", text)
        self.assertNotIn("instead of 5,000", text)
        self.assertIn("hybrid takes 2.99 of the time of private: the figures do not tell why", text)

    def test_single_runs_have_no_spread_and_a_warning(self):
        once = report(hybrid=(51,))
        self.assertIsNone(once["programs"][0]["sizes"]["233"]["hybrid"]["spread"])
        self.assertIn(verdict.WARNING, "\n".join(verdict.lines(once)))
        self.assertIn(verdict.WARNING, page(once))
        self.assertNotIn(verdict.WARNING, page(report()))
        self.assertNotIn(">0%<", page(once))

    def test_what_differs_by_less_than_its_spread_does_not_win(self):
        self.assertEqual(verdict.winner({"a": {"median_ms": 100, "spread": 0.4}, "b": {"median_ms": 115, "spread": 0.0}}, "median_ms")[0], ["a", "b"])
        self.assertEqual(verdict.winner({"a": {"median_ms": 100, "spread": 0.0}, "b": {"median_ms": 115, "spread": 0.1}}, "median_ms")[0], ["a"])
        self.assertIsNone(verdict.winner({"a": {"median_ms": None, "spread": None}}, "median_ms"))


class Page(unittest.TestCase):
    def test_page_is_well_formed_and_needs_nothing_else(self):
        for text in (page(report()), page(report(error="broke"))):
            nesting = Nesting()
            nesting.feed(text)
            self.assertEqual((nesting.open, nesting.wrong), ([], []))
            self.assertNotRegex(text, r'(src|href)="(https?:)?//')

    def test_page_says_what_is_missing(self):
        text = page(report(error="broke"))
        self.assertIn("ended with 1: &lt;not there&gt;", text)
        self.assertIn("stock, 233 words: broke", text)
        self.assertIn("one &amp; &lt;the same&gt;", text)

    def test_bars_are_as_high_as_their_values(self):
        svg = heap_plot.bars([("233", {"private": (100, [90, 110]), "hybrid": (50, []), "stock": (None, [])})], NAMES, "ms")
        heights = {m[0]: float(m[1]) for m in re.findall(r'class="bar (\w+)".*?height="([\d.]+)"', svg)}
        self.assertEqual(set(heights), {"private", "hybrid"})
        self.assertAlmostEqual(heights["private"], 2 * heights["hybrid"], delta=0.2)
        self.assertEqual(svg.count('class="dot"'), 2)

    def test_pauses_go_down_to_none(self):
        shown = [("private", "private", [[0, 3], [1000, 5], [2_000_000, 1]]), ("stock", "stock", [])]
        svg = heap_plot.pauses(shown, heap_plot.reach(shown))
        points = [tuple(map(float, p.split(","))) for p in re.search(r'class="step private" points="([^"]*)"', svg)[1].split()]
        self.assertEqual(points, sorted(points))
        self.assertIn("1 ms", svg)
        self.assertNotIn("step stock", svg)
        self.assertIsNone(heap_plot.reach([("stock", "stock", [])]))
        self.assertEqual(heap_plot.pauses([("stock", "stock", [])], None), "")

    def test_plots_have_axes_names_and_a_key(self):
        shown = re.findall(r"<figure>.*?</figure>", page(report()))
        self.assertEqual([re.search(r'class="name" transform[^>]*>([^<]*)<', figure)[1] for figure in shown], ["time, ms", "1,000 words", "collections"])
        for figure in shown:
            self.assertIn('<line class="axis" x1="52" x2="52"', figure)
            self.assertTrue(all(f'class="{name}">■' in figure.split("<figcaption>")[1] for name in NAMES))

    def test_which_wins_where_is_a_table(self):
        text = page(report())
        table = re.search(r'<table class="wins">.*?</table>', text)[0]
        self.assertIn('<td><span class="hybrid">hybrid</span></td>', table)
        self.assertIn('<td class="hybrid">only hybrid</td><td>1</td><td>1</td>', table)
        self.assertIn("10 (5,000)", text)

    def test_page_fits_1280_pixels(self):
        shown = report()
        sizes = shown["programs"][0]["sizes"]
        for rows in sizes.values():
            rows["shared"] = dict(rows["hybrid"], median_ms=10.0, times_ms=[10.0], minor_ms=12345.6, major_ms=12345.6, words_copied=0)
            for row in rows.values():
                row |= {"used_words": 123_456_789, "allocated_words": 123_456_789, "minor_live_words": 123_456_789}
            rows["private"] |= {"words_copied": 122_125_003, "minor_ms": 123456.7, "major_ms": 123456.7, "median_ms": 123456.7}
            rows["hybrid"] |= {"minor_ms": 12345.6, "major_ms": 12345.6, "words_copied": 20_125_003}
        sizes["10946"] = sizes["1597"]
        shown["settings"]["hms"] = [233, 1597, 10946]
        shown["columns"].append({"name": "shared", "label": "shared", "path": "/erl", "about": "BEAM", "flags": []})
        shown["programs"] = [dict(shown["programs"][0], name=p.name, group=p.group) for p in PROGRAMS]
        self.assertEqual(misfits(page(shown)), [])


class Output(unittest.TestCase):
    GOOD = "@heap_type hybrid\n@time 1500\n@hash 7\n@figure minor 3\n@figure minor_ns 9\n@pause minor 100 3\n@ok\n"

    def test_figures_of_a_run(self):
        done = parse("noise\n" + self.GOOD)
        self.assertEqual((done["ms"], done["heap_type"], done["figures"], done["pauses"]), (1.5, "hybrid", {"minor": 3, "minor_ns": 9}, {"minor": [[100, 3]], "major": []}))

    def test_a_wrong_result_is_no_time(self):
        for ending, said in (("@wrong {1,2}", "wrong result: {1,2}"), ("@failed badarg", "the program failed: badarg"), ("", "no time")):
            with self.assertRaisesRegex(Failed, re.escape(said)):
                parse(self.GOOD.replace("@ok", ending))


#: Says what it is, has a private and a shared heap, and takes no other flag.
EMULATOR = """#!/bin/sh
echo "@about an emulator"; echo "@sequential false"
case "$1 $2" in "+hmem private") echo "@heap_type private";; "+hmem shared") echo "@heap_type shared";; "+hmem hybrid") exit 1;; esac
"""


class Columns(unittest.TestCase):
    def test_an_emulator_is_asked_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            erl = Path(folder, "erl")
            erl.write_text(EMULATOR)
            erl.chmod(0o755)
            found, missing = columns(str(erl), str(erl), folder, 10)
        self.assertEqual([(c.name, c.flags) for c in found], [("private", ["+hmem", "private"]), ("shared", ["+hmem", "shared"]), ("stock", [])])
        self.assertEqual(list(missing), ["hybrid"])


class Delays(unittest.TestCase):
    SAID = ("@heap_type private\n@slice 10000\n@delay alone 1000 99\n@delay alone 20000 1\n@longest alone 21500\n@delay collects 4000 10\n@longest collects 4100\n"
            "@pause major 90000 2\n@collected 4 8000\n@time 1\n@ok\n")

    def test_says_what_is_longer_than_a_slice(self):
        row = parse_delays(self.SAID)
        self.assertEqual((row["slice_ns"], row["collections"], row["collecting_ms"], row["pauses"]), (10000, 4, 8.0, {"minor": [], "major": [[90000, 2]]}))
        lines = [line.split() for line in table_of_delays("private", row)]
        self.assertEqual(lines[0], ["private", "alone", "100", "1.0", "1.0", "1.0", "20.0", "21.5", "1.00%"])
        self.assertEqual(lines[1], ["one", "computes", "0", "–", "–", "–", "–", "0.0"])
        self.assertEqual(lines[2], ["one", "collects", "10", "4.0", "4.0", "4.0", "4.0", "4.1", "0.00%"])
        self.assertIn("2.0 ms each", " ".join(lines[3]))

    def test_an_unfinished_run_is_none(self):
        with self.assertRaises(Failed):
            parse_delays(self.SAID.replace("@ok", ""))

    def test_major_collections_are_compared_with_those_of_one_thread(self):
        self.assertEqual(majors("@collection 1500\n@collection 2000\n@time 1\n@ok\n"), [1.5, 2.0])
        self.assertIn("8 processes: 10.0 ms by several threads, 20.0 by one (0.50)", major_line(8, {"several": 10, "one": 20}))
        self.assertIn("one list", major_line(1, {"several": 10, "one": 20}))


if __name__ == "__main__":
    unittest.main()
