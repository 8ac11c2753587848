"""Persistence against redis-server: the cost of the append-only file per write, the time to write and load files, and
how long a client waits while the append-only file is rewritten."""
import multiprocessing
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

from side_by_side import CONNECTIONS, Server, load_commands, medians, quantile, redis_benchmark, round_trips, verdict

EVERYSEC_TARGET = .65      # CPU per SET at pipeline 16
ALWAYS_TARGET = 1.0        # requests per second, at least
LOAD_TARGET = .5           # time to load
SAVE_TARGET = .5           # time of a BGSAVE
REWRITE_TARGET = .5        # p99 of a client that waits for PING
SIZE_TOLERANCE = .02
DEBUG = ("--enable-debug-command", "yes")
MIXED_TEXT = b"The quick brown fox jumps over the lazy dog; the lazy dog does not mind. " * 3


def journaled_writes(options, binaries, policy, pipeline, requests):
    """Returns medians of both servers under one policy, in alternating rounds."""
    samples = {name: [] for name, _ in binaries}
    for _ in range(options.rounds):
        for name, binary in binaries:
            with Server(name, binary, "--appendonly", "yes", "--appendfsync", policy) as server:
                samples[name].append(redis_benchmark(server, "set", pipeline, 100_000, requests))
    return [medians(samples[name]) for name, _ in binaries]


def journals(options, binaries):
    print(f"\nJournaled SET, {CONNECTIONS} connections, medians of {options.rounds} rounds")
    ours, theirs = journaled_writes(options, binaries, "everysec", 16, int(1_000_000 * options.scale))
    print(f"  everysec, pipeline 16: {ours.cpu_us:.3f} µs, redis {theirs.cpu_us:.3f} µs   "
          f"CPU {ours.cpu_us / theirs.cpu_us:.2f}   {verdict(ours.cpu_us / theirs.cpu_us, EVERYSEC_TARGET)}", flush=True)
    ours, theirs = journaled_writes(options, binaries, "always", 1, int(40_000 * options.scale))
    ratio = ours.per_second / theirs.per_second
    print(f"  always, pipeline 1: {ours.per_second:.0f} req/s, redis {theirs.per_second:.0f}   req/s {ratio:.2f}   "
          f"target {ALWAYS_TARGET:.2f} {'met' if ratio >= ALWAYS_TARGET else 'MISSED'}", flush=True)


# ---- files ----------------------------------------------------------------------------------------------------------

def mixed_command(i):
    key = b"mixed:%d" % i
    kind = i % 5
    if kind == 0:
        return (b"HSET", key, *(word for f in range(5) for word in (b"field%d" % f, b"value:%d" % (i + f))))
    if kind == 1:
        return (b"RPUSH", key, *(b"element:%d" % (i + n) for n in range(8)))
    if kind == 2:
        return (b"SADD", key, *(b"%d" % (i * 7 + n) for n in range(8)))
    if kind == 3:
        return (b"ZADD", key, *(word for n in range(6) for word in (b"%d.5" % (i + n), b"member:%d" % n)))
    return (b"SET", key, MIXED_TEXT + b"%d" % i, b"PX", b"864000000")


def make_files(binary, strings, mixed, directory):
    """Returns the same data set as dump.rdb and as an append-only file of commands, both written by `binary`."""
    with Server("source", binary, *DEBUG, "--aof-use-rdb-preamble", "no") as server:
        server.do("DEBUG", "POPULATE", strings)
        load_commands(server, (mixed_command(i) for i in range(mixed)))
        server.do("SAVE")
        server.do("CONFIG", "SET", "appendonly", "yes")
        wait_for(server, "aof_rewrite_in_progress", "0")
        wait_for(server, "aof_rewrite_scheduled", "0")
        shutil.copy(server.directory / "dump.rdb", directory)
        shutil.copytree(server.directory / "appendonlydir", directory / "appendonlydir")


def info(server, field):
    with server.connect() as connection:
        connection.sendall(b"INFO everything\r\n")
        replies = connection.makefile("rb")
        size = int(replies.readline()[1:])
        text = replies.read(size).decode()
    return next((line.split(":", 1)[1] for line in text.splitlines() if line.startswith(field + ":")), None)


def wait_for(server, field, value):
    while info(server, field) != value:
        time.sleep(0.01)


def seconds_to_load(name, binary, source, *extra):
    """Returns the time from the start of the process until the data is loaded, and the number of keys."""
    with Server(name, binary, *DEBUG, *extra, prepare=lambda directory: link_files(source, directory)) as server:
        wait_for(server, "loading", "0")
        return time.monotonic() - server.started, int(server.do("DBSIZE")[1:])


