#!/usr/bin/env python3
"""Respite against the distribution's redis-server, in one run on this machine.

Both servers get the same load from redis-benchmark (50 connections, random keys) in alternating rounds; figures are
medians over the rounds. The main figure is server CPU per request, user and system time of all its threads as the
scheduler counts it in nanoseconds: a load generator on the same machine does not distort it, while requests per second
mostly measure the generator. Ratios are Respite's figure divided by redis-server's: below 1 is better for CPU, memory
and times, above 1 for requests per second.

Sections: throughput, memory, lifetime (start and stop), idle (10 000 connections), types (CPU of the other data types),
collections (their memory), pubsub, groups (XREADGROUP and XACK), waiting (LPUSH and BLPOP), transactions, scripts, persistence
(journals, files, rewrites), replication (following, full synchronisation), tls, stall (only with --stall).
"""
import argparse
import contextlib
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

from coordination import groups, transactions, waiting
from data_types import collections, types
from encryption import encryption
from messaging import pubsub
from persistence import persistence
from replication import replication
from scripts import scripts
from side_by_side import (CONNECTIONS, LOOPBACK, VALUE, Server, bare_loop_of, comma_list, command_line, free_port, load,
                          medians, number, quantile, redis_benchmark, request, round_trips, verdict)

KEY_FORMATS = {"key": b"key:%012d", "counter": b"counter:%012d"}
CPU_TARGET = {1: 1.0, 16: 0.6, 64: 0.6}  # Respite's CPU per request divided by redis-server's, by pipeline depth
BYTES_PER_KEY_TARGET = 125


# ---- sections -------------------------------------------------------------------------------------------------------

def requests_for(command, pipeline, scale):
    base = {1: 100_000, 16: 1_000_000, 64: 1_500_000}[pipeline]
    return int(base * scale / (5 if command == "mset" and pipeline > 1 else 1))


def throughput(options, binaries):
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(name, binary)) for name, binary in binaries]
        for keys in options.keys:
            for server in servers:
                server.do("FLUSHALL")
                load(server, KEY_FORMATS["key"], VALUE, keys)
                load(server, KEY_FORMATS["counter"], b"0", keys)
            throughput_table(options, servers, keys)


def throughput_table(options, servers, keys):
    print(f"\nThroughput, {keys} random keys of 16 bytes, {len(VALUE)}-byte values, {CONNECTIONS} connections, "
          f"medians of {options.rounds} rounds")
    print(f"{'workload':>12}  {'server':8} {'req/s':>9} {'CPU µs/req':>10} {'p50 ms':>7} {'p99 ms':>7}   ratios")
    for command in options.commands:
        for pipeline in options.pipelines:
            samples = {server.name: [] for server in servers}
            for _ in range(options.rounds):
                for server in servers:
                    samples[server.name].append(redis_benchmark(
                        server, command, pipeline, keys, requests_for(command, pipeline, options.scale)))
            print_workload(f"{command.upper()} P{pipeline}", pipeline,
                           [(server.name, medians(samples[server.name])) for server in servers])


def print_workload(title, pipeline, results):
    reference = results[-1][1]
    for position, (name, sample) in enumerate(results):
        line = (f"{title if position == 0 else '':>12}  {name:8} {sample.per_second:9.0f} {sample.cpu_us:10.3f} "
                f"{sample.p50_ms:7.3f} {sample.p99_ms:7.3f}")
        if position == 0:
            cpu_ratio = sample.cpu_us / reference.cpu_us
            line += (f"   req/s {sample.per_second / reference.per_second:.2f}  CPU {cpu_ratio:.2f}"
                     f"  p99 {sample.p99_ms / max(reference.p99_ms, 0.001):.2f}   {verdict(cpu_ratio, CPU_TARGET[pipeline])}")
        print(line, flush=True)


