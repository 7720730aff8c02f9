"""A run: nodes, a proxy between them, the plan, and what is found."""

import contextlib
import threading
import time
from types import SimpleNamespace

from epmd import Epmd
from nodes import HOST, Failed, Node
from plan import plan, text
from proxy import Proxy
from rules import RULES

#: Seconds in which no connection may go before a phase begins.
CALM = 0.5


class Finding(SimpleNamespace):
    """A broken rule: rule, node, phase, step, what (a dictionary of texts)."""

    def lines(self):
        yield f"BROKEN  {self.rule}: {RULES.get(self.rule, self.rule)}"
        yield f"    node {self.node}, phase {self.phase}, {self.step}"
        for key, value in self.what.items():
            yield f"    {key}: {value}"


class Cluster:
    def __init__(self, options, say):
        self.options, self.say = options, say
        self.names = [f"n{index}" for index in range(1, len(options.kinds) + 1)]
        self.phases = plan(options.seed, options.seconds, self.names, options.faults, options.ticktime)
        self.findings, self.notes, self.counts, self.figures, self.lock = [], [], {}, {}, threading.Lock()
        self.phase, self.step, self.nodes = None, "before the first step", {}
        self.proxy, self.passed = None, None
        #: Silences under way: (until when, what the connections were before).
        self.silences = []

    # ---- what is found ----

    def broken(self, node, rule, what):
        finding = Finding(rule=rule, node=f"{node.name} ({node.kind}, life {node.life})", phase=f"{self.phase.number} ({self.phase.kind})" if self.phase else "none",
                          step=self.step, what=what)
        with self.lock:
            self.findings.append(finding)
            if len(self.findings) <= 30:
                for line in finding.lines():
                    self.say(line)

    def trouble(self, node, rule, problem):
        self.broken(node, rule, {"problem": str(problem)})

    # ---- the run ----

    def run(self):
        """True if all could be done that was planned."""
        options = self.options
        epmd = Epmd(options.folder, [path for _, path in options.kinds], options.epmd_port)
        try:
            self.proxy = Proxy(self.names, epmd.port_of) if options.proxy else None
            settings = SimpleNamespace(**vars(options), ports=self.proxy.ports if self.proxy else None)
            settings.epmd_port = epmd.port
            for index, (name, (kind, path)) in enumerate(zip(self.names, options.kinds), 1):
                self.nodes[name] = Node(name, index, kind, path, settings, self.broken)
            for node in self.nodes.values():
                node.start()
            self.connect()
            begun = time.monotonic()
            for phase in self.phases:
                if options.at_most and time.monotonic() > begun + options.at_most:
                    break
                self.do_phase(phase)
                if options.fail_fast and self.findings:
                    break
            self.phase, self.step = None, "at the end"
            self.end()
        except Failed as problem:
            self.trouble(SimpleNamespace(name="cluster", kind="tester", life=1), "node", problem)
        finally:
            if self.proxy:
                self.proxy.end()
                self.passed = {"connections": self.proxy.count, "bytes": self.proxy.bytes}
            for node in self.nodes.values():
                if node.is_running():
                    node.kill()
            epmd.end()

    def others(self, node):
        return ",".join(f"{other.name}@{HOST}" for other in self.nodes.values() if other is not node)

    def long(self):
        """Seconds in which a node must have answered, whatever it does."""
        return 4 * self.options.patience + 30

    def connect(self):
        """Until all nodes are connected, global has seen all, and no connection went for a while: global takes nodes apart that do not see the same
        others, a little later. On a busy computer this may go round and round with nodes of any kind, until all connections are closed at once."""
        begun, before, without = time.monotonic(), None, {}
        end, closed = begun + self.options.patience, begun
        while time.monotonic() < end:
            answers = self.ask_all("connect", self.others)
            without = {name: answer["without"] for name, answer in answers.items() if answer["without"]}
            late = [name for name, answer in answers.items() if not answer["synced"]]
            if late and not without:
                self.apart(f"global of {', '.join(late)} does not see all nodes")
            elif answers == before:
                return
            elif time.monotonic() > closed + self.options.patience / 3:
                self.apart("connections go again and again")
                closed = time.monotonic()
            before = answers
            time.sleep(CALM)
        for name, others in (without or {self.names[0]: ["connections that stay, with global"]}).items():
            self.broken(self.nodes[name], "connect", {"expected": "connections to all, which stay", "found": f"not to {', '.join(others)}", **self.globals()})

    def apart(self, why):
        """Closes all connections. After some losses of connections global waits forever (erlang/otp issues 6524 and 9112), until the next one."""
        self.say(f"NOTE    {why}: all connections are closed once")
        self.notes.append({"phase": self.phase.number if self.phase else 0, "what": why, **self.globals()})
        self.ask_all("disconnect", self.others)

    def globals(self):
        return {f"global of {name}": answer["global"] for name, answer in self.ask_all("global").items()}

    def ask_all(self, word, *words):
        """{name of a node: its answer}. The nodes answer at the same time, so that their answers are of one moment; `words` are functions of a node."""
        for node in self.nodes.values():
            node.tell(word, *(of(node) for of in words))
        return {node.name: node.said(word, self.long()) for node in self.nodes.values()}

    def go(self, node, phase):
        node.ask("go", phase.number, phase.kind, self.options.slots, self.options.only, self.others(node), seconds=self.long())

    def do_phase(self, phase):
        self.phase, self.step = phase, "before the first step"
        begun = time.monotonic()
        for node in self.nodes.values():
            self.go(node, phase)
        #: Nodes that were killed and when they are started again.
        down = {}
        for step in phase.steps:
            self.until(begun + step.at, down, phase)
            self.step = text(step)
            if self.options.verbose:
                self.say(f"        {phase.number}: {step.at:6.2f} s  {self.step}")
            self.do_step(step, down)
        self.until(begun + phase.seconds, down, phase)
        if self.proxy:
            self.proxy.calm()
        for name in list(down):
            self.start_again(name, down, phase)
        if phase.steps:
            self.step = f"after {self.step}"
        self.settle(phase, begun)

    def until(self, when, down, phase):
        """Waits, starts killed nodes again at their time, and looks that the others run."""
        while True:
            for name, again in list(down.items()):
                if time.monotonic() >= again:
                    self.start_again(name, down, phase)
            for silence in [one for one in self.silences if time.monotonic() >= one[0]]:
                self.silences.remove(silence)
                self.noticed(silence[1], down)
            for node in self.nodes.values():
                if node.name not in down and not node.is_running():
                    raise Failed(f"{node.name} ended with {node.process.wait()}: {node.last_words()}")
            left = when - time.monotonic()
            if left <= 0:
                return
            time.sleep(min(left, 0.1))

    def do_step(self, step, down):
        first = self.nodes[step.nodes[0]]
        if step.fault == "kill":
            if first.name not in down:
                first.kill()
                down[first.name] = time.monotonic() + step.values["seconds"]
        elif step.fault == "contest":
            if first.name not in down:
                first.tell("contest")
        elif step.fault == "disconnect":
            if first.name not in down:
                first.tell("disconnect", f"{step.nodes[1]}@{HOST}")
        elif step.fault == "silence":
            self.silence(step)
        else:
            getattr(self.proxy, step.fault)(*step.nodes, **step.values)

    def silence(self, step):
        """Nothing passes between the two for so long that both must close the connection."""
        pair = [self.nodes[name] for name in step.nodes]
        before = [(node, other, node.life, self.connection(node, other)) for node, other in (pair, reversed(pair))]
        self.proxy.stall(*step.nodes, sides=2, seconds=step.values["seconds"] + 1)
        self.silences.append((time.monotonic() + step.values["seconds"], before))

    def connection(self, node, other):
        return node.ask("connection", f"{other.name}@{HOST}", seconds=self.long())["id"]

    def noticed(self, before, down):
        for node, other, life, connection in before:
            if node.name not in down and node.life == life and connection != "none" and self.connection(node, other) == connection:
                self.broken(node, "silence", {"expected": f"the connection to {other.name} is closed, net_ticktime is {self.options.ticktime} s", "found": f"connection {connection}"})

    def start_again(self, name, down, phase):
        node = self.nodes[name]
        before = node.life
        node.start()
        del down[name]
        if self.options.verbose:
            self.say(f"        {phase.number}: {name} runs again, life {before + 1}")
        self.go(node, phase)

    def settle(self, phase, begun):
        """Ends the traffic, and looks at what is left."""
        self.connect()
        counts = {}
        for answer in self.ask_all("stop").values():
            for key, value in answer.items():
                counts[key] = counts.get(key, 0) + value
                self.counts[key] = self.counts.get(key, 0) + value
        self.connect()
        self.agree()
        figures = self.figures[phase.number] = self.ask_all("left")
        rounds = sum(counts.get(f"rounds_{how}", 0) for how in ("steady", "lost", "without_connection"))
        memory = ", ".join(f"{name} {figure['total'] / 1e6:.0f} MB {figure['process_count']} processes" for name, figure in figures.items())
        self.say(f"phase {phase.number}/{len(self.phases)} {phase.kind:5} {time.monotonic() - begun:5.1f} s, {len(phase.steps)} faults: "
                 f"{rounds:,} rounds ({counts.get('rounds_lost', 0):,} lost their connection), {counts.get('stream_messages', 0):,} messages in streams; {memory}")

    def agree(self):
        """All nodes see the same names and groups in the end; global names perhaps after all connections were closed once."""
        wrong = self.disagreements(self.options.patience)
        if wrong and all("group" not in key for _, key, _, _ in wrong):
            self.apart(f"{wrong[0][1]} is {wrong[0][2]} for {self.names[0]} and {wrong[0][3]} for {wrong[0][0]}")
            self.connect()
            wrong = self.disagreements(self.options.patience)
        known = self.globals() if wrong else {}
        for name, key, expected, found in wrong[:3]:
            self.broken(self.nodes[name], "names", {"of": key, f"seen by {self.names[0]}": expected, f"seen by {name}": found, **known})

    def disagreements(self, seconds):
        """[(node, name, what the first node sees, what this one sees)], none when all agree within the time."""
        end = time.monotonic() + seconds
        while True:
            views = self.ask_all("view")
            wrong = list(_differences(views, self.names))
            if not wrong or time.monotonic() > end:
                return wrong
            time.sleep(0.2)

    def end(self):
        for node in self.nodes.values():
            try:
                code = node.end(30)
            except Failed as problem:
                self.trouble(node, "end", problem)
                continue
            if code != 0:
                self.broken(node, "end", {"expected": "exit code 0", "found": code, "said": node.last_words()})
        for node in self.nodes.values():
            with contextlib.suppress(OSError):
                node.log.close()


def _differences(views, names):
    first = views[names[0]]
    for name, view in views.items():
        for key in sorted(set(first) | set(view)):
            if first.get(key) != view.get(key):
                yield name, key, first.get(key), view.get(key)
        for other in names:
            holder = f"{{cluster_holder,{other}@{HOST}}}"
            if holder not in view:
                yield name, holder, first.get(holder, "gone"), "gone"
    for key, value in first.items():
        # Those of rounds.
        if "cluster_name_" in key:
            yield names[0], key, value, "left of a round"
