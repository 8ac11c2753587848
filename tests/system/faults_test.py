"""Deliberate faults (TEST FAULT) with real sockets: the exact bytes that a client of a broken server sees."""
import socket
import time
import unittest

from hostile import Raw
from launcher import LaunchTest, wait_until
from test_server_page import lines_of_page
from two_servers import encode


class FaultsTest(LaunchTest):
    OPTIONS = ("--test-commands", "local")

    def setUp(self):
        super().setUp()
        self.server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", *self.OPTIONS)
        self.admin = self.client()

    def client(self):
        client = Raw(self.server.port)
        self.addCleanup(client.close)
        return client

    def add(self, rule, *more):
        self.assertEqual(b"+OK", self.admin.value("TEST", "FAULT", "ADD", *rule.split(), *more), rule)

    def talk(self, *requests):
        """Returns everything that comes until the server closes the connection."""
        client = self.client()
        client.send(b"".join(encode(words.split()) for words in requests))
        return client.read_to_end()

    def test_the_connection_ends_where_it_should(self):
        self.admin.value("SET", "k", "abc")
        for action, reply, runs in (("CLOSE", b"", 0), ("CLOSE-AFTER", b"", 1), ("CUT 2", b":1", 1),
                                    ("CUT 99", b":1\r\n", 1)):
            with self.subTest(action=action):
                self.admin.value("DEL", "n")
                self.add("f WHEN COMMAND INCR DO " + action)
                self.assertEqual(b"$3\r\nabc\r\n" + reply, self.talk("GET k", "INCR n", "INCR n", "INCR n"))
                self.assertEqual(runs, int(self.admin.value("GET", "n") or 0))
                self.assertEqual(b"+OK", self.admin.value("TEST", "FAULT", "DEL", "f"))

    def test_a_long_reply_is_cut_to_the_octet(self):
        self.admin.value("SET", "k", "x" * 5_000_000)
        self.add("f WHEN COMMAND GET DO CUT 3000000")
        self.assertEqual(b"$5000000\r\n" + b"x" * (3_000_000 - 10), self.talk("GET k"))

    def test_delays_follow_the_clock_and_others_are_served(self):
        self.assertEqual(b"+OK", self.admin.value("TEST", "CLOCK", "FREEZE"))
        self.add("before WHEN COMMAND GET DO DELAY 1h")
        self.add("behind WHEN COMMAND SET DO DELAY-REPLY 1h")
        one, other = self.client(), self.client()
        one.send(encode(["GET", "k"]))
        other.send(encode(["SET", "k", "v"]) + encode(["PING"]))
        wait_until(lambda: self.admin.value("EXISTS", "k") == 1, "the command whose reply is held back")
        wait_until(lambda: self.admin.value("TEST", "FAULT", "HITS", "before") == 1, "the delayed command")
        for held in (one, other):
            held.socket.setblocking(False)
            with self.assertRaises(BlockingIOError):
                held.socket.recv(1)
            held.socket.settimeout(30)
        self.assertEqual(b"+OK", self.admin.value("TEST", "CLOCK", "ADVANCE", "1h"))
        self.assertEqual([b"$1\r\nv\r\n", b"+OK\r\n", b"+PONG\r\n"], [one.read(), other.read(), other.read()])

    def test_a_trickle_takes_its_time(self):
        self.admin.value("SET", "k", "x" * 40)  # 47 bytes with its frame
        self.add("f WHEN COMMAND GET DO TRICKLE 470")
        client = self.client()
        began = time.monotonic()
        self.assertEqual(b"$40\r\n" + b"x" * 40 + b"\r\n", client.run("GET", "k"))
        self.assertGreater(time.monotonic() - began, 0.099)

    def test_silence_leaves_the_connection_open_until_the_rule_goes(self):
        self.add("f WHEN COMMAND INCR DO SILENCE")
        client = self.client()
        client.send(encode(["INCR", "n"]) + encode(["PING"]))
        wait_until(lambda: self.admin.value("GET", "n") == b"1", "the command to run")
        client.socket.settimeout(0.05)
        with self.assertRaises(TimeoutError):
            client.socket.recv(1)
        client.socket.settimeout(30)
        self.admin.value("TEST", "RESET", "FAULTS")
        self.assertEqual([b":1\r\n", b"+PONG\r\n"], [client.read(), client.read()])

    def test_a_silent_connection_goes_when_its_client_goes(self):
        self.add("f WHEN COMMAND INCR DO SILENCE")
        client = self.client()
        client.send(encode(["INCR", "n"]))
        wait_until(lambda: self.admin.value("TEST", "FAULT", "HITS", "f") == 1, "the fault")
        client.socket.close()
        wait_until(lambda: len(self.admin.value("CLIENT", "LIST").splitlines()) == 1, "the connection to end")

    def test_new_connections_are_closed(self):
        self.add("f WHEN ADDR 127.0.0.9:* DO REFUSE")
        with Raw(self.server.port, source="127.0.0.9") as refused:
            self.assertEqual(b"", refused.read_to_end())
        self.assertEqual(b"+PONG", self.client().value("PING"))
        self.assertEqual(1, self.admin.value("TEST", "FAULT", "HITS", "f"))

    def test_new_connections_are_not_accepted(self):
        self.add("f DO REFUSE LISTEN")
        with self.assertRaises(ConnectionRefusedError):
            Raw(self.server.port)
        with socket.socket() as thief, self.assertRaises(OSError):  # no other process gets the port
            thief.bind(("127.0.0.1", self.server.port))
        self.assertEqual(b"+OK", self.admin.value("SET", "k", "v"))
        self.assertEqual(b"+OK", self.admin.value("CONFIG", "SET", "bind", "127.0.0.1"))  # reopens the sockets
        self.assertFalse(self.is_open())
        self.admin.value("TEST", "FAULT", "DEL", "f")
        self.assertEqual(b"v", self.client().value("GET", "k"))
        self.add("g DO REFUSE LISTEN FOR 20ms")
        wait_until(lambda: self.is_open(), "the rule to end")

    def is_open(self):
        try:
            Raw(self.server.port).close()
            return True
        except ConnectionRefusedError:
            return False

    def test_a_snapshot_meets_a_full_disk_in_its_child(self):
        self.admin.value("CONFIG", "SET", "save", "3600 1000000")
        self.admin.value("SET", "k", "v")
        self.add("f DO DISK FULL TIMES 1")
        self.admin.value("BGSAVE")
        wait_until(lambda: b"rdb_last_bgsave_status:err" in self.admin.value("INFO", "persistence"), "BGSAVE to fail")
        self.assertEqual(1, self.admin.value("TEST", "FAULT", "HITS", "f"))
        self.assertTrue(self.admin.run("SET", "k", "w").startswith(b"-MISCONF"))
        self.assertEqual(b"+OK", self.admin.value("SAVE"))
        self.assertEqual(b"+OK", self.admin.value("SET", "k", "w"))

    def test_a_slow_disk_delays_a_write_of_the_append_only_file(self):
        self.admin.value("CONFIG", "SET", "appendfsync", "always")
        self.admin.value("CONFIG", "SET", "appendonly", "yes")
        wait_until(lambda: b"aof_rewrite_in_progress:0" in self.admin.value("INFO", "persistence"), "the rewrite")
        self.add("f DO DISK SLOW 30ms TIMES 2")
        began = time.monotonic()
        self.assertEqual(b"+OK", self.admin.value("SET", "k", "v"))
        self.assertGreater(time.monotonic() - began, 0.059)

    def test_clients_are_dropped(self):
        clients = [self.client() for _ in range(5)]
        for client in clients:
            client.value("CLIENT", "SETNAME", "worker")
        self.assertEqual(5, self.admin.value("TEST", "DROP", "CLIENT", "work*"))
        self.assertEqual([b""] * 5, [client.read_to_end() for client in clients])

    def test_the_lines_that_the_page_prints(self):
        lines = lines_of_page("Faults")
        self.assertEqual(4, len(lines))
        for line in lines:
            with self.subTest(line):
                self.assertIn(self.admin.run(*line.split()), (b"+OK\r\n", b":0\r\n"))
        worker = self.client()
        worker.value("CLIENT", "SETNAME", "worker-1")
        self.assertEqual(b"-READONLY You can't write against a read only replica.\r\n", worker.run("SET", "k", "v"))
        self.admin.value("TEST", "FAULT", "DEL", "failover")
        worker.send(encode(["INCR", "n"]))
        self.assertEqual(b"", worker.read_to_end())
        self.assertEqual([1, b"1"], [self.admin.value("TEST", "FAULT", "HITS", "lost"), self.admin.value("GET", "n")])

    def test_a_login_that_leads_to_a_world(self):
        self.add("late WHEN COMMAND AUTH DO CLOSE-AFTER")
        client = self.client()
        self.assertEqual(b"+OK\r\n", client.run("AUTH", "world.w", "x"))
        self.assertEqual(b"+PONG\r\n", client.run("PING"))
        self.admin.value("TEST", "FAULT", "CLEAR")
        self.add("never WHEN COMMAND AUTH DO ERROR LOADING")
        self.assertTrue(self.client().run("AUTH", "world.w", "x").startswith(b"-LOADING "))
        self.admin.value("TEST", "FAULT", "CLEAR")
        self.add("gone WHEN COMMAND HELLO DO CLOSE")
        self.assertEqual(b"", self.talk("HELLO 3 AUTH world.w x"))

    def test_worlds_have_faults_of_their_own(self):
        inside = self.client()
        inside.value("TEST", "WORLD", "ENTER", "w")
        self.assertEqual(b"+OK", inside.value("TEST", "FAULT", "ADD", "f", "WHEN", "COMMAND", "GET", "DO", "ERROR", "OOM"))
        self.assertTrue(inside.run("GET", "k").startswith(b"-OOM"))
        self.assertEqual(b"$-1\r\n", self.admin.run("GET", "k"))
        self.assertEqual(0, len(self.admin.value("TEST", "FAULT", "LIST")))

    def test_a_replica_is_no_client(self):
        self.add("f WHEN COMMAND * CATEGORY @write DO CLOSE")
        replica = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--replicaof",
                             f"127.0.0.1 {self.server.port}", *self.OPTIONS)
        self.add("g WHEN COMMAND psync DO CLOSE")
        self.add("h WHEN COMMAND replconf DO SILENCE")
        wait_until(lambda: b"connected_slaves:1" in self.admin.value("INFO", "replication"), "the replica")
        self.admin.value("TEST", "FAULT", "CLEAR")
        self.admin.value("SET", "k", "v")
        with Raw(replica.port) as reader:
            wait_until(lambda: reader.value("GET", "k") == b"v", "the stream")


if __name__ == "__main__":
    unittest.main()
