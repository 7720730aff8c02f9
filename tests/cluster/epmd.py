"""The program epmd, which knows at which ports the nodes of a computer listen."""

import contextlib
import os
import socket
import struct
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "servers"))

from server import Failed, Program, free_port  # noqa: E402


class Epmd:
    """An epmd of ours, at a port of its own. `asked` is the port of one that runs already."""

    def __init__(self, folder, emulators, asked=None):
        self.port, self.program = asked or free_port(), None
        if asked:
            return
        beside = [Path(path).with_name("epmd") for path in emulators]
        found = next((path for path in beside if os.access(path, os.X_OK)), None)
        if not found:
            raise Failed(f"no epmd beside {', '.join(emulators)}: start one, and give its port with --epmd-port")
        self.program = Program([found, "-port", str(self.port), "-address", "127.0.0.1"], {}, folder / "epmd.log")
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            time.sleep(0.05)
        raise Failed(f"epmd does not listen: {self.program.last_words()}")

    def port_of(self, name):
        """Where the node listens (PORT_PLEASE2_REQ), or None."""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
            question = b"z" + name.encode()
            connection.sendall(struct.pack(">H", len(question)) + question)
            answer = b""
            while more := connection.recv(1000):
                answer += more
            if answer[:2] == b"w\0":
                return struct.unpack(">H", answer[2:4])[0]
        return None

    def end(self):
        if self.program:
            self.program.kill()
