"""What the tests of servers share: packages, programs that run beside the test, and checks that are counted."""

import base64
import contextlib
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Failed(Exception):
    pass


def fetch(name, *packages):
    """The folder in which the packages are unpacked."""
    done = subprocess.run([ROOT / "tests" / "servers" / "fetch", name, *packages], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"cannot fetch {', '.join(packages)}")
    return Path(done.stdout.strip())


def free_port():
    """A port at which nothing listens. It is below those that the system takes for outgoing connections, so none of these gets it meanwhile."""
    while True:
        port = random.randrange(15_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as one:
            one.bind(("127.0.0.1", port))
            return port


class Program:
    """A program that runs until it is ended. Its output goes to a file."""

    def __init__(self, command, env, log):
        self.log = log
        with log.open("ab") as output:
            self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            env=os.environ | {"ERL_CRASH_DUMP_SECONDS": "0"} | {key: str(value) for key, value in env.items()},
                                            start_new_session=True)

    def is_running(self):
        return self.process.poll() is None

    def kill(self):
        """The program and what it started, at once, as a computer that fails would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self, seconds=20):
        self.process.terminate()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed("it did not end when it was asked to") from None

    def last_words(self, lines=15):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


class Talker:
    """A program that says `@word rest` on lines of its output, and ends with its input. It is ended after `seconds` if they are given."""

    def __init__(self, command, env=None, seconds=None, **options):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        errors="replace", env=os.environ | {"ERL_CRASH_DUMP_SECONDS": "0"} | (env or {}), **options)
        self.lines = []
        if seconds:
            timer = threading.Timer(seconds, self.process.kill)
            timer.daemon = True
            timer.start()

    def said(self, word):
        """The words after `@word`, on the next line that begins so."""
        for line in self.process.stdout:
            if line.split(None, 1)[:1] == [f"@{word}"]:
                return line.split()[1:]
            self.lines.append(line)
        raise Failed(f"the program ended: {self.last_words()}")

    def ask(self, question):
        """Writes a line, and waits for the answer that begins with its first word."""
        # If the program has ended, what it said is told below.
        with contextlib.suppress(OSError):
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        return self.said(question.split()[0])

    def is_running(self):
        return self.process.poll() is None

    def last_words(self):
        return "".join(self.lines)[-1500:]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()


def wait_for(what, program, seconds, is_there):
    """Calls `is_there` until it returns something true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):
            if found := is_there():
                return found
        if not program.is_running():
            raise Failed(f"{what}: the server ended\n{program.last_words()}")
        time.sleep(0.2)
    raise Failed(f"{what}: not within {seconds} s\n{program.last_words()}")


def get(url, user=None, timeout=5):
    """Status and body of a GET."""
    request = urllib.request.Request(url)
    if user:
        request.add_header("Authorization", "Basic " + base64.b64encode(user.encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def end_by_signal():
    """A test that is ended by SIGTERM ends what it has started."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, is_so, otherwise=""):
        if is_so:
            self.passed += 1
            print(f"ok      {what}", flush=True)
        else:
            self.failed += 1
            print(f"FAILED  {what}{': ' if otherwise else ''}{otherwise}", flush=True)

    def attempt(self, what, function):
        """Calls `function`; its result, or None if it failed."""
        begun = time.monotonic()
        try:
            result = function()
        except (Failed, OSError, ValueError) as problem:
            self.check(what, False, str(problem))
            return None
        self.check(f"{what} ({time.monotonic() - begun:.1f} s)", True)
        return result

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
