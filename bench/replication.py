"""Replication against redis-server: the cost of writes on a primary with replicas, the cost of following on a replica,
and a full synchronisation: its time, the CPU of the primary, its memory during writes, and its effect on clients.

Both ends of a link are servers of the same kind."""
import contextlib
import multiprocessing
import statistics
import threading
import time

from persistence import DEBUG, info
from side_by_side import CONNECTIONS, Server, medians, quantile, redis_benchmark, round_trips, verdict

WRITES_TARGET = .5         # CPU of the primary per SET at pipeline 16
FOLLOWING_TARGET = .5      # CPU of a replica per SET
SYNC_TARGET = .6           # time, and CPU of the primary
SYNC_MEMORY_TARGET = .7    # additional memory of the primary and its child
ASK_RARELY_S = 0.05        # where frequent polling would delay the measured work
STALL_TARGET = 2.0         # p99 of a client during a full synchronisation divided by its p99 before
AT_ONCE = ("--repl-diskless-sync-delay", "0", "--client-output-buffer-limit", "replica 0 0 0",
           "--repl-backlog-size", "256mb")


def follow(replica, primary):
    replica.do("REPLICAOF", "127.0.0.1", primary.port)


def wait_until(holds, every_s=0.002):
    deadline = time.monotonic() + 300
    while not holds():
        if time.monotonic() > deadline:
            raise SystemExit("the replicas do not follow")
        time.sleep(every_s)


def is_linked(replica):
    return info(replica, "master_link_status") == "up"


def offset(server):
    return info(server, "master_repl_offset")


@contextlib.contextmanager
def primary_with(name, binary, replicas):
    with contextlib.ExitStack() as stack:
        primary = stack.enter_context(Server(name, binary, *DEBUG, *AT_ONCE))
        followers = [stack.enter_context(Server(name, binary, *DEBUG, *AT_ONCE)) for _ in range(replicas)]
        for replica in followers:
            follow(replica, primary)
        for replica in followers:
            wait_until(lambda: is_linked(replica))
        yield primary, followers


# ---- following --------------------------------------------------------------------------------------------------------

