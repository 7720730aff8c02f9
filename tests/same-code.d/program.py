"""The program that tests/same-code looks at: how it is built, its symbols, what addresses in it mean."""

import bisect
import os
import re
import subprocess
import sys
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / "target/same-code/examples/cells"


def build():
    """Builds the engine with the profile `same-code`, and its example `cells` that the operations and the loader are in."""
    environment = dict(os.environ, RUSTFLAGS="-C symbol-mangling-version=v0")
    for name in [name for name in environment if name.startswith("CARGO_PROFILE_")]:
        del environment[name]
    command = ["cargo", "build", "-q", "-p", "heddle-engine", "--profile", "same-code", "--example", "cells"]
    if subprocess.run(command, cwd=ROOT, env=environment).returncode:
        sys.exit(2)
    return BUILT


def output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        sys.exit(f"tests/same-code needs {command[0]} (package binutils)")
    except subprocess.CalledProcessError as failed:
        sys.exit(f"tests/same-code: {' '.join(map(str, command))}: {failed.stderr.strip()}")


def short(name):
    """A symbol's name without the modules that its parts are in: modules may move."""
    name = re.sub(r"\[[0-9a-f]+\]", "", name).replace("::<", "<")
    return re.sub(r"(?:\b[A-Za-z_]\w*::)+(?=[A-Za-z_<{])", "", name)


def tools():
    """What a record depends on: the compiler, and the disassembler's way to write."""
    return [output("rustc", "--version").strip(), output("objdump", "--version").splitlines()[0].strip()]


class Program:
    def __init__(self, path):
        self.path = str(path)

    @cached_property
    def symbols(self):
        """(address, size, name) in order of addresses."""
        found = []
        for line in output("nm", "-C", "-S", "--defined-only", self.path).splitlines():
            parts = re.match(r"([0-9a-f]+) (?:([0-9a-f]+) )?([A-Za-z]) (.*)", line)
            found.append((int(parts[1], 16), int(parts[2] or "0", 16), parts[4]))
        return sorted(found)

    @cached_property
    def names(self):
        """Address to the names of what begins there, in order: the compiler may make one of two equal functions."""
        found = {}
        for address, _, name in self.symbols:
            found.setdefault(address, []).append(short(name))
        return {address: sorted(names) for address, names in found.items()}

    @cached_property
    def main(self):
        return next(address for address, _, name in self.symbols if re.fullmatch(r"cells(\[\w+\])?::main", name))

    @cached_property
    def slots(self):
        """What pointers hold that the dynamic linker fills with addresses of the program itself."""
        found = re.findall(r"^([0-9a-f]+) \S*RELATIVE\S*\s+\*ABS\*\+0x([0-9a-f]+)", output("objdump", "-R", self.path), re.M)
        return {int(at, 16): int(value, 16) for at, value in found}

    def name(self, address):
        """The name of what lies at an address, and how far inside; None for data without a name."""
        if address in self.names:
            return self.names[address][0]
        at = bisect.bisect_right(self.symbols, (address, 1 << 62, "")) - 1
        start, size, name = self.symbols[at]
        return f"{short(name)}+{address - start:#x}" if at >= 0 and address < start + size else None
