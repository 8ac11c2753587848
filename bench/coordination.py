"""Consumer groups, waiting clients and transactions against redis-server: the CPU cost of each on the server."""
import contextlib
import selectors
import statistics
import time

from side_by_side import CONNECTIONS, Server, load_commands, read_exactly, request, verdict

PAIRS = 50


def compare(title, target, options, binaries, round_of, prepare=lambda server: None):
    """Returns medians of the results of `round_of(server)`: CPU in µs for each operation, and optionally a latency in
    µs."""
    samples = {name: [] for name, _ in binaries}
    with contextlib.ExitStack() as stack:
        servers = [stack.enter_context(Server(name, binary)) for name, binary in binaries]
        for server in servers:
            prepare(server)
        for _ in range(options.rounds):
            for server in servers:
                samples[server.name].append(round_of(server))
    ours, theirs = ([statistics.median(column) for column in zip(*samples[name])] for name, _ in binaries)
    latency = f"   median latency {ours[1]:.0f} µs, redis {theirs[1]:.0f} µs" if len(ours) > 1 else ""
    print(f"  {title:28} {ours[0]:8.2f} µs, redis {theirs[0]:8.2f} µs   CPU {ours[0] / theirs[0]:.2f}   "
          f"{verdict(ours[0] / theirs[0], target)}{latency}", flush=True)


# ---- consumer groups ------------------------------------------------------------------------------------------------

ENTRIES = 40_000
ENTRY = (b"order", b"4711", b"user", b"1001", b"voucher", b"7")


def fill_stream(server):
    server.do("FLUSHALL")
    load_commands(server, ((b"XADD", b"orders", b"*", *ENTRY) for _ in range(ENTRIES)))
    server.do("XGROUP", "CREATE", "orders", "g", "0")


def first_id(reply):
    """Returns the ID of the only entry in a reply to XREADGROUP."""
    end = reply.index(b"\r\n$5\r\norder\r\n")
    return reply[:end].split(b"\r\n")[-2]


def one_by_one(server, entries):
    """Consumers that read one entry and acknowledge it."""
    with contextlib.ExitStack() as stack:
        consumers = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        reads = [request(b"XREADGROUP", b"GROUP", b"g", b"c%d" % i, b"COUNT", b"1", b"STREAMS", b"orders", b">")
                 for i in range(CONNECTIONS)]
        before = server.cpu_ns()
        for _ in range(entries // CONNECTIONS):
            for consumer, read in zip(consumers, reads):
                consumer.sendall(read)
            for consumer in consumers:
                consumer.sendall(request(b"XACK", b"orders", b"g", first_id(consumer.recv(4096))))
            for consumer in consumers:
                read_exactly(consumer, len(b":1\r\n"))
        return (server.cpu_ns() - before) / 1000 / (2 * entries)


def groups(options, binaries):
    print(f"\nXREADGROUP and XACK of one entry at a time by {CONNECTIONS} connections, medians of {options.rounds} rounds")
    entries = max(CONNECTIONS, int(ENTRIES * min(options.scale, 1)))

    def one_round(server):
        fill_stream(server)
        return (one_by_one(server, entries),)

    compare("XREADGROUP + XACK", .8, options, binaries, one_round)


# ---- waiting --------------------------------------------------------------------------------------------------------

def wake(server, wakes):
    """Pairs of a client that waits with BLPOP and one that pushes to its key."""
    with contextlib.ExitStack() as stack, selectors.DefaultSelector() as poll:
        waiting = [stack.enter_context(server.connect()) for _ in range(PAIRS)]
        pushing = [stack.enter_context(server.connect()) for _ in range(PAIRS)]
        keys = [b"queue:%d" % i for i in range(PAIRS)]
        answer = len(b"*2\r\n$%d\r\n%b\r\n$1\r\nx\r\n" % (len(keys[0]), keys[0]))
        started, latencies = [0] * PAIRS, []
        for i, connection in enumerate(waiting):
            poll.register(connection, selectors.EVENT_READ, i)
            connection.sendall(request(b"BLPOP", keys[i], b"0"))
        before = server.cpu_ns()
        for _ in range(wakes // PAIRS):
            for i, connection in enumerate(pushing):
                started[i] = time.perf_counter_ns()
                connection.sendall(request(b"LPUSH", keys[i], b"x"))
            left = PAIRS
            while left:
                for event, _ in poll.select():
                    event.fileobj.recv(answer + 16)
                    latencies.append((time.perf_counter_ns() - started[event.data]) / 1000)
                    event.fileobj.sendall(request(b"BLPOP", keys[event.data], b"0"))
                    left -= 1
            for connection in pushing:
                read_exactly(connection, len(b":1\r\n"))
        return (server.cpu_ns() - before) / 1000 / wakes, statistics.median(latencies)


def waiting(options, binaries):
    print(f"\nLPUSH that wakes a BLPOP, {PAIRS} pairs, medians of {options.rounds} rounds")
    compare("LPUSH -> BLPOP", 1.0, options, binaries, lambda server: wake(server, int(30_000 * options.scale)))


# ---- transactions ---------------------------------------------------------------------------------------------------

def transact(server, count, pipeline=16):
    text = b"".join(request(b"MULTI") + request(b"INCR", b"counter:%d" % i) + request(b"EXEC") for i in range(pipeline))
    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(server.connect()) for _ in range(CONNECTIONS)]
        before = server.cpu_ns()
        for _ in range(count // (CONNECTIONS * pipeline)):
            for connection in connections:
                connection.sendall(text)
            for connection in connections:
                lines = 4 * pipeline  # +OK, +QUEUED, *1, :n
                while lines > 0:
                    lines -= connection.recv(1 << 16).count(b"\n")
        return ((server.cpu_ns() - before) / 1000 / count,)


def transactions(options, binaries):
    print(f"\nMULTI, INCR, EXEC at pipeline 16 by {CONNECTIONS} connections, medians of {options.rounds} rounds")
    compare("MULTI + INCR + EXEC", .7, options, binaries, lambda server: transact(server, int(400_000 * options.scale)))
