"""What a run does, and when: phases, and in them faults. The plan follows from the seed and nothing else; the order in which things happen does not."""

import random
from collections import namedtuple

#: Faults and how often each is chosen (silence: see SILENT_PHASES). All but those of the nodes themselves are done by the proxy, to
#: the connection between two nodes.
FAULTS = {
    "cut": (5, "a connection is closed, in an orderly way or with a reset"),
    "refuse": (2, "a connection is closed, and new ones are for a while"),
    "delay": (3, "all bytes arrive some milliseconds later"),
    "slow": (2, "some bytes a second pass"),
    "chop": (3, "bytes arrive in pieces of a few"),
    "stall": (3, "for a while the proxy reads nothing from one side, or from both"),
    "silence": (0, "nothing passes until both nodes must have noticed it (net_ticktime)"),
    "vanish": (2, "for a while the proxy throws away what comes (half-open), then the connection is closed"),
    "kill": (2, "a node is killed (SIGKILL) and started again"),
    "contest": (4, "a node takes or gives up global names that all want"),
    "disconnect": (2, "a node closes a connection (erlang:disconnect_node/1)"),
}
OF_NODES = {"kill", "contest", "disconnect"}

#: Seconds: of a phase, between two faults.
PHASE, BETWEEN = 10.0, 0.9
#: A silent connection is closed after this part of net_ticktime at the latest, and as many seconds more on a busy computer.
TICKS, SPARE = 1.25, 3.0
#: Part of the phases with faults that begin with such a silence.
SILENT_PHASES = 0.4

Step = namedtuple("Step", "number at fault nodes values")
Phase = namedtuple("Phase", "number kind seconds steps")


def plan(seed, seconds, nodes, faults, ticktime):
    """Phases in turn without and with faults, which add up to the seconds. `nodes` are names, `faults` names of FAULTS."""
    rng = random.Random(f"cluster {seed}")
    count = max(2, round(seconds / PHASE))
    phases, numbers = [], iter(range(1, 1 << 30))
    for number in range(1, count + 1):
        kind = "storm" if number % 2 == 0 and faults else "calm"
        length = seconds / count
        steps = list(_steps(rng, length, nodes, faults, ticktime, numbers)) if kind == "storm" else []
        phases.append(Phase(number, kind, length, steps))
    return phases


def _steps(rng, seconds, nodes, faults, ticktime, numbers):
    faults = sorted(faults)
    at, silent, until = rng.uniform(0.1, BETWEEN), (), 0.0
    length = round(TICKS * ticktime + SPARE, 2)
    if "silence" in faults and at + length < seconds and (len(faults) == 1 or rng.random() < SILENT_PHASES):
        # Nothing else happens between these two until it is over.
        silent, until = tuple(rng.sample(nodes, 2)), at + length
        yield Step(next(numbers), round(at, 2), "silence", silent, {"seconds": length})
    others = [fault for fault in faults if fault != "silence"]
    while others and at < seconds - 0.2:
        fault = rng.choices(others, [FAULTS[other][0] for other in others])[0]
        pair = tuple(rng.sample(nodes, 1 if fault in ("kill", "contest") else 2))
        values = _values(rng, fault)
        if at > until or fault == "contest" or not set(pair) <= set(silent):
            yield Step(next(numbers), round(at, 2), fault, pair, values)
        at += rng.expovariate(1 / BETWEEN)


def _values(rng, fault):
    """Keyword arguments of the fault."""
    seconds = round(rng.uniform(0.3, 3), 2)
    if fault == "cut":
        return {"reset": rng.random() < 0.5}
    if fault == "refuse":
        return {"seconds": seconds}
    if fault == "delay":
        return {"milliseconds": rng.choice([1, 5, 20, 100]), "seconds": seconds}
    if fault == "slow":
        return {"bytes_per_second": rng.choice([20_000, 200_000, 2_000_000]), "seconds": seconds}
    if fault == "chop":
        return {"bytes": rng.choice([1, 3, 50, 1000]), "seconds": round(seconds / 3, 2)}
    if fault == "stall":
        return {"sides": rng.choice([1, 2]), "seconds": round(rng.uniform(0.1, 1.5), 2)}
    if fault == "vanish":
        return {"sides": rng.choice([1, 2]), "seconds": seconds}
    if fault == "kill":
        return {"seconds": round(rng.uniform(0.1, 2), 2)}
    return {}


def text(step):
    values = " ".join(f"{key}={value}" for key, value in step.values.items())
    return f"step {step.number}: {step.fault} {' '.join(step.nodes)} {values}".rstrip()
