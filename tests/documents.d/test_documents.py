#!/usr/bin/env python3
"""tests/documents on a small tree:  python3 tests/documents.d/test_documents.py"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import pages  # noqa: E402

SUBSYSTEM = "# Signals\n\nFiles:\n\n- [inbox.rs](../crates/one/src/inbox.rs)\n\n## Problem\n\n## Solution\n\n## What must stay true\n"
TREE = {
    "ARCHITECTURE.md": "# Map\n\n[Signals](docs/signals.md#what-must-stay-true), [code](crates/one)\n",
    "docs/signals.md": SUBSYSTEM,
    "crates/one/src/inbox.rs": "",
}


class Documents(unittest.TestCase):
    def tree(self, **changed):
        at = tempfile.TemporaryDirectory()
        self.addCleanup(at.cleanup)
        self.root = Path(at.name)
        self.files = {**TREE, **{name.replace("__", "/").replace("_md", ".md").replace("_rs", ".rs"): text for name, text in changed.items()}}
        for name, text in self.files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)

    def problems(self, **changed):
        self.tree(**changed)
        return list(pages.problems(self.root, [name for name in self.files if name.endswith(".md")], list(self.files)))

    def test_a_tree_in_order_has_no_problems(self):
        self.assertEqual(self.problems(), [])

    def test_links_to_files_and_headings_that_are_not_there_are_found(self):
        found = self.problems(README_md="[a](docs/none.md) [b](docs/signals.md#none) [c](https://example.org/x) `[d](e)`\n")
        self.assertEqual(found, ["README.md:1: no such file: docs/none.md", "README.md:1: docs/signals.md has no heading #none"])

    def test_headings_of_one_name_have_numbers(self):
        self.assertEqual(self.problems(README_md="# A `b`, c\n# A b c\n[x](#a-b-c) [y](#a-b-c-1)\n"), [])
        self.assertEqual(len(self.problems(README_md="# A `b`, c\n[y](#a-b-c-1)\n")), 1)

    def test_named_files_exist(self):
        self.assertEqual(self.problems(README_md="`inbox.rs`, `crates/one/src/inbox.rs`, `crates/one/src/`, `one/src/inbox.rs`, `x:y/1`\n"), [])
        self.assertEqual(len(self.problems(README_md="`outbox.rs`, `crates/two/src/inbox.rs`\n")), 2)

    def test_names_of_the_code_exist(self):
        code = {"crates__one__src__outbox_rs": "fn take_all() {}\n"}
        self.assertEqual(self.problems(README_md="`outbox::take_all`, `take_all()`, `take some`\n", **code), [])
        self.assertEqual(self.problems(README_md="`outbox::put`, `take_none`\n", **code),
                         ["README.md:1: nothing in the tree has the name outbox::put", "README.md:1: nothing in the tree has the name take_none"])

    def test_code_is_no_prose(self):
        self.assertEqual(self.problems(README_md="```\n[a](none.md) `none.rs`\n```\n    [a](none.md)\n"), [])

    def test_large_pages_are_refused(self):
        self.assertEqual(self.problems(README_md="x" * 15 * 1024), [])
        self.assertEqual(len(self.problems(README_md="x" * (15 * 1024 + 1))), 1)
        self.assertEqual(len(self.problems(ARCHITECTURE_md=TREE["ARCHITECTURE.md"] + "x" * 10 * 1024)), 1)

    def test_a_page_of_a_subsystem_has_its_headings(self):
        found = self.problems(docs__signals_md=SUBSYSTEM.replace("## Solution\n", ""))
        self.assertEqual(found, ["docs/signals.md: a page with a list of files has the headings Problem, Solution, What must stay true; "
                                 "missing: Solution"])

    def test_a_page_without_a_link_to_it_is_found(self):
        self.assertEqual(self.problems(docs__lost_md="# Lost\n"), ["docs/lost.md: no page links to it"])

    def test_links_to_files_that_moved_are_mended(self):
        self.tree(crates__one__src__signal__outbox_rs="")
        (self.root / "docs/signals.md").write_text(SUBSYSTEM.replace("inbox.rs", "outbox.rs"))
        done = pages.mend(self.root, "docs/signals.md", list(self.files))
        self.assertEqual(done, [("crates/one/src/outbox.rs", "crates/one/src/signal/outbox.rs")])
        self.assertIn("(../crates/one/src/signal/outbox.rs)", (self.root / "docs/signals.md").read_text())

    def test_a_file_that_could_have_moved_to_two_places_is_left(self):
        self.assertEqual(pages.moved("crates/one/src/mod.rs", ["crates/one/src/a/mod.rs", "crates/one/src/b/mod.rs"]), None)
        self.assertEqual(pages.moved("crates/one/src/a/mod.rs", ["crates/one/src/x/a/mod.rs", "crates/one/src/b/mod.rs"]),
                         "crates/one/src/x/a/mod.rs")


unittest.main()
