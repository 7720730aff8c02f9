"""What bench/network measures."""

from collections import namedtuple

#: `server`: a kind of bench/network.d/servers/net_server.erl; `protocol`: of the load generator; `bytes`: of a request.
Scenario = namedtuple("Scenario", "name group server protocol connections bytes")

#: Group, heading, and what is said about it on the page.
GROUPS = {
    "tcp": ("Echo over TCP", "A process for each connection sends back what comes: with {active, once}, {active, 100}, gen_tcp:recv/2, and the module socket."),
    "bulk": ("Large messages", "The same with messages of 64 KB."),
    "tls": ("TLS 1.3", "Echo over AES-128-GCM with ssl:recv/2: 64 KB, 64 bytes, and connections of which each has a whole handshake and one echo of 64 bytes."),
    "udp": ("Datagrams", "One process with {active, 100} sends back datagrams of 64 bytes. Each client waits for its answer."),
    "http": ("HTTP", "GET of 128 bytes over connections that are kept: inets httpd with a file, and cowboy with a handler."),
}

SCENARIOS = [
    *(Scenario(f"{server}_{n}", "tcp", server, "echo", n, 64) for server in ("once", "count", "passive", "socket") for n in (1, 100, 1000)),
    Scenario("once_10000", "tcp", "once", "echo", 10_000, 64),
    *(Scenario(f"{server}_64k_{n}", "bulk", server, "echo", n, 65536) for server in ("once", "passive", "socket") for n in (1, 100)),
    *(Scenario(f"tls_64k_{n}", "tls", "tls", "tls", n, 65536) for n in (1, 100)),
    *(Scenario(f"tls_{n}", "tls", "tls", "tls", n, 64) for n in (1, 100)),
    *(Scenario(f"handshake_{n}", "tls", "tls", "tls_new", n, 64) for n in (1, 16)),
    *(Scenario(f"udp_{n}", "udp", "udp", "udp", n, 64) for n in (1, 100)),
    *(Scenario(f"{server}_{n}", "http", server, "http", n, 0) for server in ("httpd", "cowboy") for n in (1, 100)),
]

#: Connections without traffic, of which the memory is measured.
IDLE = [1000, 10_000]
