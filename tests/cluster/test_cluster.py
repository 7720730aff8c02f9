#!/usr/bin/env python3
"""The tester itself: the plan, the proxy, and a cluster of stock nodes in which a rule is broken on purpose:  python3 tests/cluster/test_cluster.py"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from plan import FAULTS, plan, text  # noqa: E402
from proxy import Proxy  # noqa: E402
from rules import RULES  # noqa: E402

NODES = ["n1", "n2", "n3"]


class Plan(unittest.TestCase):
    def test_the_seed_determines_it(self):
        self.assertEqual(plan(5, 60, NODES, list(FAULTS), 4), plan(5, 60, NODES, list(reversed(FAULTS)), 4))
        self.assertNotEqual(plan(5, 60, NODES, list(FAULTS), 4), plan(6, 60, NODES, list(FAULTS), 4))

    def test_every_second_phase_has_faults_in_order(self):
        phases = plan(5, 60, NODES, list(FAULTS), 4)
        self.assertAlmostEqual(sum(phase.seconds for phase in phases), 60)
        for phase in phases:
            self.assertEqual(bool(phase.steps), phase.kind == "storm")
            times = [step.at for step in phase.steps]
            self.assertEqual(times, sorted(times))
            self.assertTrue(all(0 <= at < phase.seconds for at in times))

    def test_all_kinds_of_faults_come_and_have_a_text(self):
        steps = [step for phase in plan(1, 2000, NODES, list(FAULTS), 4) for step in phase.steps]
        self.assertEqual({step.fault for step in steps}, set(FAULTS))
        self.assertEqual([step.number for step in steps], list(range(1, len(steps) + 1)))
        self.assertTrue(all(text(step).startswith(f"step {step.number}: {step.fault} n") for step in steps))

    def test_nothing_else_happens_between_nodes_that_are_silent(self):
        for phase in plan(3, 4000, NODES, list(FAULTS), 4):
            for silence in (step for step in phase.steps if step.fault == "silence"):
                end = silence.at + silence.values["seconds"]
                self.assertLess(end, phase.seconds)
                others = [step for step in phase.steps if step is not silence and step.at <= end and set(step.nodes) <= set(silence.nodes)]
                self.assertEqual({step.fault for step in others} - {"contest"}, set())

    def test_without_faults_all_phases_are_calm(self):
        self.assertEqual({phase.kind for phase in plan(5, 60, NODES, [], 4)}, {"calm"})


class Server(threading.Thread):
    """Sends back what it gets."""

    def __init__(self):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            while data := connection.recv(100000):
                connection.sendall(data)
        except OSError:
            pass
        connection.close()


class Through(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.proxy = Proxy(["a", "b"], lambda name: self.server.listener.getsockname()[1])
        self.client = None
        self.connect()

    def tearDown(self):
        self.client.close()
        self.server.listener.close()
        self.proxy.end()

    def connect(self):
        if self.client:
            self.client.close()
        port = int(self.proxy.ports("a").split(":")[1])
        self.client = socket.create_connection(("127.0.0.1", port), timeout=10)

    def send(self, data):
        with contextlib.suppress(OSError):
            self.client.sendall(data)

    def echo(self, data):
        """Seconds until all of it is back."""
        begun = time.monotonic()
        threading.Thread(target=self.send, args=(data,), daemon=True).start()
        got = b""
        while len(got) < len(data):
            more = self.client.recv(100000)
            if not more:
                raise ConnectionError("closed")
            got += more
        self.assertEqual(got, data)
        return time.monotonic() - begun

    def test_bytes_pass_unchanged(self):
        self.echo(os.urandom(3_000_000))

    def test_chopped_bytes_pass_unchanged(self):
        self.proxy.chop("a", "b", bytes=50, seconds=0.5)
        self.echo(os.urandom(100_000))

    def test_a_delay_is_paid_in_both_directions(self):
        self.proxy.delay("a", "b", milliseconds=100, seconds=5)
        self.assertGreaterEqual(self.echo(b"x"), 0.2)

    def test_a_slow_connection_passes_some_bytes_a_second(self):
        self.proxy.slow("b", "a", bytes_per_second=200_000, seconds=5)
        self.assertGreaterEqual(self.echo(bytes(100_000)), 0.4)

    def test_a_stalled_connection_goes_on(self):
        self.proxy.stall("a", "b", sides=1, seconds=0.5)
        self.assertGreaterEqual(self.echo(b"x" * 1000), 0.4)

    def test_a_cut_connection_is_closed_and_a_new_one_works(self):
        for reset in (False, True):
            self.echo(b"x")
            self.proxy.cut("b", "a", reset)
            with self.assertRaises(OSError):
                self.echo(b"x")
                self.echo(b"x")
            self.connect()
        self.echo(b"x")

    def test_refused_connections_are_closed_until_the_time_is_over(self):
        self.proxy.refuse("a", "b", seconds=0.5)
        self.connect()
        with self.assertRaises(OSError):
            self.echo(b"x")
        time.sleep(0.6)
        self.connect()
        self.echo(b"x")

    def test_what_vanishes_never_comes_and_the_connection_is_closed(self):
        self.echo(b"x")
        self.proxy.vanish("a", "b", sides=1, seconds=0.3)
        self.send(b"lost")
        with self.assertRaises(OSError):
            if not self.client.recv(10):
                raise ConnectionError("closed")

    def test_calm_ends_all(self):
        self.proxy.delay("a", "b", milliseconds=1000, seconds=60)
        self.proxy.slow("a", "b", bytes_per_second=1, seconds=60)
        self.proxy.stall("a", "b", sides=2, seconds=60)
        self.proxy.calm()
        self.assertLess(self.echo(b"x" * 1000), 0.9)


def stock():
    path = os.environ.get("HEDDLE_STOCK") or "/opt/stock/otp-bin/erl"
    return path if os.access(path, os.X_OK) and shutil.which("git") else None


@unittest.skipUnless(stock(), "no stock emulator: set HEDDLE_STOCK")
class Sabotage(unittest.TestCase):
    """Each kind is done once by the first of two nodes, and the tester must say which rule is broken."""

    #: Kind: the rules of which one must be found broken, kinds of traffic, more options.
    KINDS = {
        "drop": ({"lost"}, "streams", []),
        "double": ({"twice"}, "streams", []),
        "reorder": ({"lost", "order"}, "streams", []),
        "altered": ({"altered"}, "streams", []),
        "no_down": ({"down_missing"}, "monitors", ["--patience", "2"]),
        "down_twice": ({"down_twice"}, "monitors", []),
        "exit_after_unlink": ({"exit_twice"}, "unlink", []),
        "reply_twice": ({"spawn_reply"}, "spawn_requests", []),
        "after_unalias": ({"alias"}, "alias", []),
        "view": ({"names"}, "streams", ["--patience", "2"]),
        "left": ({"left"}, "streams", ["--patience", "2"]),
        "nodedown": ({"nodedown", "unexpected"}, "streams", []),
        "ticks": ({"silence"}, "streams", ["--faults", "silence", "--seconds", "20"]),
        "halt": ({"node"}, "streams", []),
    }

    def run_it(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            report = Path(folder) / "report.json"
            done = subprocess.run([HERE / "run", "--emulator", f"stock={stock()}", "--nodes", "stock,stock", "--seconds", "3", "--seed", "1", "--faults", "none",
                                   "--patience", "20", "--fail-fast", "--json", report, *options], capture_output=True, text=True, timeout=300)
            self.assertTrue(report.exists(), done.stdout + done.stderr)
            return done, json.loads(report.read_text())

    def test_a_cluster_without_sabotage_breaks_no_rule(self):
        done, report = self.run_it()
        self.assertEqual((done.returncode, report["broken"]), (0, []), done.stdout)
        self.assertGreater(report["counts"]["rounds_steady"], 10)

    def test_each_sabotage_is_found(self):
        for kind, (rules, only, more) in self.KINDS.items():
            with self.subTest(kind):
                done, report = self.run_it("--sabotage", kind, "--only", only, *more)
                found = {finding["rule"] for finding in report["broken"]}
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertTrue(found and found <= rules | {"node"} if kind == "halt" else found and found <= rules, f"{found}\n{done.stdout}")
                self.assertIn("repeat it with: tests/cluster/run", done.stdout)
                self.assertTrue(found <= set(RULES))

    def test_a_process_that_answers_over_a_later_connection_than_its_request_breaks_no_rule(self):
        done, report = self.run_it("--sabotage", "late", "--only", "spawn_requests", "--patience", "3", "--seconds", "10")
        self.assertEqual((done.returncode, report["broken"]), (0, []), done.stdout)
        self.assertGreater(report["counts"]["rounds_lost"], 10)

    def test_old_pids_are_used(self):
        done, report = self.run_it("--faults", "kill", "--seconds", "12", "--only", "old_pids,streams")
        self.assertEqual((done.returncode, report["broken"]), (0, []), done.stdout)


if __name__ == "__main__":
    unittest.main()
