"""Exchanges append-only files between our server and each oracle, both ways: with either format of the base, before and
after a rewrite, and there and back."""
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import unittest

import oracles
from rdb_exchange_test import SEED, commands
from test_server_page import page
from two_servers import RESPITE, WAIT_S, Server, value_of

# Commands after the first data set whose propagated form differs from the request.
LATER = [("SPOP", "set:2000", 20), ("INCRBYFLOAT", "string:0", "1.5"), ("EXPIRE", "hash:1", 100000),
         ("LMOVE", "list:60", "list:new", "LEFT", "RIGHT"), ("ZPOPMIN", "zset:2000", 3), ("GETDEL", "string:1"),
         ("EVAL", "redis.call('SET', 'by-script', 1) redis.call('RPUSH', 'also', 'a', 'b')", 0),
         ("FCALL", "f", 0, "x"), ("SET", "gone", 1, "PX", 1), ("XADD", "stream", "MAXLEN", "~", 100, "*", "f", "v"),
         ("MULTI",), ("SET", "in", "multi"), ("SELECT", 3), ("HSET", "there", "f", "v"), ("EXEC",), ("SELECT", 0),
         ("RENAME", "by-script", "by-name"), ("COPY", "zset:1", "zset:copy", "DB", 4), ("SWAPDB", 4, 5)]

DIGESTED = ("string:2", "string:10", "list:3000", "intset:513", "hash:513", "set:2000", "zset:2000", "zset:odd", "hll", "stream")


