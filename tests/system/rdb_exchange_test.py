"""Dump files are exchanged between our server and each oracle, both ways; and dumps of killed processes."""
import contextlib
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import oracles
from launcher import LaunchTest, ask, call, connect, exists, wait_until
from two_servers import RESPITE, Server, value_of

SEED = 20261121
FAR_MS = 33177117420000  # 3021
TRAILER = 10  # version of the format, checksum
LIBRARY = "#!lua name=lib\nredis.register_function('f', function(keys, args) return args[1] end)"


def word(chance, size):
    return bytes(chance.choice(b"abcdefgh0123 ") for _ in range(size))


def commands(chance, version=(7, 2)):
    """A data set with every type in each of its encodings."""
    is_old = version < (7, 2)  # digests of 7.0 have more digits of scores
    yield "FUNCTION", "LOAD", "REPLACE", LIBRARY
    for number, text in enumerate(["0", "-7", "40000", "-70000", "1234567890123", "12345678901234567890", "", "x" * 44,
                                   "x" * 45, "abc" * 5000, bytes(range(256)) * 2, word(chance, 30000)]):
        yield "SET", f"string:{number}", text
    for count in (1, 60, 3000):
        yield "RPUSH", f"list:{count}", *[chance.choice([i * 977, word(chance, i % 70)]) for i in range(count)]
        yield "PEXPIREAT", f"list:{count}", FAR_MS
    yield "RPUSH", "list:long", *[word(chance, 9000) for _ in range(4)]
    for count in (1, 512, 513):
        yield "SADD", f"intset:{count}", *range(-5, count - 5)
        yield "HSET", f"hash:{count}", *[part for i in range(count) for part in (f"f{i}", word(chance, i % 20))]
    for count in (1, 128, 129, 2000):
        yield "SADD", f"set:{count}", *[f"m{i}" for i in range(count)]
        yield "ZADD", f"zset:{count}", *[part for i in range(count) for part in (i / (2 if is_old else 7) - 5, f"m{i}")]
    yield "ZADD", "zset:odd", "inf", "a", "-inf", "b", 1000 if is_old else "1e300", "c", "-0.5", "d"
    yield "PFADD", "hll", *[f"e{i}" for i in range(3000)]
    for i in range(350):
        yield "XADD", "stream", f"{1000 + i // 3}-{i}", *(["a", i, "b", "x" * (i % 9)] if i % 5 else ["other", i])
    for i in range(0, 350, 7):
        yield "XDEL", "stream", f"{1000 + i // 3}-{i}"
    yield "XGROUP", "CREATE", "stream", "readers", "0"
    for consumer in "abc":
        yield "XREADGROUP", "GROUP", "readers", consumer, "COUNT", 30, "STREAMS", "stream", ">"
    yield "XGROUP", "CREATE", "stream", "idle", "$"
    yield "XGROUP", "CREATE", "empty", "readers", "$", "MKSTREAM"
    yield "SELECT", 9
    for i in range(2000):
        yield "SET", f"key:{i}", i, "PXAT", FAR_MS + i
    yield "SELECT", 0


class DumpFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="rdb-exchange-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def serve(self, program, *options):
        server = Server(program, "--dir", self.folder, *options)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        return server, client

    def ask(self, client, *words):
        return value_of(client.run(*words))

    def loaded(self, client):
        def over():
            info = self.ask(client, "INFO", "persistence")
            return b"\r\nloading:0\r\n" in info
        wait_until(over, "the end of loading")
        return client

    def travel(self, source, target, *options):
        writer, client = self.serve(source, *options)
        self.ask(client, "FLUSHALL")
        for words in commands(random.Random(SEED), writer.version):
            reply = client.run(*words)
            self.assertFalse(reply.startswith(b"-"), (words[:3], reply))
        self.assertEqual(b"+OK", self.ask(client, "SAVE"))
        wanted = self.ask(client, "DEBUG", "DIGEST")
        functions = self.ask(client, "FUNCTION", "DUMP")
        reader, other = self.serve(target, *options)
        self.loaded(other)
        self.assertEqual(wanted, self.ask(other, "DEBUG", "DIGEST"))
        self.assertEqual(b"hello", self.ask(other, "FCALL", "f", 0, "hello"))
        if min(writer.version, reader.version) >= (7, 2):
            self.assertEqual(functions[:-TRAILER], self.ask(other, "FUNCTION", "DUMP")[:-TRAILER])
        writer.stop()  # the server locks its dump
        reader.stop()


