"""Clusters of real processes: of our nodes alone, and of our nodes together with nodes of each oracle, made and changed
with redis-cli."""
import pathlib
import random
import re
import signal
import socket
import subprocess
import threading
import time
import unittest

import oracles
from launcher import free_port, wait_until
from two_servers import RESPITE, Closed, RawClient, Server, value_of

TIMEOUT_MS = 1500
SLOTS = 16384


class Node:
    """A server in cluster mode, with a TCP port for clients and one for the bus."""

    def __init__(self, program, *options):
        self.program, self.port, self.bus_port = program, free_port(), free_port()
        self.server = Server(program, "--port", str(self.port), "--bind", "127.0.0.1", "--cluster-enabled", "yes",
                             "--cluster-port", str(self.bus_port), "--cluster-node-timeout", str(TIMEOUT_MS),
                             "--repl-diskless-sync-delay", "0", "--appendonly", "no", *options)
        self.id = self.ask("CLUSTER", "MYID").decode()

    def client(self):
        connection = socket.create_connection(("127.0.0.1", self.port))
        connection.settimeout(20)
        return RawClient(connection)

    def ask(self, *words):
        client = self.client()
        try:
            return value_of(client.run(*words))
        finally:
            client.close()

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()

    def stop(self):
        if self.server.process.poll() is None:
            self.server.process.send_signal(signal.SIGCONT)
            self.server.process.kill()
        self.server.stop()

    def is_ok(self):
        return b"cluster_state:ok" in self.ask("CLUSTER", "INFO")

    def lines(self):
        return [line.split() for line in self.ask("CLUSTER", "NODES").decode().splitlines()]

    def slots(self):
        """Returns {id: slots} in this node's view."""
        return {line[0]: " ".join(line[8:]) for line in self.lines() if len(line) > 8}

    def roles(self):
        """Returns {id: its primary, or "-"} in this node's view."""
        return {line[0]: line[3] for line in self.lines()}

    def slot_count(self):
        ends = [part.split("-") for part in self.slots().get(self.id, "").split() if part[0] != "["]
        return sum(int(end[-1]) - int(end[0]) + 1 for end in ends)

    def answers(self):
        try:
            return self.ask("PING") == b"+PONG"
        except OSError:
            return False

    def is_primary(self):
        return self.ask("ROLE")[0] == b"master"


class ClusterClient:
    """Follows redirections. After a connection broke, sends the request again: `repeated` counts these requests, which
    may have run two times."""

    def __init__(self, node):
        self.connections, self.first, self.repeated = {}, node.port, 0

    def close(self):
        for connection in self.connections.values():
            connection.close()

    def at(self, port):
        if port not in self.connections:
            connection = socket.create_connection(("127.0.0.1", port))
            connection.settimeout(20)
            self.connections[port] = RawClient(connection)
        return self.connections[port]

    def run(self, *words):
        port, asks = self.first, False
        for _ in range(20):
            try:
                if asks:
                    self.at(port).run("ASKING")
                reply = self.at(port).run(*words)
            except (OSError, Closed):
                self.connections.pop(port, None)
                self.repeated += 1
                time.sleep(0.05)
                continue
            found = re.match(rb"-(MOVED|ASK) \d+ [^:]*:(\d+)", reply)
            if found:
                port, asks = int(found[2]), found[1] == b"ASK"
            elif reply.startswith((b"-TRYAGAIN", b"-CLUSTERDOWN")):
                time.sleep(0.05)
            else:
                return value_of(reply)
        raise AssertionError(f"no node serves {words}: {reply}")


class Counters(threading.Thread):
    """Increments counters until the end of a `with`; `counts` has how often each was acknowledged."""

    def __init__(self, node, number=300):
        super().__init__()
        self.client, self.counts, self.error, self.ends = ClusterClient(node), [0] * number, None, threading.Event()
        self.random = random.Random(1)

    def run(self):
        try:
            while not self.ends.is_set():
                number = self.random.randrange(len(self.counts))
                self.client.run("INCR", f"counter:{number}")
                self.counts[number] += 1
        except Exception as error:  # reported by the test's own thread
            self.error = error

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.join()
        self.client.close()


