"""Starts, watches and queries servers as launchers do. Every wait polls its condition, up to a limit."""
import atexit
import collections
import ctypes
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

SERVER = os.environ.get("RESPITE_SERVER", "build/test/respite-server")
WAIT_S = 20.0


def wait_until(condition, what, limit_s=WAIT_S):
    end = time.monotonic() + limit_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit_s} s for {what}")
        time.sleep(0.002)


_reservations = collections.deque()
atexit.register(lambda: [reservation.close() for reservation in _reservations])


def free_port():
    """Returns a port that no outgoing connection takes before the server listens: it is below their range, and so is the
    port of a cluster's bus, 10000 above it. Nor does another test, as long as this one needs it: it is reserved by its
    UDP port, which servers do not use."""
    while True:
        port = random.SystemRandom().randrange(12000, 22000)
        reservation = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with socket.socket() as probe:
            try:
                reservation.bind(("127.0.0.1", port))
                probe.bind(("127.0.0.1", port))
            except OSError:
                reservation.close()
                continue
        _reservations.append(reservation)
        if len(_reservations) > 300:
            _reservations.popleft().close()
        return port


def exists(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def connect(address):
    if isinstance(address, int):
        return socket.create_connection(("127.0.0.1", address), timeout=WAIT_S)
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(WAIT_S)
    try:
        sock.connect(str(address))
    except OSError:
        sock.close()
        raise
    return sock


def read_reply(stream):
    """Returns the content of a bulk string, a list for an array, else the line with its type."""
    line = stream.readline().rstrip(b"\r\n")
    if line.startswith(b"$") and line != b"$-1":
        return stream.read(int(line[1:]) + 2)[:-2].decode()
    if line.startswith(b"*"):
        return [read_reply(stream) for _ in range(int(line[1:]))]
    return line.decode()


def ask(sock, *words):
    request = b"*%d\r\n" % len(words)
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode()
        request += b"$%d\r\n%s\r\n" % (len(word), word)
    sock.sendall(request)
    return read_reply(sock.makefile("rb"))


def call(address, *words):
    with connect(address) as sock:
        return ask(sock, *words)


def few_descriptors(count):
    """For preexec_fn: sets a limit that the server cannot raise, not even as root."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))
        if os.geteuid() == 0:
            capability_sys_resource, drop_from_bounding_set = 24, 24
            ctypes.CDLL(None).prctl(drop_from_bounding_set, capability_sys_resource, 0, 0, 0)
    return limit


class Launched:
    """A started server whose standard output (and error) is read as it comes."""

    def __init__(self, *arguments, stdin=None, program=SERVER, **options):
        feed = subprocess.PIPE if stdin is not None else subprocess.DEVNULL
        self.process = subprocess.Popen([program, *map(str, arguments)], stdin=feed, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, **options)
        self.text = ""
        if stdin is not None:
            self.process.stdin.write(stdin.encode())
            self.process.stdin.close()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.text += line.decode(errors="replace")

    @property
    def pid(self):
        return self.process.pid

    def wait_for(self, pattern):
        """Returns the match; fails immediately if the server has ended without printing it."""
        def found():
            over = self.process.poll() is not None and not self.reader.is_alive()
            match = re.search(pattern, self.text, re.S)
            if not match and over:
                raise AssertionError(f"ended with {self.process.returncode} without {pattern!r}:\n{self.text}")
            return match
        return wait_until(found, pattern)

    def ready(self):
        self.wait_for(r"Ready to accept connections")
        return self

    @property
    def port(self):
        return int(self.wait_for(r"now ready to accept connections on port (\d+)\n")[1])

    def exit_code(self):
        code = self.process.wait(WAIT_S)
        self.reader.join(WAIT_S)
        return code

    def stop(self, signal_number=signal.SIGTERM):
        self.process.send_signal(signal_number)
        return self.exit_code()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WAIT_S)
        self.reader.join(WAIT_S)
        self.process.stdout.close()

    def end(self):
        """Lets the server remove its temporary files. Kills it if it is stopped or does not end."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                pass
        self.kill()


class LaunchTest(unittest.TestCase):
    """Each test has its own directory, where its servers run."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="launch")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def launch(self, *arguments, **options):
        options.setdefault("cwd", self.folder)
        server = Launched(*arguments, **options)
        self.addCleanup(server.end)
        return server

    def start(self, *arguments, **options):
        return self.launch(*arguments, **options).ready()

    def fails(self, *arguments, **options):
        """Returns the output of a server that does not start and exits with 1."""
        server = self.launch(*arguments, **options)
        self.assertEqual(1, server.exit_code(), server.text)
        return server.text

    def run_once(self, *arguments, **options):
        return subprocess.run([SERVER, *arguments], capture_output=True, text=True, timeout=WAIT_S, cwd=self.folder,
                              **options)

    def end_by_pidfile(self, name):
        def number():
            try:
                return int(self.read(name))
            except (FileNotFoundError, ValueError):
                return None
        pid = number()
        if pid:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not exists(pid), f"the end of {pid}")
