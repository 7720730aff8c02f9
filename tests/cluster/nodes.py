"""Nodes that run beside the tester."""

import contextlib
import json
import os
import queue
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "servers"))

from server import Failed  # noqa: E402

HOST = "localhost"


class Node:
    """A node: cluster_node.erl on an emulator. `broken` is called with (node, rule, what) for each rule that it finds broken."""

    def __init__(self, name, index, kind, emulator, settings, broken):
        self.name, self.index, self.kind, self.emulator, self.settings, self.broken = name, index, kind, emulator, settings, broken
        self.life, self.process, self.is_killed = 0, None, False
        self.log = (settings.folder / f"{name}.log").open("w")

    def start(self):
        self.life += 1
        settings = self.settings
        # A node that looks for ticks too rarely must be found.
        ticktime = 600 if settings.sabotage == "ticks" else settings.ticktime
        way = ["-epmd_module", "cluster_epmd"] if settings.ports else []
        command = [self.emulator, "-sname", f"{self.name}@{HOST}", "-setcookie", "cluster", "-start_epmd", "false", *way, "-noshell", "-pa", str(settings.beams),
                   "-kernel", "logger_level", "none", "net_ticktime", str(ticktime), "net_setuptime", "12" if settings.zeal else "3", "inet_dist_use_interface", "{127,0,0,1}",
                   *shlex.split(settings.flags), "-run", "cluster_node", "main",
                   *map(str, (settings.seed, self.index, self.life, settings.size, settings.patience, settings.sabotage if self.index == 1 else "none"))]
        env = {k: v for k, v in os.environ.items() if k not in ("HEDDLE_ZEAL", "ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS")}
        env |= {"ERL_EPMD_PORT": str(settings.epmd_port), "ERL_CRASH_DUMP_SECONDS": "0", "ERL_CRASH_DUMP_BYTES": "0"}
        if settings.ports:
            env["CLUSTER_PORTS"] = settings.ports(self.name)
        if settings.zeal and self.kind == "heddle":
            env["HEDDLE_ZEAL"] = settings.zeal
        self.answers, self.is_killed = queue.Queue(), False
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                                        env=env, start_new_session=True)
        self.reader = threading.Thread(target=self.read, args=(self.process, self.answers), daemon=True)
        self.reader.start()
        return self.said("ready", settings.patience + 30)

    def read(self, process, answers):
        for line in process.stdout:
            self.log.write(line)
            self.log.flush()
            word, _, rest = line.partition(" ")
            if word == "@broken":
                said = json.loads(rest)
                self.broken(self, said.pop("rule"), said)
            elif word.startswith("@"):
                answers.put((word[1:], json.loads(rest)))
        answers.put(("over", None))

    def said(self, word, seconds):
        """The answer to a question."""
        end = time.monotonic() + seconds
        while True:
            try:
                said, what = self.answers.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise Failed(f"{self.name} does not answer to `{word}` within {seconds:.0f} s") from None
            if said == word:
                return what
            if said == "over":
                self.answers.put((said, what))
                raise Failed(f"{self.name} ended with {self.process.wait()}: {self.last_words()}")

    def tell(self, *words):
        with contextlib.suppress(OSError):
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()

    def ask(self, *words, seconds):
        self.tell(*words)
        return self.said(words[0], seconds)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        """As a computer that fails would."""
        self.is_killed = True
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def end(self, seconds):
        """Asks it to end; its exit code."""
        self.tell("end")
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} did not end within {seconds} s") from None

    def last_words(self):
        self.log.flush()
        lines = [line for line in Path(self.log.name).read_text(errors="replace").splitlines() if not line.startswith("@")]
        return " | ".join(lines[-10:]) or "it said nothing"
