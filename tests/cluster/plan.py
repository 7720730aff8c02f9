"""What a run does, and when: phases, and in them faults. The plan follows from the seed and nothing else; the order in which things happen does not."""

import random
from collections import namedtuple

#: Faults and how often each is chosen. All but `kill` and `contest` are of the connection between two nodes, in the proxy.
FAULTS = {
    "cut": (5, "a connection is closed, in an orderly way or with a reset"),
    "refuse": (2, "a connection is closed, and new ones are for a while"),
    "delay": (3, "all bytes arrive some milliseconds later"),
    "slow": (2, "some bytes a second pass"),
    "chop": (3, "bytes arrive in pieces of a few"),
    "stall": (3, "for a while the proxy reads nothing from one side, or from both"),
    "vanish": (2, "for a while the proxy throws away what comes (half-open), then the connection is closed"),
    "kill": (2, "a node is killed (SIGKILL) and started again"),
    "contest": (4, "a node takes or gives up global names that all want"),
}

#: Seconds: of a phase, between two faults.
PHASE, BETWEEN = 8.0, 0.9
#: Seconds of a stall: short ones must be survived, after long ones the nodes notice that the other side is silent.
SHORT_STALL, LONG_STALL = (0.1, 1.5), 2.0

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
    weights = [FAULTS[fault][0] for fault in faults]
    at = rng.uniform(0.1, BETWEEN)
    while at < seconds - 0.2:
        fault = rng.choices(faults, weights)[0]
        pair = tuple(rng.sample(nodes, 2))
        yield Step(next(numbers), round(at, 2), fault, pair if fault not in ("kill", "contest") else pair[:1], _values(rng, fault, ticktime))
        at += rng.expovariate(1 / BETWEEN)


def _values(rng, fault, ticktime):
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
        return {"bytes": rng.choice([1, 3, 50, 1000]), "seconds": seconds / 3}
    if fault == "stall":
        long = rng.random() < 0.2
        return {"sides": rng.choice([1, 2]), "seconds": round(LONG_STALL * ticktime if long else rng.uniform(*SHORT_STALL), 2)}
    if fault == "vanish":
        return {"sides": rng.choice([1, 2]), "seconds": seconds}
    if fault == "kill":
        return {"seconds": round(rng.uniform(0.1, 2), 2)}
    return {}


def text(step):
    values = " ".join(f"{key}={value}" for key, value in step.values.items())
    return f"step {step.number}: {step.fault} {' '.join(step.nodes)} {values}".rstrip()
