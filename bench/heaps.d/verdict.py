"""Which architecture wins where, in words: from the figures of a report, and from nothing else."""

#: Two medians are as good as equal if they differ by no more than this, or by less than the spread of their runs.
EQUAL = 0.05


def winner(rows, figure, equal=EQUAL):
    """The names whose figure is the lowest, or as good as that: ([name...], lowest). None if nobody has it."""
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
    """Texts: one on time, one on memory, one on pauses, one on the initial heap size, one on what the figures explain."""
    return [text for text in (wins(report, "median_ms", "Time"), wins(report, "allocated_words", "Memory allocated for heaps, at its most"),
                              wins(report, "longest_minor_ms", "Longest minor collection"), wins(report, "longest_major_ms", "Longest major collection"),
                              against(report), initial(report), reasons(report)) if text]


def cases(report):
    """(what it is called, {column: row}) of each program and initial heap size."""
    several = len(report["settings"]["hms"]) > 1
    for program in report["programs"]:
        for hms, rows in program["sizes"].items():
            yield program["name"] + (f" ({hms} words)" if several else ""), rows


def wins(report, figure, heading):
    alone, together, without = {}, [], []
    for name, rows in cases(report):
        won = winner(rows, figure)
        if won is None or len([r for r in rows.values() if r[figure] is not None]) < 2:
            without.append(name)
        elif len(won[0]) == 1:
            alone.setdefault(won[0][0], []).append(name)
        else:
            together.append((name, won[0]))
    if not alone and not together:
        return ""
    parts = [f"{who} is the lowest in {len(names)} ({', '.join(names)})" for who, names in sorted(alone.items(), key=lambda a: -len(a[1]))]
    if together:
        named = "; ".join(f"{name}: {', '.join(best)}" for name, best in together)
        parts.append(f"no single one in {len(together)} ({named})")
    if without:
        parts.append(f"not to be compared in {len(without)}")
    return f"{heading}: {'; '.join(parts)}."


def against(report):
    """Each architecture against private, over all programs at the first initial heap size."""
    texts = []
    names = [c["name"] for c in report["columns"] if c["name"] != "private"]
    for who in names:
        ratios = []
        for program in report["programs"]:
            rows = program["sizes"][str(report["settings"]["hms"][0])]
            mine, other = (rows.get(n, {}).get("median_ms") for n in (who, "private"))
            if mine and other:
                ratios.append((mine / other, program["name"]))
        if ratios:
            low, high = min(ratios), max(ratios)
            texts.append(f"{who} takes between {low[0]:.2f} ({low[1]}) and {high[0]:.2f} ({high[1]}) of the time of private")
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
    """Where an architecture is faster or slower than private by more than the noise: what it copied and collected less, or more."""
    texts = []
    for column in report["columns"]:
        who = column["name"]
        if who in ("private", "stock"):
            continue
        faster, slower = [], []
        for name, rows in cases(report):
            mine, private = rows.get(who), rows.get("private")
            if not mine or not private or not mine["median_ms"] or not private["median_ms"]:
                continue
            best = winner({who: mine, "private": private}, "median_ms")[0]
            if len(best) == 1:
                won = best == [who]
                (faster if won else slower).append(f"{name}: {explanation(mine, private, won)}")
        texts += [f"Why {who} is {how} than private: {'; '.join(found)}." for how, found in (("faster", faster), ("slower", slower)) if found]
    return " ".join(texts)


#: Collections that differ by less of the time that private takes explain nothing.
EXPLAINS = 0.01


def explanation(mine, private, won):
    """What of the figures points the way that the time does."""
    parts = []
    for figure, what in (("words_copied", "words copied by sending"), ("minor_ms", "ms in minor collections"), ("major_ms", "ms in major collections")):
        here, there = mine[figure], private[figure]
        if here is None or there is None:
            continue
        low, high = (here, there) if won else (there, here)
        least = 0 if figure == "words_copied" else private["median_ms"] * EXPLAINS
        if low < high * (1 - EQUAL) and high - low >= least:
            parts.append(f"{here:,.0f} instead of {there:,.0f} {what}" if figure == "words_copied" else f"{here:,.1f} instead of {there:,.1f} {what}")
    return ", ".join(parts) or "the figures do not tell"
