"""Runs what operators do to a cluster with redis-cli --cluster, with each installed version of redis-cli."""
import json
import os
import shutil
import subprocess
import tempfile
import unittest

import launcher
import oracles
from launcher import wait_until
from nodes_process import ClusterClient, Process, ask

KEYS = 200


class ClusterCliTest(unittest.TestCase):
    """Three nodes with KEYS keys between them. Subclasses have the `oracle` whose redis-cli they run."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cluster-cli-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.cluster = Process(self.folder, "3x0", "--save", "")
        self.addCleanup(self.cluster.end)
        self.ports = self.cluster.ports
        self.entry = f"127.0.0.1:{self.ports[0]}"
        client = ClusterClient(self.ports)
        self.addCleanup(client.close)
        for number in range(KEYS):
            self.assertEqual(client.run(f"key:{number}", "SET", f"key:{number}", number), b"+OK")
        self.assertEqual(sum(self.sizes()), KEYS)

    def run_cli(self, *words):
        done = subprocess.run([self.oracle.tool("cli"), *map(str, words)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def cli(self, command, *words):
        self.oracle.count()
        return self.run_cli("--cluster", command, *words)

    def sizes(self):
        return [ask(port, "DBSIZE") for port in self.ports]

    def ids(self):
        return [ask(port, "CLUSTER", "MYID").decode() for port in self.ports]

    def slots(self):
        """Returns how many slots each node owns in the view of the first one."""
        lines = ask(self.ports[0], "CLUSTER", "NODES").decode().splitlines()
        owned = {}
        for line in lines:
            words = line.split()
            ranges = [word.split("-") for word in words[8:] if not word.startswith("[")]
            owned[words[0]] = sum(int(ends[-1]) - int(ends[0]) + 1 for ends in ranges)
        return [owned[node] for node in self.ids()]

    def standalone(self, *options, config=None):
        folder = tempfile.mkdtemp(dir=self.folder)
        server = launcher.Launched(*filter(None, [config]), "--port", "auto", "--bind", "127.0.0.1", "--dir", folder,
                                   "--save", "", *options)
        self.addCleanup(server.kill)
        return server.ready().port

    def wait_for_agreement(self, ports):
        """Waits until each of these nodes knows all of them and the owners of all slots: `check` and `del-node` ask all
        nodes."""
        def views():
            lines = [ask(port, "CLUSTER", "NODES").decode().splitlines() for port in ports]
            return [sorted((line.split()[0], *line.split()[8:]) for line in each) for each in lines]
        wait_until(lambda: all(len(view) == len(ports) and view == views()[0] for view in views()),
                   "all nodes to agree", 20)

    def check_is_whole(self, ports=None):
        self.wait_for_agreement(ports or self.ports)
        told = self.cli("check", self.entry)
        self.assertIn("[OK] All nodes agree about slots configuration.", told)
        self.assertIn("[OK] All 16384 slots covered.", told)

    def test_info(self):
        self.assertIn(f"[OK] {KEYS} keys in 3 ", self.cli("info", self.entry))

    def test_call(self):
        told = self.cli("call", self.entry, "DBSIZE")
        for port, size in zip(self.ports, self.sizes()):
            self.assertRegex(told, rf"127\.0\.0\.1:{port}: \(?(integer\) )?{size}\b")

    def test_set_timeout(self):
        config = os.path.join(self.folder, "server.conf")
        with open(config, "w", encoding="ascii") as file:
            file.write("cluster-enabled yes\n")
        port = self.standalone(config=config)
        ask(port, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(lambda: b"cluster_state:ok" in ask(port, "CLUSTER", "INFO"), "the cluster is ok")
        self.assertIn("New node timeout set. 1 OK, 0 ERR.", self.cli("set-timeout", f"127.0.0.1:{port}", 7000))
        self.assertEqual(ask(port, "CONFIG", "GET", "cluster-node-timeout"), [b"cluster-node-timeout", b"7000"])
        with open(config, encoding="ascii") as file:
            self.assertIn("cluster-node-timeout 7000\n", file.read())

    def test_backup(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        self.assertIn("Backup created", self.cli("backup", self.entry, folder).replace("[OK] ", ""))
        with open(os.path.join(folder, "nodes.json"), encoding="utf-8") as file:
            told = json.load(file)
        self.assertEqual({node["name"] for node in told}, set(self.ids()))
        self.assertEqual(sum(node["slots_count"] for node in told), 16384)
        restored = 0
        for name in sorted(os.listdir(folder)):
            if not name.endswith(".rdb"):
                continue
            own = tempfile.mkdtemp(dir=self.folder)
            shutil.copy(os.path.join(folder, name), os.path.join(own, "dump.rdb"))
            server = launcher.Launched("--port", "auto", "--bind", "127.0.0.1", "--dir", own)
            self.addCleanup(server.kill)
            restored += ask(server.ready().port, "DBSIZE")
        self.assertEqual(restored, KEYS)

    def test_import(self):
        port = self.standalone()
        for number in range(50):
            ask(port, "SET", f"imported:{number}", number)
        ask(port, "RPUSH", "list", "a", "b")
        told = self.cli("import", self.entry, "--cluster-from", f"127.0.0.1:{port}", "--cluster-copy")
        self.assertNotIn("ERR", told)
        self.assertEqual(sum(self.sizes()), KEYS + 51)
        self.assertEqual(ask(port, "DBSIZE"), 51)
        self.assertEqual(self.run_cli("-c", "-p", self.ports[0], "LRANGE", "list", 0, -1).split(), ["a", "b"])
        ask(port, "SET", "imported:0", "changed")
        self.cli("import", self.entry, "--cluster-from", f"127.0.0.1:{port}", "--cluster-replace")
        self.assertEqual(ask(port, "DBSIZE"), 0)
        self.assertEqual(self.run_cli("-c", "-p", self.ports[0], "GET", "imported:0").strip(), "changed")

    def test_reshard_and_rebalance(self):
        first, second, _ = self.ids()
        self.cli("reshard", self.entry, "--cluster-from", first, "--cluster-to", second, "--cluster-slots", 200,
                 "--cluster-yes")
        self.assertEqual(self.slots()[0], 5461 - 200)
        self.cli("rebalance", self.entry)
        self.assertLess(max(self.slots()) - min(self.slots()), 200)  # within its threshold of 2 %
        self.assertEqual((sum(self.slots()), sum(self.sizes())), (16384, KEYS))
        self.check_is_whole()

    def test_fix_closes_an_open_slot(self):
        slot = ask(self.ports[0], "CLUSTER", "KEYSLOT", "key:1")
        owner = next(port for port in self.ports if ask(port, "CLUSTER", "COUNTKEYSINSLOT", slot))
        other = next(port for port in self.ports if port != owner)
        ids = dict(zip(self.ports, self.ids()))
        ask(other, "CLUSTER", "SETSLOT", slot, "IMPORTING", ids[owner])
        ask(owner, "CLUSTER", "SETSLOT", slot, "MIGRATING", ids[other])
        self.cli("fix", self.entry)
        self.check_is_whole()
        self.assertEqual(self.run_cli("-c", "-p", self.ports[0], "GET", "key:1").strip(), "1")

    def test_add_node_and_del_node(self):
        port = self.standalone("--cluster-enabled", "yes")
        self.cli("add-node", f"127.0.0.1:{port}", self.entry)
        self.check_is_whole([*self.ports, port])
        self.cli("del-node", self.entry, ask(port, "CLUSTER", "MYID").decode())
        self.check_is_whole()


oracles.multiply(globals(), ClusterCliTest, among=oracles.few_oracles)

if __name__ == "__main__":
    unittest.main()
