#!/usr/bin/env python3
"""tests/module-graph on a small crate:  python3 tests/module-graph.d/test_module_graph.py"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from graph import Crate  # noqa: E402
from rules import Rules, dependencies  # noqa: E402

FILES = {
    "lib.rs": "pub mod low;\npub mod high;\npub use high::inner::Thing;\n",
    "low/mod.rs": "//! use crate::high::inner;\npub mod clock;\n#[cfg(test)]\nmod tests {\n    use crate::high::inner;\n}\n",
    "low/clock.rs": 'fn f() { let _ = "crate::high::inner::x"; }\n',
    "high/mod.rs": "pub mod inner;\npub mod other;\nuse crate::low::{self, clock::{now as n, then}};\nfn f() { low::start() }\n",
    "high/inner.rs": "use super::other::{A, B};\npub struct Thing;\n",
    "high/other.rs": "fn g() {\n    crate::high::inner::h();\n    if shared::is_on() {}\n}\n",
}
RULES = "crates one two\ncycle two 2\narchitecture-tests 1\nfolders two low high\n"


class Graph(unittest.TestCase):
    def crate(self, **changed):
        self.at = tempfile.TemporaryDirectory()
        self.addCleanup(self.at.cleanup)
        source = Path(self.at.name) / "crates/two/src"
        for name, text in (FILES | {name.replace("__", "/") + ".rs": text for name, text in changed.items()}).items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        return Crate("two", source)

    def problems(self, rules=RULES, **changed):
        return Rules(rules).problems([self.crate(**changed)], {"two": {"one"}})

    def test_arrows(self):
        arrows = self.crate().arrows
        self.assertEqual(arrows, {"high": {"low": {4}, "low::clock": {3}}, "high::inner": {"high::other": {1}},
                                  "high::other": {"high::inner": {2}}})

    def test_names_exported_again_lead_to_their_module(self):
        self.assertIn("high::inner", self.crate(low__clock="use crate::Thing;\n").arrows["low::clock"])

    def test_an_imported_module_leads_to_what_is_used_of_it(self):
        changed = {"high__mod": "pub use inner::Thing;\npub mod inner;\n", "low__clock": "use crate::high;\nfn f(a: high::Thing) {}\n"}
        self.assertEqual(self.crate(**changed).arrows["low::clock"], {"high::inner": {2}})
        self.assertNotIn("low::clock", self.crate(low__clock="use crate::high;\n").arrows)

    def test_within_the_rules(self):
        self.assertEqual(self.problems(), [])

    def test_a_larger_cycle(self):
        grown = self.problems(high__inner="use super::other::A;\nuse crate::high;\nfn f() { high::g() }\n",
                              high__mod="fn g() { other::g() }\n")
        self.assertEqual(len(grown), 1)
        self.assertIn("the largest cycle has 3 modules, more than 2", grown[0])

    def test_an_upward_arrow(self):
        upward = "use crate::high::other;\nfn f() { other::g() }\n"
        self.assertEqual(self.problems(low__clock=upward),
                         ["two: low depends on high, which is above it, 1 times and not 0: low::clock -> high::other"])
        self.assertEqual(self.problems(RULES + "upward two low -> high 1: a reason\n", low__clock=upward), [])

    def test_a_folder_without_a_place(self):
        self.assertEqual(len(self.problems(RULES.replace("low high", "low"))), 1)

    def test_more_files_with_tests_of_the_architecture(self):
        self.assertIn("2 files test the memory architecture, more than 1",
                      self.problems(low__clock="fn a() { young::is_on() }\n")[0])
        for asks in ("match memory_mode() {}", "SETTINGS.memory.is(x)", "area::is_there()", "let m = Mode::Shared;"):
            self.assertEqual(len(self.problems(low__clock=f"fn a() {{ {asks} }}\n")), 1, asks)
        self.assertEqual(self.problems(low__clock="fn a() { memory_mode::collects_together() }\n"), [])

    def test_crates_depend_downward(self):
        crate = [self.crate()]
        self.assertEqual(Rules(RULES).problems(crate, {"one": {"two"}}), ["the crate one depends on two, which is not below it"])
        self.assertEqual(Rules(RULES + "apart one two\n").problems(crate, {"two": {"one"}}),
                         ["the crates one and two must not know each other"])

    def test_dependencies_without_those_of_tests(self):
        manifest = Path(self.at.name if hasattr(self, "at") else tempfile.mkdtemp()) / "Cargo.toml"
        manifest.write_text("[dependencies]\nheddle-abi.workspace = true\nlibc = \"1\"\n[dev-dependencies]\nheddle-model.workspace = true\n")
        self.assertEqual(dependencies(manifest), {"abi"})


if __name__ == "__main__":
    unittest.main()
