#!/usr/bin/env python3
"""Measures the cost of keys when there are many: 50 million by default, with all prepared servers, one after the other.

    python3 bench/many_keys.py --server build/bench/respite-server [--keys 50M] [--peers PROGRAM,…]

16-byte keys, 64-byte values, pipeline 16. Prints the CPU of GET, of SET of existing and of new keys, the memory for
each key, and how long another client waited for PING while the keys were loaded. Needs up to 180 bytes of memory for
each key. The first server of a run may pay for memory that a virtual machine gets from its host for the first time, so
the first one is measured again at the end. """
import argparse
import multiprocessing
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests/system"))
from data_types import RAND  # noqa: E402
from peers import peers_of  # noqa: E402
from side_by_side import VALUE, Server, comma_list, load, number, quantile, redis_benchmark, request, round_trips  # noqa: E402

KEY = b"key:%012d"
FEW = 1_000_000
HARDLY_TWICE = 10 ** 9


def cpu_us(server, command, keys, requests, rounds):
    return min(redis_benchmark(server, command, 16, keys, requests).cpu_us for _ in range(rounds))


def cpu_us_of_new_keys(server, requests, rounds):
    """Each round has its own prefix, since redis-benchmark may draw the same numbers again."""
    return min(redis_benchmark(server, ["set", f"n{i:02}:{RAND}", VALUE.decode()], 16, HARDLY_TWICE, requests).cpu_us
               for i in range(rounds))


def load_beside_a_client(server, keys):
    """Loads the keys. Returns how long another client waited for its replies meanwhile, in ms, sorted."""
    context = multiprocessing.get_context("fork")
    stop, results = context.Event(), context.Queue()
    pinging = context.Process(target=round_trips, args=(server, request(b"PING"), stop, results))
    pinging.start()
    load(server, KEY, VALUE, keys)
    stop.set()
    waits = results.get(timeout=30)
    pinging.join()
    return waits


def measure(name, binary, options):
    requests = int(1_000_000 * options.scale)
    with Server(name, binary) as server:
        load(server, KEY, VALUE, min(FEW, options.keys))
        new_among_few = cpu_us_of_new_keys(server, requests // 3, options.rounds)
    with Server(name, binary) as server:
        empty = server.rss_bytes()
        waits = load_beside_a_client(server, options.keys)
        memory = (server.rss_bytes() - empty) / options.keys
        get = cpu_us(server, "get", options.keys, requests, options.rounds)
        replace = cpu_us(server, "set", options.keys, requests, options.rounds)
        new = cpu_us_of_new_keys(server, requests, options.rounds)
    print(f"  {name:14} GET {get:.3f}  SET {replace:.3f}  SET of new keys {new:.3f} µs, {new / new_among_few:.2f} of {FEW:,} keys;  "
          f"{memory:.1f} bytes for each key;  PING while loading: p99 {quantile(waits, .99):.2f} ms, longest {waits[-1]:.1f} ms", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--peers", type=comma_list(str), default=[], help="binaries; default: the newest that are prepared")
    parser.add_argument("--keys", type=number, default=50_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of requests")
    options = parser.parse_args()
    ours = ("respite", options.server.absolute())
    print(f"Server CPU per request with {options.keys:,} keys, the least of {options.rounds} rounds")
    for name, binary in [ours, *peers_of(options), ours]:
        measure(name, binary, options)


if __name__ == "__main__":
    main()
