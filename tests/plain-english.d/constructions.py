"""The constructions that are counted, each with what to write in its place."""

import re

# In names words are joined by `_`, so that is no part of a word here.
B, E = r"(?<![A-Za-z0-9'])", r"(?![A-Za-z0-9])"

CONSTRUCTIONS = [(name, re.compile(pattern), better) for name, pattern, better in [
    ("who", rf"{B}(?:[Ww]ho|[Ww]hoever|[Ww]hom){E}", "name it: `a thread that ...`, `the receiver`"),
    ("he", rf"{B}(?:[Hh]e|[Hh]im|[Hh]is|[Hh]imself){E}", "name it, or `it`: threads and processes are things"),
    ("nobody", rf"{B}(?:[Nn]obody|[Ss]omebody|[Ee]verybody){E}", "`no thread`, `no process`, `a process`"),
    ("Gives", rf"{B}Gives{E}", "`Returns`"),
    ("Whether", r"^\s*(?://[/!]?|%+|#)\s*Whether\b", "`True if`"),
    ("so many", rf"{B}[Ss]o (?:many|much){E}(?! (?:that|as)\b)", "say how many: a number, `that many`, `as many as ...`"),
    ("behind", rf"{B}(?<!leave )(?<!leaves )(?<!left )[Bb]ehind{E}", "`after`, `in addition to`, `following`"),
    ("is to be", rf"{B}(?:is|are|was|were) (?:not )?to (?:be|get|have|stay|wait|end){E}", "`must be`, `will be`, `should`"),
    ("MOST_", r"(?<![A-Za-z])(?:MOST|LEAST|FEWEST)(?:_|\b)(?=[A-Z_]|$)", "`MAX_`, `MIN_`"),
    ("for ever", rf"{B}for ever{E}", "`forever`, or say until when"),
    ("outside documents", rf"{B}(?:seed 00\d|spec \d)", "cite the paper by title and section"),
    ("no verb", r"^\s*//[/!] (?:And|But|Else|Or)\b[^.]*\.$", "a sentence of its own, with subject and verb"),
]]


def found(lines):
    """(line, construction, text) of each occurrence."""
    for number, text in lines:
        for name, pattern, _ in CONSTRUCTIONS:
            for _ in pattern.finditer(text):
                yield number, name, text.strip()
