"""A distributed application (kernel's dist_ac): it goes to the other node when its own is killed, and comes back."""

import signal

from parts import same

APPLICATION = '{application, node_shared, [{description, "runs on one node"}, {vsn, "1"}, {modules, [node_shared]}, {registered, []},' \
              " {applications, [kernel, stdlib]}, {mod, {node_shared, []}}]}.\n"


def applications(checks, place, erl, other):
    (place.beams / "node_shared.app").write_text(APPLICATION)
    for first_erl, second_erl, way in ((erl, other, "from a to b"), (other, erl, "from b to a")):
        move(checks, place, first_erl, second_erl, way)


def move(checks, place, first_erl, second_erl, way):
    names = [f"{word}_{way[-1]}" for word in ("first", "second")]
    first, second = (f"{name}@localhost" for name in names)
    config = place.file(f"{names[0]}.config", f"[{{kernel, [{{distributed, [{{node_shared, 200, [{first}, {second}]}}]}}, "
                                              f"{{sync_nodes_optional, [{first}, {second}]}}, {{sync_nodes_timeout, 5000}}]}}].\n")
    nodes = [place.start(erl, name, "-config", config) for erl, name in ((first_erl, names[0]), (second_erl, names[1]))]
    for node in nodes:
        same(checks, f"{way}: the application starts at {node.name}", node, "spawn(application, start, [node_shared]), ok", "ok")

    def runs(node, wanted, what):
        value = node.until("node_shared:where()", wanted, seconds=20)
        checks.check(f"{way}: {what}", value == wanted, f"{value}, not {wanted}")

    runs(nodes[1], f"{{{first},normal}}", "it runs on the first node")
    same(checks, f"{way}: and not on the second one", nodes[1], "lists:keymember(node_shared, 1, application:which_applications())", "false")
    nodes[0].signal(signal.SIGKILL)
    runs(nodes[1], f"{{{second},normal}}", "it is on the second node after kill -9 of the first one")
    again = place.start(first_erl, names[0], "-config", config)
    again.eval("spawn(application, start, [node_shared]), ok")
    runs(again, f"{{{first},{{takeover,{second}}}}}", "the first node takes it over when it is back")
    same(checks, f"{way}: application:takeover by the second node", nodes[1], "application:takeover(node_shared, permanent)", "ok")
    runs(again, f"{{{second},{{takeover,{first}}}}}", "it runs there")
    for node in (again, nodes[1]):
        node.kill()
