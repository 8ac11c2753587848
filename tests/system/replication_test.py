"""Replication between real processes: our servers and each oracle in every pairing, with random writes; chains; an
upgrade and a return without a lost write; and processes that are killed, stopped and restarted under load."""
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import oracles
import replicating
from launcher import free_port, wait_until
from replicating import ReplicationCase
from two_servers import RESPITE, Closed, RawClient, Server, value_of

COMMANDS = 400

# Commands and options of versions after Redis 7.0 whose effects older commands can express.
LATER_COMMANDS = """\
MSETEX 2 k1 v1 k2 v2 EX 1000
SET a c
SET b !
SET a c IFNE d
INCREX number BYINT 5 EX 1000
BITOP ONE bits1 a b
BITOP DIFF bits2 a b
DELEX b IFEQ !
ZADD z 1 a 2 b 0x10 c
ZUNIONSTORE z2 1 z WEIGHTS 0.1 AGGREGATE COUNT
ZREMRANGEBYSCORE z 0x10 1e999
GEOADD g 1 1 m 2 2 n
GEOSEARCHSTORE found g BYPOLYGON 3 0 0 2 4 4 0
RPUSH l a b c d e
LMOVEM l m LEFT LEFT COUNT 3 OBO
LMOVEM m m LEFT RIGHT COUNT 9 BULK
HSETEX h FNX FIELDS 2 a 1 b 2
HGETDEL h FIELDS 1 a
SADD set a b c
XADD s IDMP p i * f v
XADD s IDMP p i * f v
XADD s IDMPAUTO p * f v
XADD s * f v
XADD s * f v
XGROUP CREATE s g 0
XREADGROUP GROUP g c COUNT 2 STREAMS s >
XTRIM s MAXLEN 3 DELREF
XADD s MAXLEN 2 ACKED * f v
MULTI
XADD s IDMP p j * f v
SET in-transaction v
EXEC""".splitlines()


class Node(replicating.Node):
    def __init__(self, program, *options):
        port = free_port()
        super().__init__(program, port, ("--port", str(port)), *options)


