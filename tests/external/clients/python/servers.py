"""Servers that a test starts, kills and restarts, in addition to the one given to the suite."""
import contextlib
import os
import pathlib
import shutil
import subprocess
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

    def __init__(self, *options, host=HOST, port=None):
        self.folder = tempfile.mkdtemp(prefix="server-")
        self.host = host
        self.port = port or free_port()
        self.options = options
        self.running = None
        self.start()

    def start(self):
        """Starts or restarts it, in the same directory and on the same port."""
        self.running = launcher.Launched("--port", self.port, "--bind", self.host, "--save", "", "--dir", self.folder,
                                         *self.options, program=PROGRAM, cwd=self.folder).ready()

    def kill(self):
        self.running.kill()

    def restart(self):
        self.running.stop()
        self.start()

    def remove(self):
        self.kill()
        shutil.rmtree(self.folder)

    def client(self, **options):
        return redis.Redis(self.host, self.port, **{"decode_responses": True, **options})


def has_test_commands():
    """Whether the server under test has TEST; Redis has none."""
    return "--test " in subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       check=False).stdout


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
        def start(*options, **place):
            server = Server(*options, **place)
            started.callback(server.remove)
            return server
        yield start
