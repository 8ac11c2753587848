"""Shared by the hostile_*_test.py scripts: a fresh server for each case, attackers, and a bystander that must not be
affected.

RESPITE_HOSTILE=full runs every case at full size (10 000 connections, millions of elements); without it sizes are cut so
that all cases together take about a minute. RESPITE_HOSTILE_REPORT=FILE appends the measurements, a line for each case.
"""
import ctypes
import gc
import multiprocessing
import os
import re
import resource
import signal
import socket
import struct
import time

from launcher import LaunchTest, free_port, wait_until
from two_servers import RawClient, encode, value_of

FULL = os.environ.get("RESPITE_HOSTILE") == "full"
# Under a sanitizer everything is slow, memory is released late, and more address space is used.
SANITIZED = "ASAN_OPTIONS" in os.environ
P99_LIMIT_MS = 20.0
# Memory that may remain after an attack: 5 %, and the growth of tables and pools of an empty server.
LEFT_SHARE, LEFT_BYTES = 0.05, 200_000
MEMORY_CEILING = 6 << 30  # limit on the server's address space: a successful attack must not bring the machine down


def size(small, full):
    return full if FULL else small


def raise_descriptor_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


class Raw(RawClient):
    """A TCP connection, from any of the loopback addresses."""

    def __init__(self, port, source=None, limit_s=30, window=None, host="127.0.0.1"):
        super().__init__(socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET))
        self.socket.settimeout(limit_s)
        if window:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, window)
        if source:
            self.socket.bind((source, 0))
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def value(self, *words):
        return value_of(self.run(*words))

    def batch(self, commands, at_once=1000):
        """Reads the replies of many requests, sent in portions that fit every buffer."""
        replies = []
        for start in range(0, len(commands), at_once):
            part = commands[start:start + at_once]
            self.send(b"".join(map(encode, part)))
            replies += [self.read() for _ in part]
        return replies

    def push_without_reading(self, data, limit_s=1.0):
        """Sends until the server stops reading for a moment, or closes. Returns the number of bytes sent."""
        sent, end = 0, time.monotonic() + limit_s
        self.socket.setblocking(False)
        view = memoryview(data)
        while sent < len(data) and time.monotonic() < end:
            try:
                sent += self.socket.send(view[sent:sent + (1 << 18)])
            except BlockingIOError:
                time.sleep(0.001)
            except (ConnectionError, BrokenPipeError):
                break
        self.socket.setblocking(True)
        return sent

    def read_to_end(self):
        """Returns everything received until the server closes."""
        got = self.buffer
        try:
            while part := self.socket.recv(1 << 18):
                got += part
        except ConnectionError:
            pass
        return got

    def vanish(self):
        """Closes with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


class Sockets:
    """Opens many plain connections, from several addresses so that there are enough ports."""

    def __init__(self, port):
        self.port, self.all = port, []

    def open(self, count, greeting=b""):
        for n in range(count):
            sock = socket.socket()
            sock.setsockopt(socket.IPPROTO_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
            sock.bind((f"127.0.0.{2 + (len(self.all) + n) % 20}", 0))
            sock.settimeout(20)
            sock.connect(("127.0.0.1", self.port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if greeting:
                sock.sendall(greeting)
            self.all.append(sock)
        return self.all[-count:]

    def close(self):
        for sock in self.all:
            sock.close()
        self.all.clear()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def run_queue_delay_ns(pid):
    """How long the process's first thread was ready to run without a processor, since its start; 0 where Linux does not
    report it."""
    try:
        with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def stolen_ns():
    """How long the host of this virtual machine gave our processors to others, in steps of a tick; 0 on a real
    machine."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


def end_with_parent():
    set_death_signal = 1
    ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)