def memory(options, binaries):
    count = options.memory_keys
    print(f"\nMemory, {count} keys of 16 bytes with {len(VALUE)}-byte values in a fresh process")
    results = []
    for name, binary in binaries:
        with Server(name, binary) as server:
            empty, cpu_before = server.rss_bytes(), server.cpu_ns()
            load(server, KEY_FORMATS["key"], VALUE, count)
            bytes_per_key = (server.rss_bytes() - empty) / count
            cpu_us = (server.cpu_ns() - cpu_before) / 1000 / count
            assert server.do("DBSIZE") == f":{count}"
            results.append(bytes_per_key)
            print(f"  {name:8} {bytes_per_key:6.1f} bytes of RSS per key; {empty / 1e6:5.1f} MB when empty; "
                  f"{cpu_us:.3f} µs CPU per new key", flush=True)
    print(f"  ratio {results[0] / results[-1]:.2f}; target {BYTES_PER_KEY_TARGET} bytes "
          + ("met" if results[0] <= BYTES_PER_KEY_TARGET else "MISSED"))


def launch_at(arguments):
    """Starts the program and returns (pid, the time just before). fork would first copy this process."""
    null = os.open(os.devnull, os.O_RDWR)
    started_ns = time.monotonic_ns()
    pid = os.posix_spawnp(arguments[0], arguments, os.environ,
                          file_actions=[(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)])
    os.close(null)
    return pid, started_ns


def one_lifetime(binary):
    """Returns the milliseconds from the launch to the first reply, and from SIGTERM to exit."""
    with tempfile.TemporaryDirectory(prefix="respite-bench-") as directory:
        port = free_port()
        pid, started_ns = launch_at(command_line(binary, port, directory))
        while True:
            with socket.socket() as attempt:
                if attempt.connect_ex((LOOPBACK, port)) == 0:
                    attempt.sendall(request(b"PING"))
                    if not attempt.recv(16):
                        raise SystemExit(f"{binary} closed the connection")
                    replied_ns = time.monotonic_ns()
                    break
            if os.waitpid(pid, os.WNOHANG)[0]:
                raise SystemExit(f"{binary} did not start")
            time.sleep(0.0001)  # more frequent attempts would take processor time from the program that starts
        time.sleep(0.2 + random.uniform(0, 0.1))  # while the server is idle, at a random phase of its timers
        stopping_ns = time.monotonic_ns()
        os.kill(pid, signal.SIGTERM)
        os.waitpid(pid, 0)
        return (replied_ns - started_ns) / 1e6, (time.monotonic_ns() - stopping_ns) / 1e6


def lifetime(options, binaries):
    launches = max(5, options.rounds)
    if bare_loop_of(options.server).exists():
        binaries = [*binaries, ("bare loop", bare_loop_of(options.server))]
    print(f"\nLifetime, medians of {launches} launches")
    samples = {name: [] for name, _ in binaries}
    for _ in range(launches):
        for name, binary in binaries:
            samples[name].append(one_lifetime(binary))
    for name, _ in binaries:
        starts, stops = zip(*samples[name])
        print(f"  {name:9} {statistics.median(starts):7.2f} ms from the launch to the first reply "
              f"(the least {min(starts):.2f}), {statistics.median(stops):7.2f} ms from SIGTERM to exit")


def open_idle(server, count):
    connections = []
    for _ in range(count):
        connection = server.connect()
        connection.sendall(b"PING\r\n")  # every real client sends something
        connection.recv(16)
        connections.append(connection)
    return connections


