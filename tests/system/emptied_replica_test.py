"""Replicas that must not become primaries, because an interrupted snapshot emptied them, because they refuse a snapshot
of a later version, or because they do not know a command of the primary. With real processes: Sentinels and primaries
of each oracle, and ours."""
import re
import struct
import unittest

import oracles
from launcher import wait_until
from sentinel_test import DataServer, Sentinel
from two_servers import RESPITE

LIMIT_S = 60
KEYS = 2000


def info(server, field):
    for line in server.ask("INFO").decode().splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1]
    return None


def fill(server, prefix, number=KEYS):
    client = server.client()
    try:
        client.send(b"".join(b"SET %s%d %060d\r\n" % (prefix.encode(), i, i) for i in range(number)))
        for _ in range(number):
            assert client.read() == b"+OK\r\n"
    finally:
        client.close()


class WithProcesses(unittest.TestCase):
    def data_server(self, program, primary=None, *settings):
        server = DataServer(program, primary)
        self.addCleanup(server.remove)
        for name, value in settings:
            self.assertEqual(server.ask("CONFIG", "SET", name, value), b"+OK")
        return server

    def sentinels(self, programs, primary, quorum):
        sentinels = []
        for program in programs:
            sentinels.append(Sentinel(program, primary, quorum))
            self.addCleanup(sentinels[-1].remove)
        for sentinel in sentinels:
            wait_until(lambda s=sentinel: s.knows(1, len(sentinels) - 1), "all to know all", LIMIT_S)
        return sentinels

    def empty(self, primary, replica):
        """Interrupts a full resynchronization by ending the primary after the replica has dropped its data for it."""
        wait_until(lambda: info(replica, "master_link_status") == "up", "the link")
        fill(primary, "old")
        wait_until(lambda: replica.ask("DBSIZE") == KEYS, "the keys")
        self.assertEqual(primary.ask("CONFIG", "SET", "repl-backlog-size", "16384"), b"+OK")
        self.assertEqual(primary.ask("CONFIG", "SET", "rdb-key-save-delay", "2000"), b"+OK")
        self.assertEqual(replica.ask("CONFIG", "SET", "repl-diskless-load", "flush-before-load"), b"+OK")
        # The replica would otherwise continue from its history, so it must follow another server meanwhile.
        self.assertEqual(replica.ask("REPLICAOF", "NO", "ONE"), b"+OK")
        self.assertEqual(replica.ask("SET", "own", "1"), b"+OK")
        fill(primary, "new")
        self.assertEqual(replica.ask("REPLICAOF", "127.0.0.1", primary.port), b"+OK")
        wait_until(lambda: info(replica, "replica_data") == "none" and info(replica, "loading") == "1", "the flush")


class EmptiedReplica(WithProcesses):
    """Neither the oracle's Sentinels nor ours promote the replica."""

    def watched_by(self, program):
        primary = self.data_server(RESPITE)
        replica = self.data_server(RESPITE, primary)
        sentinel, = self.sentinels([program], primary, 1)
        self.empty(primary, replica)
        primary.kill()
        # The Sentinel may have an older INFO, since it requests one at most each second. Then it tries, and aborts.
        wait_until(lambda: re.search("-failover-abort-(no-good-slave|slave-timeout)", sentinel.log()), "the Sentinel to give up", LIMIT_S)
        self.assertEqual(replica.role(), b"slave")
        self.assertEqual(info(replica, "slave_priority"), "0")
        self.assertEqual(replica.ask("DBSIZE"), 0)
        self.assertEqual(sentinel.address(), primary.port)

    def test_a_sentinel_of_the_oracle_does_not_promote_it(self):
        self.watched_by(self.oracle.program)
        self.oracle.count()


class EmptiedReplicaOfOurs(WithProcesses):
    watched_by = EmptiedReplica.watched_by

    def test_our_sentinel_does_not_promote_it(self):
        self.watched_by(RESPITE)


class LaterPrimary(WithProcesses):
    """A primary of the oracle, whose snapshots our server reads or refuses with a reason."""

    def test_a_snapshot_is_loaded_or_refused_with_a_reason(self):
        for mode in ("disabled", "on-empty-db", "swapdb", "flush-before-load"):
            before = self.data_server(RESPITE)
            fill(before, "key")
            replica = self.data_server(RESPITE, before, ("repl-diskless-load", mode))
            wait_until(lambda s=replica: info(s, "master_link_status") == "up", "the link")
            after = self.data_server(self.oracle.program)
            after.ask("SET", "key", "value")
            self.assertEqual(replica.ask("REPLICAOF", "127.0.0.1", after.port), b"+OK")
            wait_until(lambda s=replica: info(s, "master_link_status") == "up" or info(s, "master_sync_retry_in_seconds"), "an outcome")
            if info(replica, "master_link_status") == "up":
                self.assertEqual(replica.ask("GET", "key"), b"value")
                continue
            self.assertRegex(info(replica, "master_sync_last_error"), r"^(Can't handle RDB format version [0-9]+: this server reads "
                             r"versions 1 to 14|The snapshot of the master begins with)")
            self.assertEqual(replica.ask("DBSIZE"), KEYS)
            self.assertEqual(info(replica, "replica_data"), "other")
            self.assertEqual(info(replica, "slave_priority"), "0")
            # The second attempt is two seconds after the first, the third four seconds after that.
            wait_until(lambda s=after: int(info(s, "sync_full")) >= 2, "the second attempt")
            self.assertLessEqual(int(info(after, "sync_full")), 3)
        self.oracle.count()

    def test_a_write_that_is_refused_here_is_not_acknowledged(self):
        primary = self.data_server(self.oracle.program)
        if primary.ask("COMMAND", "INFO", "VADD") == [None]:
            self.skipTest(f"{self.oracle.label} has no vector sets")
        replica = self.data_server(RESPITE, primary)
        wait_until(lambda: info(replica, "master_link_status") == "up" or info(replica, "master_sync_last_error"), "an outcome")
        if info(replica, "master_link_status") != "up":
            self.skipTest(f"{self.oracle.label} cannot be a primary of Respite")
        client = primary.client()
        self.addCleanup(client.close)
        # Respite refuses a matrix of more than 64 MB.
        vector = struct.pack("<5000f", *([1.0] * 5000))
        self.assertEqual(client.run("VADD", "vectors", "REDUCE", "5000", "FP32", vector, "element"), b":1\r\n")
        self.assertEqual(client.run("WAIT", "1", "1000"), b":0\r\n")
        wait_until(lambda: info(replica, "master_failed_command"), "the failure")
        self.assertEqual(info(replica, "master_failed_command").lower(), "vadd")
        self.assertEqual(info(replica, "master_link_status"), "down")
        self.assertEqual(info(replica, "slave_priority"), "0")
        self.assertRegex(client.run("FAILOVER", "TO", "127.0.0.1", str(replica.port), "TIMEOUT", "1000"), b"^-ERR")
        # A full resynchronization that an operator requests brings all of the data.
        self.assertEqual(client.run("DEL", "vectors"), b":1\r\n")
        self.assertEqual(client.run("SET", "k1", "v1"), b"+OK\r\n")
        self.assertEqual(replica.ask("REPLICAOF", "127.0.0.1", primary.port), b"+OK")
        wait_until(lambda: info(replica, "master_link_status") == "up", "the link")
        self.assertEqual(replica.ask("GET", "k1"), b"v1")
        self.oracle.count()


oracles.multiply(globals(), EmptiedReplica, LaterPrimary)

if __name__ == "__main__":
    unittest.main()
