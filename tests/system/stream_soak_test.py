"""Orders on a stream, consumer groups, and consumers that die: no group may miss an order, and none may stay pending.

Producers add orders with XADD; the consumers of each group read with XREADGROUP BLOCK, record what they received and
acknowledge it. At random a consumer dies between reading and acknowledging: its connection is closed permanently.
Another one replaces it and claims with XAUTOCLAIM entries that have been pending for a while.

    python3 tests/system/stream_soak_test.py                                        the short run of the test suite
    python3 tests/system/stream_soak_test.py --producers 200 --consumers 200 --groups 20 --orders 100
"""
import argparse
import collections
import random
import sys
import threading
import time
import unittest

import two_servers

STREAM = "orders"
IDLE_MS = 200  # a consumer that has not acknowledged for this long counts as dead
BLOCK_MS = 50
LIMIT_S = 240


class Group:
    """What the consumers of one group have received together."""

    def __init__(self, name, total):
        self.name = name
        self.total = total
        self.lock = threading.Lock()
        self.processed = collections.Counter()
        self.deaths = 0
        self.claimed = 0

    def note(self, orders):
        with self.lock:
            self.processed.update(orders)

    def done(self):
        with self.lock:
            return len(self.processed) == self.total


def orders_in(entries):
    return [(entry_id, fields[fields.index(b"order") + 1]) for entry_id, fields in entries if fields]


def produce(server, producer, count):
    client = server.client()
    for number in range(count):
        reply = client.run("XADD", STREAM, "*", "order", f"{producer}:{number}", "user", str(producer))
        assert reply.startswith(b"$"), reply
    client.close()


class Consumer:
    """One consumer: ends when the work is done, or dies."""

    def __init__(self, server, group, name, dice, death_rate):
        self.client = server.client()
        self.group = group
        self.name = name
        self.dice = dice
        self.death_rate = death_rate

    def read(self):
        reply = two_servers.value_of(self.client.run("XREADGROUP", "GROUP", self.group.name, self.name, "COUNT", "8",
                                                     "BLOCK", str(BLOCK_MS), "STREAMS", STREAM, ">"))
        return orders_in(reply[0][1]) if reply else []

    def claim(self):
        cursor, entries, _ = two_servers.value_of(self.client.run("XAUTOCLAIM", STREAM, self.group.name, self.name,
                                                                  str(IDLE_MS), "0", "COUNT", "50"))
        orders = orders_in(entries)
        with self.group.lock:
            self.group.claimed += len(orders)
        return orders

    def live(self):
        """Returns False when the consumer dies."""
        while not self.group.done():
            orders = self.read() or self.claim()
            if not orders:
                continue
            if self.dice.random() < self.death_rate:
                self.client.close()
                return False
            self.group.note(order for _, order in orders)
            self.client.run("XACK", STREAM, self.group.name, *(entry_id for entry_id, _ in orders))
        self.client.close()
        return True


def consume(server, group, slot, seed, death_rate, deadline, failures):
    dice = random.Random(seed)
    life = 0
    try:
        while time.monotonic() < deadline:
            if Consumer(server, group, f"consumer-{slot}-{life}", dice, death_rate).live():
                return
            life += 1
            with group.lock:
                group.deaths += 1
        failures.append(f"{group.name}: consumer {slot} did not come to an end")
    except Exception as error:  # an exception in a thread must be reported
        failures.append(f"{group.name}: {error!r}")


def settle(client, group):
    """Consumers that died last left pending entries, which no other consumer claims; they still exist."""
    summary = two_servers.value_of(client.run("XPENDING", STREAM, group.name))
    claimed = two_servers.value_of(client.run("XAUTOCLAIM", STREAM, group.name, "undertaker", "0", "0", "COUNT", "100000"))
    assert len(claimed[1]) == summary[0], (group.name, summary[0], len(claimed[1]))
    left = orders_in(claimed[1])
    if left:
        client.run("XACK", STREAM, group.name, *(entry_id for entry_id, _ in left))
    assert two_servers.value_of(client.run("XPENDING", STREAM, group.name))[0] == 0
    info = two_servers.value_of(client.run("XINFO", "GROUPS", STREAM))
    mine = next(row for row in info if row[row.index(b"name") + 1] == group.name.encode())
    assert mine[mine.index(b"lag") + 1] == 0, mine


def main(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", default=two_servers.RESPITE)
    parser.add_argument("--producers", type=int, default=10)
    parser.add_argument("--consumers", type=int, default=16)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--orders", type=int, default=40, help="of each producer")
    parser.add_argument("--death-rate", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    args = parser.parse_args(words)
    print(f"seed {args.seed}")

    total = args.producers * args.orders
    server = two_servers.Server(args.server)
    try:
        client = server.client()
        groups = [Group(f"group-{i}", total) for i in range(args.groups)]
        for group in groups:
            assert client.run("XGROUP", "CREATE", STREAM, group.name, "0", "MKSTREAM") == b"+OK\r\n"
        failures = []
        deadline = time.monotonic() + LIMIT_S
        threads = [threading.Thread(target=produce, args=(server, i, args.orders)) for i in range(args.producers)]
        threads += [threading.Thread(target=consume, args=(server, groups[i % args.groups], i, args.seed + i,
                                                           args.death_rate, deadline, failures))
                    for i in range(args.consumers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        assert two_servers.value_of(client.run("XLEN", STREAM)) == total
        for group in groups:
            assert len(group.processed) == total, (group.name, len(group.processed), total)
            settle(client, group)
        print(f"{total} orders, {args.groups} groups: all processed; {sum(g.deaths for g in groups)} consumers died, "
              f"{sum(g.claimed for g in groups)} entries were claimed, "
              f"{sum(sum(g.processed.values()) - total for g in groups)} processed more than once")
    finally:
        server.stop()
    return 0


class StreamSoak(unittest.TestCase):
    def test_no_order_is_lost(self):
        self.assertEqual(0, main([]))


if __name__ == "__main__":
    sys.exit(main())
