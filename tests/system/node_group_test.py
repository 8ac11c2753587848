"""TEST CLUSTER and TEST PUSH: nodes of one process that die, restart, change roles, give slots away and do not receive
each other's messages; and messages that servers push."""
import os
import re
import shutil
import tempfile
import time
import unittest

from hostile import Raw
from launcher import LaunchTest, wait_until
from test_server_page import lines_of_page

SLOT_OF_FOO = 12182
LIMIT_S = 30


def as_map(words):
    return dict(zip(words[::2], words[1::2]))


class NodeGroupTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="node-group-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def serve(self, nodes, *options):
        port_file = os.path.join(self.folder, "ports")
        self.server = self.start("--test", "--nodes", nodes, "--port", "auto", "--bind", "127.0.0.1", "--port-file", port_file,
                                 "--cluster-node-timeout", "500", *options)
        self.server.wait_for(r"Ready to accept connections")
        wait_until(lambda: os.path.exists(port_file), "the ports")
        with open(port_file, encoding="ascii") as file:
            self.ports = [int(line) for line in file.read().split()]
        self.nodes = [self.client(port) for port in self.ports]
        self.admin = self.nodes[0]

    def client(self, port):
        client = Raw(port)
        self.addCleanup(client.close)
        return client

    def do(self, *words):
        self.assertEqual(b"+OK", self.admin.value("TEST", "CLUSTER", *words), words)

    def refused(self, *words):
        return self.admin.run("TEST", "CLUSTER", *words).decode()

    def roles(self):
        return [dict(zip(node[::2], node[1::2]))[b"role"].decode() for node in self.admin.value("TEST", "CLUSTER", "LIST")]

    def info(self, node, field):
        return re.search(rb"\r\n%b:(.*?)\r\n" % field.encode(), b"\r\n" + node.value("INFO", "replication"))[1].decode()

    def wait_for_state(self, node, state):
        wait_until(lambda: f"cluster_state:{state}".encode() in node.value("CLUSTER", "INFO"), f"the cluster to be {state}",
                   LIMIT_S)

    def test_the_list(self):
        self.serve("2x1")
        listed = [dict(zip(node[::2], node[1::2])) for node in self.admin.value("TEST", "CLUSTER", "LIST")]
        self.assertEqual([b"node-1", b"node-2", b"node-3", b"node-4"], [node[b"name"] for node in listed])
        self.assertEqual(self.ports, [node[b"port"] for node in listed])
        self.assertEqual([node.value("CLUSTER", "MYID") for node in self.nodes], [node[b"id"] for node in listed])
        self.assertEqual(["primary", "primary", "replica", "replica"], self.roles())

    def test_a_slot_moves_with_its_keys(self):
        self.serve("3x1")
        self.nodes[2].value("SET", "foo", "bar")
        for target in ("1", "node-2", self.ports[2], self.nodes[2].value("CLUSTER", "MYID")):
            self.do("MOVE", SLOT_OF_FOO, target)
            owner = next(i for i, node in enumerate(self.nodes) if target in (str(i + 1), f"node-{i + 1}", self.ports[i])
                         or target == node.value("CLUSTER", "MYID"))
            self.assertEqual(b"bar", self.nodes[owner].value("GET", "foo"))
            for i in {0, 1, 2} - {owner}:
                self.assertEqual(f"-MOVED {SLOT_OF_FOO} 127.0.0.1:{self.ports[owner]}\r\n".encode(),
                                 self.nodes[i].run("GET", "foo"))

    def test_a_replica_becomes_the_primary(self):
        self.serve("3x1")
        self.nodes[2].value("SET", "foo", "bar")
        self.do("FAILOVER", "6")
        self.assertEqual(["primary", "primary", "replica", "replica", "replica", "primary"], self.roles())
        self.assertEqual(b"bar", self.nodes[5].value("GET", "foo"))
        self.assertEqual("-ERR the node is a primary already\r\n", self.refused("FAILOVER", "6"))

    def test_a_node_dies_and_comes_back_as_a_replica(self):
        self.serve("3x1")
        self.nodes[2].value("SET", "foo", "bar")
        wait_until(lambda: self.nodes[5].value("DBSIZE") == 1, "the replica to have the key")
        self.do("KILL", "3")
        self.assertEqual(b"", self.nodes[2].read_to_end())
        with self.assertRaises(ConnectionRefusedError):
            Raw(self.ports[2])
        self.assertEqual("dead", self.roles()[2])
        self.assertIn("the node is dead", self.refused("KILL", "3"))
        wait_until(lambda: self.roles()[5] == "primary", "the replica to take over", LIMIT_S)
        self.wait_for_state(self.admin, "ok")
        self.nodes[5].value("SET", "foo", "later")
        self.do("REVIVE", "3")
        self.assertEqual("-ERR the node is alive\r\n", self.refused("REVIVE", "3"))
        back = self.client(self.ports[2])
        wait_until(lambda: self.info(back, "role") == "slave" and self.info(back, "master_link_status") == "up",
                   "the node to follow", LIMIT_S)
        back.value("READONLY")
        self.assertEqual(b"later", back.value("GET", "foo"))

    def test_sides_that_do_not_hear_each_other(self):
        self.serve("3x1")
        self.nodes[2].value("SET", "foo", "bar")
        wait_until(lambda: self.nodes[5].value("DBSIZE") == 1, "the replica to have the key")
        self.do("PARTITION", "3|1,2,4,5,6")
        wait_until(lambda: self.roles()[5] == "primary", "the larger side to choose another primary", LIMIT_S)
        self.wait_for_state(self.nodes[2], "fail")
        self.wait_for_state(self.admin, "ok")
        self.assertTrue(self.nodes[2].run("GET", "foo").startswith(b"-CLUSTERDOWN"))
        self.nodes[5].value("SET", "foo", "later")
        self.do("HEAL")
        wait_until(lambda: self.info(self.nodes[2], "role") == "slave", "the former primary to follow", LIMIT_S)
        self.wait_for_state(self.nodes[2], "ok")

    def test_what_was_held_back_comes_after_healing(self):
        self.serve("1x1")
        self.do("PARTITION", "1|2")
        self.admin.value("SET", "k", "x" * 100_000)
        wait_until(lambda: b"lag=0" not in self.admin.value("INFO", "replication"), "the replica to be late")
        self.assertEqual(0, self.nodes[1].value("DBSIZE"))
        self.do("HEAL")
        wait_until(lambda: self.nodes[1].value("DBSIZE") == 1, "the replica to hear of it")
        self.assertIn("sync_full:0", self.admin.value("INFO", "stats").decode())

    def test_a_crash_within_a_partition_does_not_heal_it(self):
        self.serve("1x1", "--appendonly", "yes")
        self.do("PARTITION", "1|2")
        other = self.nodes[1]
        self.assertEqual(b"+OK", other.value("TEST", "CRASH"))
        self.admin.value("SET", "k", "v")
        self.assertEqual("down", self.info(other, "master_link_status"))
        self.do("HEAL")
        wait_until(lambda: other.value("DBSIZE") == 1, "the replica to follow again", LIMIT_S)

    def test_late_replies(self):
        self.serve("3")
        self.admin.value("TEST", "CLOCK", "FREEZE")
        self.do("LAG", "1", "1h")
        other = self.client(self.ports[0])
        other.send(b"*1\r\n$4\r\nPING\r\n")
        self.assertEqual([b"TEST CLUSTER LAG"], [rule[1] for rule in self.admin.value("TEST", "FAULT", "LIST")])
        wait_until(lambda: self.admin.value("TEST", "FAULT", "HITS", "TEST CLUSTER LAG") == 1, "the request")
        self.admin.value("TEST", "CLOCK", "ADVANCE", "1h")
        self.assertEqual(b"+PONG\r\n", other.read())
        self.do("LAG", "1", "0")
        self.assertEqual(b"+PONG\r\n", other.run("PING"))

    def test_links_of_a_node_that_lags_are_slow(self):
        self.serve("1x1")
        for member in ("1", "2"):
            self.do("LAG", member, "300ms")
            begin = time.monotonic()
            client = self.client(self.ports[0])
            client.value("SET", "k", member)
            self.assertEqual(1, client.value("WAIT", "1", "10000"))
            # The server counts whole milliseconds, so up to one may be missing.
            self.assertGreaterEqual(time.monotonic() - begin, 0.299)
            self.do("LAG", member, "0")
        wait_until(lambda: self.nodes[1].value("DBSIZE") == 1, "the replica")
        self.assertEqual("up", self.info(self.nodes[1], "master_link_status"))

    def test_what_is_on_its_way_arrives_when_the_lag_ends(self):
        self.serve("1x1")
        self.admin.value("CONFIG", "SET", "cluster-node-timeout", "600000")
        self.do("LAG", "1", "1h")
        self.do("LAG", "2", "1h")
        client = self.client(self.ports[0])
        client.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n" * 50)
        wait_until(lambda: self.admin.value("TEST", "FAULT", "HITS", "TEST CLUSTER LAG") >= 1, "the requests")
        self.do("LAG", "1", "0")
        self.do("LAG", "2", "0")
        wait_until(lambda: self.nodes[1].value("DBSIZE") == 1, "the replica to hear of it", LIMIT_S)
        self.assertIn("sync_full:0", self.admin.value("INFO", "stats").decode())

    def test_a_replica_is_no_request(self):
        self.serve("1x1")
        self.assertEqual(b"+OK", self.admin.value("TEST", "AWAIT", "QUIET", "1500ms", "TIMEOUT", "20s"))

    def test_a_node_that_lags_too_much_is_replaced(self):
        self.serve("3x1")
        self.do("LAG", "3", "5s")
        wait_until(lambda: self.roles()[5] == "primary", "the replica to take over", LIMIT_S)
        self.do("LAG", "3", "0")
        wait_until(lambda: self.roles()[2] == "replica", "the node to hear of it", LIMIT_S)

    def clocks(self):
        return [as_map(clock) for clock in self.admin.value("TEST", "CLUSTER", "CLOCK")]

    def test_the_clocks_of_all_nodes_move_together(self):
        self.serve("3x1")
        self.do("CLOCK", "FREEZE")
        self.nodes[2].value("SET", "foo", "bar", "EX", "30")
        wait_until(lambda: self.nodes[5].value("DBSIZE") == 1, "the replica to have the key")
        self.nodes[5].value("READONLY")
        before = self.clocks()
        self.assertEqual([f"node-{i}".encode() for i in range(1, 7)], [clock[b"name"] for clock in before])
        self.assertEqual({b"frozen"}, {clock[b"mode"] for clock in before})
        self.assertEqual(1, len({clock[b"now"] for clock in before}))
        self.do("CLOCK", "ADVANCE", "29s")
        self.assertEqual(1000, self.nodes[2].value("PTTL", "foo"))
        self.assertEqual(1000, self.nodes[5].value("PTTL", "foo"))
        met = as_map(self.admin.value("TEST", "CLUSTER", "CLOCK", "NEXT"))
        self.assertEqual((before[0][b"now"] + 30_000, 1000, b'key "foo" of database 0 expires'),
                         (met[b"at"], met[b"in"], met[b"what"]))
        self.assertEqual({before[0][b"now"] + 30_000}, {clock[b"now"] for clock in self.clocks()})
        self.assertIsNone(self.nodes[2].value("GET", "foo"))
        self.assertIsNone(self.nodes[5].value("GET", "foo"))
        self.do("CLOCK", "SET", str(before[0][b"now"]))
        self.assertEqual({before[0][b"now"]}, {clock[b"now"] for clock in self.clocks()})
        self.do("CLOCK", "RATE", "10")
        self.assertEqual({b"scaled"}, {clock[b"mode"] for clock in self.clocks()})
        self.do("CLOCK", "REAL")
        self.assertEqual({b"real"}, {clock[b"mode"] for clock in self.clocks()})

    def test_what_clocks_cannot_do_together(self):
        self.serve("2")
        self.assertIn("cannot move together", self.refused("CLOCK", "AUTO", "ON"))
        self.assertIn("end of the year 9999", self.refused("CLOCK", "ADVANCE", "4000000d"))
        self.assertIn("is no time", self.refused("CLOCK", "SET", "soon"))
        self.assertIn("unknown subcommand", self.refused("CLOCK", "WIND").lower())
        self.do("KILL", "2")
        self.do("CLOCK", "FREEZE")
        self.assertEqual([b"node-1"], [clock[b"name"] for clock in self.clocks()])

    def announced(self):
        nodes = [as_map(node) for shard in self.admin.value("CLUSTER", "SHARDS") for node in as_map(shard)[b"nodes"]]
        return {(node[b"endpoint"], node[b"port"]) for node in nodes}

    def test_nodes_are_announced_at_a_place_that_they_cannot_reach(self):
        for host in ("192.0.2.7", "no-such-host.invalid"):
            with self.subTest(host):
                self.serve("3x1", "--announce", host + ":{port}")
                self.assertEqual({(host.encode(), port) for port in self.ports}, self.announced())
                self.assertEqual(f"-MOVED {SLOT_OF_FOO} {host}:{self.ports[2]}\r\n".encode(), self.admin.run("GET", "foo"))
                for i in range(3, 6):
                    wait_until(lambda i=i: self.info(self.nodes[i], "master_link_status") == "up", "the replica", LIMIT_S)
                self.do("KILL", "3")
                wait_until(lambda: self.roles()[5] == "primary", "the replica to take over", LIMIT_S)
                self.do("REVIVE", "3")
                back = self.client(self.ports[2])
                wait_until(lambda back=back: self.info(back, "role") == "slave" and self.info(back, "master_link_status") == "up",
                           "the node to follow", LIMIT_S)
                self.assertEqual({(host.encode(), port) for port in self.ports}, self.announced())

    def test_what_cannot_be_announced(self):
        for options, reason in ((("--nodes", "3", "--announce", "host"), "announce must be HOST:{port}"),
                                (("--nodes", "3", "--announce", "a b:{port}"), "announce must be HOST:{port}"),
                                (("--nodes", "3", "--announce", "[::g]:{port}"), "announce must be HOST:{port}"),
                                (("--announce", "host:{port}"), "it needs nodes or sentinels")):
            server = self.launch("--test", "--port", "auto", *options)
            self.assertEqual(1, server.exit_code())
            self.assertIn(reason, server.text)

    def test_what_cannot_be(self):
        self.serve("2x1")
        for words, refusal in ((("KILL", "1"), "a node cannot kill itself"), (("KILL", "9"), "no node '9'"),
                               (("MOVE", "16384", "1"), "'16384' is no slot"), (("MOVE", "0", "3"), "the node is a replica"),
                               (("FAILOVER", "2"), "the node is a primary already"), (("PARTITION", "1,2"), "there is one side"),
                               (("PARTITION", "1|1,2"), "a node can be on one side"), (("REVIVE", "2"), "the node is alive"),
                               (("LAG", "1", "soon"), "'soon' is no duration")):
            with self.subTest(words):
                self.assertIn(refusal, self.refused(*words))
        self.do("KILL", "2")
        for words in (("MOVE", "0", "2"), ("LAG", "2", "1s")):
            self.assertIn("the node is dead", self.refused(*words))
        self.assertIn("no node that is alive owns the slot", self.refused("MOVE", "16383", "1"))

    def test_the_process_ends_with_dead_nodes(self):
        self.serve("3")
        self.do("KILL", "2")
        self.do("KILL", "3")
        self.do("REVIVE", "3")
        self.server.stop()
        self.assertEqual(0, self.server.exit_code())

    def test_a_server_alone_has_no_group(self):
        self.server = self.start("--test", "--port", "auto", "--bind", "127.0.0.1")
        self.admin = self.client(self.server.port)
        self.assertIn("ERR this server is alone", self.refused("LIST"))


class PushTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.server = self.start("--test", "--port", "auto", "--bind", "127.0.0.1")
        self.admin, self.client = (self.connect() for _ in range(2))
        self.client.run("HELLO", "3", "SETNAME", "app")

    def connect(self):
        client = Raw(self.server.port)
        self.addCleanup(client.close)
        return client

    def test_announcements_of_maintenance(self):
        for words, message in (("MOVING 7 15 127.0.0.1:7000", b">4\r\n$6\r\nMOVING\r\n:7\r\n:15\r\n$14\r\n127.0.0.1:7000\r\n"),
                               ("MOVING 7 15", b">4\r\n$6\r\nMOVING\r\n:7\r\n:15\r\n_\r\n"),
                               ("MIGRATING 1 10 [1]", b">4\r\n$9\r\nMIGRATING\r\n:1\r\n:10\r\n$3\r\n[1]\r\n"),
                               ("migrated 2 [1]", b">3\r\n$8\r\nMIGRATED\r\n:2\r\n$3\r\n[1]\r\n"),
                               ("FAILING_OVER 3 9 [2]", b">4\r\n$12\r\nFAILING_OVER\r\n:3\r\n:9\r\n$3\r\n[2]\r\n"),
                               ("FAILED_OVER 4 [2]", b">3\r\n$11\r\nFAILED_OVER\r\n:4\r\n$3\r\n[2]\r\n"),
                               ("SMIGRATING 5 1,7-9", b">3\r\n$10\r\nSMIGRATING\r\n:5\r\n$5\r\n1,7-9\r\n"),
                               ("SMIGRATED 6 h:1 h:2 7-9",
                                b">3\r\n$9\r\nSMIGRATED\r\n:6\r\n*1\r\n*3\r\n$3\r\nh:1\r\n$3\r\nh:2\r\n$3\r\n7-9\r\n"),
                               (b">2\r\n+hello\r\n:1\r\n", b">2\r\n+hello\r\n:1\r\n")):
            with self.subTest(words):
                self.assertEqual(1, self.admin.value("TEST", "PUSH", "ap*", *(words.split() if isinstance(words, str) else [words])))
                self.assertEqual(message, self.client.read())
        self.assertEqual(b"+PONG\r\n", self.client.run("PING"))

    def test_who_is_reached(self):
        own = self.client.value("CLIENT", "ID")
        self.assertEqual(1, self.admin.value("TEST", "PUSH", own, "MIGRATED", "1", "1"))
        self.client.read()
        self.assertEqual(0, self.admin.value("TEST", "PUSH", own + 100, "MIGRATED", "1", "1"))
        self.assertEqual(0, self.admin.value("TEST", "PUSH", self.admin.value("CLIENT", "ID"), "MIGRATED", "1", "1"))
        self.assertEqual(b":1\r\n", self.client.run("TEST", "PUSH", "app", "MIGRATED", "1", "1"))  # after its own reply
        self.assertEqual(b">3\r\n$8\r\nMIGRATED\r\n:1\r\n$1\r\n1\r\n", self.client.read())

    def test_the_lines_that_the_page_prints(self):
        lines = lines_of_page("Push messages")
        self.assertEqual(3, len(lines))
        for line in lines:
            self.assertEqual(b":0\r\n", self.admin.run(*line.split()), line)

    def test_what_is_no_message(self):
        for words in (["MOVED", "1"], ["+OK\r\n"], [">1\r\n+x"], ["MOVING"], ["MOVING", "x", "1"], ["MIGRATED", "1", "1", "1"]):
            self.assertTrue(self.admin.run("TEST", "PUSH", "app", *words).startswith(b"-ERR "), words)


if __name__ == "__main__":
    unittest.main()
