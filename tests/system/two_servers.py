"""Our server and a real Redis side by side, on unix sockets in their own directory, and clients that keep raw bytes."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

RESPITE = os.environ.get("RESPITE_SERVER", "build/test/respite-server")
REDIS = os.environ.get("REDIS_SERVER", "redis-server")
WAIT_S = 20.0


def encode(words):
    request = b"*%d\r\n" % len(words)
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        request += b"$%d\r\n%s\r\n" % (len(word), word)
    return request


def speaks_tls(program):
    """Returns whether it was built with TLS: a server without TLS does not know `tls-port`."""
    said = subprocess.run([program, "--port", "0", "--tls-port", "-1"], capture_output=True, text=True, timeout=30, check=False)
    return "Bad directive" not in said.stdout + said.stderr


class Closed(Exception):
    """The server closed the connection; `rest` is what it had sent before."""

    def __init__(self, rest=b""):
        super().__init__(f"closed after {rest!r}")
        self.rest = rest


class RawClient:
    """Sends bytes over a connected socket and reads whole replies as raw bytes."""

    def __init__(self, connected):
        self.socket = connected
        self.buffer = b""

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def _fill(self):
        data = self.socket.recv(1 << 18)
        if not data:
            raise Closed(self.buffer)
        self.buffer += data

    def _line_end(self, start):
        while True:
            end = self.buffer.find(b"\r\n", start)
            if end >= 0:
                return end + 2
            self._fill()

    def _reply_end(self, start):
        pending = 1
        while pending:
            end = self._line_end(start)
            kind, count = self.buffer[start:start + 1], self.buffer[start + 1:end]
            pending -= 1
            if kind in b"$!=" and int(count) >= 0:
                end += int(count) + 2
                while len(self.buffer) < end:
                    self._fill()
            elif kind in b"*%~>|":
                pending += max(int(count), 0) * (2 if kind in b"%|" else 1) + (kind == b"|")
            start = end
        return start

    def read(self):
        """Returns the raw bytes of one reply."""
        end = self._reply_end(0)
        reply, self.buffer = self.buffer[:end], self.buffer[end:]
        return reply

    def run(self, *words):
        self.send(encode(words))
        return self.read()


class Client(RawClient):
    def __init__(self, path):
        super().__init__(socket.socket(socket.AF_UNIX))
        self.socket.settimeout(WAIT_S)
        try:
            self.socket.connect(path)
        except OSError:
            self.socket.close()
            raise


def value_of(raw):
    """Returns the value of a raw reply: int, bytes, None or list (a flat one for a map); anything else as its line."""
    value, rest = _value(raw)
    assert rest == b"", rest
    return value


def _value(raw):
    line, rest = raw.split(b"\r\n", 1)
    kind, text = line[:1], line[1:]
    if kind == b":":
        return int(text), rest
    if kind == b"$":
        size = int(text)
        return (None, rest) if size < 0 else (rest[:size], rest[size + 2:])
    if kind == b"_":
        return None, rest
    if kind in b"*~%>":
        if int(text) < 0:
            return None, rest
        values = []
        for _ in range(int(text) * (2 if kind == b"%" else 1)):
            value, rest = _value(rest)
            values.append(value)
        return values, rest
    return line, rest


class Server:
    """Starts immediately; `stop` ends it and removes its directory."""

    def __init__(self, program, *options, needs_debug=True):
        """`needs_debug`: DEBUG must be allowed; Redis 6.2 always allows it."""
        self.folder = tempfile.mkdtemp(prefix="two-servers-")
        self.path = os.path.join(self.folder, "socket")
        self.log = open(os.path.join(self.folder, "log"), "wb")
        arguments = ["--port", "0", "--unixsocket", self.path, "--save", "", "--dir", self.folder,
                     *(["--enable-debug-command", "yes"] if needs_debug else []), *options]
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.DEVNULL, stdout=self.log,
                                        stderr=subprocess.STDOUT)
        self._wait()
        client = self.client()
        info = client.run("INFO", "server")
        client.close()
        self.version = tuple(map(int, re.search(rb"redis_version:(\d+)\.(\d+)", info).groups()))
        self.is_ours = b"respite_version" in info

    def _wait(self):
        end = time.monotonic() + WAIT_S
        while True:
            try:
                client = Client(self.path)
                client.close()
                return
            except OSError as error:
                if self.process.poll() is not None or time.monotonic() > end:
                    with open(self.log.name, encoding="utf-8", errors="replace") as log:
                        said = log.read()[-2000:]
                    self.stop()
                    raise AssertionError(f"{self.process.args} did not start:\n{said}") from error
                time.sleep(0.005)

    def client(self):
        return Client(self.path)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(WAIT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)
