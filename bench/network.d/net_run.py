"""Starts a server on an emulator, and the load generator against it."""

import contextlib
import json
import os
import subprocess
import threading
from pathlib import Path

from emulator import Failed, last

#: Descriptors that a server and the generator need beside those of connections.
SPARE = 200


class Server:
    """A server that runs. Ends with its input."""

    def __init__(self, emulator, flags, beams, libraries, kind, timeout):
        paths = [part for path in [beams, *libraries] for part in ("-pa", str(path))]
        command = [emulator, *flags, "-noshell", *paths, "-run", "net_server", "main", kind]
        try:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                            errors="replace", env=os.environ | {"ERL_CRASH_DUMP_SECONDS": "0"})
        except OSError as error:
            raise Failed(str(error)) from None
        self.output = []
        self.timer = threading.Timer(timeout, self.process.kill)
        self.timer.daemon = True
        self.timer.start()
        self.port, self.os_pid = self.said("port"), self.said("os_pid")

    def said(self, word):
        """The rest of the next line `@word ...`."""
        for line in self.process.stdout:
            self.output.append(line)
            if line.startswith(f"@{word} "):
                return int(line.split()[1])
        self.stop()
        raise Failed(f"the server ended: {last(''.join(self.output))}")

    def resident(self):
        """Bytes of memory that the process has, after all its processes were collected."""
        self.process.stdin.write("memory\n")
        self.process.stdin.flush()
        self.said("memory")
        pages = int(Path(f"/proc/{self.os_pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.timer.cancel()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def load(generator, server, scenario, seconds, warm_up, rate=None):
    """Figures of one run of the load generator: {answered, per_second, lost, left, p50_us, p99_us, p999_us, max_us}."""
    command = [generator, "--to", f"127.0.0.1:{server.port}", "--protocol", scenario.protocol, "--connections", str(scenario.connections),
               "--bytes", str(max(scenario.bytes, 1)), "--seconds", str(seconds), "--warm-up", str(warm_up)]
    if rate:
        command += ["--rate", f"{rate:.1f}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + warm_up + 60)
    except subprocess.TimeoutExpired:
        raise Failed("the load generator did not end") from None
    if done.returncode != 0:
        raise Failed(last(done.stderr))
    figures = json.loads(done.stdout)
    if figures["answered"] == 0:
        raise Failed("no request was answered")
    return figures


def idle_bytes(generator, server, connections):
    """Bytes of memory for each connection that carries nothing, in the server's process."""
    before = server.resident()
    command = [generator, "--to", f"127.0.0.1:{server.port}", "--connections", str(connections), "--hold"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as clients:
        if not clients.stdout.readline():
            raise Failed(last(clients.stderr.read()))
        grown = server.resident() - before
        clients.stdin.close()
    return grown / connections
