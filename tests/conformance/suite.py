#!/usr/bin/env python3
"""Runs one suite in a node without a name (with one if CONF_NODE is set), under Common Test (`ct`) or without it (`plain`: plain_run.erl), and ends everything
that it started.

    suite.py CACHE EMULATOR APP SUITE SECONDS CASES ct|plain [GROUP/CASE]

Appends a line a finished case to the file CASES (app, suite, group, case, result, milliseconds, reason; tab separated) and
prints one for the suite: app, suite, cases, passed, failed, skipped, seconds, status. Status is ok, timeout, crash:CODE, or
none when no case ran. CONF_CASE_SECONDS in the environment ends a plain case that takes longer; CONF_PATIENCE multiplies what
Common Test lets a case take. The test folders must have been prepared. `run` calls this as a process of its own, because it
adopts (and in the end kills) whatever the suite leaves running."""

import ctypes
import fcntl
import getpass
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from pathlib import Path

import results

# Cases that outlast any sensible limit on stock OTP as well.
SLOW = {("emulator", "process_SUITE"): ["no_pid_wrap", "spawn_request_link_parent_exit", "spawn_request_link_parent_exit_compound_reason",
                                           "spawn_against_new_node"],
        ("stdlib", "io_proto_SUITE"): ["read_modes_ogl"], ("stdlib", "zip_SUITE"): ["zip64_central_headers"]}
PR_SET_CHILD_SUBREAPER = 36


def main(cache, emulator, app, suite, seconds, cases_file, how, which=None):
    cache = Path(cache).resolve()
    tests = cache / "tests" / f"{app}_test"
    work = cache / "runs" / f"{app}-{suite}-{time.strftime('%m%d%H%M%S')}-{os.getpid()}"
    (work / "ct").mkdir(parents=True)
    events = work / "events"
    begin = plain if how == "plain" else common_test
    name, home = node(work)
    command = ["nice", "-n", "10", emulator, "-noinput", *name, *begin(cache, tests, work, events, app, suite, seconds, which)]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    started = time.time()
    with open(work / "console", "wb") as console:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, cwd=work,
                                   start_new_session=True, env={"USER": getpass.getuser()} | os.environ | {"LC_ALL": "C.UTF-8"} | home)
        code = wait(process, started + float(seconds))
    took = time.time() - started
    reap()
    counts, cases, status = outcome(events, code)
    with open(cases_file, "a") as out:
        fcntl.flock(out, fcntl.LOCK_EX)
        out.writelines("\t".join([app, *case]) + "\n" for case in cases)
    print("\t".join(map(str, [app, suite, sum(counts), *counts, round(took), status])))
    if status != "ok":
        print(f"conformance: log in {work}", file=sys.stderr)


def node(work):
    """The emulator's arguments and environment that give it a name and a cookie. All nodes that the suite starts have the same home."""
    if not os.environ.get("CONF_NODE"):
        return [], {}
    home = work / "home"
    home.mkdir()
    cookie = home / ".erlang.cookie"
    cookie.write_text(f"CONF{secrets.token_hex(8).upper()}")
    cookie.chmod(0o400)
    return ["-sname", f"conf{os.getpid()}"], {"HOME": str(home)}


def common_test(cache, tests, work, events, app, suite, seconds, which):
    """The emulator's arguments."""
    driver = cache / "tests/test_server"
    configs = ",".join(string(driver / name) for name in ("ts.config", "ts.unix.config"))
    (work / "args").write_text(
        f"[{{dir,{string(tests)}}},{{logdir,{string(work / 'ct')}}},{{events,{string(events)}}},"
        f"{{crash_dump,{string(work / 'erl_crash.dump')}}},{{config,[{configs}]}},"
        f"{{what,{selection(tests, work, app, suite, which)}}},"
        f"{{extra,[{{multiply_timetraps,{os.environ.get('CONF_PATIENCE', 1)}}}]}}].\n")
    return ["-boot", "start_sasl", "-sasl", "errlog_type", "error", "-pz", str(driver), "-pz", str(tests), "-enable-feature",
            "maybe_expr", "-ct_test_vars", '{net_dir,""}', "-s", "conf_run", "main", str(work / "args")]


