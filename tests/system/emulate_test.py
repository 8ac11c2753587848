"""Versions: --emulate and TEST WORLD CREATE … VERSION, with real sockets."""
import os
import unittest

from hostile import Raw
from launcher import LaunchTest, wait_until


class EmulateTest(LaunchTest):
    def client(self, port):
        client = Raw(port)
        self.addCleanup(client.close)
        return client

    def emulating(self, version, *options):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", version, *options)
        return self.client(server.port)

    def test_a_server_says_the_version_that_it_emulates(self):
        for version, number in (("redis:6.2", b"6.2.16"), ("redis:7.0", b"7.0.15"), ("redis:7.2", b"7.2.6"),
                                ("redis:7.4", b"7.4.1"), ("redis:8.0", b"8.0.2"), ("valkey:7.2", b"7.2.4"),
                                ("valkey:8.0", b"7.2.4"), ("valkey:8.1", b"7.2.4"),
                                ("redis:8.2", b"8.2.9"), ("redis:8.4", b"8.4.6"), ("redis:8.6", b"8.6.3"),
                                ("redis:8.8", b"8.8.2"), ("redis:8.10", b"8.10.1"), ("valkey:9.0", b"7.2.4"),
                                ("valkey:9.1", b"7.2.4"), ("valkey:9.2", b"7.2.4")):
            with self.subTest(version=version):
                client = self.emulating(version)
                self.assertIn(b"redis_version:" + number + b"\r\n", client.value("INFO", "server"))
                is_valkey = b"server_name:valkey\r\n" in client.value("INFO", "server")
                self.assertEqual(version.startswith("valkey"), is_valkey)

    def test_newer_commands_are_unknown_in_the_words_of_the_version(self):
        old, new = self.emulating("redis:6.2"), self.emulating("redis:8.0")
        self.assertEqual(b"-ERR unknown command `FUNCTION`, with args beginning with: `LIST`, \r\n",
                         old.run("FUNCTION", "LIST"))
        self.assertEqual(b"*0\r\n", new.run("FUNCTION", "LIST"))
        self.assertEqual(b"-ERR Unknown subcommand or wrong number of arguments for 'NO-TOUCH'. Try CLIENT HELP.\r\n",
                         old.run("CLIENT", "NO-TOUCH", "ON"))

    def test_an_unknown_version_is_an_error_that_names_those_there_are(self):
        self.assertIn("redis:6.2, redis:7.0, redis:7.2, redis:7.4, redis:8.0, redis:8.2, redis:8.4, redis:8.6, redis:8.8, "
                      "redis:8.10, valkey:7.2, valkey:8.0, valkey:8.1, valkey:9.0, valkey:9.1, valkey:9.2",
                      self.fails("--emulate", "redis:5.0"))

    def test_worlds_speak_versions_of_their_own(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--test-commands", "local")
        admin = self.client(server.port)
        for name, version in (("old", "redis:6.2"), ("new", "valkey:8.1")):
            self.assertEqual(b"+OK", admin.value("TEST", "WORLD", "CREATE", name, "VERSION", version))
        old, new, any_version = (self.client(server.port) for _ in range(3))
        for client, world in ((old, "old"), (new, "new"), (any_version, "third")):
            self.assertEqual(b"+OK", client.value("AUTH", f"world.{world}", "x"))
        self.assertIn(b"redis_version:6.2.16", old.value("INFO", "server"))
        self.assertIn(b"valkey_version:8.1.1", new.value("INFO", "server"))
        self.assertIn(b"redis_version:7.2.4", any_version.value("INFO", "server"))
        self.assertEqual(b"-ERR unknown command `LMPOP`, with args beginning with: `1`, `l`, `LEFT`, \r\n",
                         old.run("LMPOP", "1", "l", "LEFT"))
        self.assertEqual(b"*-1\r\n", new.run("LMPOP", "1", "l", "LEFT"))
        self.assertEqual(b"+OK", old.value("TEST", "CLOCK", "FREEZE", "1000"))
        versions = {world[1]: world[9] for world in admin.value("TEST", "WORLD", "LIST")}
        self.assertEqual({b"old": b"redis:6.2", b"new": b"valkey:8.1", b"third": None}, versions)
        self.assertTrue(admin.run("TEST", "WORLD", "CREATE", "x", "VERSION", "redis:9")
                        .startswith(b"-ERR 'redis:9' is no version that can be emulated. There are redis:6.2, "))

    def test_a_world_is_neither_newer_nor_older_than_its_version(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--test-commands", "local",
                            "--emulate", "redis:6.2")
        admin, new, old = (self.client(server.port) for _ in range(3))
        admin.value("TEST", "WORLD", "CREATE", "new", "VERSION", "valkey:8.1")
        new.value("TEST", "WORLD", "ENTER", "new")
        self.assertEqual(b":1\r\n", new.run("EVAL", "return server.call('hset', 'h', 'f', 'v')", "0"))
        self.assertEqual(b":0\r\n", new.run("COMMANDLOG", "LEN", "slow"))
        self.assertIn(b"cmdstat_commandlog|len", new.value("INFO", "commandstats"))
        self.assertIn(b"commandlog|len", new.value("ACL", "CAT", "admin"))
        # The server itself lacks the version limits of its world.
        self.assertEqual(b"+OK", old.value("MULTI"))
        self.assertTrue(old.run("COMMANDLOG", "LEN", "slow").startswith(b"-ERR unknown command `COMMANDLOG`"))
        self.assertEqual(b"-EXECABORT Transaction discarded because of previous errors.\r\n", old.run("EXEC"))
        self.assertIn(b"nonexistent global variable 'server'", old.run("EVAL", "return server.call('ping')", "0"))
        self.assertIn(b"Unknown Redis command", old.run("EVAL", "return redis.call('commandlog', 'len', 'slow')", "0"))
        self.assertNotIn(b"commandlog", old.value("INFO", "commandstats"))
        self.assertNotIn(b"commandlog|len", old.value("ACL", "CAT", "admin"))
        self.assertEqual([None], old.value("COMMAND", "INFO", "commandlog"))
        self.assertEqual(b"-ERR syntax error\r\n", old.run("SET", "k", "v", "IFEQ", "x"))

    def test_valkey_may_say_that_it_is_redis(self):
        client = self.emulating("valkey:8.0", "--extended-redis-compatibility", "yes")
        self.assertEqual([b"server", b"redis", b"version", b"7.2.4"], client.value("HELLO")[:4])
        self.assertIn(b"redis_mode:standalone\r\n", client.value("INFO", "server"))
        self.assertNotIn(b"server_mode", client.value("INFO", "server"))
        self.assertEqual(b"+OK", client.value("CONFIG", "SET", "extended-redis-compatibility", "no"))
        self.assertEqual([b"server", b"valkey", b"version", b"8.0.1"], client.value("HELLO")[:4])
        self.assertIn(b"server_mode:standalone\r\n", client.value("INFO", "server"))
        self.assertNotIn(b"redis_mode", client.value("INFO", "server"))

    def test_info_says_who_holds_clients_back(self):
        client = self.emulating("valkey:8.1", "--test")

        def pause():
            return [line for line in client.value("INFO", "clients").split(b"\r\n") if line.startswith(b"paused_")]

        self.assertEqual([b"paused_reason:none", b"paused_actions:none", b"paused_timeout_milliseconds:0"], pause())
        client.value("TEST", "CLOCK", "FREEZE")
        self.assertEqual(b"+OK", client.value("CLIENT", "PAUSE", "5000", "WRITE"))
        client.value("TEST", "CLOCK", "ADVANCE", "1000")
        self.assertEqual([b"paused_reason:client_pause", b"paused_actions:write", b"paused_timeout_milliseconds:4000"],
                         pause())
        client.value("CLIENT", "UNPAUSE")
        self.assertEqual(b"paused_reason:none", pause()[0])
        # The world's time has passed, but the server has not noticed it yet.
        client.value("TEST", "CLOCK", "REAL")
        client.value("CLIENT", "PAUSE", "1", "WRITE")
        said = client.value("EVAL_RO", "for i = 1, 2e6 do end return redis.call('INFO', 'clients')", "0")
        self.assertIn(b"paused_timeout_milliseconds:0\r\n", said)

    def test_sections_of_info_belong_to_versions(self):
        new, valkey = self.emulating("redis:8.0"), self.emulating("valkey:8.1")
        self.assertRegex(new.value("INFO"), rb"\r\n# Threads\r\nio_thread_0:clients=1,reads=\d+,writes=\d+\r\n")
        self.assertEqual(b"", valkey.value("INFO", "threads"))
        self.assertNotIn(b"# Threads", valkey.value("INFO", "everything"))

    def test_the_log_begins_with_the_version(self):
        for version, name, number in (("redis:6.2", "Redis", "6.2.16"), ("valkey:8.0", "Valkey", "8.0.1")):
            with self.subTest(version=version):
                server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", version)
                self.assertIn(f"{name} is starting", server.text)
                self.assertIn(f"{name} version={number}, bits=64", server.text)

    def test_directives_of_debugging_are_those_of_valkey(self):
        self.write("valkey.conf", "enable-debug-assert yes\ndebug-context \"nightly run\"\nport 0\n"
                                  f"unixsocket {self.path('socket')}\nsave \"\"\n")
        for version, value in (("valkey:8.0", [b"debug-context", b"nightly run"]), ("redis:8.0", [])):
            with self.subTest(version=version):
                server = self.start(self.path("valkey.conf"), "--emulate", version, "--port", "auto")
                self.assertEqual(value, self.client(server.port).value("CONFIG", "GET", "debug-context"))
                server.stop()

    def test_a_world_that_crashes_keeps_its_version(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--test-commands", "local")
        client = self.client(server.port)
        client.value("TEST", "WORLD", "CREATE", "w", "VERSION", "redis:7.0")
        client.value("TEST", "WORLD", "ENTER", "w")
        client.value("TEST", "CRASH")
        self.assertIn(b"redis_version:7.0.15", client.value("INFO", "server"))

    # Clients of the version do not know HPEXPIREAT, but the server's own file may contain it.
    def test_a_file_may_have_commands_that_the_version_lacks(self):
        options = ("--appendonly", "yes", "--aof-use-rdb-preamble", "no")
        newer = self.emulating("redis:8.0")
        newer.value("HSET", "h", "f", "v")
        newer.value("HPEXPIRE", "h", "1000000", "FIELDS", "1", "f")
        payload = newer.value("DUMP", "h")
        for version in ("redis:6.2", "redis:7.2", "valkey:8.1"):
            with self.subTest(version=version):
                folder = self.path(version.replace(":", "-"))
                os.mkdir(folder)
                first = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", version,
                                   "--dir", folder, *options)
                client = self.client(first.port)
                self.assertEqual(b"+OK", client.value("RESTORE", "h", "0", payload))
                client.value("BGREWRITEAOF")
                first.stop()
                second = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", version,
                                    "--dir", folder, *options)
                client = self.client(second.port)
                self.assertEqual(b"v", client.value("HGET", "h", "f"))
                self.assertTrue(client.run("HPTTL", "h", "FIELDS", "1", "f").startswith(b"-ERR unknown command"))

    def test_a_replica_obeys_a_primary_of_a_newer_version(self):
        primary = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "")
        replica = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", "redis:7.0",
                             "--replicaof", f"127.0.0.1 {primary.port}")
        writer, reader = self.client(primary.port), self.client(replica.port)
        wait_until(lambda: b"master_link_status:up" in reader.value("INFO", "replication"), "the replica to follow")
        writer.value("HSETEX", "h", "EX", "100", "FIELDS", "1", "f", "v")
        writer.value("MULTI")
        writer.value("HSET", "i", "f", "v")
        writer.value("HPEXPIRE", "i", "1", "FIELDS", "1", "f")
        writer.value("EXEC")
        self.assertEqual(1, writer.value("WAIT", "1", "5000"))
        self.assertEqual(b"v", reader.value("HGET", "h", "f"))
        wait_until(lambda: writer.value("EXISTS", "i") == 0, "the field to expire")
        self.assertEqual(1, writer.value("WAIT", "1", "5000"))
        self.assertEqual(0, reader.value("EXISTS", "i"))

    def test_an_append_only_file_loads_under_an_older_version(self):
        options = ("--appendonly", "yes")
        first = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", "redis:6.2", *options)
        client = self.client(first.port)
        client.value("XADD", "s", "1-1", "a", "b")
        client.value("XDEL", "s", "1-1")
        client.value("SET", "k", "v", "EX", "100")
        client.value("BGREWRITEAOF")
        first.stop()
        second = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", "--emulate", "redis:6.2", *options)
        client = self.client(second.port)
        self.assertEqual(b"v", client.value("GET", "k"))
        self.assertEqual(b"1-1", client.value("XINFO", "STREAM", "s")[7])


if __name__ == "__main__":
    unittest.main()
