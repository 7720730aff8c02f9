"""A page in Markdown: its links, its anchors, the files that it names, and what is wrong with them."""

import os
import re
import unicodedata
from pathlib import Path

LINK = re.compile(r"(?<!!)\[[^\[\]]*\]\(([^()\s]+)\)")
# A path that begins at the root of the tree, or a bare name of a source file.
NAMED = re.compile(r"`((?:crates|docs|tests|bench|examples|tools|bin|\.ci)/[\w./-]+|[\w./-]+\.(?:rs|md|erl))`")
# A name of the code: it has an underscore, or is a path of modules.
NAME = re.compile(r"`([A-Za-z]\w*(?:::\w+)+|[A-Za-z]\w*_\w+)(?:\(\))?`")
WORD = re.compile(r"[A-Za-z]\w*")
KB = 1024
MAX_BYTES = 15 * KB
MAX_BYTES_OF = {"ARCHITECTURE.md": 10 * KB}
HEADINGS = ("Problem", "Solution", "What must stay true")


class Page:
    def __init__(self, root, path):
        self.root, self.path = Path(root), path
        self.text = (self.root / path).read_text()
        self.lines = list(unfenced(self.text))

    def headings(self):
        return [line.lstrip("#").strip() for _, line in self.lines if line.startswith("#")]

    def anchors(self):
        """GitHub's names of the headings: a second one of the same name ends in -1."""
        found, seen = set(), {}
        for heading in self.headings():
            name = anchor(heading)
            again = seen.get(name, 0)
            seen[name] = again + 1
            found.add(f"{name}-{again}" if again else name)
        return found

    def links(self):
        """(line, file, anchor) of each link into the tree; the file is relative to the root, and the page itself where none is named."""
        for number, line in self.lines:
            for target in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
                if not re.match(r"[a-z]+:", target):
                    file, _, name = target.partition("#")
                    here = os.path.normpath(os.path.join(os.path.dirname(self.path), file)) if file else self.path
                    yield number, here, name

    def named(self):
        for number, line in self.lines:
            for name in NAMED.findall(line):
                yield number, name


    def names(self):
        for number, line in self.lines:
            for name in NAME.findall(line):
                yield number, name


def unfenced(text):
    """The lines outside of code, with their numbers."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchor(heading):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    kept = (c for c in text if c in " -_" or unicodedata.category(c)[0] in "LN")
    return "".join(kept).replace(" ", "-")


def problems(root, paths, files):
    """What is wrong with the pages `paths` of a tree with `files`, one line each."""
    pages = {path: Page(root, path) for path in paths}
    words = names_in_code(root, files)
    folders = {str(parent) for file in files for parent in Path(file).parents}
    known = set(files) | folders
    linked = {"ARCHITECTURE.md", "README.md"}
    for path, page in sorted(pages.items()):
        size, limit = len(page.text.encode()), MAX_BYTES_OF.get(path, MAX_BYTES)
        if size > limit:
            yield f"{path}: {size} bytes, at most {limit}: split it"
        for number, file, name in page.links():
            linked.add(file)
            if file not in known:
                yield f"{path}:{number}: no such file: {file}"
            elif name and (file not in pages or name not in pages[file].anchors()):
                yield f"{path}:{number}: {file} has no heading #{name}"
        for number, name in page.named():
            if not is_there(name, known):
                yield f"{path}:{number}: no such file: {name}"
        for number, name in page.names():
            if any(part not in words for part in name.split("::")):
                yield f"{path}:{number}: nothing in the tree has the name {name}"
        if subsystem(page):
            missing = [heading for heading in HEADINGS if heading not in page.headings()]
            if missing:
                yield f"{path}: a page with a list of files has the headings {', '.join(HEADINGS)}; missing: {', '.join(missing)}"
    for path in sorted(pages):
        if path.startswith("docs/") and path not in linked:
            yield f"{path}: no page links to it"


def names_in_code(root, files):
    """All words in files that are no documents, and the names of files and folders."""
    found = set()
    for file in files:
        found.update(part.partition(".")[0] for part in Path(file).parts)
        path = Path(root) / file
        if not file.endswith((".md", ".beam")) and path.stat().st_size < 4 << 20:
            found.update(WORD.findall(path.read_text(errors="ignore")))
    return found


def subsystem(page):
    """True for a page that begins with a list of its files."""
    return page.path.startswith("docs/") and any(line == "Files:" for _, line in page.lines)


def is_there(name, known):
    """A path from the root, or the end of the path of a file."""
    name = name.rstrip("/")
    return name in known or not name.startswith(("crates/", "docs/")) and any(path.endswith("/" + name) for path in known)


def moved(file, files):
    """The one file that `file` became: the one with the longest common end of its path. None where that is not one."""
    parts = Path(file).parts
    def common(other):
        pairs = zip(reversed(parts), reversed(Path(other).parts))
        return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(parts), len(Path(other).parts)))
    best = max((common(other) for other in files), default=0)
    found = [other for other in files if common(other) == best]
    same_crate = [other for other in found if Path(other).parts[:2] == parts[:2]]
    found = same_crate if len(found) > 1 else found
    return found[0] if best and len(found) == 1 else None


def mend(root, path, files):
    """Rewrites links to files that moved. Returns (old, new) of each."""
    page, done = Page(root, path), []
    known = set(files) | {str(parent) for file in files for parent in Path(file).parents}
    for _, file, _ in page.links():
        new = moved(file, files) if file not in known else None
        if new:
            base = os.path.dirname(path) or "."
            old_link, new_link = os.path.relpath(file, base), os.path.relpath(new, base)
            page.text = page.text.replace(f"]({old_link})", f"]({new_link})").replace(f"]({old_link}#", f"]({new_link}#")
            done.append((file, new))
    if done:
        (Path(root) / path).write_text(page.text)
    return done
