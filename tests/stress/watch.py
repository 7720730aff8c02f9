"""A watch over an emulator from outside: one that says nothing for too long is asked what its threads do, and killed.

The stress program watches its own rounds, but it runs in the machine that is tested. Where that stands still as a whole, as when
threads wait for each other to come to a safepoint, nothing in it can tell.
"""

import os
import selectors
import shutil
import signal
import subprocess
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def run(command, silence, environment=None, say=print):
    """Runs a command, passes its lines on to `say`, and returns its exit code. If it says nothing for `silence` seconds: a report of its
    threads, SIGKILL (a machine that stands still does not hear SIGTERM), and None."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
    try:
        if not _pass_on(process, silence, say):
            say(f"SILENT: nothing said for {silence} s. Its threads, after the seconds of CPU that each took in the last one:")
            for line in threads(process.pid):
                say("  " + line)
            for line in stacks(process.pid):
                say(line)
            return None
        return process.wait()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stdout.close()


def _pass_on(process, silence, say):
    """Says lines until there are no more (True) or none came in time (False)."""
    pending = b""
    heard = time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            left = heard + silence - time.monotonic()
            if left <= 0:
                return False
            if not selector.select(left):
                continue
            some = os.read(process.stdout.fileno(), 65536)
            heard = time.monotonic()
            *lines, pending = (pending + some).split(b"\n")
            for line in lines:
                say(line.decode(errors="replace"))
            if not some:
                if pending:
                    say(pending.decode(errors="replace"))
                return True


def threads(pid):
    """A line for each thread: CPU time of a second, state, name, and where it waits in the kernel."""
    before = _times(pid)
    time.sleep(1)
    for task, (name, state, ticks) in sorted(_times(pid).items()):
        spent = (ticks - before.get(task, ("", "", ticks))[2]) / TICKS
        yield f"{spent:5.2f} {state} {name:16} {_read(f'/proc/{pid}/task/{task}/wchan')} ({task})"


def _times(pid):
    tasks = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        # The name is in brackets, and may have spaces and brackets itself.
        before, _, rest = _read(f"/proc/{pid}/task/{task}/stat").rpartition(")")
        if rest:
            fields = rest.split()
            tasks[task] = (before.partition("(")[2], fields[0], int(fields[11]) + int(fields[12]))
    return tasks


def _read(path):
    try:
        return Path(path).read_text()
    except OSError:  # the thread ended meanwhile
        return ""


def stacks(pid):
    """What each thread does, where there is a debugger."""
    if not shutil.which("gdb"):
        return ["(no gdb here, so no stacks of them)"]
    command = ["gdb", "-p", str(pid), "-batch", "-nx", "-ex", "set pagination off", "-ex", "thread apply all bt 24"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=120)
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGCONT)
        return ["(gdb did not end)"]
    return [line for line in done.stdout.splitlines() if line.startswith(("Thread ", "#"))]
