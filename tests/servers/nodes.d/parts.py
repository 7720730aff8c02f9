"""Parts that need no more than nodes: names, calls, looking into a node."""

import signal

from node import atom


def pair(checks, place, erl, other):
    a, b = place.start(erl, "a"), place.start(other, "b")
    b.is_up()
    a.checks(checks, f"node_names:connect({atom(b)})", "a to b")
    b.checks(checks, f"node_names:connect({atom(a)})", "b to a")
    return a, b


def names(checks, place, erl, other):
    a, b = pair(checks, place, erl, other)
    for near, far_erl, name in ((a, other, "a"), (b, erl, "b")):
        events(checks, place, near, far_erl, name)
        hidden(checks, place, near, far_erl, name)
        cookies(checks, place, near, far_erl, name)
        dynamic(checks, place, near, far_erl, name)
        listening(checks, place, near, far_erl, name)


def events(checks, place, near, erl, name):
    c = place.start(erl, f"killed_by_{name}")
    c.is_up()
    near.checks(checks, f"node_names:expect({atom(c)})", name)
    c.signal(signal.SIGKILL)
    near.checks(checks, f"node_names:told({atom(c)})", name)


def hidden(checks, place, near, erl, name):
    c = place.start(erl, f"hidden_{name}", "-hidden")
    c.is_up()
    near.checks(checks, f"node_names:hidden({atom(c)})", name)
    c.end()
    value = near.until("nodes(hidden)", "[]")
    checks.check(f"{name}: the hidden node is gone", value == "[]", value)


def cookies(checks, place, near, erl, name):
    c = place.start(erl, f"cookie_{name}", cookie="another")
    same(checks, f"{name}: a node with another cookie is refused when it connects", c, f"net_adm:ping({atom(near)})", "pang")
    same(checks, f"{name}: and when it is connected to", near, f"net_adm:ping({atom(c)})", "pang")
    same(checks, f"{name}: erlang:set_cookie/2 for this node", near,
         f"{{erlang:set_cookie({atom(c)}, another), erlang:get_cookie({atom(c)}), erlang:get_cookie()}}", "{true,another,nodes}")
    same(checks, f"{name}: it is let in then", near, f"net_adm:ping({atom(c)})", "pong")
    c.end()


def dynamic(checks, place, near, erl, name):
    c = place.start(erl, "undefined", host=None)
    same(checks, f"{name}: a node with -sname undefined has no name yet", c, "{node(), is_alive()}", "{nonode@nohost,true}")
    same(checks, f"{name}: it connects", c, f"net_kernel:connect_node({atom(near)})", "true")
    same(checks, f"{name}: it has a name of its peer then", c, "{is_alive(), maps:get(name_type, net_kernel:get_state())}", "{true,dynamic}")
    same(checks, f"{name}: its peer calls it by that name", c, f"rpc:call({atom(near)}, erpc, call, [node(), erlang, node, []]) =:= node()", "true")
    same(checks, f"{name}: it is hidden there", c, f"[lists:member(node(), rpc:call({atom(near)}, erlang, nodes, [Kind])) || Kind <- [visible, hidden]]", "[false,true]")
    same(checks, f"{name}: it loses the name with its connection", c, f"{{erlang:disconnect_node({atom(near)}), timer:sleep(300), node()}}", "{true,ok,nonode@nohost}")
    c.end()


def listening(checks, place, near, erl, name):
    """A node whose socket that listens has other parameters than usual."""
    c = place.start(erl, f"listening_{name}", "-kernel", "inet_dist_listen_min", "47100", "inet_dist_listen_max", "47120", "inet_dist_listen_options",
                    "[{recbuf,70000},{keepalive,true}]", "inet_dist_connect_options", "[{sndbuf,71000}]", "inet_dist_use_interface", "{127,0,0,1}")
    c.checks(checks, "node_names:listening()", name)
    same(checks, f"{name}: it connects to such a node", near, f"net_adm:ping({atom(c)})", "pong")
    c.end()


def calls(checks, place, erl, other):
    a, b = pair(checks, place, erl, other)
    for near, far, way in ((a, b, "a to b"), (b, a, "b to a")):
        same(checks, f"{way}: an echo starts", far, "node_traffic:start()", "ok")
        value = near.eval(f"node_traffic:there_and_back({atom(far)})", seconds=100)
        checks.check(f"{way}: terms of all kinds and sizes there and back", value.isdigit(), value)
        same(checks, f"{way}: 10,000 messages of changing sizes stay in order", near, f"node_traffic:in_order({atom(far)}, 10000)", "10000", seconds=100)
        near.checks(checks, f"node_calls:check({atom(far)})", way)
        checks.check(f"{way}: the output came", near.heard(f"output of '{far.name}'") or near.heard(f"output of {far.name}"))


def observed(checks, place, erl, other):
    a, b = pair(checks, place, erl, other)
    a.checks(checks, f"node_observed:check({atom(b)})", "a to b")
    b.checks(checks, f"node_observed:check({atom(a)})", "b to a")


def same(checks, what, node, expression, wanted, wait=0, **options):
    """The expression has the value that is wanted, which is written as Erlang writes it. `wait`: or gets it within this time, in seconds."""
    value = node.until(expression, wanted, wait) if wait else node.eval(expression, **options)
    checks.check(what, value == wanted, f"`{expression}` at {node.name} is {value}, not {wanted}")
