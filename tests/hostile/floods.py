"""Attacks on one bound each: as many of a thing as the node takes."""

import re
import subprocess

from server import Failed

#: Kind: how many, and what the node logs when it closes the connection (None: it takes them all).
FLOODS = {
    "sequences": (200_000, "incomplete messages"),
    "packet": (2_000, None),
    "monitors": (200_000, None),
    "links": (200_000, None),
    "spawns": (50_000, None),
    "names": (5_000, None),
    "idle": (2_000, None),
}
#: Resident bytes that a node may have more than at the beginning, when the peer has gone.
GROWTH = 150 << 20


def flood(run, kind):
    """The attack on a node of its own. Returns what was counted."""
    if kind not in FLOODS:
        raise Failed(f"no flood {kind}; there are {', '.join(FLOODS)}")
    count, reason = FLOODS[kind]
    run.start()
    before = run.settled()
    done = subprocess.run(run.peer("--flood", kind, "--frames", count), capture_output=True, text=True, timeout=10 * run.options.patience)
    said = [line for line in done.stdout.splitlines() if line.startswith("flood")]
    print("\n".join(said), flush=True)
    if done.returncode != 0:
        run.wrong(f"flood {kind}: {done.stdout.strip()[-500:]}")
    after, told = run.settled(), run.node.ask("told")
    friend = run.friend.ask("friend")
    if reason and not any(reason in re.sub("[0-9]+", "N", why) for why in told):
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
