"""The process of the server."""
import itertools
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import urllib.parse

from .clock import Clock
from .connection import Connection

_world_numbers = itertools.count(1)


def find_program():
    """Returns the path of respite-server: $RESPITE_SERVER, or the program that this package has installed, or the first
    one in PATH."""
    given = os.environ.get("RESPITE_SERVER")
    if given:
        return given
    if sys.platform != "linux":
        raise FileNotFoundError("Respite runs on Linux only, so far: use a Linux container or virtual machine, or WSL 2. "
                                "The environment variable RESPITE_SERVER can name another program")
    here = pathlib.Path(__file__).resolve().parent.parent
    folders = [sysconfig.get_path("scripts"), here / "bin", here.parents[2] / "bin"]  # also pip's --target and --user
    for folder in folders:
        if os.access(pathlib.Path(folder) / "respite-server", os.X_OK):
            return str(pathlib.Path(folder) / "respite-server")
    found = shutil.which("respite-server")
    if found is None:
        raise FileNotFoundError("respite-server is not installed; the environment variable RESPITE_SERVER can name it")
    return found


class Place:
    """A server or a world: where clients reach it, and its TEST commands."""

    def __init__(self, host, port, *, user=None, password=None):
        self.host, self.port, self.user, self.password = host, port, user, password
        self._connection = None
        self.clock = Clock(self)

    @property
    def url(self):
        """The URL for clients: redis://…"""
        words = (urllib.parse.quote(word, safe="") for word in (self.user or "", self.password or "x"))
        login = ":".join(words) + "@" if self.user or self.password else ""
        return f"redis://{login}{self.host}:{self.port}/0"

    def ask(self, *words):
        """Sends a command over its own connection."""
        if self._connection is None:
            self._connection = Connection(self.host, self.port, user=self.user, password=self.password)
        return self._connection.ask(*words)

    def test(self, *words):
        """Sends a TEST command: test("FAULT", "CLEAR")."""
        return self.ask("TEST", *words)

    def reset(self):
        """Returns data, users, settings, faults and the clock to their state at the start."""
        self.test("RESET")

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class World(Place):
    """An isolated server behind the port of another one; created when it is first used."""

    def __init__(self, server, name):
        super().__init__(server.host, server.port, user=f"world.{name}", password=server.password)
        self.name, self._server = name, server

    def drop(self):
        self.close()
        self._server.test("WORLD", "DROP", self.name)


class Server(Place):
    """A started server. It ends with close(), or at the latest when this process ends."""

    def __init__(self, process, ports, password):
        super().__init__("127.0.0.1", ports[0], password=password)
        self.process, self.ports = process, ports

    def world(self, name=None):
        return World(self, name or f"{os.getpid()}-{next(_world_numbers)}")

    def close(self):
        super().close()
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def start(*arguments, password=None):
    """Starts a server for tests on a free port, with more arguments of respite-server: start("--nodes", "3x1")."""
    secret = ("--requirepass", password) if password else ()
    reader, writer = os.pipe()
    with os.fdopen(reader) as ports:
        try:
            command = [find_program(), "--test", *secret, *map(str, arguments), "--ready-fd", str(writer)]
            process = subprocess.Popen(command, pass_fds=[writer], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT)
        finally:
            os.close(writer)
        found = [int(line) for line in ports]
    if not found:
        log = process.communicate()[0].decode(errors="replace")
        raise RuntimeError(f"respite-server did not start:\n{log}")
    process.stdout.close()  # it continues without a reader
    return Server(process, found, password)