class Clusters(unittest.TestCase):
    def nodes(self, *programs):
        nodes = []
        for program in programs:
            nodes.append(Node(program))
            self.addCleanup(nodes[-1].stop)
        return nodes

    def cli(self, *words):
        done = subprocess.run([self.oracle.tool("cli"), *map(str, words)], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def cluster(self, programs, replicas=1):
        """The nodes; redis-cli decides their roles."""
        nodes = self.nodes(*programs)
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        output = self.cli("--cluster", "create", *addresses, "--cluster-replicas", replicas, "--cluster-yes")
        self.assertIn("[OK] All 16384 slots covered.", output)
        self.wait_agreed(nodes)
        return nodes

    def agree(self, nodes):
        views = [node.slots() for node in nodes]
        covered = all(node.is_ok() for node in nodes) and all(view == views[0] for view in views)
        # A node that regards a replica as still a primary does not vote for it.
        roles = [node.roles() for node in nodes]
        return covered and all(one == roles[0] for one in roles) and len(roles[0]) >= len(nodes)

    def wait_agreed(self, nodes):
        wait_until(lambda: self.agree(nodes), "the nodes agree", 30)

    def client(self, node):
        client = ClusterClient(node)
        self.addCleanup(client.close)
        return client

    def fill(self, node, keys=500):
        client = self.client(node)
        for number in range(keys):
            self.assertEqual(client.run("SET", f"key:{number}", number), b"+OK")
        return client

    def check(self, client, keys=500):
        for number in range(keys):
            self.assertEqual(client.run("GET", f"key:{number}"), str(number).encode())
        self.oracle.count(keys)

    def reshard(self, source, target, slots):
        before = source.slot_count(), target.slot_count()
        self.cli("--cluster", "reshard", f"127.0.0.1:{source.port}", "--cluster-from", source.id, "--cluster-to",
                 target.id, "--cluster-slots", slots, "--cluster-yes")
        self.assertEqual((source.slot_count(), target.slot_count()), (before[0] - slots, before[1] + slots))

    def primaries(self, nodes):
        return [node for node in nodes if node.is_primary()]

    def replica_of(self, nodes, primary):
        def find():
            for line in primary.lines():
                if line[3] == primary.id and "fail" not in line[2]:
                    return next(node for node in nodes if node.id == line[0])
            return None
        replica = wait_until(find, "a replica")
        wait_until(lambda: replica.ask("ROLE")[3] == b"connected", "its link", 30)
        return replica

    # --- What every mixture has to do.

    def check_life(self, programs):
        nodes = self.cluster(programs)
        client = self.fill(nodes[0])
        self.check(client)
        self.assertIn("[OK] All nodes agree about slots configuration.", self.cli("--cluster", "check", f"127.0.0.1:{nodes[0].port}"))
        for primary in self.primaries(nodes):
            replica = self.replica_of(nodes, primary)
            self.assertEqual(replica.ask("CLUSTER", "FAILOVER"), b"+OK")
            wait_until(replica.is_primary, "the manual failover", 20)
            self.wait_agreed(nodes)
            self.check(client)
        victim = random.choice(self.primaries(nodes))
        replica = self.replica_of(nodes, victim)
        wait_until(lambda: replica.ask("ROLE")[4] == victim.ask("ROLE")[1], "the replica has everything")
        victim.kill()
        alive = [node for node in nodes if node is not victim]
        wait_until(replica.is_primary, "the failover", 30)
        wait_until(lambda: all(node.is_ok() for node in alive), "the state is ok", 30)
        client = self.client(alive[0])
        self.check(client)

    # Moves slots round among the primaries while clients write.
    def check_reshard(self, programs):
        nodes = self.cluster(programs, replicas=0)
        client = self.fill(nodes[0])
        with Counters(nodes[0]) as counters:
            for source, target in zip(nodes, nodes[1:] + nodes[:1]):
                self.reshard(source, target, 1000)
        self.assertIsNone(counters.error)
        self.assertGreater(sum(counters.counts), 0)
        self.wait_agreed(nodes)
        self.assertIn("[OK] All 16384 slots covered.", self.cli("--cluster", "check", f"127.0.0.1:{nodes[0].port}"))
        self.check(client)
        for number, count in enumerate(counters.counts):
            value = str(count).encode() if count else None
            self.assertEqual(client.run("GET", f"counter:{number}"), value)
        self.assertEqual(sum(node.ask("DBSIZE") for node in nodes), 500 + sum(map(bool, counters.counts)))


class Alone(Clusters):
    """Needs a reference server for its redis-cli only, so one is enough."""

    @classmethod
    def setUpClass(cls):
        found, missing = oracles.all_oracles()
        if not found:
            raise unittest.SkipTest("; ".join(missing))
        cls.oracle = found[0]

    def test_life_of_a_cluster_of_ours(self):
        self.check_life([RESPITE] * 6)

    def test_slots_move_under_load(self):
        self.check_reshard([RESPITE] * 3)

    def test_a_cluster_comes_back(self):
        nodes = self.cluster([RESPITE] * 3, replicas=0)
        before = nodes[0].slots()
        nodes[1].kill()
        again = subprocess.Popen([RESPITE, "--port", str(nodes[1].port), "--bind", "127.0.0.1", "--cluster-enabled", "yes",
                                  "--cluster-port", str(nodes[1].bus_port), "--dir", nodes[1].server.folder, "--save", ""],
                                 stdout=subprocess.DEVNULL)
        self.addCleanup(again.wait)
        self.addCleanup(again.kill)
        wait_until(nodes[1].answers, "the node answers")
        wait_until(lambda: all(node.is_ok() for node in nodes), "the state is ok", 30)
        self.assertEqual(nodes[1].ask("CLUSTER", "MYID").decode(), nodes[1].id)
        self.assertEqual(nodes[0].slots(), before)


    def replicated_cluster(self):
        """Returns six nodes, one of their primaries, and its replica."""
        nodes = self.cluster([RESPITE] * 6, replicas=1)
        replica = next(node for node in nodes if not node.is_primary())
        primary = next(node for node in nodes if node.id == replica.roles()[replica.id])
        wait_until(lambda: replica.ask("ROLE")[3] == b"connected", "the link", 30)
        return nodes, primary, replica

    def test_a_replica_leaves_its_primary(self):
        nodes, primary, replica = self.replicated_cluster()
        shard = replica.ask("CLUSTER", "MYSHARDID")
        client = self.client(nodes[0])
        for number in range(100):
            client.run("SET", f"key:{number}", "value")
        wait_until(lambda: replica.ask("DBSIZE") > 0, "the replica has keys", 30)
        folder = pathlib.Path(replica.ask("CONFIG", "GET", "dir")[1].decode()) / "appendonlydir"

        def aof_texts():
            try:
                return [file.read_bytes() for file in folder.iterdir()]
            except FileNotFoundError:  # removed meanwhile
                return [b"key:"]

        self.assertEqual(replica.ask("CONFIG", "SET", "appendonly", "yes"), b"+OK")
        wait_until(lambda: folder.is_dir() and any(b"key:" in text for text in aof_texts()), "the append-only file has the keys", 20)
        self.assertIn(b"unknown subcommand or wrong number of arguments for 'REPLICATE'", replica.ask("CLUSTER", "REPLICATE", "NO", "TWO"))
        self.assertEqual(primary.ask("CLUSTER", "REPLICATE", "NO", "ONE"), b"+OK")
        self.assertEqual(replica.ask("CLUSTER", "REPLICATE", "NO", "ONE"), b"+OK")
        self.assertEqual((replica.ask("DBSIZE"), replica.ask("ROLE")[0]), (0, b"master"))
        self.assertNotEqual(replica.ask("CLUSTER", "MYSHARDID"), shard)
        self.assertEqual(primary.ask("ROLE")[0], b"master")
        self.assertGreater(primary.ask("DBSIZE"), 0)
        wait_until(lambda: all(b"key:" not in text for text in aof_texts()), "the append-only file has no keys either", 20)

    def test_a_replica_takes_over_when_its_primary_stops(self):
        _, primary, replica = self.replicated_cluster()
        try:
            primary.ask("SHUTDOWN", "NOSAVE", "FAILOVER")
        except (OSError, Closed):
            pass
        wait_until(lambda: replica.ask("ROLE")[0] == b"master", "the replica takes over", 5)
        self.assertTrue(replica.slot_count())


class Mixed(Clusters):
    def test_life_of_a_mixed_cluster(self):
        program = self.oracle.program
        self.check_life([RESPITE, program, RESPITE, program, RESPITE, program])

    def test_slots_move_between_ours_and_theirs_under_load(self):
        if self.oracle.mark == "7.0":
            self.skipTest("Redis 7.0 cannot read the DUMP payloads of Redis 7.2")
        program = self.oracle.program
        self.check_reshard([RESPITE, program, RESPITE])

    def test_life_of_a_cluster_with_one_of_ours(self):
        program = self.oracle.program
        self.check_life([program, program, program, RESPITE, RESPITE, RESPITE])


oracles.multiply(globals(), Mixed, among=oracles.few_oracles)
del Clusters

if __name__ == "__main__":
    unittest.main()
