"""Attacks on one bound each: as many of a thing as the node takes."""

import subprocess

from server import Failed

#: Kind: how many, what the node logs when it closes the connection (None: it takes them all), and flags of the node.
FLOODS = {
    "atoms": (100_000, "the peer has made as many new atoms as it may", "+hdatom 20000"),
    "table": (100_000, "the atom table is full, but for what this node needs itself", "+t 40000"),
    "exports": (100_000, "the peer has named as many unknown functions as it may", "+hdfun 20000"),
    "funs": (100_000, "the peer has named as many unknown functions as it may", "+hdfun 20000"),
    "sequences": (200_000, "incomplete messages", ""),
    "fragments": (10_000, "bytes in incomplete messages", "+hdfrag 64"),
    "answers": (5_000_000, "bytes of small messages wait for it to read", "+hdout 64"),
    "packet": (2_000, None, ""),
    "monitors": (200_000, None, ""),
    "links": (200_000, None, ""),
    "spawns": (50_000, None, ""),
    "names": (5_000, None, ""),
    "idle": (2_000, None, ""),
}
#: Resident bytes that a node may have more than at the beginning, when the peer has gone.
GROWTH = 150 << 20


def flood(run, kind):
    """The attack on a node of its own. Returns what was counted."""
    if kind not in FLOODS:
        raise Failed(f"no flood {kind}; there are {', '.join(FLOODS)}")
    count, reason, flags = FLOODS[kind]
    run.start(flags)
    before = run.settled()
    done = subprocess.run(run.peer("--flood", "atoms" if kind == "table" else kind, "--frames", count), capture_output=True, text=True, timeout=10 * run.options.patience)
    said = [line for line in done.stdout.splitlines() if line.startswith("flood")]
    print("\n".join(said), flush=True)
    if done.returncode != 0:
        run.wrong(f"flood {kind}: {done.stdout.strip()[-500:]}")
    after, told = run.settled(), run.node.ask("told")
    friend = run.friend.ask("friend")
    # What the node makes itself has room in its tables still.
    run.node.ask("atoms")
    if reason and not any(reason in why for why in told):
        run.wrong(f"flood {kind}: the node did not log `{reason}`: {told}")
    if after["resident"] > before["resident"] + GROWTH:
        run.wrong(f"flood {kind}: the node grew from {before['resident']:,} to {after['resident']:,} resident bytes")
    for what in ("processes", "ports", "nodes"):
        if after[what] > before[what]:
            run.wrong(f"flood {kind}: {after[what] - before[what]} {what} are left over")
    if run.node.end() != 0:
        run.wrong(f"flood {kind}: the node did not end in an orderly way")
    run.end()
    return {"before": before, "after": after, "told": told, "friend": friend, "peer": said}
