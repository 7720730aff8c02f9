#!/usr/bin/env python3
"""Tests of what bench/network shows: figures, page, plots. `bench/network` itself measures; this needs no emulator."""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "network.d"), str(HERE / "scaling.d"), str(HERE)]

import net_plot  # noqa: E402
from browser import misfits  # noqa: E402
from net_figures import ratio, summary  # noqa: E402
from net_page import page  # noqa: E402
from scenarios import GROUPS, SCENARIOS  # noqa: E402


def run(rate, latency=100.0, left=0):
    return {"answered": int(rate), "per_second": rate, "lost": 0, "left": left, "p50_us": latency, "p99_us": 10 * latency, "p999_us": 100 * latency, "max_us": 1000 * latency}


def row(scenario, heddle=None, stock=None):
    free = {"heddle": summary(heddle or []), "stock": summary(stock or [])}
    return scenario._asdict() | {"rate": 12345.6, "free": free, "paced": free, "errors": {"heddle": "" if heddle else "it <ended>", "stock": ""}}


def report(rows):
    return {"when": "2026-11-26T12:00:00+00:00", "machine": {"cores": 2, "cpu": "a CPU", "system": "Linux", "load_before": 0.1, "load_after": 2.0},
            "settings": {"runs": 3, "seconds": 2.0, "share": 0.6, "schedulers": 2, "filter": "*"},
            "emulators": {"heddle": {"path": "bin/erl", "flags": ["+S", "2:2"]}, "stock": {"path": "/usr/bin/erl", "flags": ["+S", "2:2"]}},
            "scenarios": rows, "idle": [{"name": "idle_1000", "connections": 1000, "errors": {"heddle": "", "stock": "too few descriptors"},
                                         "bytes": {"heddle": 4321.0, "stock": None}, "runs": {}}]}


class Figures(unittest.TestCase):
    def test_medians_and_spread(self):
        figures = summary([run(100, 5), run(300, 1), run(200, 3)])
        self.assertEqual((figures["per_second"], figures["best_per_second"], figures["spread"], figures["p99_us"]), (200, 300, 1.0, 30))

    def test_what_was_not_measured_is_none(self):
        self.assertIsNone(summary([]))
        self.assertIsNone(summary([run(1)])["spread"])
        self.assertIsNone(ratio(None, summary([run(1)]), "per_second"))
        self.assertEqual(ratio(summary([run(3)]), summary([run(2)]), "per_second"), 1.5)


class Plots(unittest.TestCase):
    def points(self, svg):
        return [tuple(map(float, p.split(","))) for p in re.search(r'<polyline class="curve heddle" points="([^"]*)"', svg).group(1).split()]

    def test_latencies_stand_on_a_logarithmic_axis(self):
        svg = net_plot.latencies([("heddle", "Heddle", {"p50_us": 10, "p99_us": 100, "p999_us": 1000})])
        (_, low), (_, middle), (_, high) = self.points(svg)
        self.assertAlmostEqual(low - middle, middle - high, delta=0.11)
        self.assertIn(">1000</text>", svg)

    def test_throughput_is_in_thousands(self):
        svg = net_plot.throughput([("heddle", "Heddle", [(1, 2000.0), (100, 4000.0)])], [1, 100])
        (_, first), (_, second) = self.points(svg)
        self.assertGreater(first, second)
        self.assertIn("Heddle: 4,000/s at 100", svg)


class Page(unittest.TestCase):
    def test_every_scenario_has_a_group_and_a_name_of_its_own(self):
        self.assertEqual({s.group for s in SCENARIOS}, set(GROUPS))
        self.assertEqual(len({s.name for s in SCENARIOS}), len(SCENARIOS))

    def test_it_says_what_failed_and_what_was_left(self):
        text = page(report([row(SCENARIOS[0], None, [run(5, left=7)])]))
        self.assertIn("once_1: Heddle: it &lt;ended&gt;", text)
        self.assertIn("7 requests were left at the end", text)
        self.assertIn("too few descriptors", text)
        self.assertNotRegex(text, r'(src|href)="(https?:)?//')

    def test_it_fits_1280_pixels(self):
        rows = [row(s, [run(123456.7, 1234.5), run(98765.4)], [run(123456.7, 12345.6)]) for s in SCENARIOS]
        self.assertEqual(misfits(page(report(rows))), [])


if __name__ == "__main__":
    unittest.main()