class Replication(ReplicationCase):
    def node(self, program, *options):
        node = Node(program, *options)
        self.addCleanup(node.stop)
        return node

    def check_pair(self, primary_program, replica_program):
        seed = random.SystemRandom().randrange(10**9)
        print(f"{primary_program} -> {replica_program}: seed {seed}", file=sys.stderr)
        primary, replica = self.node(primary_program), self.node(replica_program)
        self.write(primary, seed, COMMANDS)
        replica.follow(primary)
        self.write(primary, seed + 1, COMMANDS)
        self.wait_equal(primary, replica)

    def test_we_are_the_primary(self):
        self.check_pair(RESPITE, self.oracle.program)

    def test_we_are_the_replica(self):
        self.check_pair(self.oracle.program, RESPITE)

    def test_we_are_both(self):
        self.check_pair(RESPITE, RESPITE)

    def test_a_replica_has_the_effects_of_commands_that_it_lacks(self):
        """docs/replication.md: later commands are propagated as commands of Redis 7.0."""
        primary, replica = self.node(RESPITE), self.node(self.oracle.program)
        replica.follow(primary)
        for line in LATER_COMMANDS:
            reply = primary.ask(*line.split())
            self.assertFalse(isinstance(reply, bytes) and reply.startswith(b"-"), (line, reply))
        payload = primary.ask("DUMP", "set")
        primary.ask("RESTORE", "restored", 0, payload)
        primary.ask("FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('f', function() return 1 end)")
        primary.ask("FUNCTION", "RESTORE", primary.ask("FUNCTION", "DUMP"), "REPLACE")
        self.wait_equal(primary, replica)
        self.assertEqual(1, len(replica.ask("FUNCTION", "LIST")))

    def test_a_snapshot_does_not_wait_for_the_timer(self):
        """Otherwise only a tick, which comes once a second here, would send the next few KB."""
        primary, replica = self.node(RESPITE, "--hz", "1", "--rdbcompression", "no"), self.node(RESPITE)
        primary.ask("DEBUG", "POPULATE", 200, "key", 100_000)
        replica.follow(primary)
        self.wait_equal(primary, replica)

    def test_a_chain_has_one_history(self):
        head, middle, tail = self.node(RESPITE), self.node(self.oracle.program), self.node(RESPITE)
        middle.follow(head)
        tail.follow(middle)
        for i in range(100):
            head.ask("RPUSH", "list", i)
        self.wait_equal(head, middle, tail)
        self.assertEqual(1, len({node.info("master_replid") for node in (head, middle, tail)}))

    def test_a_live_upgrade_and_back_loses_no_write(self):
        old, new = self.node(self.oracle.program), self.node(RESPITE)
        new.follow(old)
        acknowledged = self.load_while(old, new, lambda: self.hand_over(old, new))
        self.assertEqual(acknowledged, int(new.ask("GET", "n")))
        acknowledged = self.load_while(new, old, lambda: self.hand_over(new, old))
        self.assertEqual(acknowledged, int(old.ask("GET", "n")))
        self.oracle.count(2)

    def hand_over(self, primary, replica):
        # The replica reports that its link is up before the primary has received its acknowledgement.
        wait_until(lambda: b"state=online" in primary.ask("INFO", "replication"), "the replica to be online")
        self.assertEqual(b"+OK", primary.ask("FAILOVER", "TO", "127.0.0.1", replica.port, "TIMEOUT", 10000))
        wait_until(lambda: replica.info("role") == "master" and primary.info("role") == "slave", "the failover")
        wait_until(lambda: primary.info("master_link_status") == "up", "the link of the former primary")

    def load_while(self, primary, replica, action):
        """Increments a counter until the primary refuses, while `action` runs. Returns the last acknowledged value."""
        acknowledged = [primary.ask("INCR", "n")]
        began_at = acknowledged[0]
        writer = primary.server.client()
        self.addCleanup(writer.close)

        def write():
            while isinstance(value := value_of(writer.run("INCR", "n")), int):
                acknowledged[0] = value

        thread = threading.Thread(target=write)
        thread.start()
        wait_until(lambda: acknowledged[0] > began_at, "the first write")
        action()
        thread.join()
        self.wait_equal(primary, replica)
        return acknowledged[0]

    def test_a_replica_that_is_killed_comes_back(self):
        primary = self.node(RESPITE)
        replica = self.node(self.oracle.program)
        replica.follow(primary)
        self.ask_pipeline(primary, 2000)
        replica.server.process.send_signal(signal.SIGKILL)
        replica.server.process.wait()
        self.ask_pipeline(primary, 2000)
        again = self.node(RESPITE)
        again.follow(primary)
        self.ask_pipeline(primary, 2000)
        self.wait_equal(primary, again)
        self.assertEqual(b"6000", primary.ask("GET", "n"))

    def ask_pipeline(self, node, count):
        client = node.server.client()
        try:
            client.send(b"INCR n\r\n" * count)
            for _ in range(count):
                client.read()
        except Closed:
            self.fail("the server hung up")
        finally:
            client.close()

    def test_a_stopped_replica_costs_no_client(self):
        primary, replica = self.node(RESPITE, "--repl-timeout", "2"), self.node(self.oracle.program)
        replica.follow(primary)
        os.kill(replica.server.process.pid, signal.SIGSTOP)
        try:
            self.ask_pipeline(primary, 5000)
            wait_until(lambda: primary.info("connected_slaves") == "0", "the end of the silent replica")
        finally:
            os.kill(replica.server.process.pid, signal.SIGCONT)
        wait_until(lambda: replica.info("master_link_status") == "up", "the link after the stop")
        self.wait_equal(primary, replica)

    def test_a_primary_that_restarts_goes_on_with_its_history(self):
        folder_options = ("--save", "900 1000000")
        primary, replica = self.node(RESPITE, *folder_options), self.node(self.oracle.program)
        replica.follow(primary)
        self.ask_pipeline(primary, 100)
        self.wait_equal(primary, replica)
        history = primary.info("master_replid")
        # SAVE is refused until the server has reaped the child that wrote the snapshot for the replica.
        wait_until(lambda: primary.ask("SAVE") == b"+OK", "SAVE")
        offset = primary.offset()
        self.assertEqual(offset, replica.offset())
        restarted = self.restart(primary)
        self.assertEqual(history, restarted.info("master_replid2"))
        wait_until(lambda: replica.info("master_link_status") == "up", "the link after the restart")
        self.assertEqual("1", restarted.info("sync_partial_ok", "stats"))
        self.ask_pipeline(restarted, 100)
        self.wait_equal(restarted, replica)

    def check_slow_load(self, primary, replica):
        """Loading a file takes longer than repl-timeout: the primary must not drop the replica."""
        primary.ask("CONFIG", "SET", "repl-timeout", "1")
        primary.ask("DEBUG", "POPULATE", 3000, "key", 3000)
        replica.ask("CONFIG", "SET", "repl-diskless-load", "disabled")
        replica.ask("CONFIG", "SET", "loading-process-events-interval-bytes", "1024")
        replica.ask("CONFIG", "SET", "key-load-delay", "1000")
        replica.ask("CONFIG", "SET", "rdbcompression", "no")
        primary.ask("CONFIG", "SET", "rdbcompression", "no")
        replica.follow(primary)
        self.ask_pipeline(primary, 10)
        self.wait_equal(primary, replica)
        self.assertEqual("1", primary.info("sync_full", "stats"))
        self.assertEqual("0", primary.info("sync_partial_ok", "stats"))

    def test_we_load_longer_than_a_timeout(self):
        self.check_slow_load(self.node(self.oracle.program), self.node(RESPITE))

    def test_a_replica_of_ours_loads_longer_than_a_timeout(self):
        self.check_slow_load(self.node(RESPITE), self.node(self.oracle.program))

    def test_a_server_that_starts_as_a_replica(self):
        primary = self.node(self.oracle.program)
        primary.ask("SET", "a", "1")
        replica = self.node(RESPITE, "--replicaof", "127.0.0.1", str(primary.port), "--logfile", "server.log")
        wait_until(lambda: replica.info("master_link_status") == "up", "the link")
        self.wait_equal(primary, replica)
        with open(os.path.join(replica.server.folder, "server.log"), encoding="utf-8") as log:
            self.assertNotIn("does not support", log.read())

    def restart(self, node):
        """Kills it and starts it again, with its files."""
        node.server.process.kill()
        node.server.process.wait()
        again = Node.__new__(Node)
        again.program, again.port = node.program, node.port
        again.server = Server(node.program, "--port", str(node.port), "--dir", node.server.folder, "--hz", "50",
                              "--save", "900 1000000")
        again.client = again.server.client()
        self.addCleanup(again.stop)
        wait_until(lambda: b"LOADING" not in again.client.run("DBSIZE"), "the end of loading")
        return again


