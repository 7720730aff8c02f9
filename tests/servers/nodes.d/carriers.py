"""Connections through other carriers: TLS, IPv6."""

import contextlib
import signal
import socket
import subprocess

from node import atom
from parts import pair, same


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


def certificates(folder, name):
    """An authority, a certificate of it for localhost, and the options of TLS distribution; the file with these."""
    where = folder / name
    where.mkdir()
    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", where / "authority_key.pem", "-out", where / "authority.pem", "-days", "2",
            "-subj", f"/CN={name}")
    openssl("req", "-x509", "-CA", where / "authority.pem", "-CAkey", where / "authority_key.pem", "-newkey", "rsa:2048", "-nodes", "-keyout",
            where / "key.pem", "-out", where / "certificate.pem", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
            "-addext", "basicConstraints=critical,CA:FALSE")
    common = f'{{certfile,"{where}/certificate.pem"}},{{keyfile,"{where}/key.pem"}},{{cacertfile,"{where}/authority.pem"}},{{verify,verify_peer}}'
    options = where / "options"
    options.write_text(f"[{{server,[{common},{{fail_if_no_peer_cert,true}}]}},{{client,[{common}]}}].\n")
    return options


def traffic(checks, a, b, seconds=100):
    for near, far, way in ((a, b, "a to b"), (b, a, "b to a")):
        same(checks, f"{way}: an echo starts", far, "node_traffic:start()", "ok")
        value = near.eval(f"node_traffic:there_and_back({atom(far)})", seconds=seconds)
        checks.check(f"{way}: terms of all kinds and sizes there and back", value.isdigit(), value)
        same(checks, f"{way}: 10,000 messages of changing sizes stay in order", near, f"node_traffic:in_order({atom(far)}, 10000)", "10000", seconds=seconds)


def tls(checks, place, erl, other):
    options = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", certificates(place.folder, "authority")]
    strange = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", certificates(place.folder, "stranger")]
    pairs = [("tls", erl, erl)] + ([("tls_mixed", erl, other)] if other != erl else [])
    for name, first, second in pairs:
        print(f"-- {name}")
        a, b = place.start(first, f"{name}_a", *options), place.start(second, f"{name}_b", *options)
        b.is_up()
        a.checks(checks, f"node_names:connect({atom(b)})", "a to b")
        same(checks, "its address says so", a, f"begin {{ok, I}} = net_kernel:node_info({atom(b)}), element(4, proplists:get_value(address, I)) end", "tls")
        traffic(checks, a, b)
        for near, far, way in ((a, b, "a to b"), (b, a, "b to a")):
            near.checks(checks, f"node_calls:check({atom(far)})", way, seconds=100)
        plain = place.start(first, f"{name}_plain")
        stranger = place.start(second, f"{name}_stranger", *strange)
        for node, what in ((plain, "a node without TLS"), (stranger, "a node with a certificate of another authority")):
            same(checks, f"{what} is refused", node, f"net_adm:ping({atom(a)})", "pang")
            same(checks, f"{what} is not connected to", a, f"net_adm:ping({atom(node)})", "pang")
            node.end()
        a.eval(f"monitor_node({atom(b)}, true)")
        b.signal(signal.SIGKILL)
        same(checks, "nodedown after kill -9", a, "node_server:next(10000)", f"{{nodedown,{b.name}}}")
        b = place.start(second, f"{name}_b", *options)
        same(checks, "the node comes back", b, f"net_adm:ping({atom(a)})", "pong")


def ipv6(checks, place, erl, other):
    with contextlib.closing(socket.socket(socket.AF_INET6)) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            print("note    this computer has no IPv6: -proto_dist inet6_tcp is not tested")
            return
    options = ["-proto_dist", "inet6_tcp"]
    a, b = place.start(erl, "a", *options, host="::1"), place.start(other, "b", *options, host="::1")
    b.is_up()
    same(checks, "a pings b", a, f"net_adm:ping({atom(b)})", "pong")
    same(checks, "the addresses are of IPv6", a, f"begin {{ok, I}} = net_kernel:node_info({atom(b)}), element(5, proplists:get_value(address, I)) end", "inet6")
    traffic(checks, a, b)
