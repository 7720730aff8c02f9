"""Starts an emulator for one run of one program and reads what the run says (bench/scaling.d/programs/scaling.erl)."""

import os
import subprocess
import time

NO_SEQUENTIAL = "no sequential mode"
NO_PRIVATE = "no private threads"
#: Besides numbers of schedulers, what a run can be made with.
SEQUENTIAL, PRIVATE = "sequential", "private"


class Failed(Exception):
    """A run without figures; the text says why."""


class Emulator:
    def __init__(self, who, path, sequential_flags, beams, timeout, flags=()):
        """`flags` are those of all its runs."""
        self.who, self.path, self.flags, self.sequential_flags, self.beams, self.timeout = who, path, flags, sequential_flags, beams, timeout
        self.about, sequential, private = self.probe([])
        self.no_private = "" if private else NO_PRIVATE
        #: Why there is no sequential mode that can be measured; empty if there is one.
        self.no_sequential, self.sequential_detail = "" if sequential else NO_SEQUENTIAL, ""
        if sequential_flags:
            self.try_sequential()

    def try_sequential(self):
        given = " ".join(self.sequential_flags)
        try:
            _, sequential, _ = self.probe(self.sequential_flags)
            self.no_sequential = "" if sequential else NO_SEQUENTIAL
            self.sequential_detail = f"with {given} system_info(smp_support) is {'false' if sequential else 'still true'}"
        except Failed as failed:
            self.no_sequential, self.sequential_detail = NO_SEQUENTIAL, f"with {given}: {failed}"

    def sequential_text(self):
        return (self.no_sequential or "sequential mode") + (f" ({self.sequential_detail})" if self.sequential_detail else "")

    def probe(self, flags):
        said = lines(self.start(flags, ["-run", "scaling_probe", "main"]))
        if "about" not in said or "sequential" not in said:
            raise Failed("does not say what it is")
        return said["about"][0], said["sequential"] == ["true"], said.get("private") == ["true"]

    def run(self, program, scale, how, sample_ms=0):
        """A run with that many schedulers, or SEQUENTIAL, or with PRIVATE threads. Figures as `parse` returns them."""
        schedulers = how if isinstance(how, int) else None
        flags = {SEQUENTIAL: self.sequential_flags, PRIVATE: ["-private_threads"]}.get(how, ["+S", f"{schedulers}:{schedulers}"])
        output = self.start(flags, ["-run", "scaling", "main", program.module, program.variant, repr(float(scale)), str(sample_ms)])
        figures = parse(output)
        if schedulers is not None and figures["schedulers"] != schedulers:
            raise Failed(f"ran with {figures['schedulers']} schedulers, not with {schedulers}")
        return figures

    def start(self, flags, what):
        command = [self.path, *self.flags, *flags, "-noshell", "-noinput", "-pa", str(self.beams), *what, "-s", "erlang", "halt"]
        started = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=self.timeout,
                                  stdin=subprocess.DEVNULL, env=os.environ | {"ERL_CRASH_DUMP_SECONDS": "0"})
        except subprocess.TimeoutExpired:
            raise Failed(f"not done after {time.monotonic() - started:.0f} s") from None
        except OSError as error:
            raise Failed(str(error)) from None
        if done.returncode != 0:
            raise Failed(f"ended with {done.returncode}: {last(done.stderr or done.stdout)}")
        return done.stdout


def last(text):
    """The end of what a program said, on one line."""
    return " ".join(text.split())[-200:] or "it said nothing"


def lines(output):
    """`@word rest` as {word: [rest, ...]}."""
    said = {}
    for line in output.splitlines():
        if line.startswith("@"):
            word, _, rest = line[1:].partition(" ")
            said.setdefault(word, []).append(rest)
    return said


def checked(output):
    """Its lines, if the program ended well and said how long it took."""
    said = lines(output)
    if "failed" in said:
        raise Failed(f"the program failed: {said['failed'][0][:200]}")
    if "wrong" in said:
        raise Failed(f"wrong result: {said['wrong'][0][:200]}")
    if "ok" not in said or "time" not in said:
        raise Failed(f"no time; {last(output)}")
    return said


def parse(output):
    """{schedulers, ms, hash, reductions, main_reductions, counters: {name: None | [value...]}, samples, busy}"""
    said = checked(output)
    everything, main = map(int, said["reductions"][0].split())
    counters = {name: None for name in said.get("missing", [])}
    for line in said.get("counter", []):
        name, *values = line.split()
        counters[name] = [int(v) for v in values]
    return {
        "schedulers": int(said["schedulers"][0]),
        "ms": max(int(said["time"][0]), 1) / 1000,
        "hash": said["hash"][0],
        "reductions": everything - main,
        "main_reductions": main,
        "counters": counters,
        "samples": [tuple(map(float, s.split())) for s in said.get("sample", [])],
        "busy": [float(s) for s in said["busy"][0].split()] if "busy" in said else [],
    }
