"""Paths of modules that a Rust file names: a reader good enough for formatted code, not a parser."""

import re

TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""", re.S)
PATH = re.compile(r"\b(?:crate|super|self)(?:::[A-Za-z_]\w*)+")
BARE = re.compile(r"(?<![\w:.])[a-z_]\w*(?:::[A-Za-z_]\w*)+")
USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);", re.M)
TEST_MODULE = re.compile(r"#\[cfg\((?:all\()?(?:any\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([;{])")


def blank(text):
    """The text without comments and literals; lines stay where they are."""
    return TOKEN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def without_tests(text):
    """Code of `blank` without the modules for tests alone, and the names of those that are files."""
    files = set()
    while found := TEST_MODULE.search(text):
        end = found.end()
        if found[2] == ";":
            files.add(found[1])
        else:
            depth = 1
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
        text = text[:found.start()] + re.sub(r"[^\n]", " ", text[found.start():end]) + text[end:]
    return text, files


def tree(text):
    """Paths, as lists of names, with the name each is imported as, of what stands in a `use`."""
    text = text.strip()
    brace = text.find("{")
    if brace < 0:
        path, _, alias = text.partition(" as ")
        names = [name.strip() for name in path.split("::")]
        if names[-1] == "self":
            names.pop()
        return [(names, alias.strip() or names[-1])] if names else []
    prefix = [name.strip() for name in text[:brace].split("::") if name.strip()]
    found, depth, start = [], 0, brace + 1
    for i in range(brace, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if (text[i] == "," and depth == 1) or depth == 0:
            if part := text[start:i].strip():
                if part == "self" or part.startswith("self as "):
                    found.append((prefix, part[8:].strip() or prefix[-1]))
                else:
                    found += [(prefix + names, alias) for names, alias in tree(part)]
            start = i + 1
        if depth == 0:
            break
    return found


def uses(text):
    """(line, names, alias, is public) of each import; `text` comes from `without_tests`."""
    for found in USE.finditer(text):
        line = text.count("\n", 0, found.start(2)) + 1
        for names, alias in tree(found[2]):
            yield line, names, alias, bool(found[1])


def paths(text):
    """(line, names) of each path outside of imports that begins with crate, super or self."""
    outside = USE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in PATH.finditer(outside):
        yield outside.count("\n", 0, found.start()) + 1, found[0].split("::")


def bare_paths(text, names):
    """(line, names) of each path in `text`, outside of imports, that begins with one of these names."""
    text = USE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    for found in BARE.finditer(text):
        path = found[0].split("::")
        if path[0] in names:
            yield text.count("\n", 0, found.start()) + 1, path
