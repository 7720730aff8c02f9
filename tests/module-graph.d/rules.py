"""The file tests/module-graph.txt, and what breaks its rules."""

import re


class Rules:
    def __init__(self, text):
        self.crates, self.apart, self.cycle, self.order, self.allowed = [], [], {}, {}, {}
        self.architecture_tests = 0
        for number, line in enumerate(text.splitlines(), 1):
            line = line.split("#")[0].strip()
            if line:
                self.row(number, *line.split(None, 1))

    def row(self, number, key, rest=""):
        words = rest.split()
        if key == "crates":
            self.crates = words
        elif key == "apart" and len(words) == 2:
            self.apart.append(tuple(words))
        elif key == "architecture-tests" and rest.isdigit():
            self.architecture_tests = int(rest)
        elif key == "cycle" and len(words) == 2 and words[1].isdigit():
            self.cycle[words[0]] = int(words[1])
        elif key == "folders" and words:
            self.order[words[0]] = words[1:]
        elif key == "upward" and (found := re.match(r"(\w+) (\w+) -> (\w+) (\d+): \S", rest)):
            self.allowed[found[1], found[2], found[3]] = int(found[4])
        else:
            raise SystemExit(f"tests/module-graph.txt:{number}: not understood: {key} {rest}")

    def problems(self, crates, needed):
        """What breaks a rule. Where a number can be lowered is in `notes` afterwards."""
        self.notes = []
        found = []
        for crate in crates:
            found += self.of_crate(crate)
        for name, below in needed.items():
            found += self.of_dependencies(name, below)
        files = sorted(path for crate in crates for path in crate.architecture_tests())
        if len(files) > self.architecture_tests:
            found.append(f"{len(files)} files test the memory architecture, more than {self.architecture_tests}: {' '.join(files)}")
        elif len(files) < self.architecture_tests:
            self.notes.append(f"{len(files)} files test the memory architecture: `architecture-tests` can be lowered")
        return found

    def of_crate(self, crate):
        size, most = len(crate.largest_cycle()), self.cycle.get(crate.name, 0)
        if size > most:
            yield (f"{crate.name}: the largest cycle has {size} modules, more than {most}"
                   f" (tests/module-graph --crate {crate.name} --cycle lists them)")
        elif size < most:
            self.notes.append(f"{crate.name}: the largest cycle has {size} modules: `cycle {crate.name} {most}` can be lowered")
        order = self.order.get(crate.name, [])
        for folder in crate.folders():
            if folder not in order:
                yield f"{crate.name}: the folder {folder} has no place in the order (a line `folders {crate.name} ...`)"
        upward = crate.upward(order)
        for (a, b), pairs in sorted(upward.items()):
            most = self.allowed.get((crate.name, a, b), 0)
            if len(pairs) > most:
                yield (f"{crate.name}: {a} depends on {b}, which is above it, {len(pairs)} times and not {most}: "
                       + ", ".join(f"{x} -> {y}" for x, y in sorted(pairs)))
        for (name, a, b), most in self.allowed.items():
            if name == crate.name and len(upward.get((a, b), [])) < most:
                self.notes.append(f"{name}: the exception {a} -> {b} {most} can be lowered to {len(upward.get((a, b), []))}")

    def of_dependencies(self, name, below):
        if name not in self.crates:
            yield f"the crate {name} has no place in the order (the line `crates`)"
            return
        for other in sorted(below):
            if other not in self.crates[:self.crates.index(name)]:
                yield f"the crate {name} depends on {other}, which is not below it"
        for a, b in self.apart:
            if name in (a, b) and (b if name == a else a) in below:
                yield f"the crates {a} and {b} must not know each other"


def dependencies(manifest):
    """The crates of the workspace that a crate needs, those for its tests left out."""
    found, within = set(), False
    for line in manifest.read_text().splitlines():
        if line.startswith("["):
            within = re.fullmatch(r"\[(?:target\..*\.)?(?:build-)?dependencies\]", line.strip()) is not None
        elif within and (needed := re.match(r"heddle-(\w+)", line)):
            found.add(needed[1])
    return found