class Machine:
    """Measures the delays that the machine adds to a request: an idle process echoes bytes, requested at the same times
    as the server and measured the same way."""

    def __init__(self):
        self.socket, end = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            end_with_parent()
            self.socket.close()
            while data := end.recv(64):
                end.sendall(data)
            os._exit(0)
        end.close()

    def ask(self):
        self.socket.sendall(b"?")
        self.socket.recv(1)

    def stop(self):
        self.socket.close()
        os.waitpid(self.pid, 0)


class Latencies:
    """Latencies in ms. A slow request also counts for all requests that would have been sent meanwhile, so that a long
    stall is more than one sample."""

    PERIOD_S = 0.002

    def __init__(self, pid):
        self.pid, self.all = pid, []

    def waits(self):
        return run_queue_delay_ns(self.pid) + run_queue_delay_ns("self") + stolen_ns()

    def measure(self, ask):
        """Subtracts the time during which both ends were ready to run without a processor, since other processes, or
        other machines on the same host, caused it."""
        waited, sent = self.waits(), time.monotonic()
        ask()
        took = time.monotonic() - sent
        if took > self.PERIOD_S:
            took = max(took - (self.waits() - waited) / 1e9, 0.0)
        while took > 0:
            self.all.append(took * 1000)
            took -= self.PERIOD_S


class Watch:
    """The bystander's loop, in its own process: every 2 ms it sends a request to the server, and one to the idle
    process."""

    def __init__(self, port, pid):
        self.pid = pid
        self.client, self.machine = Raw(port), Machine()
        self.requests = [encode(["PING"]), encode(["SET", "bystander", "v"]), encode(["GET", "bystander"])]

    def ask(self, n):
        self.client.send(self.requests[n % 3])
        self.client.read()

    def run(self, pipe):
        server, machine = Latencies(self.pid), Latencies(self.machine.pid)
        due, n, peak = time.monotonic(), 0, 0
        pipe.send("started")
        while not pipe.poll() or len(server.all) < 500:
            server.measure(lambda: self.ask(n))
            machine.measure(self.machine.ask)
            n += 1
            if n % 16 == 0:
                peak = max(peak, self.used_memory())
            due = max(due + Latencies.PERIOD_S, time.monotonic())
            time.sleep(max(due - time.monotonic(), 0))
        pipe.recv()
        pipe.send((server.all, machine.all, peak))

    def used_memory(self):
        found = re.search(rb"used_memory:(\d+)", self.client.run("INFO", "memory"))
        return int(found[1]) if found else 0


def _bystander(port, pid, pipe, other_end):
    other_end.close()
    end_with_parent()
    gc.disable()
    watch = Watch(port, pid)
    watch.client.run("PING")  # now the server has accepted it
    pipe.send("connected")
    while pipe.recv() == "watch":
        watch.run(pipe)
    watch.machine.stop()


class Bystander:
    def __init__(self, port, pid):
        self.pipe, end = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("fork").Process(target=_bystander, args=(port, pid, end, self.pipe),
                                                                       daemon=True)
        self.process.start()
        end.close()
        assert self.pipe.recv() == "connected"

    def begin(self):
        self.pipe.send("watch")
        self.pipe.recv()

    def end(self):
        """Returns the sorted latencies since begin, in ms, of the server and of the machine, and the largest
        used_memory seen. Waits until there are at least 500."""
        self.pipe.send("enough")
        server, machine, peak = self.pipe.recv()
        return sorted(server), sorted(machine), peak

    def stop(self):
        try:
            self.pipe.send("stop")
        except OSError:
            pass
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()
        self.pipe.close()


def percentile(latencies, share):
    return latencies[min(int(len(latencies) * share), len(latencies) - 1)]


def limit_memory():
    end_with_parent()
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_CEILING, MEMORY_CEILING))


