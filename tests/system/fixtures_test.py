"""Fixtures: --load, and the lines of docs/test_server.md, docs/testing/fixtures.md and docs/test_server_tasks.md about
starting a server for tests."""
import os
import re
import shutil
import subprocess
import unittest

from launcher import SERVER, LaunchTest, ask, call, connect, wait_until
from test_server_page import page


def block(name, heading):
    """Returns the first block of code after this text of a page."""
    return re.search(r"```\w*\n(.*?)```", page(name).split(heading, 1)[1], re.S)[1]


class FixturesTest(LaunchTest):
    def load(self, *names, arguments=()):
        return self.start("--test", *arguments, *(word for name in names for word in ("--load", name)))

    def refused(self, name, text):
        with open(self.path(name), "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
        said = self.fails("--test", "--load", name)
        self.assertNotIn("Ready to accept", said)
        found = re.search(rf"load: {re.escape(self.path(name))}: (.*)\n", said)
        self.assertTrue(found, said)
        return found[1]


class FormatsTest(FixturesTest):
    def test_lines_as_in_redis_cli(self):
        self.write("a.redis", "# data\nSET 'a b' \"\\x41\"\r\n\n  PING\nMULTI\nINCR n\nINCR n\nEXEC\nSELECT 3\nSADD s 1 2\n"
                   "EVAL \"redis.call('SET', KEYS[1], ARGV[1])\" 1 made by\n"
                   "FUNCTION LOAD \"#!lua name=lib\\nredis.register_function('f', function() return 7 end)\"\n")
        server = self.load("a.redis")
        self.assertEqual("A", call(server.port, "GET", "a b"))
        self.assertEqual("2", call(server.port, "GET", "n"))
        self.assertEqual(":7", call(server.port, "FCALL", "f", "0"))
        with connect(server.port) as client:
            ask(client, "SELECT", "3")
            self.assertEqual(":2", ask(client, "SCARD", "s"))
            self.assertEqual("by", ask(client, "GET", "made"))

    def test_each_file_begins_in_database_0(self):
        self.write("a.redis", "SELECT 5\nSET a 1\n")
        self.write("b.redis", "SET b 1\n")
        self.assertEqual(["b"], call(self.load("a.redis", "b.redis").port, "KEYS", "*"))

    def test_requests(self):
        self.write("a.resp", "*3\n$3\nSET\n$1\na\n$2\n\\x\n".replace("\n", "\r\n"))
        self.assertEqual("\\x", call(self.load("a.resp").port, "GET", "a"))

    def test_a_snapshot_replaces_keys(self):
        first = self.start("--test")
        for words in (("SET", "a", "new"), ("RPUSH", "l", "x"), ("SET", "gone", "1", "PXAT", "1700000000000"), ("SAVE",)):
            call(first.port, *words)
        os.rename(self.path("dump.rdb"), self.path("fixture.rdb"))
        self.write("before.redis", "SET a old\nSET l other\nSET kept 1\n")
        server = self.load("before.redis", "fixture.rdb")
        self.assertEqual("new", call(server.port, "GET", "a"))
        self.assertEqual(":1", call(server.port, "LLEN", "l"))
        self.assertEqual(":3", call(server.port, "DBSIZE"))

    def test_append_only_files(self):
        for preamble in ("yes", "no"):
            first = self.start("--test", "--appendonly", "yes", "--aof-use-rdb-preamble", preamble, "--dir", self.folder)
            for words in (("SET", "a", "1"), ("BGREWRITEAOF",)):
                call(first.port, *words)
            wait_until(lambda port=first.port: "aof_rewrite_in_progress:0" in call(port, "INFO", "persistence"), "the rewrite")
            call(first.port, "INCR", "a")
            first.stop()
            os.rename(self.path("appendonlydir"), self.path("fixture"))
            before = self.contents("fixture")
            server = self.load("fixture")
            self.assertEqual("2", call(server.port, "GET", "a"))
            server.stop()
            self.assertEqual(before, self.contents("fixture"), "fixtures are only read")
            single = b"".join(content for name, content in sorted(before.items()) if not name.endswith("manifest"))
            with open(self.path("one.aof"), "wb") as file:
                file.write(single)
            self.assertEqual("2", call(self.load("one.aof").port, "GET", "a"))
            shutil.rmtree(self.path("fixture"))

    def contents(self, folder):
        found = {}
        for name in os.listdir(self.path(folder)):
            with open(os.path.join(self.path(folder), name), "rb") as file:
                found[name] = file.read()
        return found

    def test_an_append_only_file_is_cut_off(self):
        self.assertEqual("offset 14: the text ends in the middle of the request that begins here",
                         self.refused("a.aof", "*1\r\n$4\r\nPING\r\n*1\r\n$4\r\nPI"))

    def test_refusals_name_the_place(self):
        for name, text, expected in (
                ("a.redis", "SET a 1\n\nSET 'a\n", "line 3: the quotes are not balanced"),
                ("a.redis", "SET a 1\nLPUSH a 1\n", "line 2: lpush: WRONGTYPE Operation against a key holding the wrong kind of value"),
                ("a.redis", "SET a\n", "line 1: set: ERR wrong number of arguments for 'set' command"),
                ("a.redis", "SELECT 16\n", "line 1: select: ERR DB index is out of range"),
                ("a.redis", "NOSUCH\n", 'line 1: unknown command "NOSUCH"'),
                ("a.redis", "SHUTDOWN\n", "line 1: shutdown makes no data, so it has no place in a fixture"),
                ("a.redis", "SUBSCRIBE c\n", "line 1: subscribe makes no data, so it has no place in a fixture"),
                ("a.resp", "PING\r\n", "offset 0: this is not a RESP array of bulk strings"),
                ("a.json", '{\n"a": 1,\n"b"}', "line 3, column 4: "),
                ("a.json", '{"a": {"zset": {"m": "x"}}}', 'key "a": zadd: ERR value is not a valid float'),
                ("a.json", '{"a": {"hsah": {}}}', 'key "a": there is no member "hsah".'),
                ("a.rdb", "REDIS0011 is not all", "this snapshot cannot be loaded; the lines above say why"),
                ("a.rdb", "", "this snapshot cannot be loaded; the lines above say why"),
                ("a.txt", "", "the name must end in .rdb, .aof, .resp, .redis or .json, or be that of the folder of an append-only file")):
            with self.subTest(text):
                self.assertTrue(self.refused(name, text).startswith(expected), self.refused(name, text))

    def test_files_that_cannot_be_read(self):
        self.assertIn(f"load: {self.path('no.json')}: No such file or directory", self.fails("--test", "--load", "no.json"))
        os.mkdir(self.path("empty"))
        self.assertIn("there are 0 files *.manifest in this folder instead of one", self.fails("--test", "--load", "empty"))


class StartTest(FixturesTest):
    def test_a_later_file_that_is_bad_ends_the_start(self):
        self.write("a.redis", "SET a 1\n")
        self.write("b.redis", "SET b\n")
        self.fails("--test", "--load", "a.redis", "--load", "b.redis", "--appendonly", "yes", "--save", "60 1")
        self.assertFalse(os.path.exists(self.path("dump.rdb")))
        server = self.start("--test", "--appendonly", "yes")
        self.assertEqual(":0", call(server.port, "DBSIZE"), "nothing of it was written")

    def test_paths_begin_where_the_server_was_started(self):
        os.mkdir(self.path("data"))
        self.write("a.redis", "SET a 1\n")
        self.assertEqual("1", call(self.load("a.redis", arguments=("--dir", "data")).port, "GET", "a"))

    def test_fixtures_come_after_the_own_data(self):
        self.write("a.redis", "INCR n\n")
        for expected in ("1", "2"):
            server = self.load("a.redis", arguments=("--appendonly", "yes"))
            self.assertEqual(expected, call(server.port, "GET", "n"))
            wait_until(lambda port=server.port: "aof_rewrite_in_progress:0" in call(port, "INFO", "persistence"), "the rewrite")
            server.stop()
        self.assertEqual("2", call(self.start("--test", "--appendonly", "yes").port, "GET", "n"))

    def test_a_replica_gets_them(self):
        """The fixture also reaches a replica that already has the history of the primary's snapshot, which lacks the
        fixture's keys."""
        options = ("--dbfilename", "primary.rdb", "--save", "3600 1", "--port")
        self.write("a.redis", "SET fixture 1\n")
        primary = self.start("--test", *options, "auto")
        replica = self.start("--test", "--replicaof", "127.0.0.1", primary.port)
        call(primary.port, "SET", "own", "1")
        wait_until(lambda: call(replica.port, "EXISTS", "own") == ":1", "the replica")
        port = primary.port
        primary.stop()
        self.load("a.redis", arguments=(*options, str(port)))
        wait_until(lambda: call(replica.port, "EXISTS", "own", "fixture") == ":2", "the fixture in the replica")

    def test_who_has_no_data_of_its_own_refuses(self):
        self.write("a.redis", "SET a 1\n")
        self.assertIn("a node of a cluster loads no fixtures", self.fails("--test", "--nodes", "2", "--load", "a.redis"))
        self.assertIn("a replica loads no fixtures",
                      self.fails("--test", "--load", "a.redis", "--replicaof", "127.0.0.1", "1"))
        conf = self.write("sentinel.conf", "port 0\n")
        self.assertIn("load: a Sentinel has no data",
                      self.fails(conf, "--sentinel", "--port", "0", "--unixsocket", "s", "--load", "a.redis"))

    def test_many_requests(self):
        self.write("a.redis", "".join(f"SET key:{i} {i}\n" for i in range(20000)))
        self.assertEqual(":20000", call(self.load("a.redis").port, "DBSIZE"))


class PageTest(FixturesTest):
    """Runs what the pages print."""

    def setUp(self):
        super().setUp()
        self.write("users.json", block("testing/fixtures.md", "users.json:"))
        self.write("orders.redis", block("testing/fixtures.md", "orders.redis:"))
        os.symlink(os.path.abspath(SERVER), self.path("respite-server"))
        self.environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")

    def test_lines_of_the_shell(self):
        pages = [page(f"{name}.md") for name in ("test_server", "test_server_tasks", "testing/clusters", "testing/versions")]
        lines = re.findall(r"^    (respite-server .*)$", "\n".join(pages), re.M)
        self.assertEqual(13, len(lines))
        for line in lines:
            with self.subTest(line):
                elsewhere = line.replace("7000", "auto").replace("0.0.0.0", "127.0.0.1") + ("" if "--test " in line + " " else " --port auto --bind 127.0.0.1")
                server = self.launch("-c", f"exec {elsewhere}", program="bash", env=self.environment)
                server.ready()
                for option, value in re.findall(r'--(port|save|nodes|sentinels|record|seed|exit-on-idle|emulate|announce) ("[^"]*"|\S+)', line):
                    if option != "port":
                        self.assertEqual(value.strip("\"'"), call(server.port, "CONFIG", "GET", option)[1])
                server.end()

    def test_the_launcher(self):
        names = {"os": os, "subprocess": subprocess}
        with self.subTest("with the program in the path"):
            saved = os.environ["PATH"]
            os.environ["PATH"] = self.environment["PATH"]
            try:
                exec(block("test_server.md", "A launcher in Python:"), names)  # pylint: disable=exec-used
            finally:
                os.environ["PATH"] = saved
            self.addCleanup(names["server"].wait, 20)
            self.addCleanup(names["server"].terminate)
            self.assertEqual("+PONG", call(names["port"], "PING"))

    def test_the_fixtures(self):
        server = self.load("users.json", "orders.redis")
        with connect(server.port) as client:
            for words, reply in ((("GET", "greeting"), "hello"), (("GET", "visits"), "41"), (("TTL", "visits"), ":3600"),
                                 (("GET", "profile:1"), '{"name":"Ada","langs":["en","fr"]}'),
                                 (("LRANGE", "queue", "0", "-1"), ["first", "second"]), (("SCARD", "tags"), ":2"),
                                 (("ZRANGE", "board", "0", "-1"), ["eve", "bob", "ada"]), (("XLEN", "events"), ":2"),
                                 (("XLEN", "log"), ":1"), (("HGET", "order:1", "state"), "not paid"), (("LLEN", "orders"), ":3"),
                                 (("SELECT", "3"), "+OK"), (("HGET", "user:1", "age"), "36"),
                                 (("SELECT", "2"), "+OK"), (("EXISTS", b"any \x00 bytes"), ":1")):
                self.assertEqual(reply, ask(client, *words))

    def test_every_option_is_known(self):
        for option in re.findall(r"^\| `--([\w-]+)", page("test_server.md"), re.M):
            if option != "test":
                self.assertEqual(2, len(call(self.server().port, "CONFIG", "GET", option)), option)

    def server(self):
        if not hasattr(self, "running"):
            self.running = self.start("--test")
        return self.running


if __name__ == "__main__":
    unittest.main()
