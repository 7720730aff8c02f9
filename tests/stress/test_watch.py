#!/usr/bin/env python3
"""The watch over the stress run, with programs that speak, end and fall silent:  python3 tests/stress/test_watch.py"""

import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

import watch  # noqa: E402


def program(text):
    return [sys.executable, "-u", "-c", "import os, signal, sys, time\n" + text]


class Watch(unittest.TestCase):
    def run_it(self, text, silence):
        said = []
        return watch.run(program(text), silence, say=said.append), said

    def test_lines_and_exit_code_are_passed_on(self):
        code, said = self.run_it("print('one'); print('two', end=''); sys.exit(3)", 60)
        self.assertEqual((code, said), (3, ["one", "two"]))

    def test_a_program_that_speaks_often_enough_may_take_longer(self):
        code, said = self.run_it("for n in range(4): print(n); time.sleep(0.5)", 1.5)
        self.assertEqual((code, said), (0, ["0", "1", "2", "3"]))

    def test_a_program_that_falls_silent_is_reported_and_killed(self):
        started = time.monotonic()
        code, said = self.run_it("signal.signal(signal.SIGTERM, signal.SIG_IGN); print('phase 1', os.getpid())\nwhile True: pass", 1)
        self.assertIsNone(code)
        self.assertLess(time.monotonic() - started, 60)
        self.assertTrue(said[1].startswith("SILENT: nothing said for 1 s"), said)
        spent, state, *_ = said[2].split()
        self.assertEqual(state, "R", said)
        self.assertGreater(float(spent), 0.2)
        pid = int(said[0].split()[2])
        self.assertFalse(Path(f"/proc/{pid}").exists())


if __name__ == "__main__":
    unittest.main()
