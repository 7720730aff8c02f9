"""An emulator that says `@word JSON` on lines of its output and is asked on its input."""

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
from pathlib import Path

from server import Failed


class Speaker:
    def __init__(self, name, command, env, folder, patience):
        self.name, self.patience, self.os_pid, self.answers = name, patience, None, queue.Queue()
        self.log = (folder / f"{name}.log").open("w")
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                        errors="replace", env=env, start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.log.write(line)
            self.log.flush()
            word, _, rest = line.partition(" ")
            if word.startswith("@"):
                self.answers.put((word[1:], json.loads(rest)))
        self.answers.put(("over", None))

    def said(self, word):
        """The answer to a question. Others before it are passed over."""
        end = time.monotonic() + self.patience + 30
        while True:
            try:
                said, what = self.answers.get(timeout=max(0.01, end - time.monotonic()))
            except queue.Empty:
                raise Failed(f"the {self.name} does not answer to `{word}` within {self.patience + 30} s") from None
            if said == "ready":
                self.os_pid = what["os_pid"]
            if said == "broken":
                raise Failed(what["what"])
            if said == word:
                return what
            if said == "over":
                self.answers.put((said, what))
                raise Failed(f"the {self.name} ended with {self.process.wait()}: {self.last_words()}")

    def ask(self, *words):
        with contextlib.suppress(OSError):
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        return self.said(words[0])

    def is_running(self):
        return self.process.poll() is None

    def end(self):
        """Asks it to end; its exit code."""
        with contextlib.suppress(OSError):
            self.process.stdin.write("end\n")
            self.process.stdin.flush()
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failed(f"the {self.name} did not end within 60 s") from None

    def kill(self):
        with contextlib.suppress(OSError):
            os.killpg(self.process.pid, 9)
        self.process.wait()

    def last_words(self):
        self.log.flush()
        lines = [line for line in Path(self.log.name).read_text(errors="replace").splitlines() if not line.startswith("@")]
        return " | ".join(lines[-10:])[-2000:] or "it said nothing"
