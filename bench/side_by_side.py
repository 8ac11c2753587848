"""Two servers under the same load on this machine: starts them, sends commands and load, and measures their CPU."""
import contextlib
import csv
import dataclasses
import io
import itertools
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

CONNECTIONS = 50
VALUE = b"v" * 64
LOOPBACK = "127.0.0.1"


# ---- servers --------------------------------------------------------------------------------------------------------

def free_port():
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def command_line(binary, port, directory, *extra):
    return [str(binary), "--port", str(port), "--bind", LOOPBACK, "--save", "", "--appendonly", "no",
            "--dir", str(directory), "--logfile", "server.log", "--maxclients", "15000", *extra]


class Server:
    """One running server in its own directory; a context manager. `prepare` may put files there before."""
    measured_tls_port = None  # the port for the load of workloads, if it is encrypted
    keeps_data = True

    def __init__(self, name, binary, *extra, prepare=lambda directory: None):
        self.name, self.binary, self.extra, self.prepare = name, binary, extra, prepare
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="respite-bench-"))
        self.port = free_port()

    def __enter__(self):
        self.prepare(self.directory)
        self.started = time.monotonic()
        self.process = subprocess.Popen(command_line(self.binary, self.port, self.directory, *self.extra),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 10
        while True:
            with contextlib.suppress(OSError):
                self.connect().close()
                return self
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{self.binary} did not start; its log is in {self.directory}")
            time.sleep(0.005)

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def connect(self):
        return self.connect_to(self.port)

    @staticmethod
    def connect_to(port):
        connection = socket.create_connection((LOOPBACK, port), timeout=120)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def cpu_ns(self):
        """Returns user and system time of all threads, in nanoseconds."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(FileNotFoundError):
                total += int((task / "schedstat").read_text().split()[0])
        return total

    def user_ns(self):
        """Returns the user time of all threads, in nanoseconds. The kernel estimates it: at each of its ticks, usually 250
        in a second, it notes whether a thread is in user mode, and it splits the exact total by these samples. The
        result is in steps of 10 ms. Error: about 1 / sqrt(250 s) for s seconds of user time, so 6 % for one second."""
        # Field 14, counted from the end of the name, which may contain blanks.
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def rss_bytes(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))

    def do(self, *arguments):
        """Sends one command and returns its single-line reply."""
        with self.connect() as connection:
            connection.sendall(request(*(str(a).encode() for a in arguments)))
            reply = connection.makefile("rb").readline().strip().decode()
        if reply.startswith("-"):
            raise SystemExit(f"{self.name}: {' '.join(map(str, arguments))}: {reply}")
        return reply


def bare_loop_of(server):
    """Where the build that made `server` has put bench/bare_loop.cc, if it was built."""
    return pathlib.Path(server).with_name("bench") / "bare_loop"


class BareLoop(Server):
    """Receives requests and answers +OK: bench/bare_loop.cc. Its cost is the kernel's cost."""
    name = "bare loop"
    keeps_data = False

    def __init__(self, binary):
        super().__init__(self.name, binary)


# ---- load -----------------------------------------------------------------------------------------------------------

def request(*arguments):
    return b"*%d\r\n" % len(arguments) + b"".join(b"$%d\r\n%b\r\n" % (len(a), a) for a in arguments)


def set_requests(key_format, value, first, count):
    """Returns `count` SET requests for consecutive keys, in one string."""
    key_size = len(key_format % 0)
    template = b"*3\r\n$3\r\nSET\r\n$%d\r\n%%b\r\n$%d\r\n%b\r\n" % (key_size, len(value), value)
    return b"".join([template % (key_format % number) for number in range(first, first + count)])


def read_exactly(connection, size):
    while size > 0:
        chunk = connection.recv(min(size, 1 << 16))
        if not chunk:
            raise SystemExit("the server closed the connection while loading")
        size -= len(chunk)


def load(server, key_format, value, count, batch=500):
    """Sets keys 0 … count-1, each one time. Cost: about 2 µs of this process's time per key."""
    with server.connect() as connection:
        for first in range(0, count, batch):
            size = min(batch, count - first)
            connection.sendall(set_requests(key_format, value, first, size))
            read_exactly(connection, size * len(b"+OK\r\n"))


def load_commands(server, commands, batch=500):
    """Sends commands (tuples of bytes) whose replies are single lines, or texts of one line."""
    with server.connect() as connection:
        replies = connection.makefile("rb")
        commands = iter(commands)
        while chunk := list(itertools.islice(commands, batch)):
            connection.sendall(b"".join(request(*words) for words in chunk))
            for _ in chunk:
                line = replies.readline()
                if line.startswith(b"-"):
                    raise SystemExit(f"{server.name}: {line.decode().strip()}")
                if line.startswith(b"$"):
                    replies.readline()


@dataclasses.dataclass
class Sample:
    per_second: float
    cpu_us: float  # of the server, per request
    user_us: float  # the part of cpu_us in user mode; see Server.user_ns
    p50_ms: float
    p99_ms: float


def benchmark_command(server, workload, pipeline, keys, requests, connections=CONNECTIONS, tls_port=None, client=()):
    """`workload` is the name of one of redis-benchmark's own tests, or a list of arguments: a custom command. `client`:
    more arguments of redis-benchmark."""
    port = [str(server.port)] if tls_port is None else [str(tls_port), "--tls", "--insecure"]
    command = ["-t", workload] if isinstance(workload, str) else workload
    return ["redis-benchmark", "-h", LOOPBACK, "-p", *port, "-c", str(connections), "-P", str(pipeline), "-r", str(keys),
            "-n", str(requests), "-d", str(len(VALUE)), "--csv", *client, *command]


def redis_benchmark(server, workload, pipeline, keys, requests, connections=CONNECTIONS, tls_port=None, client=()):
    """Runs benchmark_command. Returns a Sample."""
    before, user_before = server.cpu_ns(), server.user_ns()
    done = subprocess.run(benchmark_command(server, workload, pipeline, keys, requests, connections, tls_port, client),
                          capture_output=True, text=True, check=True)
    cpu_us = (server.cpu_ns() - before) / 1000 / requests
    user_us = (server.user_ns() - user_before) / 1000 / requests
    rows = [row for row in csv.reader(io.StringIO(done.stdout)) if len(row) == 8 and row[0] != "test"]
    if len(rows) != 1:
        raise SystemExit(f"redis-benchmark {workload} on {server.name}: {done.stdout}{done.stderr}")
    figures = [float(text) for text in rows[0][1:]]
    return Sample(figures[0], cpu_us, user_us, figures[3], figures[5])


def medians(samples):
    """Returns the medians, and the mean of user_us: the errors of single rounds are too large for a median."""
    middle = Sample(*(statistics.median(getattr(s, field.name) for s in samples) for field in dataclasses.fields(Sample)))
    return dataclasses.replace(middle, user_us=statistics.mean(s.user_us for s in samples))


def processor_wait_ms(schedstat):
    """How long the main thread of a process has waited for a processor so far; `schedstat` is its file of this name."""
    return int(os.pread(schedstat.fileno(), 100, 0).split()[1]) / 1e6


def cpu_ms(pid):
    """The CPU time of all threads of a process so far. Exact also while they run, other than schedstat, as Server.cpu_ns
    reads it. Excludes stolen time if the kernel accounts for that."""
    clock_id = ~pid << 3 | 2  # what clock_getcpuclockid(3) returns on Linux
    return time.clock_gettime(clock_id) * 1e3


def take_precedence():
    """Lets this process run as soon as it can, before all others, if the user may do that. Otherwise the kernel often
    wakes it on the processor on which the server is running, and there it waits for several ms."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


def timed_round_trips(server, text, stop):
    """Sends one request after the other until told to stop. Returns for each its time in ms, and an upper bound in
    ms of the server's work in it: the smaller of the CPU time of all its threads, and the time without that in which
    its main thread waited for a processor. Each reply must come in one piece. Runs in its own process."""
    take_precedence()
    trips = []
    pid = server.process.pid
    with server.connect() as connection, open(f"/proc/{pid}/schedstat", "rb", buffering=0) as schedstat:
        while not stop.is_set():
            begin, waited_before, cpu_before = time.monotonic(), processor_wait_ms(schedstat), cpu_ms(pid)
            connection.sendall(text)
            connection.recv(256)
            used, waited = cpu_ms(pid) - cpu_before, processor_wait_ms(schedstat) - waited_before
            ms = (time.monotonic() - begin) * 1e3
            trips.append((ms, max(0, min(ms - waited, used))))
            time.sleep(0.0005)
    return trips


def round_trips(server, text, stop, results):
    """Reports the times of timed_round_trips, sorted. Runs in its own process."""
    results.put(sorted(ms for ms, _ in timed_round_trips(server, text, stop)))


def quantile(times_ms, share):
    return times_ms[int(len(times_ms) * share)]


# ---- words of the command line --------------------------------------------------------------------------------------

def number(text):
    """Parses 20M, 100k or plain digits."""
    factor = {"k": 1_000, "M": 1_000_000}.get(text[-1:], 0)
    return int(float(text[:-1]) * factor) if factor else int(text)


def comma_list(convert):
    return lambda text: [convert(part) for part in text.split(",")]


def verdict(ratio, target):
    return f"target {target:.2f} " + ("met" if ratio <= target else "MISSED")