oracles.multiply(globals(), Replication)


class PrintedLines(unittest.TestCase):
    """The lines of docs/replication.md as printed, except for the ports."""

    def test_set_up_and_failover(self):
        page = os.path.join(os.environ.get("RESPITE_SOURCE_DIR", "."), "docs/replication.md")
        with open(page, encoding="utf-8") as file:
            lines = re.findall(r"^    (respite-server .*|redis-cli .*)$", file.read(), re.M)
        self.assertEqual(["respite-server", "respite-server", "redis-cli"], [line.split()[0] for line in lines])
        ports = {"6379": free_port(), "6380": free_port()}
        folders = [self.folder() for _ in range(3)]
        os.symlink(os.path.abspath(RESPITE), os.path.join(folders[2], "respite-server"))
        environment = dict(os.environ, PATH=f"{folders[2]}:{os.environ['PATH']}")
        for printed, port in ports.items():
            lines = [line.replace(printed, str(port)) for line in lines]
        for line, folder in zip(lines, folders):
            if line.startswith("respite-server"):
                self.start(f"exec {line} --repl-diskless-sync-delay 0", folder, environment)
        first, second = ports.values()
        wait_until(lambda: b"state=online" in self.ask(first, "INFO", "replication"), "the replica")
        output = subprocess.run(["bash", "-c", lines[2]], env=environment, capture_output=True, timeout=20, check=True)
        self.assertEqual(b"OK", output.stdout.strip())
        wait_until(lambda: b"role:master" in self.ask(second, "INFO", "replication"), "the failover")
        wait_until(lambda: b"role:slave" in self.ask(first, "INFO", "replication"), "the failover")

    def folder(self):
        path = tempfile.mkdtemp(prefix="printed-")
        self.addCleanup(shutil.rmtree, path, ignore_errors=True)
        return path

    def start(self, line, folder, environment):
        process = subprocess.Popen(["bash", "-c", line], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.kill)

    @staticmethod
    def ask(port, *words):
        try:
            client = RawClient(socket.create_connection(("127.0.0.1", port), timeout=20))
        except ConnectionRefusedError:
            return b""
        try:
            return client.run(*words)
        finally:
            client.close()


if __name__ == "__main__":
    unittest.main()
