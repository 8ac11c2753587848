#!/usr/bin/env python3
"""Compares vector sets with Debian's newest Redis (from `./dev oracles`): replies to random commands, exact searches, filters,
dumps both ways, and replication both ways. Skipped if there is no such Redis, or if it has no vector sets."""
import os
import pathlib
import random
import socket
import struct
import sys
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracles  # noqa: E402
from two_servers import RESPITE, Server, value_of  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import prepare_oracles  # noqa: E402

REDIS = prepare_oracles.folder() / "experimental" / "bin" / "redis-server"


def blob(numbers):
    return struct.pack(f"{len(numbers)}f", *numbers)


def near(one, other):
    """Equal, except for the last digits of floats."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(near, one, other))
    if isinstance(one, bytes) and isinstance(other, bytes) and one != other:
        try:
            return abs(float(one) - float(other)) <= 2e-6 * max(1, abs(float(one)))
        except ValueError:
            return False
    return one == other


@unittest.skipUnless(REDIS.exists(), "there is no redis-server with vector sets; ./dev oracles fetches one")
class VectorSetsTest(unittest.TestCase):
    def setUp(self):
        self.servers = Server(RESPITE), Server(str(REDIS))
        self.ours, self.theirs = (server.client() for server in self.servers)
        for server, client in zip(self.servers, (self.ours, self.theirs)):
            self.addCleanup(server.stop)
            self.addCleanup(client.close)
        if value_of(self.theirs.run("VCARD", "none")) != 0:
            self.skipTest("this redis-server has no vector sets")
        self.chance = random.Random(8063)

    def both(self, *words):
        ours, theirs = value_of(self.ours.run(*words)), value_of(self.theirs.run(*words))
        self.assertTrue(near(ours, theirs), f"{words}: {ours} instead of {theirs}")
        oracles.COUNTS["Redis with vector sets"] += 1
        return ours

    def vector(self, dimensions):
        return [self.chance.gauss(0, 1) for _ in range(dimensions)]

    def test_random_commands(self):
        for _ in range(3000):
            key, element = self.chance.choice("abc"), self.chance.choice("pqrstuvw")
            dimensions = self.chance.choice((3, 3, 3, 3, 2))
            numbers = [self.chance.choice((0, 1, -1, 2.5, 1e3, "x", "nan")) if self.chance.random() < 0.02
                       else round(self.chance.uniform(-9, 9), 2) for _ in range(dimensions)]
            options = self.chance.choice(((), (), ("SETATTR", '{"n":%d}' % self.chance.randrange(9)), ("Q8",), ("BIN",),
                                          ("NOQUANT",), ("M", 16), ("M", 4), ("EF", 10), ("EF", 0), ("CAS",), ("X",)))
            self.both(*self.chance.choice((
                ("VADD", key, "VALUES", dimensions, *numbers, element, *options),
                ("VADD", key, "VALUES", dimensions, *numbers, element),
                ("VADD", key, "REDUCE", 2, "VALUES", dimensions, *numbers, element),
                ("VREM", key, element), ("VCARD", key), ("VDIM", key), ("VGETATTR", key, element),
                ("VSETATTR", key, element, self.chance.choice(("", "{}", '{"n":1}'))),
                ("VEMB", key, element), ("VISMEMBER", key, element), ("VRANGE", key, "-", "+"), ("VRANGE", key, "(q", "[u", 2),
                ("VSIM", key, "ELE", element, "COUNT", 1, "X"), ("VLINKS", key, element, "X"), ("TYPE", key), ("DEL", key))))

    def test_exact_searches(self):
        for key, dimensions, options in (("q", 20, ()), ("f", 20, ("NOQUANT",)), ("r", 20, ())):
            reduced = ("REDUCE", 8) if key == "r" else ()
            for number in range(300):
                self.both("VADD", key, *reduced, "FP32", blob(self.vector(dimensions)), f"e{number}", *options, "SETATTR",
                          '{"n":%d}' % number)
            for _ in range(40):
                query = ("VSIM", key, "FP32", blob(self.vector(dimensions)), "WITHSCORES", "TRUTH", "COUNT", 7)
                self.both(*query)
                self.both(*query, "EPSILON", 0.4)
                self.both(*query, "FILTER", ".n % 3 == 1 and .n < 200", "WITHATTRIBS")
                self.both(*query[:-3], "COUNT", 3, "EF", 300)  # so many candidates that the search is exact, too
            self.both("VSIM", key, "ELE", "e7", "WITHSCORES", "TRUTH")

    def test_filters(self):
        values = [".a", ".b", ".s", ".none", ".list", "1", "2", "0", "-1", "3.5", '"a"', '"abc"', "'b'", '""', "[1,2]", '["a",2]']
        operators = "+ - * / % ** == != < > <= >= in and or && ||".split()

        def expression(depth):
            kind = self.chance.random()
            if depth == 0 or kind < 0.3:
                return self.chance.choice(values)
            if kind < 0.4:
                return f"({expression(depth - 1)})"
            if kind < 0.5:
                return self.chance.choice(("not ", "!")) + expression(depth - 1)
            return f"{expression(depth - 1)} {self.chance.choice(operators)} {expression(depth - 1)}"

        for number, attributes in enumerate(('{"a":1,"b":2.5,"s":"abc","list":[1,"a",[2]]}', '{"a":0,"b":"2","s":"","list":[]}',
                                             '{"a":null,"b":true,"s":"a"}', '{"s":"x\\"y"}', "{broken", '{"a":1,"a":2')):
            self.both("VADD", "v", "VALUES", 2, number + 1, 1, f"e{number}", "SETATTR", attributes)
        for _ in range(2000):
            self.both("VSIM", "v", "VALUES", 2, 1, 1, "TRUTH", "FILTER", expression(self.chance.randrange(1, 5)))

    def test_dumps_both_ways(self):
        for source, target in ((self.ours, self.theirs), (self.theirs, self.ours)):
            for key, dimensions, reduced, options in (("q", 16, (), ()), ("f", 10, (), ("NOQUANT", "M", 8)),
                                                      ("b", 100, (), ("BIN",)), ("r", 20, ("REDUCE", 7), ())):
                source.run("DEL", key)
                for number in range(200):
                    name = str(number) if number % 3 else f"item:{number}"
                    attributes = ("SETATTR", '{"n":%d}' % number) if number % 2 else ()
                    source.run("VADD", key, *reduced, "FP32", blob(self.vector(dimensions)), name, *options, *attributes)
                for number in range(1, 200, 7):
                    source.run("VREM", key, str(number))
                self.assertEqual(b"+OK", value_of(target.run("RESTORE", key, 0, value_of(source.run("DUMP", key)), "REPLACE")))
                self.compare(source, target, key)
                target.run("VADD", key, *reduced, "FP32", blob(self.vector(dimensions)), "new", *options)
                self.assertEqual(b"+OK", value_of(source.run("RESTORE", key, 0, value_of(target.run("DUMP", key)), "REPLACE")))
                self.compare(source, target, key)

    def compare(self, one, other, key):
        names = value_of(one.run("VRANGE", key, "-", "+"))
        self.assertEqual(names, value_of(other.run("VRANGE", key, "-", "+")))
        for name in names:
            for command in ("VEMB", "VGETATTR"):
                self.assertTrue(near(value_of(one.run(command, key, name)), value_of(other.run(command, key, name))), name)
            links = [[sorted(layer) for layer in value_of(client.run("VLINKS", key, name))] for client in (one, other)]
            self.assertEqual(*links)

    def test_replication_both_ways(self):
        for primary, replica in ((0, 1), (1, 0)):
            client, follower = self.servers[primary].client(), self.servers[replica].client()
            self.addCleanup(client.close)
            self.addCleanup(follower.close)
            client.run("VADD", "v", "VALUES", 3, 1, 2, 3, "early")
            with socket.create_server(("127.0.0.1", 0)) as free:
                port = free.getsockname()[1]
            self.assertEqual(b"+OK", value_of(client.run("CONFIG", "SET", "port", port)))
            follower.run("REPLICAOF", "127.0.0.1", port)
            for number in range(50):
                client.run("VADD", "v", "VALUES", 3, *self.vector(3), f"e{number}", "SETATTR", '{"n":1}')
                client.run("VADD", "r", "REDUCE", 2, "VALUES", 3, *self.vector(3), f"e{number}")
            client.run("VREM", "v", "e7")
            self.wait_for(lambda: value_of(follower.run("VCARD", "v")) == 50 and
                          value_of(follower.run("VCARD", "r")) == 50)
            for key in "vr":
                for name in value_of(client.run("VRANGE", key, "-", "+")):
                    self.assertTrue(near(value_of(client.run("VEMB", key, name)), value_of(follower.run("VEMB", key, name))))
            follower.run("REPLICAOF", "NO", "ONE")
            client.run("FLUSHALL")
            follower.run("FLUSHALL")

    def wait_for(self, condition):
        until = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), until)
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
