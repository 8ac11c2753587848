"""Clusters whose nodes talk to each other only over TLS: our nodes alone, and together with nodes of each oracle that
supports TLS."""
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

import oracles
from certificates import Authority
from launcher import free_port, wait_until
from two_servers import RESPITE, Server, speaks_tls, value_of

TIMEOUT_MS = 1500
KEYS = 300


class Node:
    """A server in cluster mode that has only a TLS port; the test connects to its unix socket."""

    def __init__(self, program, keys):
        self.program, self.port, self.bus_port = program, free_port(), free_port()
        self.server = Server(program, "--tls-port", str(self.port), "--bind", "127.0.0.1", "--cluster-enabled", "yes",
                             "--cluster-port", str(self.bus_port), "--cluster-node-timeout", str(TIMEOUT_MS),
                             "--tls-cluster", "yes", "--tls-replication", "yes", "--tls-cert-file", keys.pair.cert,
                             "--tls-key-file", keys.pair.key, "--tls-ca-cert-file", keys.authority.cert,
                             "--repl-diskless-sync-delay", "0", "--appendonly", "no")
        self.client = self.server.client()

    def stop(self):
        self.client.close()
        self.server.stop()

    def kill(self):
        self.server.process.kill()
        self.server.process.wait()

    def ask(self, *words):
        return value_of(self.client.run(*words))

    def lines(self):
        return [line.split() for line in self.ask("CLUSTER", "NODES").decode().splitlines()]

    def slots(self):
        return {line[0]: " ".join(line[8:]) for line in self.lines() if len(line) > 8}

    def is_ok(self):
        return b"cluster_state:ok" in self.ask("CLUSTER", "INFO")

    def is_primary(self):
        return self.ask("ROLE")[0] == b"master"


class Keys:
    """Certificates of the cluster, and of a foreign authority."""

    def __init__(self, folder):
        self.authority = Authority(folder, "authority")
        self.pair = self.authority.issue("node")
        self.strange_pair = Authority(folder, "stranger").issue("strange")

    def of_client(self):
        return ["--tls", "--cacert", self.authority.cert, "--cert", self.pair.cert, "--key", self.pair.key]


class TlsClusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not speaks_tls(cls.oracle.program):
            raise unittest.SkipTest(f"{cls.oracle} does not speak TLS")
        folder = tempfile.mkdtemp(prefix="cluster-tls-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.keys = Keys(folder)

    def cli(self, *words):
        command = [self.oracle.tool("cli"), *self.keys.of_client(), *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def cluster(self, programs):
        nodes = []
        for program in programs:
            nodes.append(Node(program, self.keys))
            self.addCleanup(nodes[-1].stop)
        addresses = [f"127.0.0.1:{node.port}" for node in nodes]
        self.cli("--cluster", "create", *addresses, "--cluster-replicas", 1, "--cluster-yes")
        wait_until(lambda: self.agree(nodes), "the nodes agree", 30)
        return nodes

    def agree(self, nodes):
        views = [node.slots() for node in nodes]
        return all(node.is_ok() for node in nodes) and all(view == views[0] for view in views)

    def check_life(self, programs):
        nodes = self.cluster(programs)
        port = nodes[0].port
        for number in range(KEYS):
            self.assertEqual("OK", self.cli("-p", port, "-c", "SET", f"key:{number}", number).strip().splitlines()[-1])
        primaries = [node for node in nodes if node.is_primary()]
        victim = primaries[0]
        replica = wait_until(lambda: self.linked_replica(nodes, victim), "a replica with a link", 30)
        victim.kill()
        alive = [node for node in nodes if node is not victim]
        wait_until(replica.is_primary, "the failover", 30)
        wait_until(lambda: all(node.is_ok() for node in alive), "the state is ok", 30)
        for number in range(0, KEYS, 7):
            self.assertEqual(str(number), self.cli("-p", alive[0].port, "-c", "GET", f"key:{number}").strip())
        self.oracle.count(KEYS)
        self.check_strangers(alive)

    def linked_replica(self, nodes, primary):
        me = primary.ask("CLUSTER", "MYID").decode()
        for line in primary.lines():
            if line[3] == me:
                node = next(node for node in nodes if re.search(f"@{node.bus_port}\\b", line[1]))
                return node if node.ask("ROLE")[3] == b"connected" else None
        return None

    def check_strangers(self, nodes):
        """Our bus refuses peers without TLS and peers with the certificate of another authority."""
        for node in nodes:
            if node.program != RESPITE:
                continue
            plain = socket.create_connection(("127.0.0.1", node.bus_port), timeout=20)
            self.addCleanup(plain.close)
            plain.sendall(b"RCmb" + bytes(2300))
            self.assertNotIn(b"RCmb", self.everything_from(plain))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            context.load_cert_chain(self.keys.strange_pair.cert, self.keys.strange_pair.key)
            bare = socket.create_connection(("127.0.0.1", node.bus_port), timeout=20)
            self.addCleanup(bare.close)
            with self.assertRaises((ssl.SSLError, OSError)):
                secured = context.wrap_socket(bare)
                self.addCleanup(secured.close)
                secured.sendall(b"RCmb" + bytes(2300))
                if not secured.recv(1):
                    raise OSError("closed")
            self.assertTrue(node.is_ok())

    def everything_from(self, connection):
        received = b""
        try:
            while piece := connection.recv(4096):
                received += piece
        except ConnectionError:
            pass
        return received

    def test_a_cluster_of_ours(self):
        self.check_life([RESPITE] * 6)

    def test_a_mixed_cluster(self):
        program = self.oracle.program
        self.check_life([RESPITE, program, RESPITE, program, RESPITE, program])


oracles.multiply(globals(), TlsClusters, among=oracles.few_oracles)

if __name__ == "__main__":
    unittest.main()
