"""Exchanges values between our server and each oracle as DUMP payloads, both ways, in every encoding that both know.
Their digests must be equal, and packed values must even have equal bytes."""
import random
import struct
import unittest

import known_differences
import oracles
from dump_payload import OLD_VALUES, payload
from two_servers import RESPITE, Server, value_of

SEED = 20260210
VERSION_OF_7_0 = 10
TRAILER = 10  # version of the format, checksum
SET_LISTPACK = 20  # a type that 7.2 introduced
STREAM_WITH_PRODUCERS = 26  # the type of every stream since Redis 8.6; Respite writes it if XADD IDMP was used
UNUSED_PRODUCERS = b"@d@d\0\0\0"  # its last bytes if XADD IDMP was not used: two limits of 100, no producers, two counts of 0
TABLES = (b"hashtable",)  # their order is not fixed, so their bytes may differ


def word(chance, size):
    return bytes(chance.choice(b"abcdefgh0123 ") for _ in range(size))


def strings(chance):
    for text in ("0", "-7", "40000", "-70000", "1234567890123", "12345678901234567890", "007", "", "hello", "x" * 44,
                 "x" * 45, "abc" * 2000):
        yield "SET", [text]
    yield "SET", [bytes(range(256)) * 2]
    yield "SET", [word(chance, 6000)]
    yield "PFADD", [f"e{i}" for i in range(50)]
    yield "PFADD", [f"e{i}" for i in range(3000)]


def collections(chance):
    for count in (1, 3, 60, 1500):
        yield "RPUSH", [chance.choice([chance.randrange(-10 ** chance.randrange(1, 18), 10 ** 9),
                                       word(chance, chance.randrange(70))]) for _ in range(count)]
    yield "RPUSH", [word(chance, 9000) for _ in range(4)]
    for count in (1, 512, 513):
        yield "SADD", range(-5, count - 5)
    yield "SADD", [1, 100000, -5]
    yield "SADD", [1, 10 ** 12]
    for count in (1, 128, 129, 700):
        yield "SADD", [f"m{i}" for i in range(count)]
        scores = [chance.choice([i, i / 7, -i * 1e10, 1e300 * chance.random()]) for i in range(count)]
        yield "ZADD", [part for i, score in enumerate(scores) for part in (score, f"m{i}")]
    yield "ZADD", ["inf", "a", "-inf", "b", "0", "c", "1.1", "d", "3e-320", "e"]
    yield "SADD", ["a", "b" * 65]
    for count in (1, 512, 513):
        yield "HSET", [part for i in range(count) for part in (f"f{i}", chance.choice([i, word(chance, 20)]))]
    yield "HSET", ["f", "v" * 65]


def stream_of(dumped):
    """Returns the part of a stream's payload that does not depend on the version."""
    value = dumped[1:-TRAILER]
    return value.removesuffix(UNUSED_PRODUCERS) if dumped[0] == STREAM_WITH_PRODUCERS else value


