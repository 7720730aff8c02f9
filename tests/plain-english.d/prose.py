"""The sentences and names in a file: (line, text) of each line of a comment, a text for users, a document, or the name of a test."""

import re
from pathlib import Path

RUST = re.compile(r"""(?P<comment>//[^\n]*|/\*.*?\*/)|(?P<text>b?r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*")|b?'(?:\\.[^']*|[^'\\\n])'""", re.S)
PYTHON = re.compile(r'''(?P<text>[rbf]*(?P<quotes>"""|\'\'\').*?(?P=quotes)|[rbf]*"(?:\\.|[^"\\\n])*"|[rbf]*'(?:\\.|[^'\\\n])*')|(?P<comment>\#[^\n]*)''', re.S)
ERLANG = re.compile(r"""(?P<comment>%[^\n]*)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\$(?:\\.|.)""", re.S)
SHELL = re.compile(r"(?:^|(?<=\s))(?P<comment>#[^\n]*)", re.M)
# Names that a reader meets as sentences (tests) or as units (constants). Uses of a name do not count again.
RUST_NAMES = re.compile(r"\b(?:fn|const|static|struct|enum|mod)\s+(\w+)")
PYTHON_NAMES = re.compile(r"\bdef\s+(test_\w+)|^([A-Z][A-Z_]+)\s*=", re.M)
# A text in the code is for users if it is a sentence: at least four words.
SENTENCE = re.compile(r"(?:[A-Za-z,;:'-]+\s+){3}")


def kind(path):
    """How to read a file; None for those that have no prose of ours."""
    path = Path(path)
    by_ending = {".rs": "rust", ".py": "python", ".erl": "erlang", ".hrl": "erlang", ".md": "document", ".sh": "shell", ".toml": "shell"}
    if path.suffix in by_ending:
        return by_ending[path.suffix]
    if path.name == "Makefile" or path.suffix == "" and path.name != "LICENSE":
        first = path.read_bytes()[:80] if path.is_file() else b""
        if first.startswith(b"#!"):
            return "python" if b"python" in first.split(b"\n")[0] else "erlang" if b"escript" in first else "shell"
        return "shell" if path.name == "Makefile" else None
    return None


def lines(path):
    how = kind(path)
    if how is None:
        return
    text = Path(path).read_text(errors="replace")
    if how == "document":
        yield from document(text)
        return
    pattern = {"rust": RUST, "python": PYTHON, "erlang": ERLANG, "shell": SHELL}[how]
    code = list(text)
    for found in pattern.finditer(text):
        parts = found.groupdict()
        start = text.count("\n", 0, found.start()) + 1
        if parts.get("comment") or parts.get("text") and SENTENCE.search(found[0]):
            for i, line in enumerate(found[0].split("\n")):
                yield start + i, re.sub(r"`[^`]*`", "``", line)
        code[found.start():found.end()] = re.sub(r"[^\n]", " ", found[0])
    names = {"rust": RUST_NAMES, "python": PYTHON_NAMES}.get(how)
    if names:
        code = "".join(code)
        for found in names.finditer(code):
            yield code.count("\n", 0, found.start()) + 1, next(filter(None, found.groups()))


def document(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, re.sub(r"`[^`]*`", "``", line)
