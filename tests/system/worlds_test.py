"""Worlds: isolated servers behind one port (TEST WORLD, users world.NAME), with real sockets."""
import os
import unittest

from hostile import SANITIZED, Raw
from launcher import LaunchTest, wait_until
from two_servers import encode


class WorldsTest(LaunchTest):
    OPTIONS = ("--test-commands", "local")

    def setUp(self):
        super().setUp()
        self.server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", *self.OPTIONS)
        self.admin = self.client()

    def client(self, *login):
        client = Raw(self.server.port)
        self.addCleanup(client.close)
        if login:
            self.assertEqual(b"+OK", client.value("AUTH", *login))
        return client

    def test_a_user_name_leads_into_a_world_that_knows_nothing_of_others(self):
        one, other = self.client("world.one", "any"), self.client("world.other", "thing")
        self.admin.value("SET", "k", "main")
        one.value("SET", "k", "one")
        self.assertEqual([b"main", b"one", None], [who.value("GET", "k") for who in (self.admin, one, other)])
        one.value("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        one.value("ACL", "SETUSER", "ann", "on", "nopass")
        one.value("SCRIPT", "LOAD", "return 1")
        for who in (self.admin, other):
            self.assertEqual(b"noeviction", who.value("CONFIG", "GET", "maxmemory-policy")[1])
            self.assertEqual([b"default"], who.value("ACL", "USERS"))
            self.assertEqual([0], who.value("SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"))
            self.assertEqual(1, len(who.value("CLIENT", "LIST").splitlines()))
            self.assertEqual(0, who.value("PUBLISH", "news", "x"))
        one.value("FLUSHALL")
        one.value("TEST", "CLOCK", "FREEZE", "1000")
        self.assertEqual(b"1", one.value("TIME")[0])
        self.assertGreater(int(other.value("TIME")[0]), 1_000_000_000)
        self.assertEqual(b"main", self.admin.value("GET", "k"))

    def test_hello_logs_in_and_speaks_the_version_and_name_that_it_asked_for(self):
        client = self.client()
        client.send(encode(["HELLO", "3", "AUTH", "world.w", "x", "SETNAME", "me"]) + encode(["CLIENT", "GETNAME"]))
        self.assertTrue(client.read().startswith(b"%7\r\n"))
        self.assertEqual(b"$2\r\nme\r\n", client.read())
        self.assertEqual(b"_\r\n", client.run("GET", "k"))

    def test_requests_of_one_pipeline_run_where_they_stand(self):
        self.admin.value("SET", "k", "v" * 100_000)
        words = [["GET", "k"], ["TEST", "WORLD", "ENTER", "w"], ["SET", "k", "w" * 50_000], ["GET", "k"],
                 ["TEST", "WORLD", "ENTER", "x"], ["GET", "k"], ["TEST", "WORLD", "LEAVE"], ["STRLEN", "k"],
                 ["TEST", "WORLD", "ENTER", "w"], ["STRLEN", "k"]]
        requests = b"".join(map(encode, words))
        for cut in (1, 60, 90, 200, 50_000, len(requests) - 1, len(requests)):
            with self.subTest(cut=cut):
                client = self.client()
                client.send(requests[:cut])
                client.send(requests[cut:])
                told = [client.read() for _ in words]
                self.assertEqual([b"$100000\r\n" + b"v" * 100_000 + b"\r\n", b"+OK\r\n", b"+OK\r\n",
                                  b"$50000\r\n" + b"w" * 50_000 + b"\r\n", b"+OK\r\n", b"$-1\r\n", b"+OK\r\n",
                                  b":100000\r\n", b"+OK\r\n", b":50000\r\n"], told)

    def test_a_session_leaves_nothing_behind(self):
        client = self.client()
        client.value("SELECT", "3")
        client.value("WATCH", "k")
        client.value("TEST", "WORLD", "ENTER", "w")
        self.assertEqual(1, len(self.admin.value("CLIENT", "LIST").splitlines()))
        self.assertIn(b" db=0 ", client.value("CLIENT", "LIST"))
        self.assertEqual(b"-ERR Command not allowed inside a transaction\r\n",
                         [client.run("MULTI"), client.run("TEST", "WORLD", "LEAVE")][1])

    def test_a_dropped_world_ends_its_connections(self):
        waits, idle = self.client("world.w", "x"), self.client("world.w", "x")
        waits.send(encode(["BLPOP", "queue", "0"]))
        wait_until(lambda: b"\r\nblocked_clients:1\r\n" in idle.value("INFO", "clients"), "the client to block")
        self.assertEqual(b"+OK", idle.value("TEST", "WORLD", "DROP", "w"))
        self.assertEqual(b"", waits.read_to_end())
        self.assertEqual(b"", idle.read_to_end())
        self.assertEqual([], self.admin.value("TEST", "WORLD", "LIST"))
        last = self.client("world.w", "x")
        last.send(encode(["SHUTDOWN", "NOSAVE"]))
        self.assertEqual(b"", last.read_to_end())
        wait_until(lambda: self.admin.value("TEST", "WORLD", "LIST") == [], "the world to go")
        self.assertEqual(b"+PONG\r\n", self.admin.run("PING"))

    def test_a_port_of_its_own_and_data_of_a_snapshot(self):
        self.admin.value("SET", "k", "fixture")
        self.admin.value("TEST", "SNAPSHOT", "SAVE", "s")
        self.admin.value("SET", "k", "later")
        port = self.admin.value("TEST", "WORLD", "CREATE", "w", "PORT", "auto", "FROM", "s")
        with Raw(port) as client:
            self.assertEqual(b"fixture", client.value("GET", "k"))
        world = self.admin.value("TEST", "WORLD", "LIST")[0]
        self.assertEqual([b"name", b"w"], world[:2])
        self.assertEqual([b"keys", 1, b"port", port, b"version", None], world[4:])

    def test_a_world_is_no_way_around_a_password(self):
        self.admin.value("CONFIG", "SET", "requirepass", "secret")
        stranger = self.client()
        for words in (["AUTH", "world.w", "wrong"], ["HELLO", "3", "AUTH", "world.w", "wrong"]):
            self.assertTrue(stranger.run(*words).startswith(b"-WRONGPASS "))
        self.assertTrue(stranger.run("TEST", "WORLD", "ENTER", "w").startswith(b"-NOAUTH "))
        self.assertEqual([], self.admin.value("TEST", "WORLD", "LIST"))
        self.assertEqual(b"+OK", stranger.value("AUTH", "world.w", "secret"))

    def test_a_login_that_cannot_be_makes_no_world(self):
        client = self.client()
        client.send(b"".join(map(encode, (["MULTI"], ["AUTH", "world.w", "x"], ["EXEC"]))))
        self.assertIn(b"cannot go to another world", b"".join(client.read() for _ in range(3)))
        client.send(encode(["CLIENT", "REPLY", "SKIP"]) + encode(["AUTH", "world.w", "x"]) + encode(["PING"]))
        self.assertEqual(b"+PONG\r\n", client.read())
        self.assertEqual([], self.admin.value("TEST", "WORLD", "LIST"))

    def test_a_dropped_world_is_gone_at_once(self):
        client = self.client("world.w", "x")
        client.value("SET", "k", "old")
        pipeline = [["TEST", "WORLD", "DROP", "w"], ["TEST", "WORLD", "ENTER", "w"], ["EXISTS", "k"], ["SET", "k", "new"]]
        self.admin.send(b"".join(map(encode, pipeline)))
        self.assertEqual([b"+OK\r\n", b"+OK\r\n", b":0\r\n", b"+OK\r\n"], [self.admin.read() for _ in pipeline])
        self.assertEqual(b"", client.read_to_end())
        with self.client() as main:
            self.assertEqual(0, main.value("EXISTS", "k"))

    def test_dropping_a_world_ends_its_late_script(self):
        client, moving = self.client("world.w", "x"), self.client()
        client.value("CONFIG", "SET", "busy-reply-threshold", "10")
        client.send(encode(["EVAL", "redis.call('SET', 'k', 'v') while true do end", "0"]))
        wait_until(lambda: "Slow script detected" in self.server.text, "the script to be late")
        moving.send(encode(["TEST", "WORLD", "ENTER", "v"]) + encode(["SET", "k", "v"]))
        self.assertEqual(b"+OK", self.admin.value("TEST", "WORLD", "DROP", "w"))
        self.assertEqual([b"+OK\r\n", b"+OK\r\n"], [moving.read(), moving.read()])
        self.assertIn(b"Script killed", client.read_to_end())
        self.assertEqual([b"v"], [world[1] for world in self.admin.value("TEST", "WORLD", "LIST")])

    def test_a_client_that_loads_a_slow_script_waits_for_it(self):
        client, other = self.client(), self.client()
        client.value("CONFIG", "SET", "busy-reply-threshold", "10")
        client.send(encode(["TEST", "LOAD", "REDIS", "EVAL 'local i = 0 while i < 6e7 do i = i + 1 end' 0"]))
        wait_until(lambda: "Slow script detected" in self.server.text, "the script to be late")
        client.send(encode(["ECHO", "x" * 3000]) * 10)
        self.assertIn(b"-BUSY", other.run("GET", "k"))
        self.assertEqual([b":1\r\n"] + [b"$3000\r\n" + b"x" * 3000 + b"\r\n"] * 10, [client.read() for _ in range(11)])

    def test_a_client_whose_replies_are_held_back_stays(self):
        client = self.client()
        self.admin.value("TEST", "FAULT", "ADD", "late", "WHEN", "COMMAND", "get", "DO", "DELAY-REPLY", "1h")
        client.send(encode(["GET", "k"]) + encode(["TEST", "WORLD", "ENTER", "w"]))
        wait_until(lambda: b"cmd=test|world" in self.admin.value("CLIENT", "LIST"), "the second request")
        self.admin.value("TEST", "FAULT", "CLEAR")
        self.assertEqual(b"$-1\r\n", client.read())
        self.assertEqual(b"-ERR this connection cannot go to another world here\r\n", client.read())

    def test_a_user_comes_back_as_who_it_was(self):
        self.admin.value("ACL", "SETUSER", "app", "on", ">p", "~app:*", "+@all")
        client = self.client()
        client.value("AUTH", "app", "p")
        client.value("TEST", "WORLD", "ENTER", "w")
        self.assertEqual(b"default", client.value("ACL", "WHOAMI"))
        client.value("TEST", "WORLD", "ENTER", "v")
        client.value("TEST", "WORLD", "LEAVE")
        self.assertEqual(b"app", client.value("ACL", "WHOAMI"))
        client.value("TEST", "WORLD", "ENTER", "w")
        self.admin.value("ACL", "DELUSER", "app")
        self.admin.value("CONFIG", "SET", "requirepass", "secret")
        client.value("TEST", "WORLD", "LEAVE")
        self.assertEqual(b"-NOAUTH Authentication required.\r\n", client.run("GET", "app:1"))

    def test_refusals(self):
        for words in (["ENTER", ""], ["ENTER", "x" * 257], ["ENTER"], ["DROP", "none"], ["CREATE", "w", "PORT", "0"],
                      ["CREATE", "w", "FROM", "none"], ["CREATE", "w", "AT", "home"], ["LEAVE", "now"], ["GO"]):
            with self.subTest(words):
                self.assertTrue(self.admin.run("TEST", "WORLD", *words).startswith(b"-ERR "))
        self.assertEqual([], self.admin.value("TEST", "WORLD", "LIST"))
        self.admin.value("TEST", "WORLD", "CREATE", "w")
        self.assertEqual(b"-ERR there is a world 'w' already\r\n", self.admin.run("TEST", "WORLD", "CREATE", "w"))
        taken = self.server.port
        self.assertTrue(self.admin.run("TEST", "WORLD", "CREATE", "v", "PORT", taken).startswith(b"-ERR the world could not"))

    def test_worlds_write_no_files(self):
        client = self.client("world.w", "x")
        client.value("SET", "k", "v")
        self.assertTrue(client.run("SAVE").startswith(b"-ERR"))
        client.run("BGSAVE")
        client.run("CONFIG", "SET", "appendonly", "yes")
        self.assertEqual(b"+PONG\r\n", client.run("PING"))
        self.assertEqual([], [name for name in os.listdir(self.folder) if not name.endswith(".log")])

    def test_an_idle_world_is_dropped(self):
        self.admin.value("CONFIG", "SET", "test-world-idle", "1ms")
        self.admin.value("TEST", "WORLD", "CREATE", "w")
        wait_until(lambda: self.admin.value("TEST", "WORLD", "LIST") == [], "the world to go", 10)

    def test_a_thousand_worlds(self):
        before = self.used_memory()
        for n in range(1000):
            self.admin.value("TEST", "WORLD", "CREATE", f"w{n}")
        if not SANITIZED:
            self.assertLess((self.used_memory() - before) / 1000, 100_000)
        last = self.client("world.w999", "x")
        self.assertEqual(b"+OK", last.value("SET", "k", "v"))
        for n in range(1000):
            self.admin.value("TEST", "WORLD", "DROP", f"w{n}")
        wait_until(lambda: self.used_memory() < before + 1_000_000, "memory to be free again")

    def used_memory(self):
        return int(self.admin.value("INFO", "memory").split(b"used_memory:")[1].split()[0])


class WithAPasswordTest(LaunchTest):
    """Worlds begin with the password that the server has at its start."""

    def setUp(self):
        super().setUp()
        self.server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--test-commands", "local",
                                 "--requirepass", "secret")

    def client(self, port=None):
        client = Raw(port or self.server.port)
        self.addCleanup(client.close)
        return client

    def test_who_knows_it_gets_in_and_out(self):
        for login in (["AUTH", "world.w", "secret"], ["HELLO", "3", "AUTH", "world.w", "secret", "SETNAME", "me"],
                      ["HELLO", "2", "AUTH", "world.w", "secret"]):
            with self.subTest(login):
                client = self.client()
                self.assertIn(client.run(*login)[:1], b"+%*")
                self.assertEqual(b"+OK\r\n", client.run("SET", "k", "v"))
                self.assertEqual(b"+OK\r\n", client.run("TEST", "WORLD", "LEAVE"))
                self.assertEqual(b":0\r\n", client.run("EXISTS", "k"))

    def test_a_client_that_has_logged_in_enters(self):
        client = self.client()
        client.value("AUTH", "secret")
        for action in (["ENTER", "w"], ["ENTER", "v"], ["LEAVE"]):
            self.assertEqual(b"+OK\r\n", client.run("TEST", "WORLD", *action))
            self.assertEqual(b"+PONG\r\n", client.run("PING"))

    def test_the_port_of_a_world_leads_no_stranger_elsewhere(self):
        admin = self.client()
        admin.value("AUTH", "secret")
        port = admin.value("TEST", "WORLD", "CREATE", "w", "PORT", "auto")
        stranger = self.client(port)
        self.assertTrue(stranger.run("GET", "k").startswith(b"-NOAUTH "))
        admin.value("TEST", "WORLD", "ENTER", "w")
        admin.value("CONFIG", "SET", "requirepass", "")
        stranger = self.client(port)
        self.assertEqual(b"$-1\r\n", stranger.run("GET", "k"))
        self.assertEqual(b"+OK\r\n", stranger.run("TEST", "WORLD", "LEAVE"))
        self.assertTrue(stranger.run("GET", "k").startswith(b"-NOAUTH "))


class WithoutTestCommandsTest(LaunchTest):
    def test_a_user_named_as_a_world_is_a_user(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "")
        with Raw(server.port) as client:
            self.assertTrue(client.run("AUTH", "world.w", "x").startswith(b"-WRONGPASS"))
            client.value("ACL", "SETUSER", "world.w", "on", ">x", "+@all")
            self.assertEqual(b"+OK\r\n", client.run("AUTH", "world.w", "x"))


if __name__ == "__main__":
    unittest.main()
