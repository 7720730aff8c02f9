#!/usr/bin/env python3
"""Tests of what bench/nodes shows: figures, page, plots. `bench/nodes` itself measures; this needs no emulator."""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "nodes.d"), str(HERE / "network.d"), str(HERE / "scaling.d"), str(HERE)]

import node_plot  # noqa: E402
from browser import misfits  # noqa: E402
from node_figures import geometric_mean, ratio, summary  # noqa: E402
from node_page import page  # noqa: E402
from node_rows import GROUPS, PAIRS, ROWS, SIZES  # noqa: E402

VALUES = {"per_second": 123456.7, "mb_per_second": 1234.5, "p50_us": 120, "p99_us": 3400, "p999_us": 56000}


def run(row, factor=1.0):
    return {key: VALUES[key] * factor for key in row.keys}


def shown(row, tested=(), stock=(), error=""):
    figures = {"tested": summary([run(row, factor) for factor in tested], row.keys), "stock": summary([run(row, factor) for factor in stock], row.keys)}
    return row._asdict() | {"errors": {"tested": error, "stock": ""}, "figures": figures}


def report(rows):
    return {"when": "2026-11-27T12:00:00+00:00", "machine": {"cores": 2, "cpu": "a CPU", "system": "Linux", "load_before": 0.1, "load_after": 2.0},
            "settings": {"runs": 3, "seconds": 1.0, "schedulers": 2, "filter": "*"},
            "pairs": {"tested": {"paths": ["bin/erl", "/usr/bin/erl"], "flags": [[], []], "about": "Heddle, OTP 27; OTP 27"},
                      "stock": {"paths": ["/usr/bin/erl", "/usr/bin/erl"], "flags": [[], []], "about": ""}}, "rows": rows}


class Figures(unittest.TestCase):
    def test_medians_of_each_figure_and_the_spread_of_the_first(self):
        runs = [{"p50_us": 10, "p99_us": 500, "mb": 1}, {"p50_us": 30, "p99_us": 100, "mb": 2}, {"p50_us": 20, "p99_us": 300, "mb": 3}]
        figures = summary(runs, ("p50_us", "p99_us"))
        self.assertEqual((figures["p50_us"], figures["p99_us"], figures["spread"], figures["runs"]), (20, 300, 1.0, runs))

    def test_what_was_not_measured_is_none(self):
        self.assertIsNone(summary([], ("per_second",)))
        self.assertIsNone(summary(None, ("per_second",)))
        one = summary([{"per_second": 5}], ("per_second",))
        self.assertIsNone(one["spread"])
        self.assertIsNone(ratio(None, one, "per_second"))
        self.assertIsNone(ratio(one, None, "per_second"))
        self.assertEqual(ratio(summary([{"per_second": 3}], ("per_second",)), one, "per_second"), 0.6)

    def test_means_leave_out_what_was_not_measured(self):
        self.assertAlmostEqual(geometric_mean([2, None, 0.5, 8]), 2)
        self.assertIsNone(geometric_mean([None]))


class Rows(unittest.TestCase):
    def test_every_row_has_a_group_and_a_name_of_its_own(self):
        self.assertEqual({row.group for row in ROWS}, set(GROUPS))
        self.assertEqual(len({row.name for row in ROWS}), len(ROWS))

    def test_the_plots_name_rows_that_are_there(self):
        names = {row.name for row in ROWS}
        self.assertLessEqual({f"{kind}_{size}" for kind in ("binary", "list", "map") for size in SIZES} | {f"oneway_{n}" for n in PAIRS}, names)

    def test_the_programs_know_all_rows(self):
        program = (HERE / "nodes.d" / "programs" / "nodes_rows.erl").read_text()
        for row in ROWS:
            if row.group != "sizes":
                self.assertIn(f"run({row.name}, ", program)
        for size in SIZES:
            self.assertIn(f'size_of("{size}") ->', program)


class Page(unittest.TestCase):
    def test_the_curve_stands_at_the_logarithm_of_the_count(self):
        svg = node_plot.over([("heddle", "tested", [(1, 10.0), (100, 10.0), (10000, 20.0)])], [1, 100, 10000], {1: "1", 100: "100", 10000: "10000"}, "y", "x", "z")
        points = [tuple(map(float, p.split(","))) for p in re.search(r'<polyline class="curve heddle" points="([^"]*)"', svg).group(1).split()]
        (left, low), (middle, same), (right, high) = points
        self.assertAlmostEqual(middle - left, right - middle, delta=0.11)
        self.assertEqual(low, same)
        self.assertGreater(low, high)
        self.assertIn("tested: 20.0 at 10000", svg)

    def test_it_says_what_failed(self):
        text = page(report([shown(ROWS[0], (), [1.0], "a node <ended>")]))
        self.assertIn("ping_64, tested pair: a node &lt;ended&gt;", text)
        self.assertIn("it did not start", text)
        self.assertNotRegex(text, r'(src|href)="(https?:)?//')

    def test_a_row_of_latencies_has_three_lines_with_a_ratio_each(self):
        row = next(row for row in ROWS if row.group == "latency")
        text = page(report([shown(row, [0.5, 0.5], [1.0])]))
        for quantile in ("p50", "p99", "p999"):
            self.assertIn(f"<td>{quantile}, µs</td>", text)
        self.assertEqual(text.count("<td>0.50</td>"), 3)

    def test_it_fits_1280_pixels(self):
        self.assertEqual(misfits(page(report([shown(row, [1.0, 1.3], [1.0, 1.1]) for row in ROWS]))), [])


if __name__ == "__main__":
    unittest.main()
