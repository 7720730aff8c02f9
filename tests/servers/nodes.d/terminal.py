"""`-remsh` in a real terminal (tmux)."""

import os
import re
import shutil
import subprocess
import time

from node import COOKIE
from parts import pair, same
from server import Failed

PATIENCE = 20


class Terminal:
    """A window of a tmux server of its own, with a shell in it."""

    def __init__(self, place, name):
        # A server that was told to end takes new windows for a while, and then ends with them: each window has another one.
        self.socket, self.name = f"nodes-{os.getpid()}-{name}", name
        variables = {**place.env, "HISTFILE": "", "PS1": "$ ", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm"}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-s", name, "-x", "100", "-y", "40", "bash", "--norc", "--noprofile", env=variables)
        if not self.shows(r"^\$ "):
            raise Failed(f"no prompt of bash in a new window; it shows: {self.text()!r}")

    def tmux(self, *arguments, env=None):
        return subprocess.run(["tmux", "-L", self.socket, *arguments], capture_output=True, text=True, env=env).stdout

    def text(self):
        return self.tmux("capture-pane", "-p", "-J", "-t", self.name)

    def shows(self, pattern, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text(), re.M):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def keys(self, *keys):
        self.tmux("send-keys", "-t", self.name, *keys)

    def line(self, text):
        self.tmux("send-keys", "-t", self.name, "-l", text)
        self.keys("Enter")

    def close(self):
        self.tmux("kill-server")


def terminal(checks, place, erl, other):
    if not shutil.which("tmux"):
        print("note    there is no tmux on PATH: -remsh is not tested")
        return
    a, b = pair(checks, place, erl, other)
    for near_erl, far, way in ((erl, b, "a to b"), (other, a, "b to a")):
        window = Terminal(place, way.replace(" ", "_"))
        try:
            session(checks, window, near_erl, far, way)
            if far is a:
                lost(checks, window, near_erl, far, way)
        finally:
            window.close()


def session(checks, window, erl, far, way):
    def step(what, pattern):
        checks.check(f"{way}, -remsh: {what}", window.shows(pattern), f"the terminal shows {window.text().rstrip()[-600:]!r}")

    prompt = rf"^\({far.name}\)"
    window.line(f"clear; {erl} -sname remsh@localhost -setcookie {COOKIE} -remsh {far.name}; echo status=$?")
    step("a prompt of the other node", rf"{prompt}1> ")
    window.line("{node(), os:getpid()}.")
    step("expressions are evaluated there", rf'^\{{{far.name},"{far.system_pid()}"\}}\n{prompt}2> ')
    window.line('io:format("~ts~n", ["grüße 漢字"]).')
    step("wide characters", rf"^grüße 漢字\nok\n{prompt}3> ")
    window.tmux("send-keys", "-t", window.name, "-l", "1 + 2.")
    window.keys("Left", "0", "Enter")
    step("the line is edited", rf"^21\n{prompt}4> ")
    window.keys("Up")
    step("history", rf"{prompt}4> 1 \+ 20\.")
    window.keys("Enter")
    step("and again", rf"^21\n{prompt}5> ")
    window.tmux("send-keys", "-t", window.name, "-l", "lists:seq")
    window.keys("Tab")
    step("completion", r"seq\(")
    window.keys("C-u")
    window.line('io:get_line("what? ").')
    step("a question of the other node", r"^what\? ")
    window.line("this")
    step("is answered here", rf'^"this\\n"\n{prompt}6> ')
    window.line("nosuch:function().")
    step("an error", r"^\*\* exception error: undefined function nosuch:function/0")
    window.line("spawn(fun() -> timer:sleep(300), io:format(\"later~n\") end), ok.")
    step("output of a process there", r"^later")
    window.keys("C-g")
    step("^G", r"^User switch command")
    window.line("j")
    step("its jobs", r"1\* \{'?" + re.escape(far.name) + r"'?,")
    window.line("q")
    step("q ends this node", r"status=0")
    same(checks, f"{way}, -remsh: the other node stays", far, "node()", far.name)
    window.line(f"clear; {erl} -setcookie {COOKIE} -remsh {far.name}; echo status=$?")
    step("without a name of its own", rf"{prompt}1> ")
    window.line("[Node] = nodes(hidden), true = Node =/= remsh@localhost, seen.")
    step("it is a hidden node with a dynamic name", r"^seen")
    window.keys("C-c")
    step("^C is for this node", r"^BREAK: \(a\)bort")
    window.line("a")
    step("and ends it", r"status=[0-9]+\n\$ ")
    same(checks, f"{way}, -remsh: the other node stays again", far, "node()", far.name)
    window.line(f"clear; {erl} -sname remsh@localhost -setcookie wrong -remsh {far.name}; echo status=$?")
    step("a wrong cookie is refused", rf'^Could not connect to "{far.name}"\nstatus=1')


def lost(checks, window, erl, far, way):
    """The other node is killed while a shell of it is in the terminal."""
    window.line(f"clear; {erl} -sname lost@localhost -setcookie {COOKIE} -remsh {far.name}; echo status=$?")
    checks.check(f"{way}, -remsh: a prompt before the other node is killed", window.shows(rf"^\({far.name}\)1> "), window.text())
    far.kill()
    shown = window.shows(r"^\*\*\* ERROR: Shell process terminated!|\(\^G to start new job\)")
    checks.check(f"{way}, -remsh: the terminal tells that it is gone", shown, window.text())
