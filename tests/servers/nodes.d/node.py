"""A node that a test starts, and asks to evaluate Erlang expressions."""

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from pathlib import Path

from server import Failed

SECONDS = 30
COOKIE = "nodes"


class Place:
    """What the nodes of a part have in common: folder, compiled modules, port of epmd. It ends those that still run."""

    def __init__(self, folder, beams, epmd_port):
        self.folder, self.beams, self.nodes = folder, beams, []
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.env = {key: value for key, value in os.environ.items() if key not in ("ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS", "ERL_LIBS")}
        self.env |= {"HOME": str(self.home), "ERL_EPMD_PORT": str(epmd_port), "ERL_EPMD_ADDRESS": "127.0.0.1", "ERL_CRASH_DUMP_SECONDS": "0"}

    def start(self, erl, name, *arguments, cookie=COOKIE, host="localhost"):
        """A node, which may still be starting; its first answer comes when it is up. `name` is None for a node without a name."""
        self.nodes.append(Node(self, erl, f"{name}@{host}" if name and host else name, arguments, cookie))
        return self.nodes[-1]

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for node in self.nodes:
            node.kill()


class Node:
    def __init__(self, place, erl, name, arguments, cookie):
        self.name = name
        said = (name or "without_name").replace("/", "_")
        self.log = place.folder / f"{said}.log"
        host = name.partition("@")[2] if name else ""
        named = ["-name" if set(".:") & set(host) else "-sname", name] if name else []
        cookies = ["-setcookie", cookie] if cookie else []
        command = [erl, *named, *cookies, "-noshell", "-pa", place.beams, *arguments, "-run", "node_server", "main"]
        self.answers, self.checked, self.ready = queue.Queue(), [], None
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        errors="replace", env=place.env, cwd=place.folder, start_new_session=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        with self.log.open("a") as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                word, _, rest = line.rstrip("\n").partition(" ")
                if word == "@check":
                    self.checked.append(rest)
                elif word in ("@ready", "@value", "@error"):
                    self.answers.put((word, rest))
        self.answers.put(("@over", ""))

    def said(self, question, seconds):
        try:
            word, rest = self.answers.get(timeout=seconds)
        except queue.Empty:
            raise Failed(f"{self.name} does not answer to `{question}` within {seconds} s") from None
        if word == "@over":
            self.answers.put((word, rest))
            raise Failed(f"{self.name} ended with {self.process.wait()} before it answered to `{question}`: {self.last_words()}")
        return f"error: {rest}" if word == "@error" else rest

    def is_up(self):
        """Waits until it is up; what it said then."""
        if self.ready is None:
            self.ready = self.said("start", SECONDS)
        return self.ready

    def eval(self, expression, seconds=SECONDS):
        """The value of the expression as text, or "error: Reason"."""
        self.is_up()
        with contextlib.suppress(OSError):
            self.process.stdin.write(expression + ".\n")
            self.process.stdin.flush()
        return self.said(expression, seconds)

    def checks(self, checks, expression, prefix, seconds=60):
        """Evaluates what tells of its own checks (node_server:check/3), and counts those."""
        self.checked.clear()
        value = self.eval(expression, seconds)
        for line in self.checked:
            word, _, what = line.partition(" ")
            checks.check(f"{prefix}: {what}", word == "ok")
        if value.startswith("error: "):
            checks.check(f"{prefix}: {expression}", False, value)

    def until(self, expression, wanted, seconds=10):
        """Evaluates until the value is that text; the last value."""
        end = time.monotonic() + seconds
        while (value := self.eval(expression)) != wanted and time.monotonic() < end:
            time.sleep(0.05)
        return value

    def words(self):
        return self.log.read_text(errors="replace")

    def last_words(self):
        return " | ".join(self.words().splitlines()[-10:]) or "it said nothing"

    def heard(self, text, seconds=5):
        """True as soon as the node's output contains the text."""
        end = time.monotonic() + seconds
        while text not in self.words():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def signal(self, number):
        os.kill(self.system_pid(), number)

    def system_pid(self):
        """The pid of the emulator, which a script may have started."""
        return int(self.is_up().split('"')[1])

    def kill(self):
        """The emulator and what it started, at once, as a computer that fails would."""
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()

    def end(self, seconds=10):
        """Asks it to end; its exit code."""
        with contextlib.suppress(OSError):
            self.process.stdin.write("init:stop().\n")
            self.process.stdin.flush()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} did not end within {seconds} s") from None


def atom(*nodes):
    """The names as Erlang writes them, separated by commas."""
    return ",".join(f"'{node.name}'" for node in nodes)
