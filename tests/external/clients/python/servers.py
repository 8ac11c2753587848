"""Servers that a test starts, kills and restarts, in addition to the one given to the suite."""
import contextlib
import os
import pathlib
import shutil
import sys
import tempfile

import pytest
import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "system"))
import launcher  # noqa: E402  (found by the line above)

HOST = os.environ["REDIS_HOST"]
PORT = int(os.environ["REDIS_PORT"])
PROGRAM = os.environ["REDIS_SERVER"]

free_port = launcher.free_port
wait_until = launcher.wait_until


class Server:
    """A server with its own port and directory."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="server-")
        self.port = free_port()
        self.options = options
        self.running = None
        self.start()

    def start(self):
        """Starts or restarts it, in the same directory and on the same port."""
        self.running = launcher.Launched("--port", self.port, "--bind", HOST, "--save", "", "--dir", self.folder, *self.options,
                                         program=PROGRAM, cwd=self.folder).ready()

    def kill(self):
        self.running.kill()

    def restart(self):
        self.running.stop()
        self.start()

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder)

    def client(self, **options):
        return redis.Redis(HOST, self.port, **{"decode_responses": True, **options})


@contextlib.contextmanager
def changed_directives(client):
    """Yields a function that changes directives, and restores them after the block."""
    before = {}

    def change(**directives):
        for name, value in directives.items():
            name = name.replace("_", "-")
            before.setdefault(name, client.config_get(name)[name])
            client.config_set(name, value)

    try:
        yield change
    finally:
        for name, value in before.items():
            client.config_set(name, value)


@pytest.fixture
def start_server():
    """Starts servers for a test, and removes them and their files after it."""
    with contextlib.ExitStack() as started:
        def start(*options):
            server = Server(*options)
            started.callback(server.remove)
            return server
        yield start
