"""A TCP proxy between nodes: each pair has ports of its own, and the connections through them can be cut, delayed, slowed and so on.

Each direction of a connection is a Flow: one thread reads, another writes, with a short queue in between, so a side that is not read notices it.
"""

import contextlib
import queue
import random
import socket
import struct
import threading
import time

#: Bytes that are read at once, and how many such pieces may wait in a flow.
PIECE, PIECES = 1 << 16, 8


class Weather:
    """What the connections of a pair of nodes suffer at present. Faults end by themselves at their time (monotonic seconds)."""

    def __init__(self):
        self.until = {}
        self.milliseconds = self.bytes_per_second = self.bytes = 0
        #: The nodes from which nothing is read, or what is read is thrown away.
        self.silent = ()
        self.timer = None

    def set(self, fault, seconds):
        self.until[fault] = time.monotonic() + seconds

    def has(self, fault):
        return self.until.get(fault, 0) > time.monotonic()


class Flow:
    """One direction of a connection: from the node `source` to the other one."""

    def __init__(self, weather, source, reader, writer, close):
        self.weather, self.source, self.reader, self.writer, self.close = weather, source, reader, writer, close
        self.pieces = queue.Queue(PIECES)
        self.bytes = 0
        for target in (self.read, self.write):
            threading.Thread(target=target, daemon=True).start()

    def read(self):
        weather = self.weather
        with contextlib.suppress(OSError, ValueError):
            while True:
                while weather.has("stall") and self.source in weather.silent:
                    time.sleep(0.01)
                piece = self.reader.recv(PIECE)
                if not piece:
                    break
                # What is read after the beginning of a stall waits for its end.
                while weather.has("stall") and self.source in weather.silent:
                    time.sleep(0.01)
                if weather.has("vanish") and self.source in weather.silent:
                    continue
                due = time.monotonic() + weather.milliseconds / 1000 if weather.has("delay") else 0
                self.pieces.put((due, piece))
        self.pieces.put((0, b""))

    def write(self):
        piece = True
        with contextlib.suppress(OSError, ValueError):
            while piece:
                due, piece = self.pieces.get()
                wait = due - time.monotonic()
                if wait > 0:
                    time.sleep(wait)
                self.send(piece)
                self.bytes += len(piece)
        self.close()
        # The reader may wait for a place.
        while piece:
            _, piece = self.pieces.get()

    def send(self, piece):
        weather, at = self.weather, 0
        while at < len(piece):
            size = len(piece) - at
            if weather.has("chop"):
                size = min(size, random.randint(1, weather.bytes))
            elif weather.has("slow"):
                size = min(size, max(1, weather.bytes_per_second // 50))
            self.writer.sendall(piece[at:at + size])
            at += size
            if weather.has("slow"):
                time.sleep(size / weather.bytes_per_second)
            elif weather.has("chop") and at < len(piece):
                time.sleep(0.0005)


class Connection:
    def __init__(self, weather, source, accepted, other, connected, gone):
        self.sockets, self.gone, self.is_open, self.lock = (accepted, connected), gone, True, threading.Lock()
        for one in self.sockets:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.flows = [Flow(weather, source, accepted, connected, self.close), Flow(weather, other, connected, accepted, self.close)]

    def close(self, reset=False):
        with self.lock:
            if not self.is_open:
                return
            self.is_open = False
        for one in self.sockets:
            with contextlib.suppress(OSError):
                if reset:
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                # A thread that waits in recv hears of a shutdown, not of a close.
                else:
                    one.shutdown(socket.SHUT_RDWR)
            if reset:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RD)
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.close()
        self.gone(self)


class Proxy:
    def __init__(self, nodes, port_of):
        """`port_of` returns the port at which a node listens now, or None."""
        self.port_of, self.lock = port_of, threading.Lock()
        self.weather = {frozenset(pair): Weather() for pair in _pairs(nodes)}
        self.connections = {pair: set() for pair in self.weather}
        self.listeners = {}
        self.bytes = self.count = 0
        for source in nodes:
            for other in nodes:
                if source != other:
                    listener = socket.create_server(("127.0.0.1", 0))
                    self.listeners[source, other] = listener
                    threading.Thread(target=self.accept, args=(source, other, listener), daemon=True).start()

    def ports(self, source):
        """For CLUSTER_PORTS of the node (cluster_epmd)."""
        return ",".join(f"{other}:{listener.getsockname()[1]}" for (one, other), listener in self.listeners.items() if one == source)

    def accept(self, source, other, listener):
        pair = frozenset((source, other))
        while True:
            try:
                accepted, _ = listener.accept()
            except OSError:
                return
            try:
                if self.weather[pair].has("refuse"):
                    raise OSError("refused")
                connected = socket.create_connection(("127.0.0.1", self.port_of(other) or 1), timeout=5)
                connected.settimeout(None)
            except OSError:
                accepted.close()
                continue
            with self.lock:
                self.count += 1
                self.connections[pair].add(Connection(self.weather[pair], source, accepted, other, connected, lambda one, pair=pair: self.gone(pair, one)))

    def gone(self, pair, connection):
        with self.lock:
            self.connections[pair].discard(connection)
            self.bytes += sum(flow.bytes for flow in connection.flows)

    # ---- faults, each between two nodes ----

    def cut(self, one, other, reset=False):
        with self.lock:
            connections = list(self.connections[frozenset((one, other))])
        for connection in connections:
            connection.close(reset)

    def refuse(self, one, other, seconds):
        self.weather[frozenset((one, other))].set("refuse", seconds)
        self.cut(one, other)

    def delay(self, one, other, milliseconds, seconds):
        weather = self.weather[frozenset((one, other))]
        weather.milliseconds = milliseconds
        weather.set("delay", seconds)

    def slow(self, one, other, bytes_per_second, seconds):
        weather = self.weather[frozenset((one, other))]
        weather.bytes_per_second = bytes_per_second
        weather.set("slow", seconds)

    def chop(self, one, other, bytes, seconds):
        weather = self.weather[frozenset((one, other))]
        weather.bytes = bytes
        weather.set("chop", seconds)

    def stall(self, one, other, sides, seconds):
        weather = self.weather[frozenset((one, other))]
        if not weather.has("vanish"):
            weather.silent = (one, other)[:sides]
            weather.set("stall", seconds)

    def vanish(self, one, other, sides, seconds):
        """What is thrown away would be lost in a connection that lives, so it is closed before it can go on."""
        weather = self.weather[frozenset((one, other))]
        if weather.has("vanish"):
            return
        weather.until.pop("stall", None)
        weather.silent = (one, other)[:sides]
        weather.set("vanish", 1 << 30)
        weather.timer = threading.Timer(seconds, self.end_vanish, (one, other))
        weather.timer.start()

    def end_vanish(self, one, other):
        self.cut(one, other, True)
        self.weather[frozenset((one, other))].until.pop("vanish", None)

    def calm(self):
        """Ends all faults."""
        for pair, weather in self.weather.items():
            if weather.has("vanish"):
                weather.timer.cancel()
                self.end_vanish(*pair)
            weather.until.clear()

    def end(self):
        for listener in self.listeners.values():
            listener.close()
        for pair in self.weather:
            self.cut(*pair)


def _pairs(nodes):
    return [(a, b) for a in nodes for b in nodes if a < b]
