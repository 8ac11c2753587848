#!/usr/bin/env python3
"""Measures how long other clients wait while many keys come and go, with all prepared servers, one after the other.

    python3 bench/pauses.py --server build/bench/respite-server [--keys 5M] [--peers PROGRAM,…]

16-byte keys, 64-byte values. One client sends a PING after the other. Meanwhile another client sets all keys, deletes
them one by one, sets them again with one common deadline and waits until all have expired, and sets them again for
FLUSHALL, and for FLUSHALL ASYNC. Prints for each of these the longest waits of the first client for the server's work,
and the longest wait for any reason. The server's work is printed as an upper bound: the smaller of the CPU time of all its threads,
and the wait without the time in which its main thread waited for a processor. The line `nothing` is without any keys:
it shows the waits that the machine causes, for example while its host runs something else. Needs root: then the first
client runs before all other processes (SCHED_FIFO), and its own waits for a processor do not count. The client that
sets and deletes the keys runs only when no other process wants the processor (SCHED_IDLE), so that on two cores nobody
waits for it."""
import argparse
import contextlib
import multiprocessing
import os
import pathlib
import time

from many_keys import KEY
from peers import peers_of
from side_by_side import VALUE, Server, comma_list, load, number, read_exactly, request, timed_round_trips


def report_trips(server, text, stop, results):
    results.put(timed_round_trips(server, text, stop))


@contextlib.contextmanager
def pings(server, what):
    """Prints how long a client waited for the replies to PING meanwhile."""
    context = multiprocessing.get_context("fork")
    stop, results = context.Event(), context.Queue()
    pinging = context.Process(target=report_trips, args=(server, request(b"PING"), stop, results))
    pinging.start()
    begin = time.monotonic()
    yield
    seconds = time.monotonic() - begin
    stop.set()
    trips = results.get(timeout=60)
    pinging.join()
    work_ms = sorted((server_ms for _, server_ms in trips), reverse=True)
    late = sum(ms > 2 for ms in work_ms)
    longest = " ".join(f"{ms:.1f}" for ms in work_ms[:5])
    print(f"  {server.name:14} {what:26} {seconds:6.1f} s  work over 2 ms: {late:4}  longest: {longest} ms; "
          f"longest wait for any reason {max(wait for wait, _ in trips):.1f} ms", flush=True)


def in_background(work, *arguments):
    """Calls work(*arguments) in a process that gives way to all others."""

    def run():
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        work(*arguments)

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()
    if process.exitcode != 0:
        raise SystemExit(f"{work.__name__} failed")


def ask(server, *words):
    with server.connect() as connection:
        connection.sendall(request(*words))
        return connection.makefile("rb").readline()


def delete_all(server, count, batch=500):
    with server.connect() as connection:
        for first in range(0, count, batch):
            size = min(batch, count - first)
            connection.sendall(b"".join(request(b"DEL", KEY % i) for i in range(first, first + size)))
            read_exactly(connection, size * len(b":1\r\n"))


def load_with_deadline(server, count, deadline_ms, batch=500):
    words = b"$4\r\nPXAT\r\n$13\r\n%d\r\n" % deadline_ms
    with server.connect() as connection:
        for first in range(0, count, batch):
            size = min(batch, count - first)
            connection.sendall(b"".join(b"*5\r\n$3\r\nSET\r\n$16\r\n" + KEY % i + b"\r\n$64\r\n" + VALUE + b"\r\n" + words
                                        for i in range(first, first + size)))
            read_exactly(connection, size * len(b"+OK\r\n"))


def measure(name, binary, keys):
    with Server(name, binary) as server:
        with pings(server, "nothing"):
            time.sleep(5)
        with pings(server, "growing"):
            in_background(load, server, KEY, VALUE, keys)
        with pings(server, "shrinking by DEL"):
            in_background(delete_all, server, keys)
            time.sleep(2)
        seconds = 10 + keys // 100_000
        deadline_ms = int((time.time() + seconds) * 1000)
        load_with_deadline(server, keys, deadline_ms)
        time.sleep(max(0, deadline_ms / 1000 - time.time() - 1))
        with pings(server, "expiring together"):
            while ask(server, b"DBSIZE") != b":0\r\n":
                time.sleep(0.5)
        for words in ((b"FLUSHALL",), (b"FLUSHALL", b"ASYNC")):
            load(server, KEY, VALUE, keys)
            with pings(server, b" ".join(words).decode()):
                time.sleep(0.5)
                ask(server, *words)
                time.sleep(3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--peers", type=comma_list(str), default=[], help="binaries; default: the newest that are prepared")
    parser.add_argument("--keys", type=number, default=5_000_000)
    options = parser.parse_args()
    for name, binary in [("respite", options.server.absolute()), *peers_of(options)]:
        measure(name, binary, options.keys)


if __name__ == "__main__":
    main()
