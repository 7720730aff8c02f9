#!/usr/bin/env python3
"""The report of bench/scaling, from figures that are known:  python3 bench/test_scaling.py"""

import json
import re
import sys
import unittest
from html.parser import HTMLParser
from pathlib import Path

sys.dont_write_bytecode = True
BENCH = Path(__file__).resolve().parent
sys.path[:0] = [str(BENCH / "scaling.d"), str(BENCH)]

import plot  # noqa: E402
from browser import misfits  # noqa: E402
import terminal  # noqa: E402
from emulator import NO_PRIVATE, NO_SEQUENTIAL, PRIVATE, SEQUENTIAL, Failed, parse  # noqa: E402
from figures import Measured, thin  # noqa: E402
from page import COUNTERS, WARNING, number, page  # noqa: E402
from programs import PROGRAMS  # noqa: E402

COUNTS = [1, 2, 4]


def run(ms, reductions=1000, counters=None, samples=(), busy=()):
    return {"ms": ms, "hash": "1", "reductions": reductions, "main_reductions": 5, "counters": counters or {},
            "samples": list(samples), "busy": list(busy)}


def heddle():
    measured = Measured(COUNTS)
    for n, times, reductions in ((1, (1000, 1010, 900), 1000), (2, (500, 510, 400), 1040), (4, (250, 260, 240), 1100)):
        for ms in times:
            measured.add(n, run(ms, reductions, {"context_switches": [int(ms)], "steals": [7] * n, "lock_waits": None}))
    measured.profiles[2] = run(600, samples=[(10.0, 1.0), (600.0, 2.0)], busy=[0.9, 0.8])
    return measured


def stock():
    measured = Measured(COUNTS)
    measured.add(1, run(800))
    measured.add(2, run(1600))
    measured.errors[4] = "not done after 120 s"
    return measured


def program():
    return {"name": "bang", "group": "study", "what": "pings & <pongs>",
            "emulators": {"heddle": heddle().row(NO_SEQUENTIAL, NO_PRIVATE), "stock": stock().row(NO_SEQUENTIAL, NO_PRIVATE)}}


def report():
    emulator = {"path": "/erl", "about": "BEAM", "flags": ["+hmem", "shared"], "sequential_flags": [], "sequential": NO_SEQUENTIAL}
    return {"when": "now", "machine": {"cores": 2, "cpu": "a cpu", "system": "Linux", "load_before": 0.1, "load_after": 1.0},
            "settings": {"runs": 3, "schedulers": COUNTS, "scale": 1.0, "filter": "*", "sample_ms": 10},
            "emulators": {"heddle": emulator, "stock": emulator}, "programs": [program()]}


class Figures(unittest.TestCase):
    def test_medians_speedup_and_ratios_survive_json(self):
        points = json.loads(json.dumps(report()))["programs"][0]["emulators"]["heddle"]["points"]
        self.assertEqual([p["median_ms"] for p in points], [1000, 500, 250])
        self.assertEqual([p["speedup"] for p in points], [1.0, 2.0, 4.0])
        self.assertEqual([p["reductions_ratio"] for p in points], [1.0, 1.04, 1.1])
        self.assertEqual(points[1]["run_speedups"], [2.0, 1.9608, 2.5])
        self.assertEqual([p["fastest_ms"] for p in points], [900, 400, 240])
        self.assertEqual([p["fastest_speedup"] for p in points], [1.0, 2.25, 3.75])
        self.assertEqual(points[1]["spread"], 0.22)
        self.assertEqual(points[1]["counters"], {"context_switches": [500], "steals": [7, 7], "lock_waits": None})

    def test_a_failed_run_has_no_figures(self):
        row = stock().row(NO_SEQUENTIAL, NO_PRIVATE)
        self.assertIsNone(row["points"][2]["median_ms"])
        self.assertIsNone(row["points"][2]["speedup"])
        self.assertEqual(row["error"], "4 schedulers: not done after 120 s")
        self.assertIn("not done after 120 s", "\n".join(terminal.lines(program())))

    def test_without_one_scheduler_nothing_is_relative(self):
        measured = heddle()
        measured.errors[1] = "broken"
        point = measured.row("", "")["points"][1]
        self.assertEqual((point["median_ms"], point["speedup"], point["fastest_speedup"], point["reductions_ratio"]), (500, None, None, None))

    def test_sequential_mode(self):
        self.assertEqual(heddle().row(NO_SEQUENTIAL, NO_PRIVATE)["sequential"],
                         {"missing": NO_SEQUENTIAL, "median_ms": None, "ratio": None, "fastest_ms": None, "fastest_ratio": None})
        measured = heddle()
        measured.add(SEQUENTIAL, run(800))
        measured.add(SEQUENTIAL, run(800))
        measured.add(SEQUENTIAL, run(750))
        self.assertEqual(measured.row("", "")["private"]["missing"], "not measured")
        self.assertEqual(measured.row("", "")["sequential"], {"missing": "", "median_ms": 800, "ratio": 1.25, "fastest_ms": 750, "fastest_ratio": 1.2})

    def test_thin_keeps_the_area(self):
        samples = [(k * 10.0, k % 3) for k in range(1, 101)]
        area = sum(10 * active for _, active in samples)
        few = thin(samples, 7)
        self.assertLessEqual(len(few), 7)
        self.assertEqual(few[-1][0], 1000.0)
        self.assertAlmostEqual(sum((end - start) * a for (start, _), (end, a) in zip([(0.0, 0)] + few, few)), area)
        self.assertEqual(thin([], 7), [])


