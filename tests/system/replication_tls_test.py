"""Replication over TLS between real processes: between our servers, and both ways with each oracle that supports TLS;
with client certificates, with a user and a password; and refused links."""
import os
import random
import re
import shutil
import sys
import tempfile
import unittest

import oracles
import replicating
from certificates import Authority
from launcher import free_port, wait_until
from replicating import ReplicationCase
from two_servers import RESPITE, speaks_tls

COMMANDS = 200


class Node(replicating.Node):
    """A server that has only a TLS port."""

    def __init__(self, program, pair, authority, *options):
        port = free_port()
        super().__init__(program, port, ("--tls-port", str(port)), "--tls-replication", "yes", "--tls-cert-file", pair.cert,
                         "--tls-key-file", pair.key, "--tls-ca-cert-file", authority.cert, *options)


class TlsReplication(ReplicationCase):
    @classmethod
    def setUpClass(cls):
        if not speaks_tls(cls.oracle.program):
            raise unittest.SkipTest(f"{cls.oracle} does not speak TLS")
        cls.keys = tempfile.mkdtemp(prefix="replication-tls-")
        cls.addClassCleanup(shutil.rmtree, cls.keys, ignore_errors=True)
        cls.authority = Authority(cls.keys, "authority")
        cls.stranger = Authority(cls.keys, "stranger")
        cls.pair = cls.authority.issue("server")
        cls.client_pair = cls.authority.issue("client")
        cls.strange_pair = cls.stranger.issue("strange")

    def node(self, program, *options, pair=None):
        node = Node(program, pair or self.pair, self.authority, *options)
        self.addCleanup(node.stop)
        return node

    def pairs(self):
        yield RESPITE, RESPITE
        yield RESPITE, self.oracle.program
        yield self.oracle.program, RESPITE

    def check_link(self, primary, replica):
        seed = random.SystemRandom().randrange(10**9)
        print(f"{primary.program} -> {replica.program}: seed {seed}", file=sys.stderr)
        self.write(primary, seed, COMMANDS)
        primary.ask("SET", "big", os.urandom(300_000))
        replica.follow(primary)
        self.write(primary, seed + 1, COMMANDS)
        primary.ask("SET", "bigger", os.urandom(1_000_000))
        self.wait_equal(primary, replica)

    def test_a_snapshot_and_the_stream_from_a_pipe_and_from_a_file(self):
        for programs in self.pairs():
            for diskless in ("yes", "no"):
                with self.subTest(programs=programs, diskless=diskless):
                    primary = self.node(programs[0], "--repl-diskless-sync", diskless)
                    self.check_link(primary, self.node(programs[1]))

    def test_certificates_of_replicas(self):
        """A primary that requires certificates gets the certificate that the replica presents as a client."""
        own = ("--tls-client-cert-file", self.client_pair.cert, "--tls-client-key-file", self.client_pair.key)
        for programs in self.pairs():
            with self.subTest(programs=programs):
                self.check_link(self.node(programs[0], "--tls-auth-clients", "yes"), self.node(programs[1], *own))

    def test_a_stranger_is_kept_out(self):
        for programs in self.pairs():
            with self.subTest(programs=programs):
                primary = self.node(programs[0], "--tls-auth-clients", "yes")
                replica = self.node(programs[1], pair=self.strange_pair)
                replica.ask("REPLICAOF", "127.0.0.1", primary.port)
                self.wait_for_attempts(replica)
                self.assertFalse(replica.is_linked())
                self.assertEqual("0", primary.info("connected_slaves"))
                replica.ask("CONFIG", "SET", "tls-cert-file", self.pair.cert, "tls-key-file", self.pair.key)
                wait_until(replica.is_linked, "the link with a good certificate")

    def test_a_primary_of_a_stranger_is_not_followed(self):
        for programs in self.pairs():
            with self.subTest(programs=programs):
                primary = self.node(programs[0], "--tls-auth-clients", "no", pair=self.strange_pair)
                replica = self.node(programs[1])
                replica.ask("REPLICAOF", "127.0.0.1", primary.port)
                self.wait_for_attempts(replica)
                self.assertFalse(replica.is_linked())

    def wait_for_attempts(self, replica):
        def count():
            with open(replica.server.log.name, "rb") as file:
                return len(re.findall(rb"Connecting to (MASTER|PRIMARY)", file.read()))
        wait_until(lambda: count() >= 2, "the second attempt")

    def test_a_user_and_a_password(self):
        rights = ("ACL", "SETUSER", "replica", "on", ">secret", "+psync", "+replconf", "+ping")
        for programs in self.pairs():
            with self.subTest(programs=programs):
                primary, replica = self.node(programs[0]), self.node(programs[1])
                self.assertEqual(b"+OK", primary.ask(*rights))
                self.assertEqual(b"+OK", primary.ask("ACL", "SETUSER", "default", "resetpass", "-psync", "-sync", ">other"))
                for words in (("masteruser", "replica"), ("masterauth", "secret")):
                    self.assertEqual(b"+OK", replica.ask("CONFIG", "SET", *words))
                self.check_link(primary, replica)

    def test_a_failover_goes_over_tls(self):
        for programs in self.pairs():
            with self.subTest(programs=programs):
                primary, replica = self.node(programs[0]), self.node(programs[1])
                replica.follow(primary)
                primary.ask("SET", "k", 1)
                wait_until(lambda: b"state=online" in primary.ask("INFO", "replication"), "the replica to be online")
                self.assertEqual(b"+OK", primary.ask("FAILOVER", "TIMEOUT", 10000))
                wait_until(lambda: replica.info("role") == "master" and primary.is_linked(), "the failover")
                replica.ask("SET", "k", 2)
                self.wait_equal(replica, primary)

    def test_without_tls_replication_nothing_is_understood(self):
        primary = self.node(RESPITE)
        for program in (RESPITE, self.oracle.program):
            replica = self.node(program)
            self.assertEqual(b"+OK", replica.ask("CONFIG", "SET", "tls-replication", "no"))
            replica.ask("REPLICAOF", "127.0.0.1", primary.port)
            self.wait_for_attempts(replica)
            self.assertFalse(replica.is_linked())
            self.assertEqual(b"+OK", replica.ask("CONFIG", "SET", "tls-replication", "yes"))
            wait_until(replica.is_linked, "the link over TLS")
            self.wait_equal(primary, replica)


oracles.multiply(globals(), TlsReplication, among=oracles.few_oracles)


if __name__ == "__main__":
    unittest.main()
