"""What a test sees of the requests of other clients (TEST JOURNAL, TEST EXPECT) and how it waits for them (TEST
AWAIT)."""
import time
import unittest

from hostile import Raw
from launcher import LaunchTest, wait_until
from test_server_page import lines_of_page, page
from two_servers import encode


class JournalTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.server = self.start("--test", "--save", "")
        self.admin = self.client()

    def client(self, name=None):
        client = Raw(self.server.port)
        self.addCleanup(client.close)
        if name is not None:
            self.assertEqual(b"+OK", client.value("CLIENT", "SETNAME", name))
        return client

    def lab(self, words, *more):
        return self.admin.value("TEST", *words.split(), *more)

    def entries(self, *words):
        reply = self.admin.value("TEST", "JOURNAL", "GET", *words)
        return [dict(zip(entry[::2], entry[1::2])) for entry in reply]

    def outcomes(self, *words):
        return [(b" ".join(entry[b"words"]), entry[b"outcome"], entry[b"within"]) for entry in self.entries(*words)]

    def start_journal(self, *words):
        self.assertEqual(b"+OK", self.admin.value("TEST", "JOURNAL", "START", *words))

    def refuses(self, text, words, *more):
        reply = self.lab(words, *more)
        self.assertTrue(isinstance(reply, bytes) and text in reply, reply)


