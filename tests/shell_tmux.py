#!/usr/bin/env python3
"""The Erlang shell in a real terminal (tmux): expressions, line editing, history, completion, signals, the ways out, run_erl and to_erl.

    tests/shell_tmux.py                       bin/erl
    tests/shell_tmux.py /path/to/erl          another emulator, for comparison
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ERL = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(HERE, "..", "bin", "erl")
SOCKET = f"heddle-test-{os.getpid()}"
PATIENCE = float(os.environ.get("PATIENCE", "20"))

passed, failed = 0, []


def tmux(*args):
    return subprocess.run(["tmux", "-L", SOCKET, *args], capture_output=True, text=True).stdout


class NoShell(Exception):
    pass


def keep_server():
    """A session that stays: a server whose last session ends goes away, and a client that comes just then is refused
    ("server exited unexpectedly", about once in 400 times)."""
    made = subprocess.run(["tmux", "-L", SOCKET, "-f", "/dev/null", "new-session", "-d", "-s", "keeper", "sleep 100000"],
                          capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"tests/shell_tmux.py: tmux does not start: {made.stderr.strip()}")


class Terminal:
    """One tmux window with a shell in it."""

    def __init__(self, name, width=80, height=40):
        self.name = name
        env = "HISTFILE= PS1='$ ' LANG=C.UTF-8 LC_ALL=C.UTF-8"
        tmux("new-session", "-d", "-s", name, "-x", str(width), "-y", str(height), f"env {env} bash --norc --noprofile")
        if not self.wait(r"^\$ "):
            sys.exit(f"tests/shell_tmux.py: no prompt of bash in a new window ({name}); it shows: {self.text()!r}")

    def text(self):
        return tmux("capture-pane", "-p", "-J", "-t", self.name)

    def wait(self, pattern, patience=None):
        end = time.time() + (patience or PATIENCE)
        while time.time() < end:
            if re.search(pattern, self.text(), re.M):
                return True
            time.sleep(0.05)
        return False

    def keys(self, *keys):
        tmux("send-keys", "-t", self.name, *keys)

    def type(self, text):
        tmux("send-keys", "-t", self.name, "-l", text)

    def line(self, text):
        self.type(text)
        self.keys("Enter")

    def start(self, args="", prompt=r"^1> "):
        self.line(f"clear; '{ERL}' {args}; echo status=$?")
        if not self.wait(prompt):
            raise NoShell(self)
        return True

    def modes(self):
        tty = tmux("list-panes", "-t", self.name, "-F", "#{pane_tty}").strip()
        return subprocess.run(["stty", "-a", "-F", tty], capture_output=True, text=True).stdout

    def close(self):
        # The window's own processes get a hangup.
        tmux("kill-session", "-t", self.name)


def check(name, good, terminal=None):
    global passed
    if good:
        passed += 1
        print(f"ok      {name}")
    else:
        failed.append(name)
        print(f"FAILED  {name}")
        if terminal:
            print("        | " + "\n        | ".join(terminal.text().rstrip().splitlines()[-14:]))


def expect(t, name, pattern, patience=None):
    check(name, t.wait(pattern, patience), t)


def editing():
    t = Terminal("editing")
    check("banner and prompt", t.start() and t.wait(r"Eshell V"), t)
    t.line("1 + 2.")
    expect(t, "an expression", r"^3\n2> ")
    t.line('X = "grüße 漢字".')
    expect(t, "wide and accented characters", r"^\[103,114,252,223,101,32,28450,23383\]\n3> ")
    t.type("lists:sum([10,20,3]).")
    for _ in range(3):
        t.keys("Left")
    t.type("3")
    t.keys("Enter")
    expect(t, "cursor left and insert", r"^63\n4> ")
    t.type("23 * 2.")
    t.keys("C-a")
    t.type("1")
    t.keys("C-e", "Enter")
    expect(t, "C-a, C-e", r"^246\n5> ")
    t.keys("Up")
    time.sleep(0.3)
    t.keys("Enter")
    expect(t, "history: up", r"^246\n6> ")
    t.type("abc + 77.")
    t.keys("C-a", "Delete", "Delete", "Delete", "Delete", "Delete")
    t.keys("Enter")
    expect(t, "delete", r"^77\n7> ")
    t.type("garbage")
    t.keys("C-u")
    t.line("88.")
    expect(t, "C-u", r"^88\n8> ")
    t.type("90xy")
    t.keys("BSpace", "BSpace")
    t.line("+9.")
    expect(t, "backspace", r"^99\n9> ")
    t.type("one two")
    t.keys("C-w", "C-w")
    t.type("{a,")
    t.keys("C-b", "C-f")
    t.line("b}.")
    expect(t, "C-w, C-b, C-f", r"^\{a,b\}\n10> ")
    t.type("aaa, {")
    t.keys("C-a", "C-k", "C-y", "C-y")
    expect(t, "kill and yank", r"aaa, \{aaa, \{")
    t.keys("C-a", "C-k")
    t.type("lists:rev")
    t.keys("Tab")
    expect(t, "completion", r"lists:reverse\(")
    t.line("[a,b]).")
    expect(t, "completed call", r"^\[b,a\]\n11> ")
    t.keys("C-r")
    t.type("sum")
    time.sleep(0.4)
    t.keys("Enter")
    expect(t, "history search", r"^63\n12> ")
    t.line("F = fun(A) ->")
    t.line("A * 3 end.")
    expect(t, "several lines", r"#Fun<erl_eval")
    t.line("F(7).")
    expect(t, "a fun", r"^21\n14> ")
    t.line("length(lists:seq(1, 30) ++ lists:seq(1, 30)).   % " + "x" * 60)
    expect(t, "a line longer than the window", r"^60\n15> ")
    t.close()


def own_modules():
    """Modules that only Heddle has: completion of their names and functions, and their documentation."""
    compile_modules = os.path.join(os.path.dirname(ERL), "..", "tools", "compile-modules")
    if not os.path.exists(compile_modules):
        return
    subprocess.run([compile_modules], check=True)
    t = Terminal("own", height=200)
    t.start()
    t.type("heddle_st")
    t.keys("Tab")
    expect(t, "completion of a module of Heddle", r"^1> heddle_stats:?$")
    t.keys("C-u")
    t.type("heddle_stats:")
    t.keys("Tab")
    expect(t, "completion of its functions", r"schedulers\(")
    t.keys("C-u")
    t.line("h(heddle_stats).")
    expect(t, "documentation of a module", r"^\s+Figures of the VM")
    t.line("h(heddle_stats, schedulers).")
    expect(t, "documentation of a function", r"^\s+Returns what each normal scheduler did")
    t.line("ht(heddle_sched, place).")
    expect(t, "documentation of a type", r"^\s+Where a process is to run\.")
    t.line("hd(heddle_stats:schedulers()).")
    expect(t, "the natives run", r"wake_ups =>")
    t.close()


def errors():
    t = Terminal("errors")
    t.start()
    t.line("1/0.")
    expect(t, "an exception", r"exception error: an error occurred when evaluating")
    t.line("foo(.")
    expect(t, "a syntax error", r"syntax error before: '\.'")
    t.line("Y.")
    expect(t, "unbound variable", r"variable 'Y' is unbound")
    t.line("spawn(fun() -> exit(crash_reason) end), error_logger:info_msg(\"note\").")
    expect(t, "a log message", r"=INFO REPORT====")
    t.line("proc_lib:spawn(fun() -> error(oops_here) end).")
    expect(t, "a crash report", r"=CRASH REPORT====[^$]*oops_here")
    t.line("spawn(fun() -> error(plain_oops) end).")
    expect(t, "an error report", r"=ERROR REPORT====[^$]*plain_oops")
    t.line("io:format(\"~ts ~p~n\", [[8364], {1.5, <<1,2>>, #{a => 1}}]).")
    expect(t, "output", r"€ \{1\.5,<<1,2>>,#\{a => 1\}\}")
    t.line("io:get_line(\"name? \").")
    t.wait("name\\?")
    t.line("Joe")
    expect(t, "input", r'^"Joe\\n"')
    t.line("V = 5.")
    t.line("f(V), V.")
    expect(t, "bindings", r"variable 'V' is unbound")
    t.close()


def interrupts():
    t = Terminal("interrupts")
    t.start()
    raw = t.modes()
    check("modes while the shell runs", "-icanon" in raw and "-echo " in raw, t)
    t.line("receive after 60000 -> ok end.")
    time.sleep(0.3)
    t.keys("C-g")
    expect(t, "C-g", r"User switch command\s+(\(enter|-->)|-->")
    t.line("i")
    t.line("c")
    expect(t, "interrupt a job", r"exception exit: killed|exception exit: interrupted|Interrupted|exited", 5)
    t.keys("Enter")
    t.line("7 * 6.")
    expect(t, "the shell goes on", r"^42$")
    t.keys("C-c")
    expect(t, "break menu", r"BREAK: \(a\)bort")
    t.keys("c", "Enter")
    time.sleep(0.3)
    t.line("6 * 111.")
    expect(t, "continue", r"^666$")
    t.keys("C-z")
    time.sleep(0.5)
    t.keys("Enter")
    if t.wait(r"Stopped", 2):
        t.line("fg")
        time.sleep(0.5)
        t.line("5 * 111.")
        expect(t, "stopped and back", r"^555$")
    tmux("resize-window", "-t", t.name, "-x", "100", "-y", "30")
    time.sleep(0.5)
    t.line("io:columns().")
    expect(t, "window size", r"\{ok,100\}")
    t.keys("C-c")
    time.sleep(0.3)
    t.keys("a", "Enter")
    expect(t, "abort", r"^a\n+(status=0\n)?\$ ")
    sane = t.modes()
    check("modes afterwards", " -opost" not in sane.replace("\n", " "), t)
    t.close()


def menu_choices():
    """Each choice of the break menu does what it says and leaves the menu; a second Ctrl-C ends the machine, however it was started."""
    t = Terminal("choices", height=200)
    t.line(ERL)
    expect(t, "prompt before the menu", r"^1> $")
    t.line("register(victim, spawn(fun() -> receive stop -> ok end end)), ets:new(shown_table, [named_table, public]).")
    t.wait(r"^shown_table")
    said = [("i", r"^=allocated_areas"), ("l", r"^Current code: "), ("D", r"^Table: shown_table"), ("d", r"^=no_distribution"),
            ("p", r"^=proc_stack:<"), ("v", r"^Erlang"), ("o", r"^=port:")]
    for number, (key, pattern) in enumerate(said):
        t.keys("C-c")
        check(f"menu before {key}", t.wait(r"\(d\)istribution\s*\Z"), t)
        t.keys(key, "Enter")
        expect(t, f"choice {key}", pattern)
        t.line(f"{number} + 700.")
        expect(t, f"shell behind choice {key}", rf"^70{number}$")
    t.keys("C-c")
    t.wait(r"\(d\)istribution\s*\Z")
    t.keys("k", "Enter")
    for _ in range(200):
        t.wait(r"\(r\)eturn:\s*\Z")
        shown = t.text().split("=proc:")[-1]
        t.keys("k" if "Name: victim" in shown else "n", "Enter")
        if "Name: victim" in shown:
            break
        time.sleep(0.05)
    expect(t, "killed", r"^killed <0\.")
    t.keys("r", "Enter")
    t.line("whereis(victim).")
    expect(t, "the victim is gone", r"^undefined$")
    t.keys("C-c")
    t.wait(r"\(d\)istribution\s*\Z")
    t.keys("z", "Enter")
    expect(t, "wrong choice", r"Invalid option 'z'")
    t.keys("q", "Enter")
    expect(t, "quit", r"^q\n+\$ ")
    t.close()
    heddle = os.path.join(HERE, "..", "target", "release", "heddle")
    with open("/tmp/heddle_menu_loop.erl", "w") as loop:
        loop.write("-module(heddle_menu_loop).\n-export([main/1]).\nmain(_) -> io:format(\"running~n\"), receive after infinity -> ok end.\n")
    starts = [("shell", ERL, r"^1> $"), ("noshell", f"{ERL} -noshell -eval 'io:format(\"running~n\").'", r"^running"),
              ("busy", f"{ERL} +S 1 -noshell -eval 'io:format(\"running~n\"), (fun F() -> F() end)().'", r"^running")]
    if os.path.exists(heddle):
        starts.append(("run", f"{heddle} run /tmp/heddle_menu_loop.erl", r"^running"))
    for name, command, ready in starts:
        # Wide enough that no path makes the command as long as a line: what follows would look as if it were part of it.
        t = Terminal("twice-" + name, width=200)
        t.line(f"{command}; echo status=$?")
        check(f"{name} is up", t.wait(ready), t)
        t.keys("C-c")
        check(f"menu of {name}", t.wait(r"BREAK: \(a\)bort"), t)
        t.keys("C-c")
        expect(t, f"a second Ctrl-C ends {name}", r"^(\^C)*status=0$")
        t.close()


def menu_keeps_the_keyboard():
    """While the menu ends the machine the shell's reader must not have the rest of the line. A job that was stopped shows it best, when the
    terminal, its keys and the machine share one core."""
    global SOCKET
    socket, cores = SOCKET, os.sched_getaffinity(0)
    SOCKET += "-menu"
    os.sched_setaffinity(0, {min(cores)})
    try:
        keep_server()
        t = Terminal("menu")
        clean = 0
        for _ in range(8):
            t.start()
            t.keys("C-z")
            t.wait("Stopped", 2)
            t.line("fg")
            t.line("6 * 111.")
            t.wait(r"^666$")
            t.keys("C-c")
            t.wait(r"BREAK: \(a\)bort")
            t.keys("a", "Enter")
            if not t.wait(r"^a\n+\$ ", 5):
                break
            clean += 1
        check("what is typed for the menu does not reach the shell", clean == 8, t)
        t.close()
    finally:
        tmux("kill-server")
        SOCKET = socket
        os.sched_setaffinity(0, cores)


def exits():
    for name, line, status in [("q()", "q().", 0), ("halt(3)", "halt(3).", 3), ("init:stop(4)", "init:stop(4).", 4)]:
        t = Terminal("exit" + str(status))
        t.start()
        t.line(line)
        expect(t, name, rf"status={status}")
        t.line("echo sa''ne")
        expect(t, f"terminal after {name}", r"^sane\n\$ ")
        t.close()
    t = Terminal("bad")
    t.start()
    t.line("halt(\"slogan here\").")
    expect(t, "halt with a slogan", r"slogan here[^$]*status=1")
    t.close()


def noshell():
    t = Terminal("noshell")
    t.line(f"printf 'ab\\ncd\\n' | '{ERL}' -noshell -eval 'io:format(\"[~p ~p ~p]~n\", [io:get_line(\"\"), io:get_line(\"\"), io:get_line(\"\")]), halt(5).'; echo status=$?")
    expect(t, "standard input from a pipe", r'^\["ab\\n" "cd\\n" eof\]\s+status=5')
    t.line(f"clear; '{ERL}' -noshell -eval 'io:format(\"<~p>~n\", [io:get_line(\"? \")]), halt(6).'; echo status=$?")
    t.wait(r"^\? ")
    t.line("typed")
    expect(t, "a line from the terminal", r'<"typed\\n">\s+status=6')
    t.line(f"clear; '{ERL}' -noinput -eval 'io:put_chars(lists:duplicate(100000, $x)), halt().' | wc -c")
    expect(t, "long output into a pipe", r"^100000")
    t.line(f"clear; '{ERL}' -noinput -eval 'timer:sleep(300000).' & sleep 2; kill -TERM $!; wait $!; echo status=$?")
    expect(t, "SIGTERM", r"SIGTERM received - shutting down[^$]*status=0")
    t.close()


def attached():
    """A shell that run_erl keeps in the background, and to_erl shows."""
    programs = os.path.dirname(ERL)
    if not os.path.exists(os.path.join(programs, "run_erl")):
        return
    with tempfile.TemporaryDirectory() as folder:
        t = Terminal("attached", width=72)
        t.line(f"{programs}/run_erl -daemon {folder}/ {folder} \"exec '{ERL}'\"; clear; {programs}/to_erl {folder}/; echo left=$?")
        t.wait(r"^1> ")
        t.line("io:columns().")
        expect(t, "run_erl: the terminal has the window's size", r"^\{ok,72\}\s+2> ")
        t.keys("C-d")
        expect(t, "to_erl: Ctrl-D leaves", r"\[Quit\]\s+left=0")
        t.line(f"clear; {programs}/to_erl {folder}/; echo left=$?")
        t.wait(r"Attaching to ")
        t.line("6 * 7.")
        expect(t, "to_erl: the shell goes on", r"^42\s+3> ")
        t.keys("C-c")
        expect(t, "to_erl: Ctrl-C is the shell's", r"BREAK: \(a\)bort")
        t.line("a")
        expect(t, "to_erl: the end of the program", r"\[End\]\s+left=0")
        names = sorted(os.listdir(folder))
        check("run_erl: the pipes are gone", names == ["erlang.log.1", "run_erl.log"], t)
        with open(os.path.join(folder, "erlang.log.1")) as log:
            logged = log.read()
        check("run_erl: the log has what was shown", "LOGGING STARTED" in logged and "{ok,72}" in logged and "42" in logged, t)
        t.line(f"clear; {programs}/to_erl {folder}/; echo left=$?")
        expect(t, "to_erl without run_erl", r"No running Erlang on pipe .*\s+left=1")
        t.close()


if __name__ == "__main__":
    if not shutil.which("tmux"):
        print("shell test skipped: tmux is not installed")
        sys.exit(0)
    keep_server()
    try:
        for part in [editing, own_modules, errors, interrupts, menu_choices, menu_keeps_the_keyboard, exits, noshell, attached]:
            try:
                part()
            except NoShell as problem:
                check(f"{part.__name__}: the shell starts", False, problem.args[0])
    finally:
        tmux("kill-server")
    print(f"{passed} passed, {len(failed)} failed")
    sys.exit(1 if failed else 0)
