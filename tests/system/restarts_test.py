"""TEST CRASH: servers that end as if they were killed, and restart in the same process."""
import os
import shutil
import tempfile
import unittest

from hostile import Raw
from launcher import LaunchTest, wait_until
from test_server_page import lines_of_page
from two_servers import encode

SHA_OF_RETURN_1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"


class RestartsTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="restarts-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def serve(self, *options):
        self.server = self.start("--test", "--port", "auto", "--bind", "127.0.0.1", "--dir", self.folder, *options)
        self.admin = self.client()

    def client(self):
        client = Raw(self.server.port)
        self.addCleanup(client.close)
        return client

    def crash(self, *words):
        self.assertEqual(b"+OK", self.admin.value("TEST", "CRASH", *words), words)

    def test_it_is_a_new_server_at_the_same_port(self):
        self.serve()
        other, blocked = self.client(), self.client()
        port, run_id = self.server.port, self.info("run_id")
        for words in (("SET", "k", "v"), ("CONFIG", "SET", "maxmemory-policy", "allkeys-lru"), ("SCRIPT", "LOAD", "return 1"),
                      ("ACL", "SETUSER", "bob", "on"), ("TEST", "FAULT", "ADD", "f", "DO", "CLOSE", "AFTER", "99"),
                      ("TEST", "SNAPSHOT", "SAVE", "s"), ("SELECT", "3")):
            self.assertFalse(self.admin.run(*words).startswith(b"-"), words)
        blocked.send(encode(["BLPOP", "queue", "0"]))
        wait_until(lambda: b"\r\nblocked_clients:1\r\n" in self.admin.value("INFO", "clients"), "the client to block")
        self.crash()
        for client in (other, blocked):
            self.assertEqual(b"", client.read_to_end())
        self.assertEqual(0, self.admin.value("DBSIZE"))
        self.assertIn(b" db=0 ", self.admin.value("CLIENT", "INFO"))
        self.assertEqual([b"maxmemory-policy", b"noeviction"], self.admin.value("CONFIG", "GET", "maxmemory-policy"))
        self.assertEqual([0], self.admin.value("SCRIPT", "EXISTS", SHA_OF_RETURN_1))
        self.assertEqual(1, len(self.admin.value("ACL", "LIST")))
        for words in (("TEST", "FAULT", "LIST"), ("TEST", "SNAPSHOT", "LIST")):
            self.assertEqual([], self.admin.value(*words))
        self.assertNotEqual(run_id, self.info("run_id"))
        self.assertEqual([b"port", str(port).encode()], self.admin.value("CONFIG", "GET", "port"))
        self.assertEqual(b"+PONG\r\n", self.client().run("PING"))

    def info(self, field):
        return [line for line in self.admin.value("INFO").splitlines() if line.startswith(field.encode() + b":")][0]

    def test_the_end_of_the_file_is_lost_as_the_policy_allows(self):
        self.serve("--appendonly", "yes")
        self.admin.value("TEST", "CLOCK", "FREEZE", "1800000000000")
        for policy, lost in (("EVERYSEC", b"last"), ("ALWAYS", b""), ("NO", b"late last"), ("", b"last")):
            with self.subTest(policy=policy):
                self.admin.value("FLUSHALL")
                self.admin.value("SET", "old", 1)
                self.admin.value("TEST", "CLOCK", "ADVANCE", "30s")
                self.admin.value("SET", "late", 1)
                self.admin.value("TEST", "CLOCK", "ADVANCE", "1s")
                self.admin.value("SET", "last", 1)
                self.crash(*(["AOF", policy] if policy else []))
                left = {b"old", b"late", b"last"} - set(lost.split())
                self.assertEqual(left, set(self.admin.value("KEYS", "*")))

    def test_the_dump_is_loaded_and_saved_again(self):
        for save in ("60 1", "3600 1 300 100 60 10000"):
            with self.subTest(save=save):
                self.serve("--save", save)
                for value in (b"1", b"2"):
                    self.admin.value("SET", "k", value)
                    self.assertEqual(b"+OK", self.admin.value("SAVE"))
                    self.admin.value("SET", "k", "lost")
                    self.crash()
                    self.assertEqual(value, self.admin.value("GET", "k"))
                self.server.stop()

    def test_the_lines_that_the_page_prints(self):
        self.serve("--appendonly", "yes")
        lines = lines_of_page("A server that is killed")
        self.assertEqual(7, len(lines))
        for line in lines:
            self.assertEqual(b"+OK\r\n", self.admin.run(*line.split()), line)
        self.assertEqual([b"kept"], self.admin.value("KEYS", "*"))

    def test_the_clock_stays(self):
        self.serve("--appendonly", "yes")
        self.admin.value("TEST", "CLOCK", "FREEZE", "946684800000")  # the deadline is in the past of the machine
        self.admin.value("SET", "k", "v", "PX", 1000)
        self.crash("AOF", "ALWAYS")
        self.assertEqual([b"946684800", b"0"], self.admin.value("TIME"))
        self.assertEqual(1000, self.admin.value("PTTL", "k"))

    def test_without_files_the_data_goes_or_stays(self):
        self.serve()
        self.admin.value("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 7 end)")
        self.admin.value("XADD", "s", "1-1", "f", "v")
        self.admin.value("XGROUP", "CREATE", "s", "g", "0")
        self.crash("AOF", "ALWAYS")
        self.assertEqual(7, self.admin.value("FCALL", "f", 0))
        self.assertEqual(1, len(self.admin.value("XINFO", "GROUPS", "s")))
        refusal = self.admin.run("TEST", "CRASH", "AOF", "EVERYSEC")
        self.assertTrue(refusal.startswith(b"-ERR this server has no append-only file"), refusal)
        self.crash()
        self.assertEqual(0, self.admin.value("DBSIZE"))
        self.assertEqual([], self.admin.value("FUNCTION", "LIST"))

    def test_a_snapshot_is_what_remains(self):
        self.serve()
        self.admin.value("SET", "k", "saved")
        self.assertEqual(b"+OK", self.admin.value("SAVE"))
        self.admin.value("SET", "k", "later")
        self.crash()
        self.assertEqual(b"saved", self.admin.value("GET", "k"))
        self.admin.value("SET", "k", "later")
        self.crash("AOF", "ALWAYS")
        self.assertEqual(b"later", self.admin.value("GET", "k"))

    def test_files_of_the_start_are_loaded_again(self):
        path = os.path.join(self.folder, "fixture.redis")
        with open(path, "w", encoding="ascii") as file:
            file.write("SET fixture 1\n")
        self.serve("--load", path)
        self.admin.value("DEL", "fixture")
        self.crash()
        self.assertEqual(b"1", self.admin.value("GET", "fixture"))

    def test_a_pipeline_goes_on_behind_the_crash(self):
        self.serve("--requirepass", "secret")
        self.admin.value("AUTH", "secret")
        lines = ("SET k v", "TEST CRASH", "GET k", "AUTH secret", "GET k")
        self.admin.send(b"".join(encode(line.split()) for line in lines))
        replies = [self.admin.read() for _ in lines]
        self.assertEqual([b"+OK\r\n", b"+OK\r\n", b"-NOAUTH Authentication required.\r\n", b"+OK\r\n", b"$-1\r\n"], replies)

    def test_crash_after_crash(self):
        self.serve("--appendonly", "yes")
        for i in range(50):
            self.assertEqual(i + 1, self.admin.value("INCR", "n"))
            self.crash("AOF", "ALWAYS")
        self.admin.value("BGREWRITEAOF")
        self.crash("AOF", "ALWAYS")
        self.assertEqual(b"50", self.admin.value("GET", "n"))

    def test_it_ends_its_worlds(self):
        self.serve()
        guest = self.client()
        self.assertEqual(b"+OK", guest.value("AUTH", "world.w", "x"))
        self.crash()
        self.assertEqual(b"", guest.read_to_end())
        self.assertEqual([], self.admin.value("TEST", "WORLD", "LIST"))
        self.assertEqual(b"+OK", self.admin.value("TEST", "WORLD", "ENTER", "w"))
        self.assertEqual(b"+OK", self.admin.value("TEST", "WORLD", "LEAVE"))

    def test_a_world_crashes_alone(self):
        self.serve()
        self.admin.value("SET", "k", "main")
        port = self.admin.value("TEST", "WORLD", "CREATE", "w", "PORT", "auto")
        outside, inside, other = self.client(), Raw(port), self.client()
        self.addCleanup(inside.close)
        other.value("AUTH", "world.other", "x")
        for client in (outside, inside):
            client.value("AUTH", "world.w", "x")
        inside.value("SET", "k", "world")
        self.assertEqual(b"+OK", outside.value("TEST", "CRASH", "AOF", "ALWAYS"))
        self.assertEqual(b"", inside.read_to_end())
        self.assertEqual(b"world", outside.value("GET", "k"))
        with Raw(port) as again:
            self.assertEqual(b"world", again.value("GET", "k"))
        self.assertEqual(b"+OK", outside.value("TEST", "CRASH"))
        self.assertIsNone(outside.value("GET", "k"))
        self.assertEqual(b"+OK", outside.value("TEST", "WORLD", "LEAVE"))
        self.assertEqual(b"main", outside.value("GET", "k"))
        self.assertEqual(b"+PONG\r\n", other.run("PING"))

    def test_a_node_of_a_cluster_crashes(self):
        self.serve("--nodes", "3x1", "--cluster-node-timeout", "500")
        ranges = [part[:2] for part in self.admin.value("CLUSTER", "SLOTS")]
        own = self.admin.value("CLUSTER", "MYID")
        self.crash()
        self.assertEqual(own, self.admin.value("CLUSTER", "MYID"))
        wait_until(lambda: b"cluster_state:ok" in self.admin.value("CLUSTER", "INFO"), "the crashed node to agree", 30)
        self.assertEqual(sorted(ranges), sorted(part[:2] for part in self.admin.value("CLUSTER", "SLOTS")))

    def test_nodes_on_threads_refuse(self):
        self.serve("--nodes", "3", "--node-threads", "yes")
        refusal = self.admin.run("TEST", "CRASH")
        self.assertTrue(refusal.startswith(b"-ERR this server cannot begin again"), refusal)


if __name__ == "__main__":
    unittest.main()
