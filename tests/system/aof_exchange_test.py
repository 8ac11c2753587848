"""Exchanges append-only files between our server and each oracle, both ways: with either format of the base, before and
after a rewrite, and there and back."""
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest

import oracles
from rdb_exchange_test import SEED, commands
from two_servers import RESPITE, WAIT_S, Server, value_of

# Commands after the first data set whose effects differ from their words.
LATER = [("SPOP", "set:2000", 20), ("INCRBYFLOAT", "string:0", "1.5"), ("EXPIRE", "hash:1", 100000),
         ("LMOVE", "list:60", "list:new", "LEFT", "RIGHT"), ("ZPOPMIN", "zset:2000", 3), ("GETDEL", "string:1"),
         ("EVAL", "redis.call('SET', 'by-script', 1) redis.call('RPUSH', 'also', 'a', 'b')", 0),
         ("FCALL", "f", 0, "x"), ("SET", "gone", 1, "PX", 1), ("XADD", "stream", "MAXLEN", "~", 100, "*", "f", "v"),
         ("MULTI",), ("SET", "in", "multi"), ("SELECT", 3), ("HSET", "there", "f", "v"), ("EXEC",), ("SELECT", 0),
         ("RENAME", "by-script", "by-name"), ("COPY", "zset:1", "zset:copy", "DB", 4), ("SWAPDB", 4, 5)]


class AofExchange(unittest.TestCase):
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
            # 7.0 cannot read RDB files of version 11, which 7.2 and we write.
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


oracles.multiply(globals(), AofExchange)


if __name__ == "__main__":
    unittest.main()
