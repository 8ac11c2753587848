#!/usr/bin/env python3
"""Compares vector sets of this server with those of Redis 8: recall, processor time and memory, in one run.

    bench/vectors.py build/test/respite-server REDIS_SERVER [--vectors 100000x128,10000x1536] [--queries 200] [--spread 0]

Both servers get the same vectors and queries. The recall is the share of the ten nearest elements that a search finds; the
truth is the server's own exact search (TRUTH). Times are processor seconds of the server's process, and memory is
used_memory. `--spread K` makes vectors of K hidden dimensions with noise, as embeddings have; 0: independent numbers.
"""

import argparse
import array
import random
import socket
import subprocess
import tempfile
import time


class Client:
    """A connection that can send many requests before it reads the replies."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.file = self.socket.makefile("rb")

    @staticmethod
    def encoded(*words):
        parts = [b"*%d\r\n" % len(words)]
        for word in words:
            data = word if isinstance(word, bytes) else str(word).encode()
            parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
        return b"".join(parts)

    def reply(self):
        line = self.file.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"$":
            return self.file.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.reply() for _ in range(int(rest))]
        return rest

    def many(self, requests, window=64):
        replies = []
        for start in range(0, len(requests), window):
            self.socket.sendall(b"".join(requests[start:start + window]))
            replies += [self.reply() for _ in requests[start:start + window]]
        return replies

    def __call__(self, *words):
        return self.many([self.encoded(*words)])[0]

    def info(self, field):
        for line in self("INFO", "everything").decode().splitlines():
            if line.startswith(field + ":"):
                return line.split(":", 1)[1]
        raise KeyError(field)


class Server:
    def __init__(self, program, port):
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
            cwd=self.folder.name, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                self.client = Client(port)
                break
            except OSError:
                time.sleep(0.05)

    def cpu(self):
        """Returns the processor seconds of the process, also of threads that have ended."""
        return float(self.client.info("used_cpu_user")) + float(self.client.info("used_cpu_sys"))

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def make_vectors(count, dimensions, spread, seed):
    source = random.Random(seed)
    if spread == 0:
        return [array.array("f", (source.gauss(0, 1) for _ in range(dimensions))).tobytes() for _ in range(count)]
    matrix = [[source.gauss(0, 1) for _ in range(spread)] for _ in range(dimensions)]
    made = []
    for _ in range(count):
        hidden = [source.gauss(0, 1) for _ in range(spread)]
        made.append(array.array("f", (sum(a * b for a, b in zip(row, hidden)) + source.gauss(0, 0.3)
                                      for row in matrix)).tobytes())
    return made


def measure(server, vectors, queries, efs):
    client = server.client
    before, memory = server.cpu(), int(client.info("used_memory"))
    client.many([client.encoded("VADD", "v", "FP32", vector, f"item:{i}") for i, vector in enumerate(vectors)])
    rows = {"insert us": (server.cpu() - before) / len(vectors) * 1e6,
            "memory B": (int(client.info("used_memory")) - memory) / len(vectors)}
    truth = [set(reply) for reply in client.many(
        [client.encoded("VSIM", "v", "FP32", query, "COUNT", 10, "TRUTH") for query in queries])]
    for ef in efs:
        before = server.cpu()
        replies = client.many([client.encoded("VSIM", "v", "FP32", query, "COUNT", 10, "EF", ef) for query in queries])
        rows[f"query us EF {ef}"] = (server.cpu() - before) / len(queries) * 1e6
        hits = sum(len(found.intersection(reply)) for found, reply in zip(truth, replies))
        rows[f"recall EF {ef}"] = hits / (10 * len(queries))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("server")
    parser.add_argument("redis")
    parser.add_argument("--vectors", default="100000x128,10000x1536")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--spread", type=int, default=0)
    parser.add_argument("--port", type=int, default=17710)
    options = parser.parse_args()
    for size in options.vectors.split(","):
        count, dimensions = (int(number) for number in size.split("x"))
        made = make_vectors(count + options.queries, dimensions, options.spread, 1)
        vectors, queries = made[:count], made[count:]
        results = []
        for number, program in enumerate((options.server, options.redis)):
            server = Server(program, options.port + number)
            results.append(measure(server, vectors, queries, (50, 100, 200, 400)))
            server.stop()
        print(f"{count} vectors of {dimensions} dimensions")
        print(f"  {'':18} {'this server':>12} {'redis':>12} {'ratio':>7}")
        for name, ours in results[0].items():
            theirs = results[1][name]
            print(f"  {name:18} {ours:12.4f} {theirs:12.4f} {ours / theirs if theirs else 0:7.2f}", flush=True)


if __name__ == "__main__":
    main()
