"""The modules of a crate, and which of them names which."""

import re
import sys

import rust_paths

sys.setrecursionlimit(10000)
ROOT = ""
# A test of the memory architecture: in any file by path, in the files that define such a test by the bare name. The questions of
# base/memory_mode.rs are no such tests, as each says what differs.
ARCHITECTURE = re.compile(r"\b(?:shared|shared_heap|young|hybrid|area)::is_on\(\)|\barea::is_(?:there|wanted)\(\)"
                          r"|\bmemory_mode\(\)(?! ->)|\bMode::(?:Private|Hybrid|Shared)\b|\bSETTINGS\.memory\.(?:is|get)\(")
BARE = re.compile(r"(?<![:.\w])is_on\(\)")
DEFINING = ("shared/mod.rs", "/young.rs", "/area.rs")


class Crate:
    """Modules are named by their path without `crate::`; the crate's root is ''."""

    def __init__(self, name, source):
        self.name, self.source = name, source
        self.files, self.texts, skipped = {}, {}, set()
        for path in sorted(source.rglob("*.rs")):
            parts = list(path.relative_to(source).with_suffix("").parts)
            if parts[-1] in ("mod", "lib", "main"):
                parts.pop()
            module = "::".join(parts)
            if module == ROOT and module in self.files:
                continue  # A program beside the library: lib.rs comes first.
            self.files[module] = path
            self.texts[module], tests = rust_paths.without_tests(rust_paths.blank(path.read_text()))
            skipped |= {f"{module}::{test}" if module else test for test in tests}
        for module in list(self.files):
            if any(module == test or module.startswith(test + "::") for test in skipped):
                del self.files[module], self.texts[module]
        self.exported = {}
        for module, text in self.texts.items():
            for _, names, alias, is_public in rust_paths.uses(text):
                if is_public:
                    self.exported.setdefault(module, []).append((names, alias))
        self.arrows = {}
        for module in self.files:
            self.read(module)

    def read(self, module):
        imported = {name: [*module.split("::"), name] if module else [name] for name in self.children(module)}
        for line, names, alias, is_public in rust_paths.uses(self.texts[module]):
            if not is_public:
                names = self.whole(names, imported)
                to = self.resolve(module, names)
                if to and to.rpartition("::")[2] == names[-1]:
                    imported.setdefault(alias, to.split("::"))  # A module: what counts is where it is used.
                else:
                    self.arrow(module, line, names)
        for line, names in rust_paths.paths(self.texts[module]):
            self.arrow(module, line, names)
        for line, names in rust_paths.bare_paths(self.texts[module], imported):
            self.arrow(module, line, self.whole(names, imported))

    def whole(self, names, imported):
        """A path that begins with an imported module, or a child, from the root of the crate on."""
        return ["crate", *imported[names[0]], *names[1:]] if names[0] in imported else names

    def arrow(self, module, line, names):
        """What `pub use` says is followed where it is used."""
        if names[0] not in ("crate", "super", "self"):
            return
        to = self.resolve(module, names)
        if to is not None and to != module and to != ROOT:
            self.arrows.setdefault(module, {}).setdefault(to, set()).add(line)

    def children(self, module):
        return [name.rpartition("::")[2] for name in self.files if name and name.rpartition("::")[0] == module]

    def resolve(self, module, names, seen=()):
        """The module in which a path ends; None if it leads out of the crate."""
        at = module
        if names[0] == "crate":
            at = ROOT
        elif names[0] == "super":
            at = module.rpartition("::")[0]
        elif names[0] != "self" and self.child(at, names[0]) is None:
            return None
        rest = names[1:] if names[0] in ("crate", "super", "self") else names
        for i, name in enumerate(rest):
            if name == "super":
                at = at.rpartition("::")[0]
                continue
            child = self.child(at, name)
            if child is None:
                return self.follow(at, name, rest[i + 1:], seen)
            at = child
        return at

    def follow(self, at, name, rest, seen):
        """Where an item that is exported again comes from."""
        for names, alias in self.exported.get(at, []):
            if (at, alias) not in seen and (alias == name or alias == "*"):
                to = self.resolve(at, (names[:-1] if alias == "*" else names) + rest, (*seen, (at, alias)))
                if to is not None and (alias == name or to != at):
                    return to
        return at

    def child(self, module, name):
        path = f"{module}::{name}" if module else name
        return path if path in self.files else None

    def largest_cycle(self):
        """The modules of the largest strongly connected part (Tarjan)."""
        index, low, stack, best = {}, {}, [], []

        def visit(module):
            nonlocal best
            index[module] = low[module] = len(index)
            stack.append(module)
            for to in self.arrows.get(module, ()):
                if to not in index:
                    visit(to)
                    low[module] = min(low[module], low[to])
                elif to in stack:
                    low[module] = min(low[module], index[to])
            if low[module] == index[module]:
                part = stack[stack.index(module):]
                del stack[len(stack) - len(part):]
                if len(part) > len(best):
                    best = part

        for module in self.files:
            if module not in index:
                visit(module)
        return sorted(best) if len(best) > 1 else []

    def folder(self, module):
        """The folder of `src` that a module is in, None for a file beside the folders."""
        first = module.partition("::")[0]
        return first if first != module or (self.source / first).is_dir() and first else None

    def upward(self, order):
        """Arrows from a folder to one that stands later in `order`: (folder, folder) to the pairs of modules."""
        place = {folder: i for i, folder in enumerate(order)}
        found = {}
        for module, targets in self.arrows.items():
            for to in targets:
                pair = self.folder(module), self.folder(to)
                if place.keys() >= set(pair) and place[pair[0]] < place[pair[1]]:
                    found.setdefault(pair, []).append((module, to))
        return found

    def folders(self):
        return sorted({folder for folder in map(self.folder, self.files) if folder})

    def architecture_tests(self):
        """Files that ask which memory architecture is on, with the lines."""
        found = {}
        for module, text in self.texts.items():
            path = self.files[module]
            pattern = BARE if str(path).endswith(DEFINING) else None
            lines = [i + 1 for i, line in enumerate(text.split("\n"))
                     if ARCHITECTURE.search(line) or pattern and pattern.search(line) and "fn is_on" not in line]
            if lines:
                found[str(path.relative_to(self.source.parent.parent.parent))] = lines
        return found
