"""MIGRATE from and to each oracle, and between two of our servers. A Redis before 7.2 does not know the version of our
payloads and refuses them: then the keys must stay."""
import unittest

import oracles
from launcher import free_port
from two_servers import RESPITE, Server, value_of

VALUES = {
    "string": ("SET", "hello"),
    "long": ("SET", "abc" * 20000),
    "list": ("RPUSH", *range(300)),
    "set": ("SADD", *[f"m{i}" for i in range(300)]),
    "zset": ("ZADD", "1.5", "a", "2", "b"),
    "hash": ("HSET", "f", "v", "g", "1"),
}


class Node:
    def __init__(self, program, *options):
        self.port = free_port()
        self.server = Server(program, "--port", str(self.port), *options)
        self.client = self.server.client()

    def stop(self):
        self.client.close()
        self.server.stop()

    def ask(self, *words):
        return value_of(self.client.run(*words))

    def migrate_to(self, target, *words, host="127.0.0.1"):
        return self.ask("MIGRATE", host, target.port, *words)


class Migrate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours, cls.others, cls.theirs = Node(RESPITE), Node(RESPITE), Node(cls.oracle.program)
        cls.nodes = [cls.ours, cls.others, cls.theirs]

    @classmethod
    def tearDownClass(cls):
        for node in cls.nodes:
            node.stop()

    def setUp(self):
        for node in self.nodes:
            node.ask("FLUSHALL")

    def fill(self, node):
        for key, (command, *parts) in VALUES.items():
            node.ask(command, key, *parts)
        return {key: node.ask("DEBUG", "DIGEST-VALUE", key) for key in VALUES}

    def check_all_moved(self, source, target, digests):
        self.assertEqual(0, source.ask("DBSIZE"))
        self.assertEqual(digests, {key: target.ask("DEBUG", "DIGEST-VALUE", key) for key in VALUES})
        self.oracle.count(len(VALUES))

    def test_every_type_moves_between_servers_of_ours(self):
        digests = self.fill(self.ours)
        self.assertEqual(b"+OK", self.ours.migrate_to(self.others, "", 0, 5000, "KEYS", *VALUES, "nokey"))
        self.check_all_moved(self.ours, self.others, digests)

    def test_every_type_moves_from_redis(self):
        digests = self.fill(self.theirs)
        self.assertEqual(b"+OK", self.theirs.migrate_to(self.ours, "", 0, 5000, "KEYS", *VALUES))
        self.check_all_moved(self.theirs, self.ours, digests)

    def test_every_type_moves_to_a_redis_that_knows_the_version(self):
        digests = self.fill(self.ours)
        reply = self.ours.migrate_to(self.theirs, "", 0, 5000, "KEYS", *VALUES)
        if self.oracle.version >= (7, 2):
            self.assertEqual(b"+OK", reply)
            return self.check_all_moved(self.ours, self.theirs, digests)
        self.assertEqual(b"-ERR Target instance replied with error: ERR DUMP payload version or checksum are wrong",
                         reply)
        self.assertEqual(len(VALUES), self.ours.ask("DBSIZE"))
        self.assertEqual(0, self.theirs.ask("DBSIZE"))

    def test_deadline_and_database_go_along(self):
        self.ours.ask("SET", "k", "v", "PX", 100000)
        self.assertEqual(b"+OK", self.ours.migrate_to(self.others, "k", 3, 5000))
        self.assertEqual(0, self.others.ask("EXISTS", "k"))
        self.others.ask("SELECT", 3)
        self.assertTrue(90000 < self.others.ask("PTTL", "k") <= 100000)
        self.others.ask("SELECT", 0)
        self.ours.ask("SET", "k", "v")
        self.assertEqual(b"-ERR Target instance replied with error: ERR DB index is out of range",
                         self.ours.migrate_to(self.others, "k", 99, 5000))
        self.assertEqual(1, self.ours.ask("EXISTS", "k"))
        # The kept connection must not remain in the wrong database.
        self.assertEqual(b"+OK", self.ours.migrate_to(self.others, "k", 0, 5000))
        self.assertEqual(b"v", self.others.ask("GET", "k"))

    def test_copy_and_replace(self):
        self.ours.ask("SET", "k", "new")
        self.others.ask("SET", "k", "old")
        self.assertEqual(b"-ERR Target instance replied with error: BUSYKEY Target key name already exists.",
                         self.ours.migrate_to(self.others, "k", 0, 5000))
        self.assertEqual(b"+OK", self.ours.migrate_to(self.others, "k", 0, 5000, "COPY", "REPLACE"))
        self.assertEqual([b"new", b"new"], [node.ask("GET", "k") for node in (self.ours, self.others)])

    def test_only_what_was_acknowledged_is_deleted(self):
        for key in "abc":
            self.ours.ask("SET", key, key)
        self.others.ask("SET", "b", "taken")
        reply = self.ours.migrate_to(self.others, "", 0, 5000, "KEYS", "a", "b", "c")
        self.assertTrue(reply.startswith(b"-ERR Target instance replied with error: BUSYKEY"), reply)
        self.assertEqual([b"b"], self.ours.ask("KEYS", "*"))
        self.assertEqual([b"a", b"taken", b"c"], self.others.ask("MGET", "a", "b", "c"))

    def test_passwords(self):
        for program in (RESPITE, self.oracle.program):
            with self.subTest(program=program):
                guarded = Node(program)
                self.addCleanup(guarded.stop)
                guarded.ask("CONFIG", "SET", "requirepass", "secret")
                self.check_passwords(guarded)

    def check_passwords(self, guarded):
        self.theirs.ask("SET", "k", "v")
        self.ours.ask("SET", "k", "v")
        for words in ([], ["AUTH", "wrong"], ["AUTH2", "default", "wrong"]):
            expected = self.theirs.migrate_to(guarded, "k", 0, 5000, *words)
            self.assertTrue(expected.startswith(b"-ERR Target instance replied with error: "), expected)
            self.assertEqual(expected, self.ours.migrate_to(guarded, "k", 0, 5000, *words))
        self.assertEqual(1, self.ours.ask("EXISTS", "k"))
        if guarded.server.version >= (7, 2):
            self.assertEqual(b"+OK", self.ours.migrate_to(guarded, "k", 0, 5000, "AUTH", "secret"))
            self.ours.ask("SET", "k2", "v")
            self.assertEqual(b"+OK", self.ours.migrate_to(guarded, "k2", 0, 5000, "AUTH2", "default", "secret"))

    def test_a_target_that_sleeps_or_is_gone(self):
        target = Node(RESPITE)
        self.ours.ask("SET", "k", "v")
        self.assertEqual(b"+OK", self.ours.migrate_to(target, "k", 0, 5000, "COPY"))
        target.stop()
        self.assertEqual(b"-IOERR error or timeout writing to target instance",
                         self.ours.migrate_to(target, "k", 0, 500))
        sleeper = Node(RESPITE)
        self.addCleanup(sleeper.stop)
        sleeping = sleeper.server.client()
        sleeping.send(b"*3\r\n$5\r\nDEBUG\r\n$5\r\nSLEEP\r\n$1\r\n2\r\n")
        reply = self.ours.migrate_to(sleeper, "k", 0, 100)
        self.assertEqual(b"-IOERR error or timeout reading to target instance", reply)
        sleeping.read()
        sleeping.close()
        self.assertEqual(1, self.ours.ask("EXISTS", "k"))

    def test_connections_are_kept(self):
        def kept():
            info = self.ours.ask("INFO", "stats")
            return int(info.split(b"migrate_cached_sockets:")[1].split(b"\r\n")[0])
        self.ours.ask("SET", "k", "v")
        self.ours.migrate_to(self.others, "k", 0, 5000, "COPY")
        before = kept()
        self.assertGreaterEqual(before, 1)
        self.ours.migrate_to(self.others, "k", 0, 5000, "COPY", "REPLACE")
        self.assertEqual(before, kept())

    def test_the_slow_log_does_not_show_passwords(self):
        self.ours.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
        self.addCleanup(self.ours.ask, "CONFIG", "SET", "slowlog-log-slower-than", "10000")
        self.ours.ask("SET", "k", "v")
        self.ours.migrate_to(self.others, "k", 0, 5000, "AUTH", "hidden-word")
        shown = repr(self.ours.ask("SLOWLOG", "GET", 10))
        self.assertIn("(redacted)", shown)
        self.assertNotIn("hidden-word", shown)


oracles.multiply(globals(), Migrate)


if __name__ == "__main__":
    unittest.main()
