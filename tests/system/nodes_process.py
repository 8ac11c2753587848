"""A whole cluster in one process, for tests."""
import os
import re
import signal
import socket
import subprocess

from launcher import SERVER, WAIT_S, wait_until
from two_servers import RawClient, value_of

MOVED = re.compile(rb"-MOVED \d+ 127\.0\.0\.1:(\d+)\r\n")


def ask(port, *words):
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        return value_of(RawClient(connection).run(*words))


class Process:
    """respite-server --nodes LAYOUT in a folder, ready when its port file is there."""

    def __init__(self, folder, layout, *options, port="auto"):
        self.folder, self.log_path = folder, os.path.join(folder, "log")
        self.port_file = os.path.join(folder, "ports")
        arguments = ["--nodes", layout, "--bind", "127.0.0.1", "--port", str(port), "--port-file", self.port_file,
                     "--dir", folder, "--logfile", self.log_path, *options]
        self.errors_path = os.path.join(folder, "errors")
        with open(self.errors_path, "ab") as errors:
            self.process = subprocess.Popen([SERVER, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                            stderr=errors)
        wait_until(lambda: os.path.exists(self.port_file) or self.process.poll() is not None, "the port file")
        if self.process.poll() is not None:
            raise AssertionError("the process ended:\n" + self.log())
        with open(self.port_file, encoding="ascii") as ports:
            self.ports = [int(line) for line in ports]

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="backslashreplace") as log:
            return log.read()

    def errors(self):
        """Returns what the process wrote to its standard error: reports of sanitizers, since the log is a file."""
        with open(self.errors_path, encoding="utf-8", errors="backslashreplace") as errors:
            return errors.read()

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(WAIT_S)


class ClusterClient:
    """Follows MOVED."""

    def __init__(self, ports):
        self.connections, self.known, self.first = {}, {}, ports[0]

    def close(self):
        for connection in self.connections.values():
            connection.close()

    def at(self, port):
        if port not in self.connections:
            self.connections[port] = RawClient(socket.create_connection(("127.0.0.1", port), timeout=WAIT_S))
        return self.connections[port]

    def run(self, key, *words):
        port = self.known.get(key, self.first)
        for _ in range(5):
            reply = self.at(port).run(*words)
            moved = MOVED.match(reply)
            if not moved:
                self.known[key] = port
                return value_of(reply)
            port = int(moved[1])
        raise AssertionError(reply)
