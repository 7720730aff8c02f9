"""Which architecture wins where, in words: from the figures of a report, and from nothing else."""

#: Two medians are as good as equal if they differ by no more than this, or by less than the spread of their runs.
EQUAL = 0.05


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


def paragraphs(report):
    """Texts: one on time, one on memory, one on pauses, one on the initial heap size, and on what the figures explain."""
    return [text for text in (wins(report, "median_ms", "Time"), wins(report, "allocated_words", "Memory allocated for heaps, at its most"),
                              wins(report, "longest_minor_ms", "Longest minor collection"), wins(report, "longest_major_ms", "Longest major collection"),
                              against(report), initial(report), *reasons(report)) if text]


def cases(report, hms):
    """(name, {column: row}) of each program at an initial heap size."""
    return [(program["name"], program["sizes"][str(hms)]) for program in report["programs"]]


def wins(report, figure, heading):
    """At the smallest initial heap by name, at the others how often."""
    first, *others = report["settings"]["hms"]
    alone, together, without = sort(report, figure, first)
    if not alone and not together:
        return ""
    parts = [f"{name} is the lowest in {len(names)} ({', '.join(names)})" for name, names in alone]
    if together:
        named = "; ".join(f"{name}: {', '.join(best)}" for name, best in together)
        parts.append(f"no single one in {len(together)} ({named})")
    if without:
        parts.append(f"not to be compared in {len(without)}")
    text = f"{heading}{f', {first} words at first' if others else ''}: {'; '.join(parts)}."
    for hms in others:
        alone, together, _ = sort(report, figure, hms)
        counts = [f"{name} in {len(names)}" for name, names in alone] + ([f"no single one in {len(together)}"] if together else [])
        text += f" With {hms} words: {', '.join(counts)}." if counts else ""
    return text


def sort(report, figure, hms):
    """([(the only winner, [program...])...], [(program, [winner...])...], [program that cannot be compared...])"""
    alone, together, without = {}, [], []
    for name, rows in cases(report, hms):
        won = winner(rows, figure)
        if won is None or len([r for r in rows.values() if r[figure] is not None]) < 2:
            without.append(name)
        elif len(won[0]) == 1:
            alone.setdefault(won[0][0], []).append(name)
        else:
            together.append((name, won[0]))
    return sorted(alone.items(), key=lambda a: -len(a[1])), together, without


def against(report):
    """Each architecture against private, over all programs at the first initial heap size."""
    texts = []
    names = [c["name"] for c in report["columns"] if c["name"] != "private"]
    for architecture in names:
        ratios = []
        for program in report["programs"]:
            rows = program["sizes"][str(report["settings"]["hms"][0])]
            mine, other = (rows.get(n, {}).get("median_ms") for n in (architecture, "private"))
            if mine and other:
                ratios.append((mine / other, program["name"]))
        if ratios:
            low, high = min(ratios), max(ratios)
            texts.append(f"{architecture} takes between {low[0]:.2f} ({low[1]}) and {high[0]:.2f} ({high[1]}) of the time of private")
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
                noise = max(EQUAL, (first["spread"] + last["spread"]) / 2)
                ratio, seen = last["median_ms"] / first["median_ms"], seen + 1
                faster, slower = faster + (ratio < 1 - noise), slower + (ratio > 1 + noise)
        if seen:
            texts.append(f"{column['name']} is faster in {faster} and slower in {slower} of {seen} programs")
    return f"With {sizes[-1]} instead of {sizes[0]} words at first: {'; '.join(texts)}." if texts else ""


def reasons(report):
    """Where an architecture is faster or slower than private by more than the noise, at the smallest initial heap: what it copied and
    collected less, or more. A text for each column and way."""
    hms, texts = report["settings"]["hms"][0], []
    for column in report["columns"]:
        who = column["name"]
        if who in ("private", "stock"):
            continue
        found = {True: [], False: []}
        for name, rows in cases(report, hms):
            mine, private = rows.get(who), rows.get("private")
            if not mine or not private or not mine["median_ms"] or not private["median_ms"]:
                continue
            best = winner({who: mine, "private": private}, "median_ms")[0]
            if len(best) == 1:
                found[best == [who]].append((name, mine, private))
        texts += [because(who, won, programs) for won, programs in found.items() if programs]
    return texts


#: Collections that differ by less of the time that private takes explain nothing.
EXPLAINS = 0.01

#: The figure, what more and less of it is, and its unit.
CAUSES = (("words_copied", "{} words copied by sending", ""), ("minor_ms", "{} time in minor collections", " ms"), ("major_ms", "{} time in major collections", " ms"))


def because(who, won, programs):
    parts, explained = [], set()
    for figure, what, unit in CAUSES:
        led = [(ratio, name, mine[figure], private[figure]) for name, mine, private in programs if (ratio := points(mine, private, figure, won))]
        if led:
            explained |= {name for _, name, _, _ in led}
            _, name, here, there = max(led)
            names = ", ".join(name for _, name, _, _ in led)
            most = f"{here:,.0f} instead of {there:,.0f}" if not unit else f"{here:,.1f} instead of {there:,.1f}{unit}"
            parts.append(f"{what.format('fewer' if not unit and won else 'less' if won else 'more')} in {len(led)} ({names}), by the largest factor in {name} ({most})")
    unexplained = [name for name, _, _ in programs if name not in explained]
    if unexplained:
        parts.append(f"the figures do not tell in {len(unexplained)} ({', '.join(unexplained)})")
    return f"Why {who} is {'faster' if won else 'slower'} than private in {len(programs)}: {'; '.join(parts)}."


def points(mine, private, figure, won):
    """By which factor the figure differs, if it points the way that the time does; else None."""
    here, there = mine[figure], private[figure]
    if here is None or there is None:
        return None
    low, high = (here, there) if won else (there, here)
    least = 0 if figure == "words_copied" else private["median_ms"] * EXPLAINS
    return high / max(low, 1e-9) if low < high * (1 - EQUAL) and high - low >= least else None
