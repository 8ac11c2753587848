"""Shared by the suites of replication: a server process as a node, random writes to it, and the comparison of data."""
import random
import unittest

import known_differences
from generators import Generator
from launcher import wait_until
from two_servers import Server, value_of


class Node:
    """A server at its own port; the test talks to it over its unix socket. `link` are the options of its port."""

    def __init__(self, program, port, link, *options):
        self.program, self.port = program, port
        self.server = Server(program, *link, "--repl-diskless-sync-delay", "0", "--hz", "50", *options)
        self.client = self.server.client()

    def stop(self):
        self.client.close()
        if self.server.process.poll() is None:
            self.server.process.kill()
        self.server.stop()

    def ask(self, *words):
        return value_of(self.client.run(*words))

    def info(self, field, section="replication"):
        for line in self.ask("INFO", section).decode().splitlines():
            if line.startswith(field + ":"):
                return line.split(":", 1)[1]
        return None

    def is_linked(self):
        return self.info("master_link_status") == "up"

    def follow(self, primary):
        self.ask("REPLICAOF", "127.0.0.1", primary.port)
        wait_until(self.is_linked, f"the link of {self.program}")

    def offset(self):
        return int(self.info("master_repl_offset"))


class ReplicationCase(unittest.TestCase):
    """Runs with each oracle, as `self.oracle` (oracles.multiply)."""

    def wait_equal(self, *nodes):
        wait_until(lambda: len({node.offset() for node in nodes}) == 1, "equal offsets")
        # A key may expire between the two queries, so a difference counts only if it appears twice.
        if self.digests_differ(nodes) and (difference := self.difference(*nodes[:2])) and self.digests_differ(nodes):
            self.fail(difference)
        self.oracle.count()

    @staticmethod
    def digests_differ(nodes):
        return len({node.ask("DEBUG", "DIGEST") for node in nodes}) != 1

    def difference(self, one, other):
        """Returns the first key whose values differ. Returns None if only the digests of equal scores differ, as
        between some versions."""
        only_digests = False
        for db in range(16):
            for node in (one, other):
                node.ask("SELECT", db)
            keys = sorted(set(one.ask("KEYS", "*")) | set(other.ask("KEYS", "*")))
            for key in keys:
                values = [node.ask("DEBUG", "DIGEST-VALUE", key) for node in (one, other)]
                if values[0] == values[1]:
                    continue
                scores = self.scores(one, key) if known_differences.digests_of_scores(self.oracle.mark) else None
                if scores is None or scores != self.scores(other, key):
                    return f"db {db} key {key!r} differs: {one.ask('DUMP', key)!r} {other.ask('DUMP', key)!r}"
                only_digests = True
        return None if only_digests else "the digests differ, no key does"

    @staticmethod
    def scores(node, key):
        """Returns the members of a sorted set with their scores as numbers, and when it expires. Returns None for
        another value."""
        if node.ask("TYPE", key) != b"+zset":
            return None
        parts = node.ask("ZRANGE", key, 0, -1, "WITHSCORES")
        return parts[::2], [float(score) for score in parts[1::2]], node.ask("PEXPIRETIME", key)

    def write(self, node, seed, commands):
        generator = Generator(random.Random(seed), min(node.server.version, self.oracle.version))
        for _ in range(commands):
            words = generator.command()
            if words[0].upper() in (b"DEBUG", b"CONFIG", b"SHUTDOWN", b"REPLICAOF"):
                continue
            # It may make a string longer and write nothing; Redis then does not propagate it to its replicas.
            if words[0].upper() == b"BITFIELD" and b"FAIL" in (word.upper() for word in words) and not node.server.is_ours:
                continue
            # A replica cannot know which elements a primary of another version means, so it ends the link.
            if words[0].upper() == b"ZRANGESTORE" and known_differences.negative_offset(words):
                continue
            node.client.run(*words)
