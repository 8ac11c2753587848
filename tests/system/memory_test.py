"""Compares the server's memory figures with those of the allocator, and tests limits under load, over sockets."""
import os
import pathlib
import random
import re
import socket
import subprocess
import tempfile
import time
import unittest

MB = 1 << 20


def request(*words):
    texts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(texts) + b"".join(b"$%d\r\n%b\r\n" % (len(t), t) for t in texts)


class ServerTest(unittest.TestCase):
    def start(self, *arguments):
        folder = tempfile.TemporaryDirectory()
        port_file = pathlib.Path(folder.name) / "port"
        server = subprocess.Popen([os.environ["RESPITE_SERVER"], "--port", "auto", "--port-file", str(port_file), "--bind",
                                   "127.0.0.1", "--save", "", *arguments], cwd=folder.name, stdout=subprocess.DEVNULL)
        self.addCleanup(folder.cleanup)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        deadline = time.monotonic() + 10
        while not port_file.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        self.port = int(port_file.read_text())
        self.control = self.connect()

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(client.close)
        return client

    def ask(self, *words):
        """Returns the text or the first line of a reply."""
        self.control.sendall(request(*words))
        replies = self.control.makefile("rb")
        line = replies.readline().decode().rstrip()
        if line.startswith("$") and line != "$-1":
            return replies.read(int(line[1:]) + 2)[:-2].decode()
        return line

    def send_all(self, commands):
        """Sends a pipeline of commands with single-line replies; returns the replies that are errors."""
        commands = list(commands)
        errors = []
        with self.connect() as client, client.makefile("rb") as replies:
            for start in range(0, len(commands), 200):
                part = commands[start:start + 200]
                client.sendall(b"".join(request(*words) for words in part))
                errors += [line for line in (replies.readline() for _ in part) if line.startswith(b"-")]
        return errors

    def info(self, section="everything"):
        return dict(re.findall(r"^([^#:\r\n]+):(.*?)\r?$", self.ask("INFO", section), re.M))

    def wait_for(self, condition, what):
        deadline = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)