def idle(options, binaries):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(options.idle_connections, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    print(f"\nIdle connections: {count}, and what they cost the active ones (SET, pipeline 16, "
          f"medians of {options.rounds} rounds)")
    for name, binary in binaries:
        with Server(name, binary) as server:
            alone = active_load(server, options)
            before = server.rss_bytes()
            connections = open_idle(server, count)
            time.sleep(1)
            per_connection = (server.rss_bytes() - before) / count
            crowded = active_load(server, options)
            for connection in connections:
                connection.close()
        print(f"  {name:8} {per_connection / 1024:6.2f} KiB of RSS each; CPU {alone.cpu_us:.3f} -> {crowded.cpu_us:.3f} "
              f"µs/req, p99 {alone.p99_ms:.3f} -> {crowded.p99_ms:.3f} ms", flush=True)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def active_load(server, options):
    return medians([redis_benchmark(server, "set", 16, 100_000, requests_for("set", 16, options.scale))
                    for _ in range(options.rounds)])


def insert_politely(server, count):
    """Runs the load with a lower priority than server and probe, so that waiting for a core does not count as a
    stall."""
    os.nice(10)
    load(server, KEY_FORMATS["key"], VALUE, count, batch=100)


def available_bytes():
    meminfo = pathlib.Path("/proc/meminfo").read_text()
    return next(int(line.split()[1]) * 1024 for line in meminfo.splitlines() if line.startswith("MemAvailable"))


def stall(options, binaries):
    count = options.stall
    print(f"\nLongest stall of a pinging client while {count} keys are inserted")
    if available_bytes() < count * 230:
        print(f"  skipped: needs about {count * 230 / 1e9:.1f} GB of free memory")
        return
    context = multiprocessing.get_context("fork")
    for name, binary in binaries:
        with Server(name, binary) as server:
            stop, results = context.Event(), context.Queue()
            pinging = context.Process(target=round_trips, args=(server, b"PING\r\n", stop, results))
            inserting = context.Process(target=insert_politely, args=(server, count))
            pinging.start()
            inserting.start()
            inserting.join()
            stop.set()
            times_ms = results.get(timeout=30)
            pinging.join()
            assert server.do("DBSIZE") == f":{count}"
        print(f"  {name:8} longest {times_ms[-1]:.2f} ms, p99.9 {quantile(times_ms, 0.999):.3f} ms, "
              f"median {quantile(times_ms, 0.5):.3f} ms of {len(times_ms)} pings", flush=True)


SECTIONS = {"throughput": throughput, "memory": memory, "lifetime": lifetime, "idle": idle, "types": types,
            "collections": collections, "pubsub": pubsub, "groups": groups, "waiting": waiting,
            "transactions": transactions, "scripts": scripts, "persistence": persistence, "replication": replication,
            "tls": encryption, "stall": stall}


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=pathlib.Path, required=True, help="our binary")
    parser.add_argument("--redis", default=shutil.which("redis-server"), help="the binary to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of requests")
    parser.add_argument("--sections", type=comma_list(str), default=[name for name in SECTIONS if name != "stall"])
    parser.add_argument("--commands", type=comma_list(str), default=["set", "get", "incr", "mset"])
    parser.add_argument("--workloads", type=comma_list(str), default=[], help="of the section types; default: all")
    parser.add_argument("--pipelines", type=comma_list(int), default=[1, 16, 64], help="some of 1,16,64")
    parser.add_argument("--keys", type=comma_list(number), default=[100_000, 1_000_000])
    parser.add_argument("--memory-keys", type=number, default=1_000_000)
    parser.add_argument("--idle-connections", type=number, default=10_000)
    parser.add_argument("--stall", type=number, default=0, help="also insert this many keys, e.g. 20M, and watch a client")
    options = parser.parse_args()
    unknown = set(options.sections) - set(SECTIONS)
    if unknown:
        parser.error(f"unknown section {', '.join(sorted(unknown))}; known: {', '.join(SECTIONS)}")
    if options.stall and "stall" not in options.sections:
        options.sections.append("stall")
    return options


def main():
    options = parse_options()
    if not options.redis or not shutil.which("redis-benchmark"):
        raise SystemExit("redis-server and redis-benchmark are needed: ./dev setup")
    binaries = [("respite", options.server.absolute()), ("redis", options.redis)]
    for name, binary in binaries:
        version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout.strip()
        print(f"{name}: {version}")
    for section in options.sections:
        SECTIONS[section](options, binaries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
