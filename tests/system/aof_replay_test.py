"""Sends random commands to a real Redis; then our server and another Redis load its append-only file. No command may
fail, and the data sets must be equal.

    python3 tests/system/aof_replay_test.py --seed 7 --rounds 50 [--commands 2000]

runs longer or repeats a failure; the seed is always printed."""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import known_differences
import oracles
from generators import DATABASES, Generator
from two_servers import REDIS, RESPITE, WAIT_S, Closed, Server, encode, value_of

ROUNDS = 6
COMMANDS = 1500
# Fields of XINFO STREAM … FULL about storage or times.
BY_SERVER = {b"radix-tree-keys", b"radix-tree-nodes", b"seen-time", b"active-time"}
# Our values are those of Redis 7.2.9 and later, and entries-read is never above entries-added (docs/differences.md).
CORRECTED = {b"lag", b"entries-read"}


def wait_until(condition):
    end = time.monotonic() + WAIT_S
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it took too long")
        time.sleep(0.01)


def without(names, value):
    """Returns a tree of replies without the values of these names."""
    if not isinstance(value, list):
        return value
    items = iter([without(names, item) for item in value])
    kept = []
    for item in items:
        if isinstance(item, bytes) and item in names:
            next(items)
        else:
            kept.append(item)
    return kept


class Folder:
    """A directory with an append-only file, used by one server after another."""

    def __init__(self, *more):
        self.path = tempfile.mkdtemp(prefix="aof-replay-")
        self.more = more

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)

    def serve(self, program, *more):
        server = Server(program, "--dir", self.path, "--appendonly", "yes", "--aof-use-rdb-preamble", "no",
                        *self.more, *more)
        client = server.client()
        wait_until(lambda: b"loading:0" in client.run("INFO", "persistence"))
        return server, client


def content(client):
    """Returns each key's value and expiry. A stream has its metadata and groups too, which a digest does not cover;
    scores are numbers: Redis 7.0 takes the digest of other digits than its successors."""
    found = {}
    for db in range(DATABASES):
        client.run("SELECT", db)
        for key in value_of(client.run("KEYS", "*")):
            kind = value_of(client.run("TYPE", key))
            if kind == b"+zset":
                parts = value_of(client.run("ZRANGE", key, 0, -1, "WITHSCORES"))
                value = [(member, float(score)) for member, score in zip(parts[::2], parts[1::2])]
            else:
                value = value_of(client.run("DEBUG", "DIGEST-VALUE", key))
            if kind == b"+stream":
                value += without(BY_SERVER | CORRECTED, value_of(client.run("XINFO", "STREAM", key, "FULL", "COUNT", 0)))
            found[db, key] = kind, value, value_of(client.run("PEXPIRETIME", key))
    client.run("SELECT", 0)
    return found


def fill(client, commands):
    client.send(b"".join(encode(words) for words in commands))
    for words in commands:
        try:
            client.read()
        except (OSError, Closed) as error:
            raise AssertionError(f"no reply to {words}") from error


def commands_of(seed, version, count):
    """Mostly single commands; some in transactions."""
    rng = random.Random(seed)
    generator = Generator(rng, version)
    commands = generator.thresholds()
    while len(commands) < count:
        several = [generator.command() for _ in range(rng.randint(2, 5))] if rng.random() < 0.05 else None
        commands += [[b"MULTI"], *several, [b"EXEC"]] if several else [generator.command()]
    return commands


def play(seed, count):
    folder = Folder()
    try:
        server, client = folder.serve(REDIS)
        mark = oracles.oracle_at(REDIS).mark
        fill(client, [words for words in commands_of(seed, server.version, count)
                      if not known_differences.avoided(mark, words)])
        client.close()
        server.stop()
        found = []
        for program in (REDIS, RESPITE):
            server, client = folder.serve(program)
            try:
                info = client.run("INFO", "persistence")
                assert not server.is_ours or b"\naof_load_failed_commands:0\r" in info, info
                found.append(content(client))
            finally:
                client.close()
                server.stop()
        theirs, ours = found
        assert theirs, f"seed {seed}: Redis loads nothing"
        for key in theirs | ours:
            assert theirs.get(key) == ours.get(key), f"seed {seed}, {key}: Redis loads {theirs.get(key)}, we {ours.get(key)}"
    finally:
        folder.remove()