class MemoryTest(ServerTest):
    def assert_used_is_allocated(self, when):
        info = self.info("memory")
        used, allocated = int(info["used_memory"]), int(info["allocator_allocated"])
        if info["mem_allocator"] == "libc":
            self.skipTest("the allocator tells nothing")
        self.assertLess(abs(used - allocated), allocated * 0.03, f"{when}: {used} against {allocated}")

    def test_used_memory_is_what_the_allocator_handed_out(self):
        self.start()
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        self.send_all(("SET", f"text:{i}", b"v" * chance.randrange(2000)) for i in range(30_000))
        self.assert_used_is_allocated(f"texts, seed {seed}")
        self.send_all(("RPUSH", f"list:{i % 300}", b"e" * chance.randrange(100)) for i in range(30_000))
        self.send_all(("HSET", f"hash:{i % 300}", f"f{i}", b"v" * chance.randrange(100)) for i in range(30_000))
        self.send_all(("ZADD", f"zset:{i % 300}", i, f"m{i}") for i in range(30_000))
        self.assert_used_is_allocated(f"collections, seed {seed}")
        self.send_all(("UNLINK", f"text:{i}") for i in range(0, 30_000, 2))
        self.send_all([("SET", "large", b"v" * (8 * MB)), ("UNLINK", "large")])
        self.wait_for(lambda: self.info()["lazyfree_pending_objects"] == "0", "the background thread")
        self.assert_used_is_allocated(f"half of it gone, seed {seed}")
        waiting = [self.connect() for _ in range(30)]
        for client in waiting:
            client.sendall(b"*2\r\n$1000000\r\n" + b"x" * 500_000)
        self.wait_for(lambda: int(self.info()["mem_clients_normal"]) > 30 * 500_000, "half requests")
        self.assert_used_is_allocated("clients with half requests")

    def test_memory_comes_back_when_clients_go(self):
        self.start()
        befores = []
        for _ in range(4):
            clients = [self.connect() for _ in range(100)]
            for client in clients:
                client.sendall(b"PING\r\n" * 1000 + b"*2\r\n$100000\r\n" + b"x" * 50_000)
            for client in clients:
                client.recv(1)
                client.close()
            self.wait_for(lambda: self.info()["connected_clients"] == "1", "the clients to go")
            # The first round leaves what is created only one time: histograms of commands, capacity of tables.
            limit = befores[0] * 1.02 if befores else float("inf")
            self.wait_for(lambda: int(self.info()["used_memory"]) < limit, "used_memory to come back")
            befores.append(int(self.info()["used_memory"]))

    def test_maxmemory_holds_under_load(self):
        self.start("--maxmemory", str(20 * MB), "--maxmemory-policy", "allkeys-lru")
        errors = self.send_all(("SET", f"key:{i}", b"v" * 500) for i in range(60_000))
        self.assertEqual([], errors)
        info = self.info()
        self.assertLess(int(info["used_memory"]), 20 * MB + 100_000)
        self.assertGreater(int(info["used_memory"]), 19 * MB)
        self.assertEqual(60_000, int(info["evicted_keys"]) + int(re.search(r"keys=(\d+)", info["db0"])[1]))

    def test_each_evicted_key_is_in_the_journal(self):
        self.start("--maxmemory", str(8 * MB), "--maxmemory-policy", "allkeys-random", "--appendonly", "yes")
        self.send_all(("SET", f"key:{i}", b"v" * 500) for i in range(20_000))
        self.assertEqual("+OK", self.ask("CONFIG", "SET", "maxmemory", "0"))
        keys = self.ask("DBSIZE")
        self.assertLess(int(keys[1:]), 20_000)
        journal = b"".join(path.read_bytes() for path in pathlib.Path(self.journal_folder()).glob("*.incr.aof"))
        self.assertEqual(20_000 - int(keys[1:]), journal.count(b"\r\nDEL\r\n"))

    def journal_folder(self):
        self.control.sendall(request("CONFIG", "GET", "dir"))
        replies = self.control.makefile("rb")
        lines = [replies.readline() for _ in range(5)]
        return lines[4].decode().rstrip() + "/appendonlydir"

    def test_the_largest_client_is_closed_beyond_maxmemory_clients(self):
        self.start("--maxmemory-clients", "3mb")
        small, large = self.connect(), self.connect()
        small.sendall(b"*2\r\n$500000\r\n" + b"x" * 400_000)
        large.sendall(b"*2\r\n$4000000\r\n" + b"x" * 3_500_000)
        self.wait_for(lambda: self.info()["evicted_clients"] == "1", "a client to be closed")
        small.sendall(b"x" * 100_000 + b"\r\n$0\r\n\r\n")
        self.assertTrue(small.recv(100).startswith(b"-ERR unknown command"))