class AofTest(unittest.TestCase):
    """A folder, and servers that write to it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="aof-exchange-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def serve(self, program, preamble):
        server = Server(program, "--dir", self.folder, "--appendonly", "yes", "--aof-use-rdb-preamble", preamble)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        self.wait_until(lambda: b"loading:0" in client.run("INFO", "persistence"))
        return server, client

    @staticmethod
    def wait_until(condition):
        end = time.monotonic() + WAIT_S
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("it took too long")
            time.sleep(0.01)

    def fill(self, client, lines):
        for words in lines:
            reply = client.run(*words)
            self.assertFalse(reply.startswith(b"-"), (words, reply))

    def rewrite(self, client):
        client.run("BGREWRITEAOF")
        self.wait_until(lambda: b"aof_rewrite_in_progress:0" in client.run("INFO", "persistence"))
        self.assertIn(b"aof_last_bgrewrite_status:ok", client.run("INFO", "persistence"))

    def digest(self, client):
        self.wait_until(lambda: client.run("EXISTS", "gone") == b":0\r\n")
        return value_of(client.run("DEBUG", "DIGEST"))


class AofExchange(AofTest):
    def travel(self, source, target, preamble, rewrites):
        """Checks that the data set is the same after each exchange."""
        server, client = self.serve(source, preamble)
        self.fill(client, commands(random.Random(SEED), self.oracle.version))
        if rewrites:
            self.rewrite(client)
        self.fill(client, LATER)
        expected = self.digest(client)
        server.stop()
        server, client = self.serve(target, preamble)
        self.assertEqual(self.digest(client), expected)
        self.fill(client, [("SET", "from", "target")])
        self.rewrite(client)
        self.fill(client, [("APPEND", "from", "!")])
        expected = self.digest(client)
        server.stop()
        if preamble == "no":
            manifest = os.path.join(self.folder, "appendonlydir", "appendonly.aof.manifest")
            subprocess.run([self.oracle.tool("check-aof"), manifest], check=True, stdout=subprocess.DEVNULL, timeout=60)
        _, client = self.serve(source, preamble)
        self.assertEqual(self.digest(client), expected)

    def travel_all_ways(self, source, target):
        for preamble in ("no", "yes"):
            # 7.0 cannot read RDB files of version 11, which 7.2 and our server write.
            if preamble == "yes" and self.oracle.version < (7, 2):
                continue
            for rewrites in (False, True):
                with self.subTest(preamble=preamble, rewrites=rewrites):
                    shutil.rmtree(os.path.join(self.folder, "appendonlydir"), ignore_errors=True)
                    self.travel(source, target, preamble, rewrites)
                    self.oracle.count()

    def test_theirs_to_us(self):
        self.travel_all_ways(self.oracle.program, RESPITE)

    def test_ours_to_them(self):
        self.travel_all_ways(RESPITE, self.oracle.program)


class FromLaterVersions(AofTest):
    """Runs the lines of docs/from_redis_8.md, with the sockets of two servers for its ports."""
    DEADLINE = 33177117420  # 3021

    def shell(self, line, **sockets):
        """Runs a line with redis-cli at these sockets instead of -p PORT."""
        ports = "".join(f"{port[1:]}) at={path} ;; " for port, path in sockets.items())
        functions = f'redis-cli() {{ local at; case $2 in {ports}esac; shift 2; command redis-cli -s "$at" "$@"; }}\nsleep() {{ command sleep 0.01; }}\n'
        done = subprocess.run(["bash", "-c", functions + line], cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(0, done.returncode, (line, done.stdout, done.stderr))
        return done.stdout

    def lines(self, section):
        text = page("from_redis_8.md").split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
        return re.findall(r"^    (.*)$", text, re.M), text

    def written(self, has_file):
        """Fills the old server and lets it write the file. Returns it, a client, and the line that starts Respite."""
        old = Server(self.oracle.program, "--dir", self.folder, "--appendonly", "yes" if has_file else "no")
        self.addCleanup(old.stop)
        client = old.client()
        self.addCleanup(client.close)
        self.fill(client, [*commands(random.Random(SEED), self.oracle.version), ("HSET", "fields", "a", 1, "b", 2)])
        self.has_field_expiry = client.run("HEXPIREAT", "fields", self.DEADLINE, "FIELDS", 1, "a").startswith(b"*")
        self.digests = value_of(client.run("DEBUG", "DIGEST-VALUE", *DIGESTED))
        lines, text = self.lines("Move the data by the append-only file")
        start = lines.pop()
        if has_file:
            lines[1] = re.search(r"`(redis-cli -p 6379 BGREWRITEAOF)`", text)[1]
        self.assertTrue(lines[-1].endswith(" SHUTDOWN"))
        self.assertIn("aof_last_bgrewrite_status:ok", [self.shell(line, p6379=old.path) for line in lines[:-1]][-1])
        return old, client, lines[-1], start

    def test_move(self):
        for has_file in (False, True):
            with self.subTest(has_file=has_file):
                shutil.rmtree(os.path.join(self.folder, "appendonlydir"), ignore_errors=True)
                old, client, end, start = self.written(has_file)
                keys = sorted(value_of(client.run("KEYS", "*")))
                self.shell(f"{end} || true", p6379=old.path)
                old.process.wait(WAIT_S)
                program, *words = start.replace("--port 6379 ", "").replace("/var/lib/redis", self.folder).split()
                self.assertEqual("respite-server", program)
                server = Server(RESPITE, *words)
                self.addCleanup(server.stop)
                new = server.client()
                self.addCleanup(new.close)
                self.wait_until(lambda: b"loading:0" in new.run("INFO", "persistence"))
                self.assertEqual(keys, sorted(value_of(new.run("KEYS", "*"))))
                self.assertEqual(self.digests, value_of(new.run("DEBUG", "DIGEST-VALUE", *DIGESTED)))
                if self.has_field_expiry:
                    self.assertEqual(b"*1\r\n:%d\r\n" % self.DEADLINE, new.run("HEXPIRETIME", "fields", "FIELDS", 1, "a"))
                server.stop()
                self.oracle.count()

    def test_copy(self):
        old, client, _, _ = self.written(has_file=False)
        server = Server(RESPITE)
        self.addCleanup(server.stop)
        new = server.client()
        self.addCleanup(new.close)
        (line,), _ = self.lines("Copy the data into a running server")
        self.assertIn("errors: 0, replies: ", self.shell(line, p6379=old.path, p6380=server.path))
        self.assertEqual(sorted(value_of(client.run("KEYS", "*"))), sorted(value_of(new.run("KEYS", "*"))))
        self.assertEqual(self.digests, value_of(new.run("DEBUG", "DIGEST-VALUE", *DIGESTED)))
        self.oracle.count()

    def test_back(self):
        """The old server reads Respite's snapshot."""
        if self.oracle.version < (7, 2):
            self.skipTest("it cannot read RDB 11")
        server = Server(RESPITE, "--dir", self.folder)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        self.fill(client, [("SET", "greeting", "hello"), ("SAVE",)])
        server.stop()
        old = Server(self.oracle.program, "--dir", self.folder)
        self.addCleanup(old.stop)
        again = old.client()
        self.addCleanup(again.close)
        self.assertEqual(b"$5\r\nhello\r\n", again.run("GET", "greeting"))


oracles.multiply(globals(), AofExchange, FromLaterVersions)


if __name__ == "__main__":
    unittest.main()