class HostileTest(LaunchTest):
    """Runs `self.attack(case)` while the bystander measures, and checks what the attack leaves behind."""

    OPTIONS = ()

    def start_server(self, *options, before_start=limit_memory):
        self.port = free_port()
        # Without latency-tracking: its histograms grow with each new command, and are never freed.
        self.server = self.start("--port", self.port, "--bind", "127.0.0.1", "--save", "", "--maxclients", 10_000,
                                 "--latency-tracking", "no",
                                 *self.OPTIONS, *options, preexec_fn=before_start)
        self.admin = self.client()
        self.admin.run("EVAL", "return 1", 0)  # the first script creates the engine, which remains
        return self.server

    def setUp(self):
        super().setUp()
        raise_descriptor_limit()

    def client(self, **options):
        client = Raw(self.port, **options)
        self.addCleanup(client.close)
        return client

    def sockets(self):
        sockets = Sockets(self.port)
        self.addCleanup(sockets.close)
        return sockets

    def info(self, section, field):
        text = self.admin.value("INFO", section)
        for line in text.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name == field.encode():
                return value.decode()
        raise AssertionError(f"INFO {section} has no {field}")

    def used_memory(self):
        return int(self.info("memory", "used_memory"))

    def resident_bytes(self):
        with open(f"/proc/{self.server.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    def clients(self):
        return int(self.info("clients", "connected_clients"))

    def settle(self):
        """Returns used_memory when it is stable."""
        last = -1
        def steady():
            nonlocal last
            previous, last = last, self.used_memory()
            time.sleep(0.05)
            return previous == last
        wait_until(steady, "memory to settle")
        return last

    def attack(self, case, limit_ms=P99_LIMIT_MS):
        """Runs a case once. The bystander's p99 must stay below the limit, and memory must be released. The limit is
        increased by the p99 of the idle process at the same times. docs/security.md explains limits other than the
        usual one, because Redis also blocks all clients there."""
        if not hasattr(self, "server"):
            self.start_server()
        measured_ms, machine_ms = self._measure(case)
        if not SANITIZED:
            self.assertLess(measured_ms, limit_ms + machine_ms, f"p99 of the bystander in ms; of the machine: {machine_ms}")

    def _measure(self, case):
        bystander = Bystander(self.port, self.server.pid)
        try:
            self.admin.value("SET", "bystander", "v")
            connected, before = self.clients(), self.settle()
            started = time.monotonic()
            bystander.begin()
            case()
            latencies, of_machine, self.peak = bystander.end()
            took_s = time.monotonic() - started
            self._assert_nothing_left(connected, before)
            p99s = percentile(latencies, 0.99), percentile(of_machine, 0.99)
            self._report(latencies, p99s, took_s, before)
            return p99s
        finally:
            bystander.stop()

    def _assert_nothing_left(self, connected, before):
        gc.collect()
        self.assertIsNone(self.server.process.poll(), f"the server ended: {self.server.text[-3000:]}")
        try:
            wait_until(lambda: self.clients() == connected, "the attackers' sessions to go")
        except AssertionError as trouble:
            raise AssertionError(f"{trouble}: {self.admin.value('CLIENT', 'LIST').decode()}") from trouble
        if SANITIZED:
            return
        allowed = before + max(before * LEFT_SHARE, LEFT_BYTES)
        self.admin.value("MEMORY", "PURGE")
        end = time.monotonic() + 10
        while (left := self.used_memory()) > allowed and time.monotonic() < end:
            time.sleep(0.02)
        self.assertLessEqual(left, allowed, f"used_memory before the attack was {before}")

    def _report(self, latencies, p99s, took_s, before):
        path = os.environ.get("RESPITE_HOSTILE_REPORT")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"{self.id().partition('.')[2]:70} p99 {p99s[0]:7.2f} ms (machine {p99s[1]:6.2f})  worst {latencies[-1]:8.2f} ms  "
                           f"n {len(latencies):6}  {took_s:6.2f} s  peak {self.peak >> 10:8} KB  "
                           f"before {before >> 10:6} KB  after {self.used_memory() >> 10:6} KB\n")
