"""Which architecture wins where, and why: from the figures of a report, and from nothing else."""

#: Two medians are as good as equal if they differ by no more than this, or by less than the spread of their runs.
EQUAL = 0.05

#: What is compared: the key in a row, and its name.
COMPARED = (("median_ms", "time"), ("allocated_words", "memory"), ("longest_minor_ms", "longest minor"), ("longest_major_ms", "longest major"))


def winner(rows, figure, equal=EQUAL):
    """The names whose figure is the lowest, or as good as that: ([name...], lowest). None if no name has it."""
    known = {name: row[figure] for name, row in rows.items() if row[figure] is not None}
    if not known:
        return None
    low = min(known.values())
    best = next(name for name in known if known[name] == low)

    def as_good(name):
        noise = max(rows[best]["spread"] or 0, rows[name]["spread"] or 0) / 2 if figure == "median_ms" else 0
        return known[name] <= low * (1 + max(equal, noise))
    return [name for name in known if as_good(name)], low


def best(rows, figure):
    """The names that win; None if fewer than two names have the figure."""
    known = [row for row in rows.values() if row[figure] is not None]
    return winner(rows, figure)[0] if len(known) > 1 else None


def wins(report, figure, hms):
    """[(program, [winner...] or None)...]"""
    return [(name, best(rows, figure)) for name, rows in cases(report, hms)]


def won_alone(report, figure, hms):
    """In how many programs each column is the only winner: {column: number}"""
    alone = [winners[0] for _, winners in wins(report, figure, hms) if winners and len(winners) == 1]
    return {c["name"]: alone.count(c["name"]) for c in report["columns"]}


def cases(report, hms):
    """(name, {column: row}) of each program at an initial heap size."""
    return [(program["name"], program["sizes"][str(hms)]) for program in report["programs"]]


def single_runs(report):
    """True if some time is of one run: it has no spread, so small differences mean nothing."""
    return any(row["runs"] == 1 for program in report["programs"] for rows in program["sizes"].values() for row in rows.values())


def lines(report):
    """The same as the tables of the page, for a terminal."""
    first = report["settings"]["hms"][0]
    yield f"Lowest, {first} words at first:"
    yield f"{'program':18}" + "".join(f"  {title:22}" for _, title in COMPARED)
    columns = [wins(report, figure, first) for figure, _ in COMPARED]
    for cells in zip(*columns, strict=True):
        yield f"{cells[0][0]:18}" + "".join(f"  {named(winners):22}" for _, winners in cells)
    if single_runs(report):
        yield WARNING
    yield from paragraphs(report)
    for name, architecture, ratio, causes in reasons(report):
        if causes is not None:
            told = "; ".join(f"{what} {here:,.{digits}f} instead of {there:,.{digits}f}" for what, digits, here, there in causes)
            yield f"{name}: {architecture} takes {ratio:.2f} of the time of private: {told or 'the figures do not tell why'}"


WARNING = "Some times are of a single run and have no spread: small differences mean nothing."


def named(winners):
    return "-" if winners is None else ", ".join(winners)


def paragraphs(report):
    """Texts: each architecture against private, and what the initial heap size changes."""
    return [text for text in (against(report), initial(report)) if text]


def against(report):
    """Each architecture against private, over all programs at the first initial heap size."""
    texts = []
    for column in report["columns"]:
        ratios = [(ratio, name) for name, architecture, ratio, _ in reasons(report) if architecture == column["name"]]
        if ratios:
            low, high = min(ratios), max(ratios)
            texts.append(f"{column['name']} takes between {low[0]:.2f} ({low[1]}) and {high[0]:.2f} ({high[1]}) of the time of private")
    return f"With an initial heap of {report['settings']['hms'][0]} words {'; '.join(texts)}." if texts else ""


def initial(report):
    """What the largest initial heap changes against the smallest, by column."""
    sizes = [str(hms) for hms in report["settings"]["hms"]]
    if len(sizes) < 2:
        return ""
    texts = []
    for column in report["columns"]:
        faster = slower = seen = 0
        for program in report["programs"]:
            first, last = (program["sizes"][size].get(column["name"], {}) for size in (sizes[0], sizes[-1]))
            if first.get("median_ms") and last.get("median_ms"):
                noise = max(EQUAL, ((first["spread"] or 0) + (last["spread"] or 0)) / 2)
                ratio, seen = last["median_ms"] / first["median_ms"], seen + 1
                faster, slower = faster + (ratio < 1 - noise), slower + (ratio > 1 + noise)
        if seen:
            texts.append(f"{column['name']} is faster in {faster} and slower in {slower} of {seen} programs")
    return f"With {sizes[-1]} instead of {sizes[0]} words at first: {'; '.join(texts)}." if texts else ""


#: Collections that differ by less of the time that private takes explain nothing.
EXPLAINS = 0.01

#: The figure, its name, and digits.
CAUSES = (("words_copied", "words copied", 0), ("minor_ms", "minor collections, ms", 1), ("major_ms", "major collections, ms", 1))


def reasons(report):
    """[(program, column, time / private's time, causes)...] at the smallest initial heap. `causes` is None if the two times differ by no more
    than the noise. Else it has (name, digits, here, with private) of each figure that points the way that the time does: what was copied and
    collected less, or more. Of stock there are no causes: its figures are of another emulator."""
    found = []
    for name, rows in cases(report, report["settings"]["hms"][0]):
        private = rows.get("private")
        for column in report["columns"]:
            architecture, mine = column["name"], rows.get(column["name"])
            if architecture == "private" or not mine or not private or not mine["median_ms"] or not private["median_ms"]:
                continue
            fastest = winner({architecture: mine, "private": private}, "median_ms")[0]
            told = None if len(fastest) > 1 or architecture == "stock" else causes(mine, private, fastest == [architecture])
            found.append((name, architecture, mine["median_ms"] / private["median_ms"], told))
    return found


def causes(mine, private, won):
    return [(what, digits, mine[figure], private[figure]) for figure, what, digits in CAUSES if points(mine, private, figure, won)]


def points(mine, private, figure, won):
    """True if the figure differs the way that the time does, and by enough to explain it."""
    here, there = mine[figure], private[figure]
    if here is None or there is None:
        return False
    low, high = (here, there) if won else (there, here)
    least = 0 if figure == "words_copied" else private["median_ms"] * EXPLAINS
    return low < high * (1 - EQUAL) and high - low >= least