def link_files(source, directory):
    subprocess.run(["cp", "-r", "--reflink=auto", f"{source}/.", str(directory)], check=True)


def loading(options, binaries, source, title, *extra):
    samples = {name: [] for name, _ in binaries}
    sizes = set()
    for _ in range(options.rounds):
        for name, binary in binaries:
            seconds, keys = seconds_to_load(name, binary, source, *extra)
            samples[name].append(seconds)
            sizes.add(keys)
    assert len(sizes) == 1, sizes
    ours, theirs = (statistics.median(samples[name]) for name, _ in binaries)
    print(f"  load {title}: {ours:.2f} s, redis {theirs:.2f} s   time {ours / theirs:.2f}   "
          f"{verdict(ours / theirs, LOAD_TARGET)}", flush=True)


def seconds_to_save(server):
    begin = time.monotonic()
    server.do("BGSAVE")
    wait_for(server, "rdb_bgsave_in_progress", "0")
    assert info(server, "rdb_last_bgsave_status") == "ok"
    return time.monotonic() - begin


def saving(options, binaries, source):
    results = []
    for name, binary in binaries:
        with Server(name, binary, *DEBUG, prepare=lambda directory: link_files(source, directory)) as server:
            wait_for(server, "loading", "0")
            seconds = statistics.median(seconds_to_save(server) for _ in range(options.rounds))
            results.append((seconds, (server.directory / "dump.rdb").stat().st_size))
    (ours, our_size), (theirs, their_size) = results
    print(f"  BGSAVE: {ours:.2f} s, redis {theirs:.2f} s   time {ours / theirs:.2f}   {verdict(ours / theirs, SAVE_TARGET)}")
    deviation = our_size / their_size - 1
    print(f"  size of the dump: {our_size} octets, redis {their_size}   {deviation:+.2%}   "
          f"{'met' if abs(deviation) <= SIZE_TOLERANCE else 'MISSED'}", flush=True)


def files(options, binaries):
    strings, mixed = int(5_000_000 * options.scale), int(1_000_000 * options.scale)
    print(f"\nFiles of {strings} small strings and {mixed} mixed values, written by redis-server, "
          f"medians of {options.rounds} rounds")
    with tempfile.TemporaryDirectory(prefix="respite-bench-") as name:
        source = pathlib.Path(name)
        make_files(binaries[-1][1], strings, mixed, source)
        loading(options, binaries, source, "RDB")
        loading(options, binaries, source, "AOF", "--appendonly", "yes")
        saving(options, binaries, source)


# ---- rewrites -------------------------------------------------------------------------------------------------------

REWRITE_WINDOW_S = 2.5  # counted from the beginning of the rewrite; longer than the rewrite takes


def waits_during_rewrite(name, binary, keys):
    """Returns how long a client waited for PING while the file was rewritten and other clients wrote, in ms, sorted."""
    context = multiprocessing.get_context("fork")
    with Server(name, binary, *DEBUG, "--appendonly", "yes") as server:
        server.do("DEBUG", "POPULATE", keys)
        stop, results = context.Event(), context.Queue()
        pinging = context.Process(target=round_trips, args=(server, b"PING\r\n", stop, results))
        writing = threading.Thread(target=redis_benchmark, args=(server, "set", 1, 100_000, 800_000, 10))
        pinging.start()
        writing.start()
        began = time.monotonic()
        server.do("BGREWRITEAOF")
        wait_for(server, "aof_rewrite_in_progress", "0")
        time.sleep(max(0.0, REWRITE_WINDOW_S - (time.monotonic() - began)))
        stop.set()
        waits = results.get(timeout=30)
        pinging.join()
        if not writing.is_alive():
            raise SystemExit("the load of SETs ended before the rewrite was measured")
        writing.join()
        return waits


def rewrites(options, binaries):
    keys = int(2_000_000 * options.scale)
    print(f"\nA pinging client during BGREWRITEAOF of {keys} keys under a writing load, medians of {options.rounds} rounds")
    samples = {name: [] for name, _ in binaries}
    for _ in range(options.rounds):
        for name, binary in binaries:
            samples[name].append(waits_during_rewrite(name, binary, keys))
    for share, title, target in (.99, "p99", REWRITE_TARGET), (1, "longest", 1.0):
        ours, theirs = (statistics.median(quantile(waits, share) if share < 1 else waits[-1] for waits in samples[name])
                        for name, _ in binaries)
        print(f"  {title}: {ours:.2f} ms, redis {theirs:.2f} ms   time {ours / theirs:.2f}   {verdict(ours / theirs, target)}", flush=True)


def persistence(options, binaries):
    journals(options, binaries)
    files(options, binaries)
    rewrites(options, binaries)
