"""A running cluster moves from an oracle to Respite, node by node, and back, while clients write. Runs the lines that
docs/cluster.md prints for it."""
import os
import random
import re
import shlex
import socket
import subprocess
import threading
import time
import unittest

import oracles
from cluster_test import Node
from launcher import wait_until
from two_servers import RESPITE, Closed, RawClient, value_of

ROOT = os.environ.get("RESPITE_SOURCE_DIR", ".")
HEADING = "## Move a running cluster from Redis to Respite, and back"
STEP_LIMIT_S = 30
PATIENCE_S = 6  # includes a failover that gets no votes
TRIES = 8


def printed_lines():
    """Returns {name of a block: its lines}, as (words, text to wait for or None, whether the line before is
    repeated)."""
    with open(os.path.join(ROOT, "docs/cluster.md"), encoding="utf-8") as file:
        section = file.read().split(HEADING, 1)[1].split("\n## ", 1)[0]
    blocks, name = {}, None
    for line in section.splitlines():
        title = re.match(r"\*\*(.+?)\*\*", line)
        if title:
            name = title[1]
            blocks[name] = []
        elif line.startswith("    ") and name:
            command, _, comment = line.partition("#")
            awaited = re.match(r" until `(.+)`", comment)
            blocks[name].append((shlex.split(command), awaited and awaited[1], "repeat the line before" in comment))
    return blocks


class Writer(threading.Thread):
    """A client of the cluster: follows MOVED and ASK, and asks other nodes for the slot's owner when one is gone."""

    def __init__(self, seeds, seed):
        super().__init__()
        self.random, self.ports, self.connections = random.Random(seed), set(seeds), {}
        self.attempted, self.acknowledged, self.error, self.ends = {}, {}, None, threading.Event()
        self.longest_wait_s, self.prefix = 0, f"writer{seed}:"

    def at(self, port):
        if port not in self.connections:
            connection = socket.create_connection(("127.0.0.1", port), timeout=20)
            self.connections[port] = RawClient(connection)
        return self.connections[port]

    def forget(self, port):
        connection = self.connections.pop(port, None)
        if connection is not None:
            connection.close()
        if len(self.ports) > 1:
            self.ports.discard(port)

    def learn(self, port):
        for _, _, *nodes in value_of(self.at(port).run("CLUSTER", "SLOTS")):
            self.ports.update(node[1] for node in nodes)

    def run_once(self, *words):
        """Returns the reply to the first try that a node serves; None if the connection broke before a reply came."""
        port, asks = self.random.choice(sorted(self.ports)), False
        while True:
            try:
                self.learn(port)
                break
            except (OSError, Closed):
                self.forget(port)
                port = self.random.choice(sorted(self.ports))
        for _ in range(400):
            try:
                if asks:
                    self.at(port).run("ASKING")
                reply = self.at(port).run(*words)
            except (OSError, Closed):
                self.forget(port)
                return None
            found = re.match(rb"-(MOVED|ASK) \d+ [^:]*:(\d+)", reply)
            if found:
                port, asks = int(found[2]), found[1] == b"ASK"
            elif reply.startswith((b"-TRYAGAIN", b"-CLUSTERDOWN")):
                time.sleep(0.05)
                port, asks = self.random.choice(sorted(self.ports)), False
            else:
                return value_of(reply)
        raise AssertionError(f"no node serves {words}: {reply}")

    def run(self):
        try:
            while not self.ends.is_set():
                key = f"{self.prefix}{self.random.randrange(200)}"
                self.attempted[key] = self.attempted.get(key, 0) + 1
                began = time.monotonic()
                if isinstance(self.run_once("INCR", key), int):
                    self.acknowledged[key] = self.acknowledged.get(key, 0) + 1
                self.longest_wait_s = max(self.longest_wait_s, time.monotonic() - began)
                self.ends.wait(0.002)  # leaves the processors to the servers
        except Exception as error:  # reported by the test's own thread
            self.error = error

    def stop(self):
        self.ends.set()
        self.join()


