"""The cells that the loader makes of modules, with names in place of addresses."""

import difflib
import hashlib
import os
import re
import subprocess
from pathlib import Path

from program import ROOT, output

HERE = Path(__file__).resolve().parent
# Files of our own: always the same. The first is small enough that its cells are recorded as a text.
OWN = [HERE / "kinds.beam", ROOT / "crates/engine/tests/data/bt_24.beam", ROOT / "crates/engine/tests/data/bt_27.beam"]
# Of OTP: lists and recursion, maps, receive and records, natives, floats, binaries, large functions and tables, records and ports.
OTP = ["stdlib/lists", "stdlib/maps", "stdlib/gen_server", "stdlib/ets", "stdlib/rand", "stdlib/binary", "stdlib/unicode",
       "compiler/beam_asm", "kernel/file_io_server", "kernel/inet_db"]


def files():
    """The files to load, and why there are none of OTP."""
    root = os.environ.get("HEDDLE_OTP") or subprocess.run([ROOT / "tools/find-otp"], capture_output=True, text=True).stdout.strip()
    if not root or not (Path(root) / "lib").is_dir():
        return OWN, "no OTP tree is here (HEDDLE_OTP)"
    found = []
    for name in OTP:
        app, module = name.split("/")
        found += sorted(Path(root).glob(f"lib/{app}-*/ebin/{module}.beam"))[-1:]
    return OWN + found, None


def dump(program, file, *options):
    """Module, its hash, and {function: lines}. Each file has a process of its own: the numbers of atoms depend on what came before."""
    lines = output(program.path, *options, str(file)).splitlines()
    _, module, md5 = lines[0].split(" ")
    functions, now = {}, None
    for line in lines[1:]:
        if line.startswith("function "):
            now = functions[line[len("function "):]] = []
        else:
            now.append(named(program, line))
    return module, md5, functions


def named(program, line):
    found = re.fullmatch(r"(\d+) (op|code) (-?\d+)", line)
    if not found:
        return line
    name = program.name(program.main + int(found[3]))
    return f"{found[1]} {name or 'memory'}" if found[2] == "op" else f"{found[1]} code {name or 'memory'}"


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:10]


def module_record(program, file):
    """(module, md5, {function: "cells hash", with a second hash where the analysis of messages makes other code}, the lines)."""
    module, md5, functions = dump(program, file)
    analysed = dump(program, file, "--messages")[2]
    record = {}
    for name, lines in functions.items():
        other = f" {digest(analysed[name])}" if analysed[name] != lines else ""
        record[name] = f"{len(lines)} {digest(lines)}{other}"
    return module if file.stem == module else file.stem, md5, record, functions


def text(functions):
    return "".join(f"\n{name}:\n" + "".join(f"    {line}\n" for line in lines) for name, lines in functions.items())


def differences(old, new, most):
    """What differs between the cells of two programs, over all files: (functions that differ, text of the first)."""
    names, shown = [], []
    for file in files()[0]:
        for options in ([], ["--messages"]):
            module, _, before = dump(old, file, *options)
            after = dump(new, file, *options)[2]
            for name in sorted(before.keys() | after.keys()):
                if before.get(name) == after.get(name):
                    continue
                names.append(" ".join([f"{file.stem}:{name}", *options]))
                if len(names) <= most:
                    a, b = before.get(name, []), after.get(name, [])
                    shown += difflib.unified_diff(a, b, f"before: {names[-1]}", f"after: {names[-1]}", lineterm="", n=3)
    if len(names) > most:
        shown.append(f"... and {len(names) - most} functions more (--diffs {len(names)} shows all)")
    return names, shown
