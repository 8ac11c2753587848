#!/usr/bin/env python3
"""Quality of eviction: hit rates of Respite and of redis-server with the same maxmemory.

Simulates a cache: a client gets keys in the order of a Zipf trace (the same for all servers, from a fixed seed) and
sets the missing ones. The first half of the trace warms the cache up, the second half counts. The hit rate improves
with better choices, and with more keys in the same memory; the last column shows the number of keys at the end.

The ratio is Respite's share of hits divided by redis-server's: above 1 is better."""
import argparse
import itertools
import pathlib
import random
import shutil
import sys

from side_by_side import Server, comma_list, number, request

SEED = 20090210
POLICIES = ("allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random",
            "volatile-ttl")
BATCH = 50  # requests in flight at the same time


def zipf_trace(keys, accesses, exponent):
    """Numbers of keys; the popularity of a number does not depend on its size."""
    chance = random.Random(SEED)
    names = list(range(keys))
    chance.shuffle(names)
    weights = itertools.accumulate(1 / (rank + 1) ** exponent for rank in range(keys))
    return chance.choices(names, cum_weights=list(weights), k=accesses)


class Cache:
    """The client of one server."""

    def __init__(self, server, value, is_timed):
        self.connection = server.connect()
        self.replies = self.connection.makefile("rb")
        self.value, self.is_timed = value, is_timed

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.replies.close()
        self.connection.close()

    def ask(self, numbers):
        """Counts the existing keys and sets the missing ones."""
        keys = [b"key:%012d" % n for n in numbers]
        self.connection.sendall(request(b"MGET", *keys))
        self.replies.readline()
        missing = [key for key in keys if not self.read_value()]
        if missing:
            self.put(missing)
        return len(keys) - len(missing)

    def read_value(self):
        size = int(self.replies.readline()[1:])
        if size >= 0:
            self.replies.read(size + 2)
        return size >= 0

    def put(self, keys):
        # Distant deadlines that do not depend on how often a key is used.
        timed = (lambda key: (b"EX", b"%d" % (100_000 + int(key[4:]) * 7919 % 100_000))) if self.is_timed else (lambda key: ())
        self.connection.sendall(b"".join(request(b"SET", key, self.value, *timed(key)) for key in keys))
        for _ in keys:
            line = self.replies.readline()
            if line != b"+OK\r\n":
                raise SystemExit(line.decode().strip())


def hit_rate(binary, name, policy, trace, options):
    """Returns the hit rate in the second half of the trace, and the number of keys at the end."""
    with Server(name, binary, "--maxmemory", str(options.maxmemory), "--maxmemory-policy", policy,
                "--maxmemory-samples", str(options.samples)) as server:
        with Cache(server, b"v" * options.value_bytes, policy.startswith("volatile")) as cache:
            hits, half = 0, len(trace) // 2
            for start in range(0, len(trace), BATCH):
                found = cache.ask(trace[start:start + BATCH])
                hits += found if start >= half else 0
        return hits / (len(trace) - half), int(server.do("DBSIZE")[1:])


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, default=pathlib.Path("build/bench/respite-server"))
    parser.add_argument("--redis", default=shutil.which("redis-server"))
    parser.add_argument("--policies", type=comma_list(str), default=list(POLICIES))
    parser.add_argument("--keys", type=number, default=300_000)
    parser.add_argument("--accesses", type=number, default=1_000_000)
    parser.add_argument("--exponent", type=float, default=0.9)
    parser.add_argument("--value-bytes", type=number, default=200)
    parser.add_argument("--maxmemory", type=number, default=20_000_000)
    parser.add_argument("--samples", type=int, default=5)
    return parser.parse_args()


def main():
    options = parse_options()
    if not options.redis:
        raise SystemExit("redis-server is needed: ./dev setup")
    binaries = [("respite", options.server.absolute()), ("redis", options.redis)]
    trace = zipf_trace(options.keys, options.accesses, options.exponent)
    print(f"Hit rates: {options.accesses} accesses to {options.keys} keys (Zipf {options.exponent}, seed {SEED}), values "
          f"of {options.value_bytes} bytes, maxmemory {options.maxmemory}, {options.samples} samples")
    print(f"{'policy':>16} {'respite':>9} {'redis':>9} {'ratio':>7}   keys at the end")
    worse = []
    for policy in options.policies:
        (ours, our_keys), (theirs, their_keys) = (hit_rate(binary, name, policy, trace, options)
                                                  for name, binary in binaries)
        print(f"{policy:>16} {ours:9.4f} {theirs:9.4f} {ours / theirs:7.3f}   {our_keys} {their_keys}", flush=True)
        if ours < theirs:
            worse.append(policy)
    print("target 1.00 " + (f"MISSED by {', '.join(worse)}" if worse else "met"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
