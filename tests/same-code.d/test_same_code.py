#!/usr/bin/env python3
"""tests/same-code notices what it is there for:  python3 tests/same-code.d/test_same_code.py"""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import operations  # noqa: E402
import records  # noqa: E402
from program import BUILT, Program, short, tools  # noqa: E402

CODE = """
{start:016x} <heddle_engine::ops::{module}::swap::<heddle_engine::ctx::X>>:
  {start:x}:\tmov    0x8(%rdi),{register}
  {second:x}:\tje     {end:x} <heddle_engine::ops::swap+0x19>
  {third:x}:\tmov    0x1234(%rip),%rcx        # 9000 <_DYNAMIC+0x10>
  {fourth:x}:\tcall   {helper:x} <heddle_runtime::{module}::help>
  {end:x}:\tjmp    *%rax
  {padding:x}:\tcs nopw 0x0(%rax,%rax,1)
"""


class Fake:
    """A program with one operation at `start`."""

    def __init__(self, start, module="data", register="%rax"):
        self.start, self.path = start, "fake"
        self.names = {start: ["swap<X>"], start + 0x1000: ["help"]}
        self.slots = {0x9000: 0x7000}
        self.text = CODE.format(start=start, second=start + 4, third=start + 6, fourth=start + 13, end=start + 20, padding=start + 22,
                                helper=start + 0x1000, module=module, register=register)

    def name(self, address):
        return self.names.get(address, [None])[0]


class Operations(unittest.TestCase):
    def setUp(self):
        self.objdump, operations.output = operations.output, lambda *command: command[-1]

    def tearDown(self):
        operations.output = self.objdump

    def bodies(self, *fake):
        program = Fake(*fake)
        program.path = program.text
        return operations.bodies(program)

    def test_addresses_and_modules_do_not_count(self):
        self.assertEqual(self.bodies(0x1000), self.bodies(0x5550, "elsewhere"))

    def test_instructions_do(self):
        old, new = self.bodies(0x1000), self.bodies(0x1000, "data", "%rbx")
        self.assertNotEqual(operations.record(old), operations.record(new))
        names, text = operations.differences(old, new, 5)
        self.assertEqual(names, ["swap"])
        self.assertIn("-mov 0x8(%rdi),%rax", text)
        self.assertIn("+mov 0x8(%rdi),%rbx", text)

    def test_what_addresses_become(self):
        self.assertEqual(self.bodies(0x1000)["swap<X>"],
                         ["mov 0x8(%rdi),%rax", "je @4", "mov [pointer to data1],%rcx", "call help", "jmp *%rax"])

    def test_names_lose_their_modules_only(self):
        self.assertEqual(short("heddle_engine::ctx::fused::<heddle_engine::ctx::Then<heddle_engine::ops::a::b<x::X>, y::Y>>"),
                         "fused<Then<b<X>, Y>>")
        self.assertEqual(short("<heddle_term[0f3a]::map::Map as core::ops::Drop>::drop"), "<Map as Drop>::drop")


class Record(unittest.TestCase):
    """Of the program that tests/same-code has built."""

    def setUp(self):
        if not BUILT.exists() or records.tools() != tools():
            self.skipTest("tests/same-code has not been run, or skipped the comparison")
        self.program = Program(BUILT)
        self.at = Path(tempfile.mkdtemp())
        for name in ("operations.txt", "cells.txt", "kinds.txt"):
            shutil.copy(HERE / name, self.at)

    def tearDown(self):
        shutil.rmtree(getattr(self, "at", ""), ignore_errors=True)

    def change(self, name, old, new):
        text = (self.at / name).read_text()
        self.assertIn(old, text)
        (self.at / name).write_text(text.replace(old, new, 1))

    def test_a_change_in_each_of_the_three_is_found(self):
        before = len(records.compare(self.program, self.at)[0])
        self.change("operations.txt", "\nabs 6 ", "\nabs 7 ")
        self.change("cells.txt", "\nselects/1 48 ", "\nselects/1 49 ")
        self.change("kinds.txt", "func_info", "func_info_2")
        problems = records.compare(self.program, self.at)[0]
        self.assertEqual(len(problems), before + 3)
        self.assertTrue(any(problem.startswith("operation abs: recorded 7 ") for problem in problems))
        self.assertTrue(any(problem.startswith("cells of kinds: selects/1: recorded 49 ") for problem in problems))

    def test_another_release_of_a_module_is_skipped(self):
        before = records.compare(self.program, self.at)[1]
        self.change("cells.txt", "module kinds c4f6", "module kinds 0000")
        problems, compared, skipped = records.compare(self.program, self.at)
        self.assertIn("module kinds: the one here is not the recorded one (another release of OTP)", skipped)
        self.assertLess(compared, before)


if __name__ == "__main__":
    unittest.main()
