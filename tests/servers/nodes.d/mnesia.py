"""mnesia with disc copies on both nodes: what was acknowledged is there after kill -9 of either node. After kill -9 of both they start and agree."""

import signal
import time

from node import atom
from parts import same

WRITERS = 4


def mnesia(checks, place, erl, other):
    erls = {"a": erl, "b": other}

    def start(name):
        return place.start(erls[name], name, "-mnesia", "dir", f'"{place.folder}/mnesia_{name}"')

    nodes = {name: start(name) for name in erls}
    for node in nodes.values():
        node.is_up()
    a, b = nodes.values()
    same(checks, "a connects to b", a, f"net_adm:ping({atom(b)})", "pong")
    same(checks, "tables with disc copies on both nodes", a, f"node_mnesia:create([{atom(a, b)}])", "ok", seconds=60)
    files = [place.folder / f"acknowledged_{name}" for name in erls]
    for killed, other_one in (("a", "b"), ("b", "a"), ("a", "b")):
        begin(checks, nodes, files)
        nodes[killed].signal(signal.SIGKILL)
        alive = nodes[other_one]
        same(checks, f"{other_one} works on after kill -9 of {killed}", alive, "mnesia:system_info(running_db_nodes)", f"[{alive.name}]", wait=10)
        time.sleep(1)
        nodes[killed] = start(killed)
        same(checks, f"{killed} starts again while {other_one} writes", nodes[killed], "node_mnesia:start()", "ok", seconds=60)
        time.sleep(1)
        same(checks, f"the writers of {other_one} end", alive, "node_mnesia:stop()", "ok")
        compare(checks, nodes, files)
    begin(checks, nodes, files)
    for node in nodes.values():
        node.signal(signal.SIGKILL)
    nodes = {name: start(name) for name in erls}
    for name, node in nodes.items():
        same(checks, f"{name} starts after kill -9 of both", node, "spawn(node_mnesia, start, []), ok", "ok", seconds=60)
    for name, node in nodes.items():
        same(checks, f"{name} has its tables", node, "node_server:until(yes, fun() -> mnesia:system_info(is_running) end), node_mnesia:wait()", "ok", seconds=60)
    # With both nodes killed, mnesia loses transactions of the last moments, on stock as well.
    agree(checks, nodes)


def begin(checks, nodes, files):
    for (name, node), file in zip(nodes.items(), files):
        same(checks, f"transactions under way on {name}", node, f'node_mnesia:write("{file}", {WRITERS})', "true")
    time.sleep(2)


def compare(checks, nodes, files):
    """Both nodes have all that was acknowledged on either, and the same."""
    names = ",".join(f'"{file}"' for file in files)
    for name, node in nodes.items():
        value = node.eval(f"node_mnesia:missing([{names}])", seconds=60)
        count = value.strip("{").split(",")[0]
        checks.check(f"{name} has all {count} transactions that were acknowledged, each whole", value == f"{{{count},0,0,true}}" and int(count) > 0, value)
    agree(checks, nodes)


def agree(checks, nodes):
    hashes = {node.eval("node_mnesia:contents()", seconds=60) for node in nodes.values()}
    checks.check("both have the same", len(hashes) == 1 and next(iter(hashes)).isdigit(), str(hashes))