class Move(unittest.TestCase):
    def node(self, program, *options):
        node = Node(program, *options)
        self.addCleanup(node.stop)
        return node

    def run_line(self, line, names, awaited, limit_s):
        """Returns False if the expected text did not come in that time."""
        words = [self.oracle.tool("cli"), *(names.get(word, word) for word in line[1:])]
        self.assertEqual(line[0], "redis-cli")

        def run():
            done = subprocess.run(words, capture_output=True, text=True, timeout=STEP_LIMIT_S)
            self.said = done.stdout + done.stderr
            return done.returncode == 0 and (awaited is None or awaited in done.stdout)

        if awaited is None:
            self.assertTrue(run(), f"{words}: {self.said}")
            return True
        try:
            wait_until(run, f"{words} to say {awaited}", limit_s)
        except AssertionError:
            return False
        return True

    def run_block(self, block, old, new, any_node):
        """Runs the lines of a block: the new node replaces the old one."""
        names = {"NEW": f"127.0.0.1:{new.port}", "NEW-PORT": str(new.port), "OLD-PORT": str(old.port), "ANY": f"127.0.0.1:{any_node.port}",
                 "OLD-ID": old.id, "PRIMARY-ID": old.roles()[old.id] if old.roles()[old.id] != "-" else old.id,
                 "NEW-ID": new.id}
        before = None
        for line, awaited, repeats in printed_lines()[block]:
            for tries in range(TRIES if repeats else 1):
                if tries != 0:
                    self.run_line(before[0], names, before[1], STEP_LIMIT_S)
                if self.run_line(line, names, awaited, PATIENCE_S if repeats else STEP_LIMIT_S):
                    break
            else:
                views = "\n".join(f"{node.port}:\n{node.ask('CLUSTER', 'NODES').decode()}" for node in (old, new))
                self.fail(f"{line} does not say {awaited}: {self.said}\n{views}")
            before = line, awaited

    def move(self, nodes, program):
        """Replaces each of the nodes by a node of the other program. Returns the new ones."""
        moved = []
        for old in sorted(nodes, key=lambda node: not node.is_primary()):
            block = "Each primary" if old.is_primary() else "Each replica"
            new = self.node(program, "--cluster-allow-replica-migration", "no")
            rest = [node for node in nodes + moved if node.server.process.poll() is None and node is not old]
            self.run_block(block, old, new, rest[0])
            old.stop()
            moved.append(new)
            alive = [node for node in rest + [new] if node.server.process.poll() is None]
            wait_until(lambda: all(node.is_ok() and len(node.lines()) == len(alive) for node in alive), "agreement", 60)
        return moved

    def test_there_and_back_under_load_no_acknowledged_write_is_lost(self):
        nodes = [self.node(self.oracle.program) for _ in range(4)]
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        created = subprocess.run([self.oracle.tool("cli"), "--cluster", "create", *addresses[:3], "--cluster-yes"],
                                 capture_output=True, text=True, timeout=60)
        self.assertIn("[OK] All 16384 slots covered.", created.stdout)
        wait_until(lambda: all(node.is_ok() for node in nodes[:3]), "the cluster")
        added = subprocess.run([self.oracle.tool("cli"), "--cluster", "add-node", addresses[3], addresses[0],
                                "--cluster-slave", "--cluster-master-id", nodes[0].id], capture_output=True, text=True,
                               timeout=60)
        self.assertEqual(added.returncode, 0, added.stdout)
        wait_until(lambda: all(len(node.lines()) == 4 for node in nodes), "all to know all", 30)
        wait_until(lambda: nodes[3].ask("ROLE")[3:4] == [b"connected"], "the replica", 30)
        self.run_block("Before", nodes[0], nodes[0], nodes[0])
        writers = [Writer([node.port for node in nodes], seed) for seed in (1, 2)]
        for writer in writers:
            writer.start()
        try:
            for program in (RESPITE, self.oracle.program):
                before = sum(sum(writer.acknowledged.values()) for writer in writers)
                nodes = self.move(nodes, program)
                wait_until(lambda: sum(sum(w.acknowledged.values()) for w in writers) > before + 100, "more writes")
                self.assertEqual({program}, {node.program for node in nodes})
        finally:
            for writer in writers:
                writer.stop()
        for writer in writers:
            self.assertIsNone(writer.error)
            self.check(writer)

    def check(self, writer):
        self.assertGreater(sum(writer.acknowledged.values()), 500)
        # Longer than a failover takes, and far below what a client regards as an outage.
        self.assertLess(writer.longest_wait_s, 10)
        for key, attempts in writer.attempted.items():
            value = int(writer.run_once("GET", key) or 0)
            self.assertLessEqual(writer.acknowledged.get(key, 0), value, key)
            self.assertLessEqual(value, attempts, key)
            self.oracle.count()


oracles.multiply(globals(), Move, among=oracles.few_oracles)

if __name__ == "__main__":
    unittest.main()