class Plots(unittest.TestCase):
    def points(self, svg, css):
        text = re.search(rf'<polyline class="{css}" points="([^"]*)"', svg).group(1)
        return [tuple(map(float, p.split(","))) for p in text.split()]

    def test_speedup_curve_goes_through_the_medians(self):
        known = [(1, 1.0, [1.0]), (2, 1.9, [1.8, 2.0]), (32, None, []), (4, 1.5, [1.5])]
        svg = plot.speedup([("heddle", "Heddle", sorted(known, key=lambda k: k[0]))], [1, 2, 4, 32], 2)
        frame = plot.Frame(360, 230, 32, 2.5, log_x=True)
        expected = [(frame.x(n), frame.y(s)) for n, s in ((1, 1.0), (2, 1.9), (4, 1.5))]
        for (x, y), (right_x, right_y) in zip(self.points(svg, "curve heddle"), expected, strict=True):
            self.assertAlmostEqual(x, right_x, delta=0.06)
            self.assertAlmostEqual(y, right_y, delta=0.06)
        self.assertIn("<title>Heddle: 1.90 at 2</title>", svg)
        ideal = self.points(svg, "ideal")
        self.assertEqual([x for x, _ in ideal], [round(frame.x(n), 1) for n in (1, 2, 4, 32)])
        self.assertEqual(ideal[1][1], ideal[3][1])
        self.assertEqual(frame.x(2) - frame.x(1), frame.x(4) - frame.x(2))

    def test_concurrency_is_a_step_until_each_sample(self):
        shown = [("stock", "stock", [(10.0, 1.0), (40.0, 2.0)])]
        self.assertEqual(plot.longest([*shown, ("heddle", "Heddle", [(80.0, 1.0)]), ("heddle", "Heddle", [])]), 80.0)
        svg = plot.concurrency(shown, 2, 80.0)
        frame = plot.Frame(360, 150, 80.0, 2)
        steps = [(0, 1), (10, 1), (10, 2), (40, 2)]
        self.assertEqual(self.points(svg, "step stock"), [(round(frame.x(x), 1), round(frame.y(y), 1)) for x, y in steps])

    def test_one_number_of_schedulers_and_no_figures_at_all(self):
        self.assertIn("<svg", plot.speedup([("heddle", "Heddle", [(1, None, [])])], [1], 2))
        self.assertIn("<svg", plot.concurrency([("heddle", "Heddle", [])], 1, plot.longest([])))


