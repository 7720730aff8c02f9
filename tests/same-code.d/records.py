"""The record beside these files: operations.txt, cells.txt, kinds.txt."""

from pathlib import Path

import cells
import operations

HERE = Path(__file__).resolve().parent


def bless(program, tools, at=HERE):
    head = "".join(f"# {tool}\n" for tool in tools)
    lines = operations.record(operations.bodies(program))
    (at / "operations.txt").write_text(head + "# operation, variants, instructions, hash\n"
                                       + "".join(f"{name} {line}\n" for name, line in lines.items()))
    text = "# function, cells, hash, hash with the analysis of messages if it is another\n"
    for file in cells.files()[0]:
        module, md5, record, functions = cells.module_record(program, file)
        text += f"\nmodule {module} {md5}\n" + "".join(f"{name} {line}\n" for name, line in record.items())
        if module == "kinds":
            (at / "kinds.txt").write_text(cells.text(functions))
    (at / "cells.txt").write_text(text)
    print(f"same-code: recorded {len(lines)} operations and {text.count(chr(10) + 'module ')} modules")


def tools(at=HERE):
    return [line[2:] for line in (at / "operations.txt").read_text().splitlines()[:2]]


def compare(program, at=HERE):
    """(what differs, how many things were compared, what was skipped and why)."""
    problems, skipped = [], []
    known = parse_operations((at / "operations.txt").read_text())
    here = operations.record(operations.bodies(program))
    compare_lines("operation", known, here, problems)
    compared = len(known)
    modules = parse_cells((at / "cells.txt").read_text())
    files, reason = cells.files()
    if reason:
        skipped.append(f"modules of OTP: {reason}")
    for file in files:
        module, md5, record, functions = cells.module_record(program, file)
        if module not in modules:
            problems.append(f"module {module} is not in the record")
        elif modules[module][0] != md5:
            skipped.append(f"module {module}: the one here is not the recorded one (another release of OTP)")
        else:
            compare_lines(f"cells of {module}:", modules[module][1], record, problems)
            compared += len(record)
        if module == "kinds" and (at / "kinds.txt").read_text() != cells.text(functions):
            problems.append("kinds.txt is not what kinds.beam becomes: `git diff` after BLESS=1 shows the cells")
    return problems, compared, skipped


def compare_lines(what, known, here, problems):
    for name in sorted(known.keys() | here.keys()):
        if known.get(name) != here.get(name):
            problems.append(f"{what} {name}: recorded {known.get(name, 'nothing')}, now {here.get(name, 'nothing')}")


def parse_operations(text):
    rows = [line.rsplit(" ", 3) for line in text.splitlines() if not line.startswith("#")]
    return {name: " ".join(row) for name, *row in rows}


def parse_cells(text):
    """Module to (md5, {function: line})."""
    modules = {}
    for line in text.splitlines():
        if line.startswith("module "):
            _, module, md5 = line.split(" ")
            now = {}
            modules[module] = md5, now
        elif line and not line.startswith("#"):
            # Functions may have spaces in their names; hashes have none.
            name, slash, rest = line.rpartition("/")
            arity, rest = rest.split(" ", 1)
            now[f"{name}/{arity}"] = rest
    return modules