def plain(cache, tests, work, events, app, suite, seconds, which):
    skip = ",".join(f"'{case}'" for case in SLOW.get((app, suite), []) + hangs(app, suite))
    case = (which or "all").rpartition("/")[2]
    case_seconds = os.environ.get("CONF_CASE_SECONDS", seconds)
    (work / "args").write_text(
        f"#{{suite => '{suite}', data_dir => {string(f'{tests}/{suite}_data/')}, priv_dir => {string(f'{work}/')},\n"
        f"  events => {string(events)}, skip => [{skip}], 'case' => '{case}', seconds => {case_seconds}}}.\n")
    return ["-pa", str(tests), "-pa", str(cache / "tests/plain"), "-s", "plain_run", "main", str(work / "args")]


def string(value):
    """An Erlang string."""
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


def selection(tests, work, app, suite, which):
    if which:
        group, _, case = which.rpartition("/")
        parts = [f"{{dir,{string(tests)}}}", f"{{suite,'{suite}'}}"]
        parts += [f"{{group,'{group}'}}"] if group else []
        parts += [f"{{testcase,'{case}'}}"] if case else []
        return f"[{','.join(parts)}]"
    spec = [f"{{suites,{string(tests)},['{suite}']}}.", *skipped_by_otp(tests, app, suite)]
    spec += [f"{{skip_cases,{string(tests)},'{suite}',['{case}'],\"slow\"}}." for case in SLOW.get((app, suite), [])]
    spec += [f"{{skip_cases,{string(tests)},'{suite}',['{case}'],\"hangs\"}}." for case in hangs(app, suite)]
    (work / "run.spec").write_text("\n".join(spec) + "\n")
    return f"[{{spec,[{string(work / 'run.spec')}]}}]"


def hangs(app, suite):
    """Cases of hangs.tsv."""
    return results.not_run(app, suite, os.environ.get("CONF_MODE", "normal"))


def skipped_by_otp(tests, app, suite):
    """The parts of the application's own test specification that skip within this suite."""
    file = tests / f"{app}.spec"
    text = re.sub(r"%.*", "", file.read_text()) if file.exists() else ""
    return [re.sub(r'(\{skip_(?:groups|cases)\s*,\s*)("[^"]*"|\w+)', lambda m: m.group(1) + string(tests), line)
            for line in re.findall(r"\{skip_(?:groups|cases)\b.*?\}\.", text, re.S) if re.search(rf"\b{suite}\b", line)]


def wait(process, end):
    """Exit code, or None at the time `end`. Collects orphans meanwhile: suites look whether a process they ended is gone."""
    while time.time() < end:
        try:
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == process.pid:
                    process.returncode = os.waitstatus_to_exitcode(status)
                    return process.returncode
                if not pid:
                    break
        except ChildProcessError:
            return process.returncode
        time.sleep(0.05)
    return None


def descendants():
    children = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = file.read_text(errors="replace")
        except OSError:
            continue
        name, parent = text[text.index("(") + 1:text.rindex(")")], int(text[text.rindex(")") + 2:].split()[1])
        children.setdefault(parent, []).append((int(file.parent.name), name))
    todo, found = [os.getpid()], []
    while todo:
        for pid, name in children.get(todo.pop(), []):
            if name != "epmd":  # may serve others' nodes as well
                found.append(pid)
                todo.append(pid)
    return found


def reap():
    """Ends every process this run started: politely for a second, then not."""
    end = time.time() + 1
    for sig in (signal.SIGTERM, signal.SIGKILL):
        for _ in range(20):
            left = descendants()
            if not left:
                return
            for pid in left:
                try:
                    os.kill(pid, sig)
                except ProcessLookupError:
                    pass
            try:
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            except ChildProcessError:
                pass
            if sig == signal.SIGTERM and time.time() > end:
                break
            time.sleep(0.05)


def outcome(events, code):
    """Counts (passed, failed, skipped), cases, status."""
    counts, cases, running, ended = [0, 0, 0], [], None, False
    for line in open(events, errors="replace") if events.exists() else []:
        kind, *fields = line.rstrip("\n").split("\t")
        if kind == "stats":
            passed, failed, *skipped = map(int, fields)
            counts = [passed, failed, sum(skipped)]
        elif kind == "start":
            running = fields[:3]
        elif kind == "case":
            cases.append(fields[:6])
            running = None if running and running[2] == fields[2] else running
        elif kind == "end":
            ended = True
    status = "timeout" if code is None else "ok" if ended and code == 0 else f"crash:{code}"
    if status != "ok" and running and running[2] not in ("end_per_suite", "end_per_group"):
        cases.append([*running, "TIMEOUT" if code is None else "CRASH", "0", ""])
    return counts, cases, "none" if status == "ok" and not sum(counts) else status


if __name__ == "__main__":
    if len(sys.argv) not in (8, 9):
        sys.exit(__doc__)
    main(*sys.argv[1:])