class GivenBackTest(ServerTest):
    """After requests of 20 to 80 MB, and when their data is deleted, the memory of an empty server is as before."""
    TEXT = b"x" * (20 * MB)
    MANY = [b"member:%d" % i for i in range(300_000)]
    PAIRS = [word for member in MANY for word in (member, b"1")]
    ALLOWED_BYTES = 3 * MB

    def requests(self):
        text, many, pairs = self.TEXT, self.MANY, self.PAIRS
        yield "a large value", [("SET", "k", text), ("APPEND", "k", text), ("GET", "k"), ("DUMP", "k"), ("BITCOUNT", "k")]
        yield "many keys", [("MSET", *pairs), ("MGET", *many), ("KEYS", "*"), ("DEL", *many)]
        yield "a hash", [("HSET", "k", *pairs), ("HGETALL", "k"), ("HMGET", "k", *many), ("HDEL", "k", *many)]
        yield "a list", [("RPUSH", "k", *many), ("LRANGE", "k", 0, -1), ("SORT", "k", "ALPHA"), ("LPOP", "k", 300_000)]
        yield "a set", [("SADD", "k", *many), ("SUNION", "k", "k"), ("SUNIONSTORE", "u", "k"), ("SREM", "k", *many)]
        yield "a sorted set", [("ZADD", "k", *(word for member in many for word in (b"1", member))),
                               ("ZRANGE", "k", 0, -1, "WITHSCORES"), ("ZUNIONSTORE", "u", 1, "k"), ("ZREM", "k", *many)]
        yield "a stream", [("XADD", "k", "*", *pairs), ("XRANGE", "k", "-", "+")]
        yield "a transaction", [("MULTI",), ("SET", "k", text), ("SET", "u", text), ("GET", "k"), ("EXEC",)]
        yield "an error in a transaction", [("MULTI",), ("SET", "k", text), (text,), ("EXEC",)]
        yield "unknown commands", [(text, text), ("PING", text, text)]
        # Both replies name the channel. Together they must stay below the output limit of subscribers, 32 MB.
        yield "a channel", [("SUBSCRIBE", text[:10 * MB]), ("PUBLISH", "c", text), ("UNSUBSCRIBE",)]
        yield "tracking", [("MSET", *pairs), ("HELLO", "3"), ("CLIENT", "TRACKING", "ON"), ("MGET", *many), ("FLUSHALL",)]
        yield "watched keys", [("WATCH", *many), ("SET", many[0], "x"), ("MULTI",), ("EXEC",)]
        yield "arguments of a script", [("EVAL", "return #ARGV", 0, *many), ("EVAL", "return #KEYS", 300_000, *many)]
        yield "a script that writes", [("EVAL", "redis.call('SET', 'k', ARGV[1]) redis.call('SET', 'u', ARGV[1])", 0, text)]
        yield "a reply in several pieces to a script", [
            ("SET", "k", text), ("EVAL", "return #redis.call('MGET', 'k', 'k', 'k', 'k')", 0)]
        yield "a long error of a script", [("EVAL", "error(('x'):rep(20000000))", 0),
                                           ("EVAL", "return redis.error_reply('E ' .. ('x'):rep(20000000))", 0),
                                           ("EVAL", "return redis.pcall(('x'):rep(20000000))", 0)]
        yield "a long error of a script in a transaction", [
            ("MULTI",), ("EVAL", "error(('x'):rep(20000000))", 0), ("EXEC",)]
        yield "many arguments of a command in a script", [
            ("EVAL", "local t = {} for i = 1, 7900 do t[i] = ('x'):rep(3000) end "
                     "return #redis.call('SADD', 'k', unpack(t)) == 0", 0),
            ("EVAL", "local t = {} for i = 1, 7900 do t[i] = i + .5 end redis.call('SADD', 'k', unpack(t))", 0)]
        yield "a function", [
            ("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function(k, a) redis.call('SET', 'k', a[1]) "
                                 "return a end)"), ("FCALL", "f", 0, text, text)]
        yield "scripts in the cache", [("EVAL", "return 1 --" + "x" * 5_000_000 + str(i), 0) for i in range(4)]

    def used(self):
        return int(self.info("memory")["used_memory"])

    def run_alone(self, commands):
        """Runs the commands on a connection of their own, and waits for their replies."""
        with self.connect() as client:
            client.settimeout(60)
            for words in commands:
                client.sendall(request(*words))
            client.sendall(request("RESET"))
            end = b""
            while not end.endswith(b"+RESET\r\n"):
                received = client.recv(1 << 20)
                self.assertNotEqual(b"", received, "the server has closed the connection")
                end = (end + received)[-100:]

    def clear(self):
        for words in (("FLUSHALL", "SYNC"), ("SCRIPT", "FLUSH", "SYNC"), ("FUNCTION", "FLUSH", "SYNC"), ("SLOWLOG", "RESET"),
                      ("CONFIG", "RESETSTAT"), ("ACL", "LOG", "RESET")):
            self.assertEqual("+OK", self.ask(*words))

    def check(self, *arguments):
        self.start(*arguments)
        self.run_alone([("EVAL", "return redis.call('SET', 'k', 'v')", 0)])
        self.clear()
        before = self.used()
        for name, commands in self.requests():
            with self.subTest(name):
                self.run_alone(commands)
                self.clear()
                self.wait_for(lambda: self.used() < before + self.ALLOWED_BYTES, f"the memory of {name}")

    def test_without_files(self):
        self.check()

    def test_with_an_append_only_file(self):
        self.check("--appendonly", "yes", "--appendfsync", "no")


if __name__ == "__main__":
    unittest.main()