class AofReplayTest(unittest.TestCase):
    def test_random_commands(self):
        seed = int(os.environ.get("RESPITE_SEED", random.randrange(2**32)))
        for number in range(ROUNDS):
            print(f"aof_replay_test seed {seed + number}", flush=True)
            play(seed + number, COMMANDS)

    def test_trims_with_a_limit(self):
        folder = Folder("--stream-node-max-entries", "4")
        self.addCleanup(folder.remove)
        server, client = folder.serve(REDIS)
        lines = [("XADD", "s", "MAXLEN", "~", 10, "LIMIT", 100, f"{i}-1", "a", "b") for i in range(1, 51)]
        lines += [("XADD", "t", "MINID", "~", f"{i - 5}-0", "LIMIT", 3, f"{i}-1", "a", "b") for i in range(6, 51)]
        lines += [("XADD", "u", f"{i}-1", "a", "b") for i in range(1, 51)]
        lines += [("XTRIM", "u", "MAXLEN", "~", 20, "LIMIT", 12), ("XTRIM", "u", "MINID", "~", "30-0", "LIMIT", 8)]
        fill(client, lines)
        expected = value_of(client.run("DEBUG", "DIGEST"))
        client.close()
        server.stop()
        server, client = folder.serve(RESPITE)
        self.addCleanup(server.stop)
        self.addCleanup(client.close)
        self.assertEqual(value_of(client.run("DEBUG", "DIGEST")), expected)
        self.assertNotEqual(expected, b"0" * 40)


class StartTest(unittest.TestCase):
    """Tests the shutdown of a server that is still loading its data."""

    def setUp(self):
        self.folder = Folder("--key-load-delay", "2000", "--loading-process-events-interval-bytes", "1024",
                             "--save", "3600 1")
        self.addCleanup(self.folder.remove)

    def launch(self, *options):
        path = os.path.join(self.folder.path, "socket")
        log = open(os.path.join(self.folder.path, "log"), "ab")
        self.addCleanup(log.close)
        process = subprocess.Popen([RESPITE, "--port", "0", "--unixsocket", path, "--dir", self.folder.path,
                                    *self.folder.more, *options],
                                   stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait, WAIT_S)
        self.addCleanup(process.kill)
        return process

    def content(self):
        found = {}
        for folder, _, names in os.walk(self.folder.path):
            for name in names:
                if name not in ("log", "socket"):
                    with open(os.path.join(folder, name), "rb") as file:
                        found[name] = file.read()
        return found

    def stop_while_loading(self, *options):
        before = self.content()
        process = self.launch(*options)
        log = os.path.join(self.folder.path, "log")
        wait_until(lambda: os.path.exists(os.path.join(self.folder.path, "socket")) or process.poll() is not None)
        self.assertIsNone(process.poll(), log)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(WAIT_S), 0)
        self.assertEqual(self.content(), before, "half a data set must not replace the whole")
        with open(log, "rb") as file:
            self.assertNotIn(b"Ready to accept", file.read())

    def filled(self, *options):
        server = Server(RESPITE, "--dir", self.folder.path, *options)
        client = server.client()
        fill(client, [("SET", f"key:{i}", "v" * 100) for i in range(2000)])
        client.run("SAVE")
        client.close()
        server.stop()

    def test_sigterm_while_the_append_only_file_is_loaded(self):
        self.filled("--appendonly", "yes")
        self.stop_while_loading("--appendonly", "yes")

    def test_sigterm_while_the_dump_is_loaded(self):
        self.filled()
        self.stop_while_loading()


class FolderTest(unittest.TestCase):
    """A directory that is removed or becomes read-only while the server runs."""

    def setUp(self):
        self.folder = Folder()
        self.addCleanup(self.folder.remove)

    def serve(self, *more):
        server, client = self.folder.serve(RESPITE, *more)
        self.addCleanup(server.stop)
        self.addCleanup(client.close)
        return server, client

    def test_the_folder_of_the_append_only_file_is_deleted(self):
        server, client = self.serve("--appendfsync", "always")
        client.run("SET", "k", "v")
        shutil.rmtree(os.path.join(self.folder.path, "appendonlydir"))
        self.assertEqual(client.run("SET", "l", "w"), b"+OK\r\n")
        client.run("BGREWRITEAOF")
        wait_until(lambda: b"aof_rewrite_in_progress:0" in client.run("INFO", "persistence"))
        self.assertIn(b"aof_last_bgrewrite_status:ok", client.run("INFO", "persistence"))
        self.assertEqual(client.run("SET", "m", "x"), b"+OK\r\n")
        server.stop()
        _, client = self.serve()
        self.assertEqual(client.run("DBSIZE"), b":3\r\n", "a rewrite makes it whole again")

    def test_the_working_folder_is_deleted(self):
        server, client = self.serve("--appendfsync", "always")
        client.run("SET", "k", "v")
        shutil.rmtree(self.folder.path)
        self.assertTrue(client.run("BGREWRITEAOF").startswith(b"-ERR"))
        self.assertTrue(client.run("SAVE").startswith(b"-ERR"))
        self.assertEqual(client.run("GET", "k"), b"$1\r\nv\r\n")
        self.assertIsNone(server.process.poll())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--commands", type=int, default=COMMANDS)
    options = parser.parse_args()
    for number in range(options.rounds):
        print(f"seed {options.seed + number}", flush=True)
        play(options.seed + number, options.commands)


if __name__ == "__main__":
    if "--seed" in sys.argv or "--rounds" in sys.argv:
        main()
    else:
        unittest.main()
