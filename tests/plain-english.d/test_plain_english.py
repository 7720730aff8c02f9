#!/usr/bin/env python3
"""What tests/plain-english finds, and what not:  python3 tests/plain-english.d/test_plain_english.py"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import constructions  # noqa: E402
import prose  # noqa: E402

RUST = '''//! Who waits does so awake first.
/// Whether it is full, as `nobody` says.
fn who_takes_it_goes_on() {
    let who = nobody(behind); // A thread that takes it keeps it.
    let help = "Gives the number of those that run";
    let key = "behind";
    let raw = r#"one // he sleeps in a text for users"#;
    /* The receiver
       waits so many rounds. */
}
const MOST_WORDS: usize = 'x' as usize;
const MAX_WORDS: usize = MOST_WORDS;
'''


class Constructions(unittest.TestCase):
    def found(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.write_text(text)
            return [(line, kind) for line, kind, _ in constructions.found(prose.lines(path))]

    def test_rust(self):
        self.assertEqual(self.found("a.rs", RUST), [(1, "who"), (2, "Whether"), (5, "Gives"), (7, "he"), (9, "so many"), (3, "who"),
                                                    (11, "MOST_")])

    def test_documents_without_their_code(self):
        self.assertEqual(self.found("a.md", "It lies behind it.\n```\nwho\n```\nThe code `who` is here.\nNobody knows.\n"),
                         [(1, "behind"), (6, "nobody")])

    def test_python(self):
        self.assertEqual(self.found("a.py", '"""Who asks is\ntold, so much is sure."""\nwho = 1  # for him\nbehind = "behind"\n'),
                         [(1, "who"), (2, "so many"), (3, "he")])
        self.assertEqual(self.found("b.py", "def test_nobody_waits():\n    pass\nLEAST_BYTES = 1\n"), [(1, "nobody"), (3, "MOST_")])

    def test_erlang_comments_alone(self):
        self.assertEqual(self.found("a.erl", "who() -> \"% who\", 'behind', $%.  % who is it\n"), [(1, "who")])

    def test_shell(self):
        self.assertEqual(self.found("Makefile", "all: # whoever builds\n\techo who $#who\n"), [(1, "who")])

    def test_plain_sentences(self):
        plain = ["A process whose heap is full is collected.", "What it leaves behind is freed.", "so many that it fails",
                 "Returns the help text, then the shell.", "MOSTLY almost the theory of this history"]
        for sentence in plain:
            self.assertEqual(self.found("a.rs", f"// {sentence}\n"), [], sentence)

    def test_each_construction_says_what_is_better(self):
        self.assertTrue(all(better for _, _, better in constructions.CONSTRUCTIONS))


if __name__ == "__main__":
    unittest.main()
