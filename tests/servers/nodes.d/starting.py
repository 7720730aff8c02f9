"""Nodes that another node starts: peer, slave, a node that loads its code from a boot server; OTP's C program erl_call."""

import subprocess

from node import COOKIE, atom
from parts import same


def starting(checks, place, erl, other):
    a, b = place.start(erl, "a"), place.start(other, "b")
    b.is_up()
    for near, far_erl, name in ((a, other, "a"), (b, erl, "b")):
        near.checks(checks, f'node_starting:all("{far_erl}", "{place.beams}", {COOKIE})', f"{name} starts the other", seconds=200)
    for near, far_erl, name in ((a, other, "a"), (b, erl, "b")):
        boot_server(checks, place, near, far_erl, name)
    erl_call(checks, place, (a, erl), (b, other))


def boot_server(checks, place, near, erl, name):
    same(checks, f"{name}: erl_boot_server starts", near, 'begin {ok, S} = erl_boot_server:start(["127.0.0.1"]), unlink(S), ok end', "ok")
    c = place.start(erl, f"loaded_by_{name}", "-loader", "inet", "-hosts", "127.0.0.1", "-id", f"loaded_by_{name}")
    same(checks, f"{name}: a node boots with -loader inet", c, "init:get_argument(loader)", '{ok,[["inet"]]}')
    same(checks, f"{name}: it loads more from there", c, "element(1, code:ensure_loaded(calendar))", "module")
    same(checks, f"{name}: it connects", c, f"net_adm:ping({atom(near)})", "pong")
    c.end()
    same(checks, f"{name}: erl_boot_server ends", near, "begin exit(whereis(boot_server), kill), ok end", "ok")


def erl_call(checks, place, first, second):
    """The erl_call of the OTP tree of the second node, on both nodes."""
    b = second[0]
    root = b.eval("code:root_dir()").strip('"')
    version = b.eval("erlang:system_info(version)").strip('"')
    program = f"{root}/erts-{version}/bin/erl_call"

    def call(*arguments, text=""):
        done = subprocess.run([program, "-c", COOKIE, *arguments], input=text, capture_output=True, text=True, timeout=30, env=place.env)
        return done.returncode, done.stdout + done.stderr

    try:
        call()
        code, said = call("-sname", b.name, "-a", "erlang node []")
    except OSError as problem:
        code, said = 127, str(problem)
    if "GLIBC" in said or code == 127:
        print(f"note    erl_call of the packages does not run here, and is not tested: {said.splitlines()[0]}")
        return
    for node, _ in (first, second):
        name = node.name.split("@")[0]
        for what, arguments, text, wanted in (
                ("-a", ["-a", "erlang node []"], "", node.name),
                ("-a with arguments", ["-a", "lists reverse [[a,b,c]]"], "", "[c, b, a]"),
                ("-e", ["-e"], "X = 6, Y = X * 7, {X, Y}.\n", "{ok, {6, 42}}"),
                ("-fetch_stdout", ["-fetch_stdout", "-no_result_term", "-a", 'io format ["written"]'], "", "written"),
                ("-m", ["-m", "-a", "called times [6,7]"], "-module(called).\n-export([times/2]).\ntimes(A, B) -> A * B.\n", "42"),
                ("-n", ["-n", node.name, "-a", "erlang is_alive []"], "", "true")):
            known = [] if what == "-n" else ["-sname", node.name]
            code, said = call(*known, *arguments, text=text)
            checks.check(f"erl_call {what} to {name}", code == 0 and said.strip() == wanted, f"{code}, {said!r}, not {wanted!r}")
        code, said = call("-sname", node.name, "-c", "wrong", "-a", "erlang node []")
        checks.check(f"erl_call with a wrong cookie to {name}", code != 0, f"{code}, {said!r}")
    for (_, erl), name in ((first, "asked_a"), (second, "asked_b")):
        c = place.start(erl, name)
        c.is_up()
        code, said = call("-sname", c.name, "-q")
        checks.check(f"erl_call -q ends {name}", c.process.wait(20) == 0, f"{code}, {said!r}")
