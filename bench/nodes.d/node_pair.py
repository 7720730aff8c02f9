"""Two nodes that run: one that measures (nodes_bench.erl), and its peer (nodes_peer.erl)."""

import contextlib
import json
import os
import queue
import subprocess
import threading

from emulator import Failed, last

#: Seconds in which a node starts, and in which a row that takes MS milliseconds is done (nodes_bench.erl gives up before).
START, SPARE = 60, 60


class Node:
    def __init__(self, emulator, flags, name, beams, epmd_port, run):
        command = [emulator, *flags, "-sname", f"{name}@localhost", "-setcookie", "bench", "-start_epmd", "false", "-noshell", "-pa", str(beams),
                   "-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-run", *run]
        env = os.environ | {"ERL_EPMD_PORT": str(epmd_port), "ERL_CRASH_DUMP_SECONDS": "0"}
        try:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                            errors="replace", env=env)
        except OSError as error:
            raise Failed(str(error)) from None
        self.output, self.answers = [], queue.Queue()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        try:
            self.about = self.said("ready", START)["about"]
        except Failed:
            self.stop()
            raise

    def read(self):
        for line in self.process.stdout:
            word, _, rest = line.partition(" ")
            if word in ("@ready", "@row"):
                self.answers.put((word[1:], json.loads(rest)))
            else:
                self.output.append(line)
        self.answers.put(("over", None))

    def said(self, word, seconds):
        try:
            said, what = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise Failed(f"no answer within {seconds:.0f} s") from None
        if said != word:
            raise Failed(f"a node ended: {last(''.join(self.output))}")
        return what

    def stop(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()


class Pair:
    """`emulators` and `flags` are those of the node that measures and of its peer."""

    def __init__(self, who, emulators, flags, beams, epmd_port):
        # Names that differ, so that two pairs can run at a time.
        self.peer = Node(emulators[1], flags[1], f"{who}_peer", beams, epmd_port, ["nodes_peer", "main"])
        try:
            self.home = Node(emulators[0], flags[0], f"{who}_home", beams, epmd_port, ["nodes_bench", "main", f"{who}_peer@localhost"])
        except Failed:
            self.peer.stop()
            raise

    def about(self):
        return f"{self.home.about}; {self.peer.about}"

    def run(self, row, seconds):
        """Figures of one run of a row: {key: number}."""
        milliseconds = round(1000 * seconds)
        with contextlib.suppress(OSError):
            self.home.process.stdin.write(f"row {row.name} {milliseconds}\n")
            self.home.process.stdin.flush()
        figures = self.home.said("row", 20 * seconds + SPARE)
        if "error" in figures:
            raise Failed(figures["error"])
        return figures

    def stop(self):
        self.home.stop()
        self.peer.stop()
