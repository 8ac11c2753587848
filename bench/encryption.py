"""TLS against redis-server: the CPU cost of an encrypted request, and of a new connection."""
import contextlib
import pathlib
import shutil
import ssl
import subprocess
import tempfile

from side_by_side import VALUE, Server, free_port, load, medians, redis_benchmark

WORKLOADS = [  # command or words, pipeline, requests
    ("set", 1, 100_000),
    ("get", 1, 100_000),
    ("set", 16, 600_000),
    ("get", 16, 600_000),
    (["get", "large"], 1, 10_000),
]
LARGE = b"v" * 100_000
KEYS = 100_000
HANDSHAKES = 300


class TlsServer(Server):
    """Also has a plain port, for traffic that is not measured."""

    def __init__(self, name, binary, keys):
        self.tls_port = free_port()
        super().__init__(name, binary, "--tls-port", str(self.tls_port), "--tls-cert-file", keys / "server.crt",
                         "--tls-key-file", keys / "server.key", "--tls-ca-cert-file", keys / "server.crt",
                         "--tls-auth-clients", "no")


def make_keys(folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", folder / "server.key", "-out", folder / "server.crt"], check=True, capture_output=True)


def print_row(title, results):
    reference = results[-1][1]
    for position, (name, cpu_us) in enumerate(results):
        line = f"{title if position == 0 else '':>14}  {name:8} {cpu_us:10.3f}"
        print(line + (f"   CPU {cpu_us / reference:.2f}" if position == 0 else ""), flush=True)


def handshake_cost(server, context):
    before = server.cpu_ns()
    for _ in range(HANDSHAKES):
        with server.connect_to(server.tls_port) as plain, context.wrap_socket(plain) as connection:
            connection.sendall(b"PING\r\n")
            connection.recv(16)
    return (server.cpu_ns() - before) / 1000 / HANDSHAKES


def encryption(options, binaries):
    if shutil.which("openssl") is None:
        return print("\nTLS: skipped, there is no openssl to make certificates")
    print(f"\nTLS, {KEYS} random keys, {len(VALUE)}-byte values, medians of {options.rounds} rounds")
    print(f"{'workload':>14}  {'server':8} {'CPU µs/req':>10}   ratio")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with contextlib.ExitStack() as stack:
        keys = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="respite-bench-")))
        make_keys(keys)
        servers = [stack.enter_context(TlsServer(name, binary, keys)) for name, binary in binaries]
        for server in servers:
            load(server, b"key:%012d", VALUE, KEYS)
            server.do("SET", "large", LARGE.decode())
        for workload, pipeline, base in WORKLOADS:
            results = []
            for server in servers:
                results.append((server.name, []))
            for _ in range(options.rounds):
                for server, (_, samples) in zip(servers, results):
                    samples.append(redis_benchmark(server, workload, pipeline, KEYS, int(base * options.scale),
                                                   tls_port=server.tls_port))
            title = workload.upper() if isinstance(workload, str) else " ".join(workload).upper()
            print_row(f"{title} P{pipeline}", [(name, medians(samples).cpu_us) for name, samples in results])
        print_row("new connection", [(server.name, handshake_cost(server, context)) for server in servers])
    return None