class Entries(JournalTest):
    def test_an_entry_has_all_that_is_known(self):
        worker = self.client("worker-1")
        worker.value("CLIENT", "SETINFO", "LIB-NAME", "mylib")
        worker.value("SELECT", "3")
        self.start_journal()
        self.assertEqual(b"+OK", worker.value("SET", "lock:1", "a b", "NX"))
        [entry] = self.entries()
        self.assertEqual(int(worker.value("CLIENT", "ID")), entry[b"id"])
        self.assertLess(abs(entry[b"time"] - time.time() * 1000), 60_000)
        self.assertLess(entry[b"duration"], 60_000_000)
        self.assertTrue(entry[b"addr"].startswith(b"127.0.0.1:"), entry)
        fixed = {name: entry[name] for name in (b"seq", b"name", b"lib", b"user", b"db", b"command", b"words", b"keys",
                                                b"outcome", b"within")}
        self.assertEqual({b"seq": 1, b"name": b"worker-1", b"lib": b"mylib", b"user": b"default", b"db": 3,
                          b"command": b"set", b"words": [b"SET", b"lock:1", b"a b", b"NX"], b"keys": [b"lock:1"],
                          b"outcome": b"ok", b"within": b""}, fixed)

    def test_how_requests_end(self):
        client = self.client()
        self.start_journal()
        for words in ("SET k v", "LPUSH k 1", "NOSUCH a", "GET", "EVAL return{redis.pcall('GET','k'),redis.pcall('X')} 0"):
            client.value(*words.split())
        for words in ("MULTI", "INCR n", "LPUSH k 2", "EXEC"):
            client.value(*words.split())
        wrong = b"error WRONGTYPE Operation against a key holding the wrong kind of value"
        self.assertEqual([
            (b"SET k v", b"ok", b""), (b"LPUSH k 1", wrong, b""),
            (b"NOSUCH a", b"error ERR unknown command 'NOSUCH', with args beginning with: 'a' ", b""),
            (b"GET", b"error ERR wrong number of arguments for 'get' command", b""),
            (b"GET k", b"ok", b"script"), (b"X", b"error ERR Unknown Redis command called from script", b"script"),
            (b"EVAL return{redis.pcall('GET','k'),redis.pcall('X')} 0", b"error", b""),
            (b"MULTI", b"ok", b""), (b"INCR n", b"ok", b"transaction"), (b"LPUSH k 2", wrong, b"transaction"),
            (b"EXEC", b"ok", b"")], self.outcomes())
        self.assertEqual(2, self.lab("JOURNAL COUNT OUTCOME error* COMMAND lpush"))
        self.assertEqual(6, self.lab("JOURNAL COUNT OUTCOME error"))
        self.assertEqual(2, self.lab("JOURNAL COUNT SCRIPT yes"))
        self.assertEqual(2, self.lab("JOURNAL COUNT TRANSACTION yes"))
        self.assertEqual(4, self.lab("JOURNAL COUNT KEY k"))

    def test_a_blocked_request_is_one_entry(self):
        waiter, pusher = self.client("waiter"), self.client("pusher")
        self.start_journal()
        waiter.send(encode(["BLPOP", "q", "0"]))
        self.assertEqual(b"+OK", self.lab("AWAIT BLOCKED 1 KEY q"))
        self.assertEqual([(b"BLPOP q 0", b"blocked", b"")], self.outcomes())
        pusher.value("RPUSH", "q", "x")
        waiter.read()
        self.assertEqual([(b"BLPOP q 0", b"ok", b""), (b"RPUSH q x", b"ok", b"")], self.outcomes())
        self.assertEqual(1, self.lab("JOURNAL COUNT CLIENT waiter"))

    def test_a_wait_lasts_as_long_as_the_clock_says(self):
        waiter = self.client()
        self.assertEqual(b"+OK", self.lab("CLOCK FREEZE"))
        self.start_journal()
        waiter.send(encode(["BLPOP", "q", "60"]))
        self.assertEqual(b"+OK", self.lab("AWAIT BLOCKED 1"))
        self.assertEqual(b"+OK", self.lab("CLOCK ADVANCE 1h"))
        waiter.read()
        [entry] = self.entries()
        self.assertEqual((b"ok", 60_000_000), (entry[b"outcome"], entry[b"duration"]))

    def test_faults_have_names(self):
        client = self.client()
        self.start_journal()
        for name, rule in (("fails", "COMMAND GET DO ERROR OOM"), ("answers", "COMMAND INCR DO REPLY :7\r\n"),
                           ("late", "COMMAND TYPE DO DELAY-REPLY 1ms"), ("ends", "COMMAND TTL DO CLOSE")):
            self.assertEqual(b"+OK", self.admin.value("TEST", "FAULT", "ADD", name, "WHEN", *rule.split(" ")))
        for words in ("GET k", "INCR k", "TYPE k", "ECHO x"):
            client.value(*words.split())
        client.send(encode(["TTL", "k"]))
        client.read_to_end()
        self.assertEqual([(b"GET k", b"fault fails", b""), (b"INCR k", b"fault answers", b""), (b"TYPE k", b"fault late", b""),
                          (b"ECHO x", b"ok", b""), (b"TTL k", b"fault ends", b"")], self.outcomes())
        self.assertEqual(4, self.lab("JOURNAL COUNT OUTCOME fault"))
        self.assertEqual(1, self.lab("JOURNAL COUNT OUTCOME", "fault late"))

    def test_passwords_are_not_written_down(self):
        client = self.client()
        self.start_journal()
        client.value("AUTH", "default", "secret")
        client.value("ACL", "SETUSER", "ann", ">secret")
        client.value("CONFIG", "SET", "masterauth", "secret")
        self.assertEqual(3, len(self.entries()))
        self.assertNotIn(b"secret", repr(self.entries()).encode())

    def test_passwords_of_requests_that_fail_are_not_written_down(self):
        anna = self.client("anna")
        self.admin.value("ACL", "SETUSER", "guest", "on", "nopass", "~*", "+get", "+auth", "+hello")
        self.start_journal()
        for request in ("AUTH a secret x", "HELLO 9 AUTH u secret", "HELLO 3 AUTH secret", "CONFIG SET masterauth secret x",
                        "ACL SETUSER bob #secret", "ACL SETUSR bob >secret", "CONFIG SETT requirepass secret",
                        "MIGRATE h 1 k 0 9 AUTHX secret", "AUTH guest any", "CONFIG SET masterauth secret",
                        "ACL SETUSER q >secret", "MIGRATE h 1 k 0 9 AUTH secret"):
            anna.run(*request.split())
        for fault in ("REPLY :1\r\n", "ERROR no", "CLOSE"):
            kind, *text = fault.split(" ", 1)
            self.lab("FAULT ADD f WHEN COMMAND AUTH DO", kind, *text)
            self.client("bob").send(encode(["AUTH", "bob", "secret"]))
            wait_until(lambda: self.lab("FAULT HITS f") == 1, "the fault")
            self.lab("FAULT DEL f")
        shown = b"".join(self.admin.run("TEST", *words.split()) for words in (
            "JOURNAL GET", "REPORT TEXT", "REPORT HTML", "EXPECT COMMAND * NONE", "EXPECT COMMAND auth NONE", "MISSING"))
        self.assertIn(b"(redacted)", shown)
        self.assertNotIn(b"secret", shown)
        self.assertIn(b"ERR syntax error", b"".join(outcome for _, outcome, _ in self.outcomes("COMMAND", "auth")))

    def test_of_long_names_a_part_is_kept(self):
        anna = self.client()
        self.start_journal()
        before = self.used_memory()
        for i in range(40):
            anna.value("CLIENT", "SETNAME", f"{i}-" + "n" * 1_000_000)
            anna.value("FT.SEARCH", "idx")
        self.assertLess(self.used_memory() - before, 12_000_000)  # the client's own name is one of them
        self.assertEqual({256}, {len(entry[b"name"]) for entry in self.entries("CLIENT", "*nn*")})

    def used_memory(self):
        return int(self.admin.value("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])

    def test_the_ring_is_limited(self):
        client = self.client()
        self.start_journal("LAST", "3")
        for number in range(10):
            client.value("ECHO", str(number))
        self.assertEqual([8, 9, 10], [entry[b"seq"] for entry in self.entries()])
        self.assertEqual([(b"ECHO 9", b"ok", b"")], self.outcomes("COUNT", "1"))
        self.assertEqual([(b"ECHO 8", b"ok", b""), (b"ECHO 9", b"ok", b"")], self.outcomes("SINCE", "9"))
        self.refuses(b"the journal has lost its first ", "EXPECT COMMAND get NONE")
        self.assertEqual(b"+OK", self.lab("EXPECT COMMAND get SINCE 8 NONE"))
        self.assertEqual(b"+OK", self.lab("EXPECT COMMAND echo AT-LEAST 3"))

    def test_large_requests_are_shortened_and_memory_is_bounded(self):
        client = self.client()
        self.start_journal("LAST", "1000000")
        before = self.used_memory()
        client.value("SET", "k", "x" * 5_000_000)
        client.value("DEL", *(f"key:{i}" for i in range(5000)))
        one, other = self.entries("CATEGORY", "@write")
        self.assertEqual(b"x" * 1024 + b"... (4998976 more bytes)", one[b"words"][2])
        self.assertEqual(1024, len(other[b"words"]))
        request = encode(["ECHO", "y" * 1024]) * 1000
        for _ in range(150):  # 150 MB
            client.send(request)
            for _ in range(1000):
                client.read()
        self.assertLess(self.used_memory() - before, 150_000_000)
        self.refuses(b"the journal has lost", "EXPECT COMMAND get NONE")

    def used_memory(self):
        info = self.admin.value("INFO", "memory").decode()
        return int(next(line for line in info.splitlines() if line.startswith("used_memory:")).split(":")[1])

    def test_it_begins_ends_and_is_reset(self):
        client = self.client()
        for words in ("JOURNAL GET", "JOURNAL COUNT", "JOURNAL CLEAR", "JOURNAL STOP", "EXPECT NONE",
                      "AWAIT COMMAND get TIMES 1"):
            self.refuses(b"TEST JOURNAL START begins", words)
        self.start_journal()
        client.value("ECHO", "1")
        self.assertEqual(b"+OK", self.lab("JOURNAL STOP"))
        client.value("ECHO", "2")
        self.assertEqual([(b"ECHO 1", b"ok", b"")], self.outcomes())
        self.start_journal()
        self.assertEqual([], self.entries())
        client.value("ECHO", "3")
        self.assertEqual(b"+OK", self.lab("JOURNAL CLEAR"))
        client.value("ECHO", "4")
        self.assertEqual([2], [entry[b"seq"] for entry in self.entries()])
        self.assertEqual(b"+OK", self.lab("RESET JOURNAL"))
        self.refuses(b"there is no journal", "JOURNAL COUNT")

    def test_what_is_not_understood_is_refused(self):
        self.start_journal()
        for words, text in (("JOURNAL START LAST 0", b"a number from 1 to 1000000"), ("JOURNAL GET FOO 1", b"'FOO' is not"),
                            ("JOURNAL COUNT COMMAND nosuch", b"is no command"), ("JOURNAL GET COUNT -1", b"a number from 0"),
                            ("JOURNAL COUNT SINCE x", b"is no number of an entry"), ("EXPECT COMMAND get", b"how often is missing"),
                            ("EXPECT COMMAND get TIMES", b"TIMES needs a value"), ("EXPECT SEQUENCE THEN COMMAND get", b"needs a condition"),
                            ("EXPECT ROUNDTRIPS 3", b"AT-MOST"), ("EXPECT COMMAND get NONE NONE", b"'NONE' is not"),
                            ("AWAIT SOMETHING 1", b"cannot be awaited"), ("AWAIT BLOCKED x", b"is no number"),
                            ("AWAIT KEY k GONE", b"EXISTS, ABSENT or TYPE"), ("AWAIT KEY k TYPE thing", b"zset"),
                            ("AWAIT QUIET 2d", b"too long"), ("AWAIT BLOCKED 1 KEY", b"KEY needs a value"),
                            ("AWAIT BLOCKED 1 FOO", b"TIMEOUT may stand"), ("AWAIT COMMAND get", b"TIMES n is missing")):
            with self.subTest(words=words):
                self.refuses(text, words)

    def test_it_goes_on_when_the_server_is_killed(self):
        client = self.client()
        self.start_journal()
        client.value("SET", "k", "v")
        self.assertEqual(b"+OK", self.lab("CRASH"))
        self.client().value("GET", "k")
        self.assertEqual([(b"SET k v", b"ok", b""), (b"GET k", b"ok", b"")], self.outcomes())
        self.assertEqual(1, self.lab("JOURNAL COUNT COMMAND set"))

    def test_worlds_have_journals_of_their_own(self):
        inside = self.client()
        self.assertEqual(b"+OK", inside.value("TEST", "WORLD", "ENTER", "w"))
        self.start_journal()
        inside.value("SET", "k", "v")
        self.assertEqual(0, self.lab("JOURNAL COUNT"))
        self.assertTrue(inside.value("TEST", "JOURNAL", "COUNT").startswith(b"-ERR there is no journal"))


class Page(JournalTest):
    def test_the_lines_of_the_page(self):
        lines = [line for section in ("What was sent", "Wait for something", "Order of sets and hashes")
                 for line in lines_of_page(section)]
        self.assertEqual(11, len(lines))
        for line in lines:
            reply = self.admin.value(*line.split())
            self.assertTrue(not isinstance(reply, bytes) or reply == b"+OK", (line, reply))

    def test_the_failures_of_the_page(self):
        self.start_journal()
        one, other = self.client("worker-1"), self.client("worker-2")
        one.value("SET", "lock:1", "a", "NX", "PX", "30000")
        one.value("GET", "stock")
        other.value("SET", "lock:1", "b")
        text = page("testing/journal.md").encode()
        for words in ("EXPECT COMMAND set KEY lock:* TIMES 1", "EXPECT SEQUENCE COMMAND set KEY lock:1 CLIENT worker-1 THEN COMMAND del"):
            reply = self.lab(words)
            self.assertTrue(reply.startswith(b"-EXPECT wanted"), reply)
            self.assertIn(b"\n" + reply[1:] + b"\n", text)


class Expectations(JournalTest):
    def setUp(self):
        super().setUp()
        self.start_journal()
        self.app = self.client("app")
        self.lab("JOURNAL CLEAR")

    def test_counts(self):
        for key in ("a", "b", "lock:1"):
            self.app.value("SET", key, "1", "PX", "30000")
        for words in ("COMMAND set TIMES 3", "COMMAND set AT-LEAST 2", "COMMAND set AT-MOST 3", "COMMAND get NONE",
                      "KEY lock:* CLIENT app TIMES 1", "CATEGORY @write TIMES 3"):
            with self.subTest(words=words):
                self.assertEqual(b"+OK", self.lab("EXPECT " + words))
        self.assertEqual(b"-EXPECT wanted exactly 1 of [COMMAND set], saw 3: | #2 app: SET a 1 PX 30000 -> ok | #3 app: "
                         b"SET b 1 PX 30000 -> ok | #4 app: SET lock:1 1 PX 30000 -> ok", self.lab("EXPECT COMMAND set TIMES 1"))
        self.assertEqual(b"-EXPECT wanted at least 1 of [COMMAND get], saw 0. The journal has: | #2 app: SET a 1 PX 30000 -> "
                         b"ok | #3 app: SET b 1 PX 30000 -> ok | #4 app: SET lock:1 1 PX 30000 -> ok",
                         self.lab("EXPECT COMMAND get AT-LEAST 1"))

    def test_the_text_of_a_failure_stays_short_and_one_line(self):
        for _ in range(30):
            self.app.value("ECHO", "a\r\nb" * 100)
        reply = self.lab("EXPECT COMMAND echo NONE")
        self.assertTrue(reply.startswith(b"-EXPECT wanted none of [COMMAND echo], saw 30: | ... 20 before them | #22 app: ECHO "
                                         b'"a\\r\\nb'), reply)
        self.assertLess(len(reply), 4000)

    def test_sequences(self):
        for words in ("SET lock 1 NX", "GET stock", "DECR stock", "DEL lock"):
            self.app.value(*words.split())
        self.assertEqual(b"+OK", self.lab("EXPECT SEQUENCE COMMAND set KEY lock THEN COMMAND decr THEN COMMAND del KEY lock"))
        self.assertEqual(b"-EXPECT wanted step 2 of 2 [COMMAND get] behind | #4 app: DECR stock -> ok . Behind it came: | #5 "
                         b"app: DEL lock -> ok", self.lab("EXPECT SEQUENCE COMMAND decr THEN COMMAND get"))
        self.assertTrue(self.lab("EXPECT SEQUENCE COMMAND lpush").startswith(
            b"-EXPECT wanted step 1 of 1 [COMMAND lpush]. The journal has: | #2 app: SET lock 1 NX -> ok"))

    def test_round_trips(self):
        def run(*requests):
            self.app.send(b"".join(encode(words.split()) for words in requests))
            for _ in requests:
                self.app.read()

        run("SET a 1", "SET b 2", "GET a")
        run("MULTI")
        run("INCR n")
        run("EXEC")
        self.assertEqual(b"+OK", self.lab("EXPECT ROUNDTRIPS AT-MOST 4 CLIENT app"))
        reply = self.lab("EXPECT ROUNDTRIPS AT-MOST 3 CLIENT app")
        self.assertTrue(reply.startswith(b"-EXPECT wanted at most 3 round trips of [CLIENT app], saw 4, which began with: | #2 "
                                         b"app: SET a 1 -> ok"), reply)
        self.assertEqual(b"+OK", self.lab("EXPECT ROUNDTRIPS AT-MOST 0 CLIENT other"))


class Awaits(JournalTest):
    def answers_later(self, words, *steps):
        """The request blocks; the last of the steps unblocks it."""
        waiting = self.client()
        waiting.send(encode(["TEST", "AWAIT", *words.split()]))
        for step in steps:
            waiting.socket.settimeout(0.03)
            with self.assertRaises(TimeoutError):
                waiting.socket.recv(1)
            waiting.socket.settimeout(30)
            step()
        self.assertEqual(b"+OK\r\n", waiting.read())

    def test_blocked_clients(self):
        one, other = self.client(), self.client()
        self.answers_later("BLOCKED 2", lambda: one.send(encode(["BLPOP", "a", "0"])),
                           lambda: other.send(encode(["BRPOP", "b", "0"])))
        self.answers_later("BLOCKED 0 TIMEOUT 20s", lambda: self.admin.value("RPUSH", "a", "1"),
                           lambda: self.admin.value("RPUSH", "b", "1"))

    def test_subscribers_clients_and_keys(self):
        self.answers_later("SUBSCRIBERS news 1", lambda: self.client().value("SUBSCRIBE", "news"))
        self.answers_later("CLIENTS 1 NAME w*", lambda: self.client("w1"))
        self.answers_later("KEY k EXISTS", lambda: self.admin.value("SET", "k", "v"))
        self.answers_later("KEY k TYPE list", lambda: self.admin.value("DEL", "k"), lambda: self.admin.value("RPUSH", "k", "v"))
        self.answers_later("KEY k ABSENT", lambda: self.admin.value("PEXPIRE", "k", "50"))

    def test_commands(self):
        self.start_journal()
        self.answers_later("COMMAND incr KEY n TIMES 2", lambda: self.admin.value("INCR", "n"),
                           lambda: self.admin.value("INCR", "n"))

    def test_commands_that_are_too_old_to_be_kept_count_as_they_came(self):
        self.start_journal("LAST", "5")
        waiting, anna = self.client(), self.client("anna")
        waiting.send(encode("TEST AWAIT COMMAND get TIMES 10 TIMEOUT 30s".split()))
        for _ in range(12):
            anna.value("GET", "k")
        self.assertEqual(b"+OK\r\n", waiting.read())
        self.assertIn(b"the journal has lost its first ", self.lab("AWAIT COMMAND set TIMES 0"))

    def test_an_outcome_that_comes_later_counts(self):
        self.start_journal()
        waiting, blocked, anna = self.client(), self.client("blocked"), self.client("anna")
        blocked.send(encode(["BLPOP", "list", "0"]))
        self.assertEqual(b"+OK", self.lab("AWAIT COMMAND blpop OUTCOME blocked TIMES 1"))
        waiting.send(encode("TEST AWAIT COMMAND blpop OUTCOME ok TIMES 1 TIMEOUT 30s".split()))
        anna.value("GET", "k")
        anna.value("RPUSH", "list", "job")
        self.assertEqual(b"+OK\r\n", waiting.read())
        self.lab("JOURNAL CLEAR")
        self.assertIn(b"saw 0", self.lab("AWAIT COMMAND blpop TIMES 1 TIMEOUT 0"))

    def test_a_key_is_absent_when_its_time_is_over(self):
        self.admin.value("CONFIG", "SET", "hz", "1")
        self.admin.value("SET", "k", "v", "PX", "30")
        begin = time.monotonic()
        self.assertEqual(b"+OK", self.lab("AWAIT KEY k ABSENT"))
        self.assertGreaterEqual(time.monotonic() - begin, 0.02)

    def test_conditions_in_errors_are_shortened(self):
        self.start_journal()
        self.assertLess(len(self.admin.run("TEST", "EXPECT", "KEY", "k" * 1_000_000, "TIMES", "1")), 1000)
        self.assertLess(len(self.admin.run("TEST", "AWAIT", "COMMAND", "*", "KEY", "k" * 1_000_000, "TIMES", "1", "TIMEOUT", "0")),
                        1000)

    def test_replicas(self):
        self.answers_later("REPLICAS 1 TIMEOUT 20s", self.start_replica)

    def start_replica(self):
        replica = self.start("--test", "--save", "")
        client = Raw(replica.port)
        self.addCleanup(client.close)
        self.assertEqual(b"+OK", client.value("REPLICAOF", "127.0.0.1", str(self.server.port)))

    def test_quiet(self):
        began = time.monotonic()
        self.assertEqual(b"+OK", self.lab("AWAIT QUIET 60ms"))
        self.assertGreater(time.monotonic() - began, 0.059)
        busy = self.client()
        waiting = self.client()
        waiting.send(encode(["TEST", "AWAIT", "QUIET", "300ms", "TIMEOUT", "30s"]))
        for _ in range(20):
            busy.value("PING")
        last = time.monotonic()
        self.assertEqual(b"+OK\r\n", waiting.read())
        self.assertGreater(time.monotonic() - last, 0.25)

    def test_a_wait_that_is_not_met_ends_in_real_time(self):
        self.assertEqual(b"+OK", self.lab("CLOCK FREEZE"))
        began = time.monotonic()
        self.assertEqual(b"-AWAIT wanted at least 2 blocked clients, saw 0 after 80ms",
                         self.lab("AWAIT BLOCKED 2 TIMEOUT 80ms"))
        self.assertGreater(time.monotonic() - began, 0.079)
        self.assertEqual(b'-AWAIT wanted key "k" to exist, saw no such key', self.lab("AWAIT KEY k EXISTS TIMEOUT 0"))
        self.assertEqual(b'-AWAIT wanted key "k" to be a list, saw a string after 1ms',
                         [self.admin.value("SET", "k", "v"), self.lab("AWAIT KEY k TYPE list TIMEOUT 1ms")][1])

    def test_what_stands_behind_it_in_a_pipeline_runs_at_once(self):
        self.assertEqual(b"+OK", self.admin.value("CONFIG", "SET", "hz", "1"))
        client = self.client()
        client.send(encode(["TEST", "AWAIT", "KEY", "k", "EXISTS"]) + encode(["SET", "other", "v"]))
        self.assertEqual(b"+OK", self.lab("AWAIT CLIENTS 1"))
        began = time.monotonic()
        self.admin.value("SET", "k", "v")
        self.assertEqual(b"+OK", self.lab("AWAIT KEY other EXISTS"))
        self.assertEqual([b"+OK\r\n", b"+OK\r\n"], [client.read(), client.read()])
        self.assertLess(time.monotonic() - began, 0.5)  # the timer ticks once a second

    def test_who_awaits_may_leave(self):
        leaving = self.client("leaving")
        leaving.send(encode(["TEST", "AWAIT", "KEY", "k", "EXISTS", "TIMEOUT", "20s"]))
        wait_until(lambda: b"cmd=test|await" in self.admin.value("CLIENT", "LIST"), "the wait")
        leaving.close()
        self.assertEqual(b"+OK", self.lab("AWAIT CLIENTS 0 NAME leaving"))
        self.admin.value("SET", "k", "v")
        self.assertEqual(b"+PONG", self.admin.value("PING"))

    def test_a_change_of_role_ends_it_and_the_connection(self):
        client = self.client()
        client.send(encode(["TEST", "AWAIT", "KEY", "k", "EXISTS", "TIMEOUT", "20s"]))
        wait_until(lambda: b"cmd=test|await" in self.admin.value("CLIENT", "LIST"), "the wait")
        self.admin.value("REPLICAOF", "127.0.0.1", "1")
        self.assertTrue(client.read_to_end().startswith(b"-UNBLOCKED"))
        self.admin.value("REPLICAOF", "NO", "ONE")
        self.admin.value("SET", "k", "v")
        self.assertEqual(b"+OK", self.lab("AWAIT KEY k EXISTS"))


if __name__ == "__main__":
    unittest.main()
