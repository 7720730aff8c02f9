"""The instructions of the engine's operations, with names in place of addresses."""

import difflib
import hashlib
import re
from collections import Counter

from program import output

SECTION = "heddle_ops"
LINE = re.compile(r"^\s*([0-9a-f]+):\t(.*)$")
PADDING = re.compile(r"^(?:(?:data16|cs) )*(?:nop\w*|xchg +%ax,%ax|int3)\b")
POINTER = re.compile(r"-?0x[0-9a-f]+\(%rip\)(.*?)\s+# ([0-9a-f]+)(?: <.*>)?$")
TARGET = re.compile(r"^(\w+\s+)([0-9a-f]+) <.*>$")
THREAD_LOCAL = re.compile(r"%fs:0xf{4,}[0-9a-f]+")


def bodies(program):
    """Full name to normalised instructions, of each operation."""
    text = output("objdump", "-d", "--no-show-raw-insn", "-C", "-j", SECTION, program.path)
    found = {}
    for function in re.split(r"\n(?=[0-9a-f]{16} <)", text):
        head = re.match(r"([0-9a-f]{16}) <", function)
        if head:
            lines = [(int(line[1], 16), line[2]) for line in map(LINE.match, function.splitlines()) if line]
            body = normalised(program, lines)
            for i, name in enumerate(program.names[int(head[1], 16)]):
                while name in found:  # The same name in two modules.
                    name += "'"
                found[name] = body
    return found


def normalised(program, lines):
    """Places in the operation count instructions, and data without names is numbered as it appears."""
    lines = [(address, " ".join(text.split())) for address, text in lines]
    lines = [(address, text) for address, text in lines if not PADDING.match(text)]
    place = {address: i for i, (address, _) in enumerate(lines)}
    data = {}

    def named(address):
        through = ""
        if address in program.slots:
            address, through = program.slots[address], "pointer to "
        return through + (program.name(address) or f"data{data.setdefault(address, len(data) + 1)}")

    body, thread = [], None
    for _, text in lines:
        text = POINTER.sub(lambda found: f"[{named(int(found[2], 16))}]{found[1]}", text)
        if jump := TARGET.match(text):
            to = int(jump[2], 16)
            text = jump[1] + (f"@{place[to]}" if to in place else named(to))
        text = THREAD_LOCAL.sub("%fs:[thread local]", text)
        if thread and text.startswith("lea "):
            text = re.sub(rf"-0x[0-9a-f]+\({thread}\)", f"[thread local]({thread})", text)
        found = re.match(r"mov %fs:0x0,(%\w+)", text)
        thread = found[1] if found else None
        body.append(text)
    return body


def base(name):
    """The operation, without the operands it was made for."""
    return re.sub(r"<.*", "", name.rstrip("'")) or name


def grouped(found):
    groups = {}
    for name, body in found.items():
        groups.setdefault(base(name), []).append("\n".join(body))
    return groups


def record(found):
    """Operation to (variants, instructions, hash over all variants)."""
    lines = {}
    for name, variants in sorted(grouped(found).items()):
        digest = hashlib.sha256("\n\n".join(sorted(variants)).encode()).hexdigest()[:12]
        lines[name] = f"{len(variants)} {sum(v.count(chr(10)) + 1 for v in variants)} {digest}"
    return lines


def differences(old, new, most):
    """What differs between two programs: (operations that differ, text of the first `most` variants)."""
    before, after = grouped(old), grouped(new)
    names = [name for name in sorted(before.keys() | after.keys())
             if Counter(before.get(name, [])) != Counter(after.get(name, []))]
    changed = [name for name in sorted(old.keys() | new.keys()) if base(name) in names and old.get(name) != new.get(name)]
    text = []
    for name in changed[:most]:
        text += difflib.unified_diff(old.get(name, []), new.get(name, []), f"before: {name}", f"after: {name}", lineterm="", n=3)
    if len(changed) > most:
        text.append(f"... and {len(changed) - most} variants more (--diffs {len(changed)} shows all)")
    return names, text