def one_load(name, binary, replicas, requests):
    """Returns the CPU µs per SET of the primary, and of one replica until it has all of them."""
    with primary_with(name, binary, replicas) as (primary, followers):
        redis_benchmark(primary, "set", 16, 100_000, requests // 5)
        wait_until(lambda: all(offset(replica) == offset(primary) for replica in followers))
        before = [replica.cpu_ns() for replica in followers]
        sample = redis_benchmark(primary, "set", 16, 100_000, requests)
        wait_until(lambda: all(offset(replica) == offset(primary) for replica in followers))
        costs = [(replica.cpu_ns() - ns) / 1000 / requests for replica, ns in zip(followers, before)]
        return sample, statistics.mean(costs) if costs else 0.0


def following(options, binaries):
    requests = int(1_000_000 * options.scale)
    print(f"\nSET with replicas, pipeline 16, {CONNECTIONS} connections, medians of {options.rounds} rounds")
    for replicas in (0, 1, 3):
        samples = {name: [] for name, _ in binaries}
        for _ in range(options.rounds):
            for name, binary in binaries:
                samples[name].append(one_load(name, binary, replicas, requests))
        (ours, our_replica), (theirs, their_replica) = (
            (medians([one for one, _ in samples[name]]), statistics.median(cost for _, cost in samples[name]))
            for name, _ in binaries)
        ratio = ours.cpu_us / theirs.cpu_us
        print(f"  {replicas} replicas: primary {ours.cpu_us:.3f} µs, redis {theirs.cpu_us:.3f} µs   CPU {ratio:.2f}   "
              + (verdict(ratio, WRITES_TARGET) if replicas else ""), flush=True)
        if replicas:
            ratio = our_replica / their_replica
            print(f"              a replica {our_replica:.3f} µs, redis {their_replica:.3f} µs   CPU {ratio:.2f}   "
                  f"{verdict(ratio, FOLLOWING_TARGET)}", flush=True)


# ---- full synchronisation ---------------------------------------------------------------------------------------------

def child_cpu_s(server):
    """Returns the CPU of children that have ended, as the server's own INFO shows it."""
    return float(info(server, "used_cpu_sys_children")) + float(info(server, "used_cpu_user_children"))


def one_sync(name, binary, keys, load, every_s=0.002):
    """Returns the seconds until the replica is linked, polled every `every_s`; the CPU seconds of the primary with its
    child; and the sample of `load`."""
    with Server(name, binary, *DEBUG, *AT_ONCE) as primary, Server(name, binary, *DEBUG, *AT_ONCE) as replica:
        primary.do("DEBUG", "POPULATE", keys, "key", 64)
        with load(primary) as sample:
            cpu_ns, cpu_child = primary.cpu_ns(), child_cpu_s(primary)
            begin = time.monotonic()
            follow(replica, primary)
            wait_until(lambda: is_linked(replica), every_s)
            seconds = time.monotonic() - begin
            wait_until(lambda: info(primary, "rdb_bgsave_in_progress") == "0")
            cpu_s = (primary.cpu_ns() - cpu_ns) / 1e9 + child_cpu_s(primary) - cpu_child
        return seconds, cpu_s, sample


@contextlib.contextmanager
def no_load(_):
    yield None


def private_bytes(pid):
    """Returns the memory that the process shares with no other process."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as lines:
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
    return 0


def children_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children") as text:
        return [int(word) for word in text.read().split()]
    return []


class Peak:
    bytes = 0


@contextlib.contextmanager
def writing_load(primary):
    """Writes to random existing keys meanwhile. Returns the peak of the additional memory of primary and child."""
    def write_some(requests):
        redis_benchmark(primary, ["SET", "key:__rand_int__", "v" * 64], 4, 100_000, requests, 10)

    write_some(1_000_000)
    stop, peak = threading.Event(), Peak()
    before = private_bytes(primary.process.pid)

    def watch():
        while not stop.wait(0.02):
            pids = [primary.process.pid, *children_of(primary.process.pid)]
            peak.bytes = max(peak.bytes, primary.rss_bytes() + sum(map(private_bytes, pids[1:])) - before)

    def write():
        while not stop.is_set():
            write_some(20_000)

    threads = [threading.Thread(target=work) for work in (watch, write)]
    for thread in threads:
        thread.start()
    try:
        yield peak
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def synchronisation(options, binaries):
    keys = int(5_000_000 * options.scale)
    print(f"\nFull synchronisation of {keys} keys with values of 64 octets, medians of {options.rounds} rounds")
    samples = {name: [] for name, _ in binaries}
    for _ in range(options.rounds):
        for name, binary in binaries:
            samples[name].append(one_sync(name, binary, keys, no_load))
    for column, title in enumerate(("time", "CPU of the primary and its child")):
        ours, theirs = (statistics.median(row[column] for row in samples[name]) for name, _ in binaries)
        print(f"  {title}: {ours:.2f} s, redis {theirs:.2f} s   ratio {ours / theirs:.2f}   "
              f"{verdict(ours / theirs, SYNC_TARGET)}", flush=True)
    ours, theirs = (statistics.median(one_sync(name, binary, keys, writing_load)[2].bytes
                                      for _ in range(options.rounds)) for name, binary in binaries)
    print(f"  memory it takes under a load of writes: {ours / 1e6:.0f} MB, redis {theirs / 1e6:.0f} MB   "
          f"ratio {ours / theirs:.2f}   {verdict(ours / theirs, SYNC_MEMORY_TARGET)}", flush=True)


# ---- what clients notice ------------------------------------------------------------------------------------------------

@contextlib.contextmanager
def asking_load(primary):
    """A client that sends one request after the other; the sample gets its p99 in ms."""
    context = multiprocessing.get_context("fork")
    stop, results = context.Event(), context.Queue()
    asking = context.Process(target=round_trips, args=(primary, b"GET key:1\r\n", stop, results))
    asking.start()
    time.sleep(0.2)
    sample = []
    try:
        yield sample
    finally:
        stop.set()
        sample.append(quantile(results.get(timeout=30), 0.99))
        asking.join()


def p99_before(name, binary, keys):
    with Server(name, binary, *DEBUG) as primary:
        primary.do("DEBUG", "POPULATE", keys, "key", 64)
        with asking_load(primary) as sample:
            time.sleep(2)
        return sample[0]


def stalls(options, binaries):
    keys = int(2_000_000 * options.scale)
    print(f"\np99 of a client of the primary before and during a full synchronisation of {keys} keys, "
          f"medians of {options.rounds} rounds")
    for name, binary in binaries:
        before = statistics.median(p99_before(name, binary, keys) for _ in range(options.rounds))
        during = statistics.median(one_sync(name, binary, keys, asking_load, ASK_RARELY_S)[2][0]
                                   for _ in range(options.rounds))
        print(f"  {name:8} {before:.3f} ms -> {during:.3f} ms   ratio {during / before:.2f}   "
              + (verdict(during / before, STALL_TARGET) if name == binaries[0][0] else ""), flush=True)


def replication(options, binaries):
    following(options, binaries)
    synchronisation(options, binaries)
    stalls(options, binaries)
