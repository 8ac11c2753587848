"""A server whose address space ends at hundreds of different points: it serves, or it ends with a line in its log, a
crash report and SIGABRT (docs/operations.md). It never hangs, and acknowledged writes survive.

RESPITE_OUT_OF_MEMORY_POINTS sets the number of points of each kind of work."""
import os
import random
import resource
import signal
import time
import unittest

from hostile import SANITIZED, Raw
from launcher import LaunchTest, free_port, wait_until
from two_servers import Closed, encode

POINTS = int(os.environ.get("RESPITE_OUT_OF_MEMORY_POINTS", "40"))
LINE = "Out Of Memory allocating "
MAY_SKIP_ALL = SANITIZED  # for run_script.py
SPARE_BYTES = 12 << 20  # the limits are at most this far above the usage of a started server


def address_space(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def limited_to(octets):
    """For preexec_fn."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (octets, octets))


def written_with_limit(rng, n):
    """Returns a write with its own key, of a kind that the append-only file keeps."""
    text, length = "v" * rng.choice([1, 40, 500, 20_000, 300_000]), rng.choice([2, 100, 1_000])
    return rng.choice([["SET", f"k{n}", text], ["APPEND", f"k{n}", text], ["RPUSH", f"k{n}", text, *range(length)],
                       ["SADD", f"k{n}", text, *range(length)], ["HSET", f"k{n}", "f", text, *(range(2 * length))],
                       ["ZADD", f"k{n}", *(w for i in range(length) for w in (i, f"m{i}"))],
                       ["XADD", f"k{n}", "*", "f", text], ["SETRANGE", f"k{n}", rng.choice([100, 5_000_000]), "x"],
                       ["PFADD", f"k{n}", *range(length)], ["SETBIT", f"k{n}", rng.choice([7, 40_000_000]), 1]])


@unittest.skipIf(SANITIZED, "sanitizers need the address space for themselves")
class OutOfMemory(LaunchTest):
    def setUp(self):
        super().setUp()
        self.seed = int(os.environ.get("RESPITE_SEED") or random.randrange(2**32))
        print(f"RESPITE_SEED={self.seed}", flush=True)
        self.rng = random.Random(self.seed)
        self.ended = self.served = 0

    def start_server(self, *options, **how):
        self.port = free_port()
        return self.launch("--port", self.port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--appendfsync",
                           "no", *options, **how)  # `everysec` postpones writes while the disk is slow

    def limit(self, server, octets):
        resource.prlimit(server.pid, resource.RLIMIT_AS, (octets, octets))

    def check_end(self, server, point):
        """The server still serves, or has ended with its report; either way without delay."""
        if server.process.poll() is None:
            try:
                with Raw(self.port, limit_s=20) as client:
                    self.assertEqual(b"+PONG\r\n", client.run("PING"), point)
                self.served += 1
                return
            except (Closed, ConnectionError):
                pass  # it is ending
        code = server.exit_code()
        self.assertIn("REDIS BUG REPORT END", server.text, point)
        # A new thread first allocates jemalloc's own data; jemalloc does not check whether that failed.
        if code != -signal.SIGSEGV or "je_tcache_arena_associate" not in server.text:
            self.assertEqual(-signal.SIGABRT, code, (point, server.text[-3000:]))
            self.assertIn(LINE, server.text, point)
        self.ended += 1

    def at_points(self, work, points=POINTS):
        """Runs work(client) with a different limit each time."""
        for point in range(points):
            server = self.start_server().ready()
            spare = self.rng.randrange(SPARE_BYTES)
            try:
                with Raw(self.port, limit_s=20) as client:
                    client.run("PING")
                    self.limit(server, address_space(server.pid) + spare)
                    work(client)
            except (Closed, ConnectionError):
                pass
            self.check_end(server, (point, spare))
            server.kill()
        self.assertGreater(self.ended, 0, "no limit was ever met")

    def check_kept(self, acknowledged):
        """A server without a limit finds all keys in the append-only file."""
        server = self.start_server().ready()
        with Raw(self.port) as client:
            for start in range(0, len(acknowledged), 500):
                part = acknowledged[start:start + 500]
                self.assertEqual(len(part), client.value("EXISTS", *part))
            self.assertIn(client.value("DBSIZE") - len(acknowledged), (0, 1))  # written but not acknowledged
            client.run("FLUSHALL")
        server.kill()

    def test_writes_that_were_acknowledged_are_kept(self):
        for point in range(POINTS):
            server, acknowledged = self.start_server().ready(), []
            spare = self.rng.randrange(SPARE_BYTES)
            self.limit(server, address_space(server.pid) + spare)
            try:
                with Raw(self.port, limit_s=20) as client:
                    for n in range(300):
                        client.run(*written_with_limit(self.rng, n))
                        acknowledged.append(f"k{n}")
            except (Closed, ConnectionError):
                pass
            self.check_end(server, (point, spare))
            server.kill()
            self.check_kept(acknowledged)
        self.assertGreater(self.ended, 0)

    def test_requests(self):
        rng = self.rng

        def work(client):
            client.run(*["SADD", "s", *range(3_000)])
            client.run(*["RPUSH", "l", *range(3_000)])
            for n in range(25):
                words = rng.choice([["SUBSCRIBE", *(f"c{n}:{i}" for i in range(300))], ["CLIENT", "LIST"], ["INFO", "everything"],
                                    ["SORT", "l", "ALPHA", "STORE", "o"], ["SUNIONSTORE", f"u{n}", "s"], ["LRANGE", "l", 0, -1],
                                    ["COMMAND", "DOCS"], ["SET", f"k{n}", "x" * 1_500_000], ["CONFIG", "GET", "*"], ["COPY", "l", f"c{n}"],
                                    ["DUMP", "l"], ["LCS", "l", "k"], ["ACL", "SETUSER", f"u{n}", "on", ">p", "+@all", "~*"],
                                    ["SETRANGE", f"r{n}", 3_000_000, "x"], ["UNLINK", "u1", "u2", "k1"], ["CLIENT", "TRACKING", "ON"],
                                    ["EVAL", "return redis.sha1hex(KEYS[1])", 1, f"k{n}"]])
                with Raw(client.port, limit_s=20) as other:
                    other.run(*words)
                    other.send(encode(["MULTI"]) + encode(["SET", f"m{n}", "y" * 50_000]) * 5 + encode(["EXEC"]))
                    other.read()
        self.at_points(lambda client: work(self._with_port(client)))

    def _with_port(self, client):
        client.port = self.port
        return client

    def test_clients_that_make_the_server_keep_more_and_more(self):
        def work(_):
            others = []
            try:
                for n in range(200):
                    others.append(Raw(self.port, limit_s=20))
                    others[-1].send([b"*1000000\r\n", b"*2\r\n$3\r\nSET\r\n$500000000\r\n" + b"x" * 200_000,
                                     encode(["WATCH", *(f"{n}:{i}" for i in range(500))]),
                                     b"MULTI\r\n" + encode(["SET", "k", "x" * 30_000]) * 4][n % 4])
            finally:
                for other in others:
                    other.close()
        self.at_points(work)

    def test_scripts(self):
        """A script that needs more memory than there is gets an error; if the server itself lacks memory for it, the
        server ends."""
        texts = ["local t = {} for i = 1, 1e6 do t[i] = {i} end return #t", "return #string.rep('x', 2^23)",
                 "local s = 'x' for i = 1, 22 do s = s .. s end redis.call('SET', 'k', s) return redis.call('GET', 'k')",
                 "for i = 1, 1000 do redis.call('RPUSH', 'l', string.rep('y', 5000)) end return redis.call('LRANGE', 'l', 0, -1)",
                 "local t = {} for i = 1, 1e5 do t['k' .. i] = i end return cjson.encode(t)"]

        def work(client):
            for text in self.rng.sample(texts, len(texts)):
                self.assertIn(client.run("EVAL", text, 0)[:1], (b":", b"$", b"*", b"-"))
        self.at_points(work)

    def test_loading(self):
        """Ends with the log line, or loads everything."""
        server = self.start_server().ready()
        with Raw(self.port) as client:
            for n in range(400):
                client.run("RPUSH", f"l{n}", *(f"{n}:{i}" for i in range(200)))
            client.run("SET", "large", "x" * 3_000_000)
        whole, base = address_space(server.pid), 0
        server.stop()
        server = self.start_server("--port", 0, "--unixsocket", self.path("s"), "--appendonly", "no")
        server.ready()
        base = address_space(server.pid)
        server.stop()
        for _ in range(POINTS):
            limit = self.rng.randrange(base - (2 << 20), whole + (4 << 20))
            server = self.start_server(preexec_fn=limited_to(limit))
            wait_until(lambda: server.process.poll() is not None or "Ready to accept" in server.text, "an end")
            if server.process.poll() is None:
                with Raw(self.port) as client:
                    self.assertEqual(401, client.value("DBSIZE"))
            self.check_end(server, limit)
            server.kill()
        self.assertGreater(self.ended, 0)

    def test_a_child_that_gets_no_memory_ends_alone(self):
        failed = 0
        for point in range(POINTS):
            server = self.start_server("--enable-debug-command", "yes").ready()
            with Raw(self.port, limit_s=20) as client:
                client.run("SETRANGE", "zeros", 30_000_000, "x")  # compressing it needs as much memory again
                # The server itself allocates nothing for these few requests.
                client.run("CONFIG", "GET", "save")
                client.run("INFO")
                client.run("BGSAVE")
                wait_until(lambda: b"rdb_bgsave_in_progress:0" in client.value("INFO", "persistence"), "the first save")
                self.limit(server, address_space(server.pid) + self.rng.randrange(60_000_000))
                try:
                    for _ in range(3):
                        client.run("BGSAVE")
                        wait_until(lambda: b"rdb_bgsave_in_progress:0" in client.value("INFO", "persistence"), "its end")
                    said = client.value("INFO", "persistence")
                    failed += b"rdb_last_bgsave_status:err" in said
                    self.assertEqual("Background saving error" in server.text, LINE in server.text, server.text)
                except (Closed, ConnectionError):
                    pass
            self.check_end(server, point)
            server.kill()
        self.assertGreater(failed, 0)

    def test_one_allocation_that_is_too_large(self):
        """The same rule applies to any single allocation that a client can cause."""
        server = self.start_server("--proto-max-bulk-len", "8gb").ready()
        self.limit(server, address_space(server.pid) + (1 << 30))
        started = time.monotonic()
        with Raw(self.port) as client, self.assertRaises((Closed, ConnectionError)):
            client.run("SETRANGE", "k", 2**32 - 100, "x")
        self.assertEqual(-signal.SIGABRT, server.exit_code())
        self.assertRegex(server.text, LINE + r"4294967\d\d\d bytes!")
        self.assertLess(time.monotonic() - started, 15)

    def test_a_script_gets_an_error_for_arguments_that_are_too_large(self):
        server = self.start_server().ready()
        with Raw(self.port) as client:
            self.assertEqual(b":5\r\n", client.run("EVAL", "return #ARGV[1]", "0", "v" * 5))
            client.run("SCRIPT", "FLUSH", "SYNC")
            # Space for the request and one copy of it, but not for the script's copy.
            self.limit(server, address_space(server.pid) + (850 << 20))
            reply = client.run("EVAL", "return #ARGV[1]", "0", "v" * (300 << 20))
            self.assertTrue(reply.startswith(b"-ERR Error running script "), reply[:100])
            self.assertIn(b"not enough memory", reply)
            self.assertEqual(b"+PONG\r\n", client.run("PING"))

    def test_exit_code_instead_of_a_signal(self):
        server = self.start_server("--use-exit-on-panic", "yes", "--proto-max-bulk-len", "8gb").ready()
        self.limit(server, address_space(server.pid) + (1 << 30))
        with Raw(self.port) as client, self.assertRaises((Closed, ConnectionError)):
            client.run("SETRANGE", "k", 2**32 - 100, "x")
        self.assertEqual(1, server.exit_code())
        self.assertIn(LINE, server.text)

    def test_no_room_for_threads(self):
        """Without background threads the main thread does their work."""
        server = self.start_server().ready()
        with Raw(self.port) as client:
            client.batch([["SADD", "s", *range(n, n + 100)] for n in range(0, 2_000, 100)])
            self.limit(server, address_space(server.pid) + (1 << 20))  # a thread's stack needs 8 MB
            self.assertEqual(1, client.value("UNLINK", "s"))
            self.assertEqual(b"+OK", client.value("FLUSHALL", "ASYNC"))
            self.assertEqual(b"+PONG", client.value("PING"))
        self.assertIn("lazyfreed_objects:1", self.info(client_port=self.port))

    def info(self, client_port):
        with Raw(client_port) as client:
            return client.value("INFO", "memory").decode()


if __name__ == "__main__":
    unittest.main()