class Nesting(HTMLParser):
    """Which elements are open, and which ends do not fit."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_starttag(self, tag, attrs):
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


class Page(unittest.TestCase):
    def test_threads(self):
        shown = report()
        self.assertNotIn("private threads, ms", page(shown))
        measured = heddle()
        measured.add(PRIVATE, run(4000))
        shown["programs"][0]["emulators"]["heddle"] = measured.row(NO_SEQUENTIAL, "")
        text = page(shown)
        self.assertIn('<td class="heddle">Heddle</td><td><span class="soft">no sequential mode</span></td>'
                      "<td>1,000.0</td><td>500.0</td><td>250.0</td><td>4,000.0</td>", text)
        self.assertIn(NO_PRIVATE, text)
        self.assertIn("SMP with one scheduler / private threads 0.25", "\n".join(terminal.lines(shown["programs"][0])))

    def test_page_is_well_formed_and_needs_nothing_else(self):
        text = page(report())
        nesting = Nesting()
        nesting.feed(text)
        self.assertEqual((nesting.open, nesting.wrong), ([], []))
        self.assertNotRegex(text, r'(src|href)="(https?:)?//')
        self.assertNotIn("@import", text)

    def test_page_says_what_is_missing(self):
        text = page(report())
        self.assertIn(NO_SEQUENTIAL, text)
        self.assertIn("not available", text)
        self.assertIn("stock OTP: 4 schedulers: not done after 120 s", text)
        self.assertIn("pings &amp; &lt;pongs&gt;", text)

    def test_single_runs_have_no_spread_and_a_warning(self):
        self.assertIsNone(stock().row(NO_SEQUENTIAL, NO_PRIVATE)["points"][0]["spread"])
        self.assertIn(WARNING, page(report()))
        self.assertNotIn(">0%<", page(report()))
        sure = report()
        for point in sure["programs"][0]["emulators"]["stock"]["points"]:
            point["times_ms"] = [800, 801]
        self.assertNotIn(WARNING, page(sure))

    def test_plots_have_axes_from_one_origin_a_key_and_names(self):
        text = page(report())
        for plot_text, name in zip(re.findall(r"<figure>.*?</figure>", text), ("speed-up", "active schedulers"), strict=True):
            self.assertIn(f">{name}</text>", plot_text)
            self.assertIn('class="heddle"', plot_text.split("<figcaption>")[1])
            self.assertIn('<line class="axis" x1="52" x2="52"', plot_text)

    def test_large_counts_are_in_millions(self):
        self.assertEqual([number(n, 0) for n in (9_999_999, 12_345_678, 122_125_003)], ["9,999,999", "12.3 M", "122.1 M"])

    def test_page_fits_1280_pixels(self):
        shown = report()
        shown["settings"]["schedulers"] = shown["settings"]["schedulers"][:3]
        many = [dict(program(), name=p.name, group=p.group) for p in PROGRAMS]
        for p in many:
            for row in p["emulators"].values():
                for point in row["points"]:
                    if point["median_ms"]:
                        point |= {"median_ms": 123456.7, "fastest_ms": 123456.7, "counters": {c: [12_345_678] * point["schedulers"] for c in COUNTERS}}
        shown["programs"] = many
        self.assertEqual(misfits(page(shown)), [])


class Output(unittest.TestCase):
    GOOD = "@schedulers 2\n@time 1500\n@hash 7\n@reductions 100 10\n@counter steals 1 2\n@missing migrations\n@sample 10.0 1.50\n@busy 0.5 1.0\n@ok\n"

    def test_figures_of_a_run(self):
        figures = parse("noise\n" + self.GOOD)
        self.assertEqual((figures["ms"], figures["reductions"], figures["schedulers"]), (1.5, 90, 2))
        self.assertEqual(figures["counters"], {"steals": [1, 2], "migrations": None})
        self.assertEqual((figures["samples"], figures["busy"]), ([(10.0, 1.5)], [0.5, 1.0]))

    def test_a_wrong_result_is_no_time(self):
        for ending, said in (("@wrong {1,2}", "wrong result: {1,2}"), ("@failed badarg", "the program failed: badarg"), ("", "no time")):
            with self.assertRaisesRegex(Failed, re.escape(said)):
                parse(self.GOOD.replace("@ok", ending))


if __name__ == "__main__":
    unittest.main()
