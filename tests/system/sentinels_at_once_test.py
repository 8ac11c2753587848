"""--sentinels: a primary, replicas and Sentinels in one process, which know each other from the start."""
import os
import re
import shutil
import tempfile
import unittest

from hostile import Raw
from launcher import LaunchTest, wait_until
from test_server_page import lines_of_page
from two_servers import Closed

LIMIT_S = 30


def as_map(words):
    return {name.decode(): value.decode() for name, value in zip(words[::2], words[1::2])}


class SentinelsAtOnceTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="sentinels-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.password = None

    def serve(self, *options, sentinels=3):
        port_file = os.path.join(self.folder, "ports")
        self.server = self.start("--test", "--sentinels", str(sentinels), "--port", "auto", "--bind", "127.0.0.1", "--port-file",
                                 port_file, *options, env={**os.environ, "TMPDIR": self.folder})
        self.server.wait_for(r"Ready to accept connections")
        wait_until(lambda: os.path.exists(port_file), "the ports")
        with open(port_file, encoding="ascii") as file:
            self.ports = [int(line) for line in file.read().split()]
        self.nodes = [self.client(port) for port in self.ports]
        self.data, self.sentinels = self.nodes[:-sentinels], self.nodes[-sentinels:]

    def client(self, port):
        client = Raw(port)
        self.addCleanup(client.close)
        if self.password:
            client.run("AUTH", self.password)
        return client

    # Repeats the request: Sentinels end the client connections of a server whose role changes.

    def do(self, *words):
        self.assertEqual(b"+OK", self.sentinels[0].value("TEST", "CLUSTER", *words), words)

    def roles(self):
        return [node[-1].decode() for node in self.sentinels[0].value("TEST", "CLUSTER", "LIST")]

    def primary_port(self, sentinel, name="mymaster"):
        return int(sentinel.value("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name)[1])

    def agree_on(self, port, sentinels=None):
        wait_until(lambda: all(self.primary_port(one) == port for one in sentinels or self.sentinels),
                   f"the Sentinels to agree on {port}", LIMIT_S)

    def fail_over(self):
        """Kills the first node. Returns the port of the new primary."""
        self.do("KILL", "node-1")
        wait_until(lambda: "primary" in self.roles()[1:3], "another primary", LIMIT_S)
        port = self.ports[self.roles().index("primary")]
        self.agree_on(port)
        return port

    def test_servers_are_announced_at_a_place_that_nobody_here_can_reach(self):
        self.serve("--announce", "192.0.2.7:{port}")
        for sentinel in self.sentinels:
            self.assertEqual([b"192.0.2.7", str(self.ports[0]).encode()],
                             sentinel.value("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster"))
            others = [as_map(one) for one in sentinel.value("SENTINEL", "SENTINELS", "mymaster")]
            self.assertEqual({"192.0.2.7"}, {one["ip"] for one in others})
        self.fail_over()
        self.assertEqual(b"192.0.2.7", self.sentinels[0].value("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")[0])
        self.do("REVIVE", "node-1")
        wait_until(lambda: self.roles()[0] == "replica", "the node to follow", LIMIT_S)

    def test_sentinels_follow_real_time(self):
        self.serve()
        self.do("CLOCK", "FREEZE")
        self.data[0].value("SET", "k", "v", "EX", "30")
        met = self.sentinels[0].value("TEST", "CLUSTER", "CLOCK", "NEXT")
        self.assertEqual(b'key "k" of database 0 expires', dict(zip(met[::2], met[1::2]))[b"what"])
        clocks = self.sentinels[0].value("TEST", "CLUSTER", "CLOCK")
        self.assertEqual([b"node-1", b"node-2", b"node-3"], [clock[1] for clock in clocks])
        self.assertEqual(b"+OK", self.data[0].value("TEST", "AWAIT", "QUIET", "1500ms", "TIMEOUT", "20s"))
        self.fail_over()

    def test_reports_have_their_names_of_valkey_too(self):
        self.serve(sentinels=1)
        one = self.sentinels[0]
        for old, new in [(["GET-MASTER-ADDR-BY-NAME", "mymaster"], ["GET-PRIMARY-ADDR-BY-NAME", "mymaster"]),
                         (["MASTER", "nobody"], ["PRIMARY", "nobody"]),
                         (["IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", str(self.primary_port(one)), "0", "*"],
                          ["IS-PRIMARY-DOWN-BY-ADDR", "127.0.0.1", str(self.primary_port(one)), "0", "*"])]:
            self.assertEqual(one.value("SENTINEL", *old), one.value("SENTINEL", *new))
        self.assertEqual("mymaster", as_map(one.value("SENTINEL", "PRIMARY", "mymaster"))["name"])
        self.assertEqual(1, len(one.value("SENTINEL", "PRIMARIES")))

    def test_everybody_knows_everybody_when_it_is_ready(self):
        self.serve()
        self.assertEqual(["primary", "replica", "replica", "sentinel", "sentinel", "sentinel"], self.roles())
        replicas = set(self.ports[1:3])
        for i, sentinel in enumerate(self.sentinels):
            seen = as_map(sentinel.value("SENTINEL", "MASTER", "mymaster"))
            self.assertEqual(("2", "2", "2", "master"), tuple(seen[field] for field in
                                                             ("num-slaves", "num-other-sentinels", "quorum", "flags")))
            self.assertEqual(self.ports[0], self.primary_port(sentinel))
            of_replicas = [as_map(one) for one in sentinel.value("SENTINEL", "REPLICAS", "mymaster")]
            self.assertEqual(replicas, {int(one["port"]) for one in of_replicas})
            self.assertEqual([("slave", "ok")] * 2, [(one["flags"], one["master-link-status"]) for one in of_replicas])
            others = [as_map(one) for one in sentinel.value("SENTINEL", "SENTINELS", "mymaster")]
            self.assertEqual({self.sentinels[j].value("SENTINEL", "MYID").decode() for j in {0, 1, 2} - {i}},
                             {one["runid"] for one in others})
            self.assertEqual({"sentinel"}, {one["flags"] for one in others})
            self.assertTrue(sentinel.run("SENTINEL", "CKQUORUM", "mymaster").startswith(b"+OK 3 usable Sentinels."))
        self.assertIn("sync_full:0", self.data[0].value("INFO", "stats").decode())

    def test_a_primary_dies_and_comes_back_as_a_replica(self):
        self.serve()
        self.data[0].value("SET", "k", "v")
        self.assertEqual(2, self.data[0].value("WAIT", "2", "0"))
        port = self.fail_over()
        writer = self.client(port)
        self.assertEqual(b"v", writer.value("GET", "k"))
        writer.value("SET", "k", "later")
        self.do("REVIVE", "node-1")
        wait_until(lambda: self.roles()[0] == "replica", "the former primary to follow", LIMIT_S)
        back = self.client(self.ports[0])
        wait_until(lambda: back.value("GET", "k") == b"later", "the data of the present one")
        wait_until(lambda: self.sentinels[0].value("SENTINEL", "FAILOVER", "mymaster") == b"+OK", "a failover on demand",
                   LIMIT_S)
        wait_until(lambda: self.primary_port(self.sentinels[0]) != port, "the next primary", LIMIT_S)

    def test_a_sentinel_begins_again_with_what_it_knew(self):
        self.serve()
        before = self.sentinels[1].value("SENTINEL", "MYID")
        port = self.fail_over()
        epoch = as_map(self.sentinels[1].value("SENTINEL", "MASTER", "mymaster"))["config-epoch"]
        self.do("KILL", "sentinel-2")
        self.assertEqual("dead", self.roles()[4])
        self.do("REVIVE", "5")
        back = self.client(self.ports[4])
        self.assertEqual(before, back.value("SENTINEL", "MYID"))
        self.assertEqual((epoch, str(port)), tuple(as_map(back.value("SENTINEL", "MASTER", "mymaster"))[field]
                                                   for field in ("config-epoch", "port")))

    def test_a_majority_behind_a_partition_goes_on(self):
        self.serve()
        self.do("PARTITION", "node-1,sentinel-1|node-2,node-3,sentinel-2,sentinel-3")
        wait_until(lambda: self.roles().count("primary") == 2, "a second primary", LIMIT_S)
        port = self.ports[1 + self.roles()[1:].index("primary")]
        self.agree_on(port, self.sentinels[1:])
        self.assertEqual(self.ports[0], self.primary_port(self.sentinels[0]))
        self.do("HEAL")
        self.agree_on(port)
        wait_until(lambda: self.roles()[0] == "replica", "the former primary to follow", LIMIT_S)

    def test_a_password(self):
        self.password = "it's \"me\" \\ here"
        self.serve("--requirepass", self.password)
        self.assertEqual(["primary", "replica", "replica", "sentinel", "sentinel", "sentinel"], self.roles())
        self.fail_over()

    def test_fixtures_reach_the_replicas(self):
        path = os.path.join(self.folder, "data.redis")
        with open(path, "w", encoding="ascii") as file:
            file.write("SET k v\n")
        self.serve("--load", path)
        for node in self.data:
            self.assertEqual(b"v", node.value("GET", "k"))

    def test_several_primaries(self):
        self.serve("--nodes", "2x1", sentinels=1)
        self.assertEqual(["primary", "primary", "replica", "replica", "sentinel"], self.roles())
        self.assertEqual(self.ports[:2], [self.primary_port(self.sentinels[0], name) for name in ("mymaster", "mymaster-2")])
        self.assertIn(f"port={self.ports[2]},", self.data[0].value("INFO", "replication").decode())
        self.assertIn(f"port={self.ports[3]},", self.data[1].value("INFO", "replication").decode())

    def test_nodes_with_threads(self):
        self.serve("--node-threads", "yes")
        self.assertIn("ERR this server is alone, or has a thread", self.nodes[1].run("TEST", "CLUSTER", "LIST").decode())
        self.data[0].value("SET", "k", "v")
        self.assertEqual(2, self.data[0].value("WAIT", "2", "0"))
        self.assertTrue(self.sentinels[2].run("SENTINEL", "CKQUORUM", "mymaster").startswith(b"+OK 3 usable"))

    def test_a_sentinel_with_faults(self):
        self.serve()
        sentinel = self.sentinels[0]
        self.assertEqual(b"+OK", sentinel.value("TEST", "FAULT", "ADD", "deaf", "WHEN", "COMMAND",
                                                "SENTINEL|GET-MASTER-ADDR-BY-NAME", "DO", "CLOSE"))
        with self.assertRaises(Closed):
            self.client(self.ports[3]).run("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
        self.assertEqual(1, sentinel.value("TEST", "FAULT", "HITS", "deaf"))
        self.assertIn("no cluster", sentinel.run("TEST", "CLUSTER", "FAILOVER", "node-2").decode())

    def test_the_lines_that_the_page_prints(self):
        self.serve()
        lines = lines_of_page("A primary with Sentinels in one process")
        self.assertEqual(6, len(lines))
        for line in lines:
            wait_until(lambda line=line: self.sentinels[0].value(*line.split()) == b"+OK", line, LIMIT_S)

    def test_ports_in_a_row(self):
        self.serve("--port", "27100")
        self.assertEqual(list(range(27100, 27106)), self.ports)

    def test_nothing_is_left_behind(self):
        self.serve("--appendonly", "yes")
        self.data[0].value("SET", "k", "v")
        self.assertEqual(1, len([name for name in os.listdir(self.folder) if name.startswith("respite-")]))
        self.server.stop()
        self.assertEqual(0, self.server.exit_code())
        self.assertEqual([], [name for name in os.listdir(self.folder) if name.startswith("respite-")])

    def test_what_cannot_be(self):
        for options, reason in ((("--sentinels", "3"), "sentinels needs --test"),
                                (("--test", "--sentinels", "3", "--dir", self.folder), "sentinels and dir exclude"),
                                (("--test", "--sentinels", "3", "--unixsocket", "s"), "sentinels and unixsocket exclude"),
                                (("--test", "--sentinels", "3", "--exit-on-idle", "1s"), "sentinels and exit-on-idle exclude"),
                                (("--test", "--sentinels", "3", "--cluster-enabled", "yes"), "Sentinels watch no cluster"),
                                (("--test", "--sentinels", "3", "--replicaof", "127.0.0.1 1"), "there is a replicaof"),
                                (("--test", "--sentinels", "99"), "argument must be between 0 and 32 inclusive")):
            with self.subTest(options):
                self.assertIn(reason, self.fails(*options))


if __name__ == "__main__":
    unittest.main()