class RdbExchange(DumpFiles):
    OPTIONS = ([], ["--rdbcompression", "no"], ["--rdbchecksum", "no"])

    def test_theirs_to_us(self):
        for options in self.OPTIONS:
            with self.subTest(options=options, seed=SEED):
                self.travel(self.oracle.program, RESPITE, *options)
                self.oracle.count()

    def test_ours_to_them(self):
        if self.oracle.version < (7, 2):
            self.check_refused()
            return
        for options in self.OPTIONS:
            with self.subTest(options=options, seed=SEED):
                self.travel(RESPITE, self.oracle.program, *options)
                checked = subprocess.run([self.oracle.tool("check-rdb"), os.path.join(self.folder, "dump.rdb")],
                                         capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual(0, checked.returncode, checked.stdout + checked.stderr)
                self.oracle.count()

    def check_refused(self):
        """Files of a later version are refused with that reason."""
        server, client = self.serve(RESPITE)
        self.ask(client, "SET", "k", "v")
        self.assertEqual(b"+OK", self.ask(client, "SAVE"))
        server.stop()
        done = subprocess.run([self.oracle.program, "--port", "0", "--unixsocket", os.path.join(self.folder, "other"),
                               "--dir", self.folder], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn("Can't handle RDB format version 11", done.stdout)
        self.oracle.count()


oracles.multiply(globals(), RdbExchange)


class ChildTest(DumpFiles):
    def test_a_child_saves_the_same(self):
        """The server loads what a child saves."""
        server, client = self.serve(RESPITE)
        for words in commands(random.Random(SEED)):
            client.run(*words)
        self.assertEqual(b"+OK", self.ask(client, "DEBUG", "RELOAD"))
        digest = self.ask(client, "DEBUG", "DIGEST")
        self.assertEqual(b"+Background saving started", self.ask(client, "BGSAVE"))
        wait_until(lambda: b"rdb_bgsave_in_progress:0" in self.ask(client, "INFO", "persistence"), "BGSAVE")
        self.assertEqual(b"+OK", self.ask(client, "DEBUG", "RELOAD", "NOSAVE"))
        self.assertEqual(digest, self.ask(client, "DEBUG", "DIGEST"))


def open_files(pid):
    """Returns the targets of the process's descriptors above 2, without those that are closed meanwhile."""
    links = []
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            if int(descriptor) > 2:
                links.append(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
    return links


class DumpTest(LaunchTest):
    """One directory and several starts of the server."""

    SLOW = ("--rdb-key-save-delay", "2000")

    def serve(self, *options):
        self.server = self.start("--port", "0", "--unixsocket", self.path("socket"), "--enable-debug-command", "yes",
                                 *options)
        return self.server

    def end(self):
        """Waits for the end of the process, because the next server uses the same socket."""
        self.ask("SHUTDOWN", "NOSAVE")
        self.server.exit_code()

    def ask(self, *words):
        return call(self.path("socket"), *words)

    def info(self, field):
        return re.search(rf"^{field}:(.*?)\r?$", self.ask("INFO", "persistence"), re.M)[1]

    def child_of(self, server):
        def found():
            with open(f"/proc/{server.pid}/task/{server.pid}/children", encoding="ascii") as file:
                numbers = file.read().split()
            return int(numbers[0]) if numbers else None
        return wait_until(found, "a child")

    def temporaries(self):
        return [name for name in os.listdir(self.folder) if name.startswith("temp-")]

    def test_a_signal_saves_what_is_there(self):
        server = self.serve("--save", "3600 1")
        self.ask("SET", "k", "v")
        self.assertEqual(0, server.stop())
        server = self.serve("--save", "3600 1")
        self.assertEqual("v", self.ask("GET", "k"))
        self.assertIn("DB loaded from disk: ", server.text)
        self.assertIn("Done loading RDB, keys loaded: 1, keys expired: 0.", server.text)

    def test_kill_in_the_middle_of_a_snapshot(self):
        server = self.serve("--save", "3600 1", *self.SLOW)
        self.ask("SET", "k", "old")
        self.assertEqual("+OK", self.ask("SAVE"))
        self.ask("DEBUG", "POPULATE", 3000)
        self.ask("SET", "k", "new")
        self.assertEqual("+Background saving started", self.ask("BGSAVE"))
        child = self.child_of(server)
        wait_until(self.temporaries, "a temporary file")
        server.kill()
        wait_until(lambda: not exists(child), "the end of the child")
        self.assertEqual([f"temp-{child}.rdb"], self.temporaries())
        # A snapshot of a primary is received into such a file. The parent of this test is alive.
        for name in (f"temp-1700000000.{server.pid}.rdb", f"temp-1700000000.{os.getppid()}.rdb", "temp-mine.rdb"):
            pathlib.Path(self.path(name)).write_text("REDIS", encoding="ascii")
        server = self.serve("--save", "3600 1")
        self.assertEqual("old", self.ask("GET", "k"))
        self.assertEqual({f"temp-1700000000.{os.getppid()}.rdb", "temp-mine.rdb"}, set(self.temporaries()))
        self.assertEqual("+OK", self.ask("SAVE"))

    def test_a_child_that_is_killed(self):
        server = self.serve("--save", "3600 1", *self.SLOW)
        self.ask("DEBUG", "POPULATE", 3000)
        for number, status in ((signal.SIGUSR1, "ok"), (signal.SIGKILL, "err")):
            self.assertEqual("+Background saving started", self.ask("BGSAVE"))
            child = self.child_of(server)
            wait_until(self.temporaries, "a temporary file")
            os.kill(child, number)
            wait_until(lambda: self.info("rdb_bgsave_in_progress") == "0", "its end")
            self.assertEqual(status, self.info("rdb_last_bgsave_status"))
            self.assertEqual([], self.temporaries())
        self.assertTrue(self.ask("SET", "k", "v").startswith("-MISCONF "))
        wait_until(lambda: "Background saving terminated by signal 9" in server.text, "the log line")

    def test_a_child_keeps_nothing_open(self):
        server = self.serve(*self.SLOW)
        self.ask("DEBUG", "POPULATE", 3000)
        with connect(self.path("socket")) as client:
            ask(client, "BGSAVE")
            child = self.child_of(server)
            wait_until(self.temporaries, "a temporary file")
            links = [link for link in open_files(child) if not link.endswith("/smaps_rollup")]  # open for a moment once a second
            self.assertEqual(["file", "pipe"], sorted("pipe" if "pipe:" in link else "file" for link in links), links)
            with open(f"/proc/{child}/cmdline", "rb") as file:
                self.assertTrue(file.read().startswith(b"redis-rdb-bgsave"))
            wait_until(lambda: float(self.info("current_fork_perc")) > 0, "news of the child")
            self.assertGreater(int(self.info("current_cow_size")), 0)
            self.assertEqual("3000", self.info("current_save_keys_total"))
            self.assertEqual("+OK", ask(client, "FLUSHALL"))  # without save points it saves nothing
        wait_until(lambda: not exists(child), "the end of the child")
        self.assertEqual([], self.temporaries())

    def test_loading_answers(self):
        self.serve("--save", "", "--rdbcompression", "no")
        self.ask("DEBUG", "POPULATE", 20000, "key", 1000)
        self.assertEqual("+OK", self.ask("SAVE"))
        self.end()
        slow = ("--key-load-delay", "100", "--loading-process-events-interval-bytes", "1024")
        server = self.launch("--port", "0", "--unixsocket", self.path("socket"), "--save", "3600 1", *slow)
        server.wait_for("Server initialized")
        with connect(self.path("socket")) as client:
            self.assertEqual("-LOADING Redis is loading the dataset in memory", ask(client, "GET", "key:1"))
            self.assertEqual("1", self.info("loading"))
            self.assertGreater(float(self.info("loading_loaded_perc")), 0)
        clients = [connect(self.path("socket")) for _ in range(5)]
        for client in clients:
            self.assertEqual("-LOADING Redis is loading the dataset in memory", ask(client, "PING"))
            client.close()
        with connect(self.path("socket")) as client:
            wait_until(lambda: "connected_clients:1\r" in ask(client, "INFO", "clients"), "the end of the clients")
        self.assertNotIn("Ready to accept connections", server.text)
        self.assertEqual("+OK", self.ask("CONFIG", "SET", "key-load-delay", "0"))
        wait_until(lambda: self.info("loading") == "0", "the end of loading")
        server.ready()
        self.assertEqual(":20000", self.ask("DBSIZE"))
        self.assertEqual("20000", self.info("rdb_last_load_keys_loaded"))

    def test_loading_an_append_only_file_can_be_slowed_down(self):
        self.serve("--save", "", "--appendonly", "yes", "--aof-use-rdb-preamble", "no")
        for number in range(200):
            self.assertEqual("+OK", self.ask("SET", f"key:{number}", "v" * 100))
        self.end()
        server = self.launch("--port", "0", "--unixsocket", self.path("socket"), "--appendonly", "yes",
                             "--key-load-delay", "100000", "--loading-process-events-interval-bytes", "1024")
        server.wait_for("Server initialized")
        self.assertEqual("-LOADING Redis is loading the dataset in memory", self.ask("GET", "key:1"))
        self.assertEqual("+OK", self.ask("CONFIG", "SET", "key-load-delay", "0"))
        server.ready()
        self.assertEqual(":200", self.ask("DBSIZE"))

    def test_a_signal_ends_loading(self):
        self.serve("--save", "")
        self.ask("DEBUG", "POPULATE", 20000, "key", 100)
        self.assertEqual("+OK", self.ask("SAVE"))
        self.end()
        before = os.stat(self.path("dump.rdb"))
        server = self.launch("--port", "0", "--unixsocket", self.path("socket"), "--save", "3600 1",
                             "--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
        server.wait_for("Server initialized")
        began = time.monotonic()
        self.assertEqual(0, server.stop())
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(before.st_ino, os.stat(self.path("dump.rdb")).st_ino)

    def test_a_bad_dump_is_fatal(self):
        with open(self.path("dump.rdb"), "wb") as file:
            file.write(b"REDIS0011\xfa\x09redis-ver\x057.2.4\x00\x01k")
        text = self.fails("--port", "0", "--unixsocket", self.path("socket"))
        self.assertIn("Short read or OOM loading DB. Unrecoverable error, aborting now.", text)
        self.assertRegex(text, r"reading offset \d+ of the file dump.rdb")
        self.assertIn("Fatal error loading the DB, check server logs. Exiting.", text)

    def test_a_bad_value_is_named(self):
        with open(self.path("dump.rdb"), "wb") as file:
            file.write(b"REDIS0011\x10\x03bad\x03???\xff" + bytes(8))
        text = self.fails("--port", "0", "--unixsocket", self.path("socket"))
        self.assertRegex(text, r"reading offset \d+ of the file dump.rdb -> Hash listpack integrity check failed")
        self.assertIn('The value of key "bad" cannot be read: Hash listpack integrity check failed', text)

    def test_a_dump_without_checksum(self):
        unchecked = "RDB file was saved with checksum disabled: no check performed."
        self.serve("--save", "", "--rdbchecksum", "no")
        self.assertEqual("+OK", self.ask("SAVE"))
        self.end()
        self.assertIn(unchecked, self.serve("--save", "").text)
        self.assertEqual("+OK", self.ask("SAVE"))
        self.end()
        self.assertNotIn(unchecked, self.serve("--save", "").text)

    def test_two_servers_one_dump(self):
        self.serve("--save", "3600 1")
        self.ask("SET", "k", "v")
        self.assertEqual("+OK", self.ask("SAVE"))
        text = self.fails("--port", "0", "--unixsocket", self.path("other"), "--save", "3600 1")
        self.assertIn("Another server already saves to dump.rdb", text)
        self.start("--port", "0", "--unixsocket", self.path("third"), "--save", "")
        self.assertEqual("-ERR", call(self.path("third"), "SAVE"))
        self.assertEqual("v", call(self.path("third"), "GET", "k"))
        self.assertEqual("+OK", self.ask("SAVE"))
        self.assertEqual("+Background saving started", self.ask("BGSAVE"))
        wait_until(lambda: self.info("rdb_bgsave_in_progress") == "0", "BGSAVE")
        self.assertEqual("-ERR", call(self.path("third"), "SAVE"))

    def test_a_second_interrupt_leaves_nothing_behind(self):
        server = self.serve("--save", "3600 1", "--rdb-key-save-delay", "20000")
        self.ask("DEBUG", "POPULATE", 3000)
        self.ask("SET", "k", "v")
        server.process.send_signal(signal.SIGINT)
        wait_until(self.temporaries, "a temporary file")
        self.assertEqual(1, server.stop(signal.SIGINT))
        self.assertEqual([], self.temporaries())


if __name__ == "__main__":
    unittest.main()