class DumpExchange(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.servers = Server(RESPITE, *cls.oracle.our_options), Server(cls.oracle.program)
        cls.ours, cls.theirs = (server.client() for server in cls.servers)
        cls.is_old = cls.oracle.version < (7, 2)

    @classmethod
    def tearDownClass(cls):
        cls.ours.close()
        cls.theirs.close()
        for server in cls.servers:
            server.stop()

    def ask(self, client, *words):
        return value_of(client.run(*words))

    def both(self, *words):
        return [self.ask(client, *words) for client in (self.ours, self.theirs)]

    def digest(self, client, key):
        """Returns what both servers must report about the same value. Digests of 7.0 have more digits of scores."""
        if self.is_old and self.ask(client, "TYPE", key) == b"+zset":
            parts = self.ask(client, "ZRANGE", key, 0, -1, "WITHSCORES")
            return list(zip(parts[::2], map(float, parts[1::2])))
        return self.ask(client, "DEBUG", "DIGEST-VALUE", key)[0]

    def check_travels(self, source, target, key):
        dumped = self.ask(source, "DUMP", key)
        if target is self.theirs and self.is_old:
            if dumped[0] == SET_LISTPACK:
                return
            dumped = payload(dumped[:-TRAILER], VERSION_OF_7_0)
        self.assertEqual(b"+OK", self.ask(target, "RESTORE", key + "-copy", 0, dumped, "REPLACE"))
        self.assertEqual(self.digest(source, key), self.digest(target, key + "-copy"))
        self.oracle.count()
        if not self.is_old:
            encodings = [self.ask(source, "OBJECT", "ENCODING", key),
                         self.ask(target, "OBJECT", "ENCODING", key + "-copy")]
            if not known_differences.encodings(self.oracle.mark, *encodings):
                self.assertEqual(encodings[0], encodings[1])

    def check(self, command, parts):
        key = "key"
        self.both("DEL", key)
        for at in range(0, len(parts), 1000):
            ours, theirs = self.both(command, key, *parts[at:at + 1000])
            self.assertEqual(theirs, ours)
        self.check_travels(self.theirs, self.ours, key)
        self.check_travels(self.ours, self.theirs, key)
        ours, theirs = self.both("OBJECT", "ENCODING", key)
        if known_differences.octets(self.oracle.mark, command, parts):
            return
        if ours == theirs and ours not in TABLES and not (self.is_old and command == "ZADD"):
            ours, theirs = self.both("DUMP", key)
            self.assertEqual(theirs[:-TRAILER], ours[:-TRAILER])

    def check_all(self, values):
        for command, parts in values:
            with self.subTest(command=command, count=len(parts), first=str(parts[0])[:20], seed=SEED):
                self.check(command, parts)

    def test_strings(self):
        self.check_all(strings(random.Random(SEED)))

    def test_collections(self):
        self.check_all(collections(random.Random(SEED)))

    def test_uncompressed(self):
        self.both("CONFIG", "SET", "rdbcompression", "no")
        self.addCleanup(self.both, "CONFIG", "SET", "rdbcompression", "yes")
        self.check_all([("SET", ["abc" * 2000]), ("RPUSH", ["x" * 40] * 50)])

    def test_nodes_of_lists(self):
        self.both("CONFIG", "SET", "list-max-listpack-size", "3")
        self.addCleanup(self.both, "CONFIG", "SET", "list-max-listpack-size", "-2")
        self.check_all([("RPUSH", [f"element {i}" for i in range(count)]) for count in (1, 3, 4, 10)])

    def test_old_encodings(self):
        """Encodings that only older servers wrote."""
        for name, value in OLD_VALUES.items():
            with self.subTest(name=name):
                dumped = payload(value, 9)
                ours, theirs = self.both("RESTORE", name, 0, dumped, "REPLACE")
                self.assertEqual([b"+OK", b"+OK"], [ours, theirs])
                self.assertEqual(self.digest(self.theirs, name), self.digest(self.ours, name))
                if not self.is_old:
                    ours, theirs = self.both("OBJECT", "ENCODING", name)
                    self.assertEqual(theirs, ours)

    def test_streams(self):
        """Streams with groups and pending entries; a stream that was read is written with the same bytes."""
        chance = random.Random(SEED)
        for count in (1, 99, 100, 101, 450):
            with self.subTest(count=count, seed=SEED):
                self.both("DEL", "key")
                for i in range(count):
                    fields = [["item", f"order:{i}", "n", i], [word(chance, chance.randrange(1, 90)), i]][chance.randrange(2)]
                    self.both("XADD", "key", f"{1000 + i // 3}-{i}", *fields)
                for i in range(0, count, 4):
                    self.both("XDEL", "key", f"{1000 + i // 3}-{i}")
                self.both("XGROUP", "CREATE", "key", "new", "$")
                self.both("XGROUP", "CREATE", "key", "readers", "0")
                for consumer in "abc":
                    self.both("XREADGROUP", "GROUP", "readers", consumer, "COUNT", count // 5, "STREAMS", "key", ">")
                self.check_travels(self.theirs, self.ours, "key")
                if self.is_old:
                    continue
                self.check_travels(self.ours, self.theirs, "key")
                for source, target in ((self.ours, self.theirs), (self.theirs, self.ours)):
                    dumped = self.ask(source, "DUMP", "key")
                    self.ask(target, "RESTORE", "key-copy", 0, dumped, "REPLACE")
                    self.assertEqual(stream_of(dumped), stream_of(self.ask(target, "DUMP", "key-copy")))

    def test_refusals(self):
        """Redis finds some of these faults only on request; our server always does."""
        self.both("CONFIG", "SET", "sanitize-dump-payload", "yes")
        self.addCleanup(self.both, "CONFIG", "SET", "sanitize-dump-payload", "no")
        for value in (b"\x01\x00", b"\x04\x02\x01f\x01v\x01f\x01v", b"\x02\x02\x01a\x01a", b"\x0b\x01x", b"\x63",
                      b"\x05\x01\x01a" + struct.pack("<d", float("nan")), b"\x12\x01\x03\x01a"):
            with self.subTest(value=value):
                ours, theirs = self.both("RESTORE", "refused", 0, payload(value, 9))
                self.assertEqual(theirs, ours)
                self.assertTrue(ours.startswith(b"-ERR Bad data format"), ours)
                self.oracle.count()


oracles.multiply(globals(), DumpExchange)


if __name__ == "__main__":
    unittest.main()
