"""Code that works in a test and fails in production (TEST LINT): each rule with the mistake and a corrected version."""
import unittest

from hostile import Raw
from launcher import LaunchTest
from test_server_page import lines_of_page

UNLOCK = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"


class LintTest(LaunchTest):
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

    def pair(self):
        return self.client("anna"), self.client("bob")

    def lab(self, words, *more):
        return self.admin.value("TEST", *words.split(), *more)

    def begin(self, *rules):
        self.assertEqual(b"+OK", self.admin.value("TEST", "LINT", "ON", *rules))

    def report(self, *rules):
        reply = self.admin.value("TEST", "LINT", "REPORT", *rules)
        return [dict(zip(finding[::2], finding[1::2])) for finding in reply]

    def found(self):
        """Returns rule, client, command and count of each finding, and discards the findings."""
        found = [(finding[b"rule"].decode(), finding[b"name"].decode(), finding[b"command"].decode(), finding[b"count"])
                 for finding in self.report()]
        self.assertEqual(b"+OK", self.lab("LINT CLEAR"))
        return found

    def run_all(self, client, *requests):
        return [client.value(*(request.split() if isinstance(request, str) else request)) for request in requests]

    def advance(self, duration):
        reply = self.lab("CLOCK ADVANCE", duration)
        self.assertFalse(isinstance(reply, bytes) and reply.startswith(b"-"), reply)

    def refuses(self, text, words, *more):
        reply = self.lab(words, *more)
        self.assertTrue(isinstance(reply, bytes) and reply.startswith(b"-ERR") and text in reply, reply)


class Findings(LintTest):
    def test_a_finding_has_all_that_is_known(self):
        self.begin()
        anna = self.client("anna")
        self.run_all(anna, "CLIENT SETINFO LIB-NAME mylib", "SETNX lock:1 me", "SETNX lock:22 me")
        [finding] = self.report("lock-without-ttl")
        self.assertEqual(int(anna.value("CLIENT", "ID")), finding[b"id"])
        self.assertTrue(finding[b"addr"].startswith(b"127.0.0.1:"))
        self.assertLessEqual(finding[b"first"], finding[b"last"])
        fixed = {name: finding[name] for name in (b"rule", b"why", b"instead", b"command", b"request", b"key", b"name",
                                                  b"lib", b"user", b"count")}
        self.assertEqual({
            b"rule": b"lock-without-ttl", b"command": b"setnx", b"request": b"SETNX lock:1 me", b"key": b"lock:1",
            b"why": b"lock:1 is set without a deadline. If its client ends before it deletes the key, nobody else gets it",
            b"instead": b"write SET key token NX PX milliseconds, in one request", b"name": b"anna", b"lib": b"mylib",
            b"user": b"default", b"count": 2}, fixed)

    def test_what_is_one_finding(self):
        self.begin("select-in-cluster")
        anna, bob = self.pair()
        self.run_all(anna, "SELECT 1", "SELECT 2")
        self.run_all(bob, "SELECT 3")
        self.assertEqual([("select-in-cluster", "anna", "select", 2), ("select-in-cluster", "bob", "select", 1)],
                         self.found())

    def test_rules_are_chosen_and_left(self):
        self.refuses(b"'nonsense' is no rule. Write one of cross-slot", "LINT ON nonsense")
        self.refuses(b"cross-slot has no value", "LINT ON cross-slot=3")
        self.refuses(b"no-ttl needs a pattern of keys. Write no-ttl=session:*", "LINT ON no-ttl")
        self.refuses(b"'x' is no size. Write 1mb", "LINT ON big-value=x")
        for wrong in ("newer=7.x", "deprecated=", "chatty=0", "hot-key=101"):
            self.refuses(b" is no ", "LINT ON cross-slot " + wrong)
        self.refuses(b"name the rules", "LINT STRICT")
        self.refuses(b"no rule has been on", "LINT REPORT")
        modes = lambda: {row[1].decode(): (row[3].decode(), row[5].decode()) for row in self.lab("LINT RULES")}
        self.assertEqual({("off", "")}, {row for row in modes().values() if row[1] == ""})
        self.begin("big-value=100kb", "no-ttl=session:*", "newer=6.2")
        self.lab("LINT STRICT cross-slot")
        on = {name: row for name, row in modes().items() if row[0] != "off"}
        self.assertEqual({"big-value": ("on", "102400"), "no-ttl": ("on", "session:*"), "newer": ("on", "6.2"),
                          "cross-slot": ("strict", "")}, on)
        self.lab("LINT OFF big-value")
        self.assertEqual("off", modes()["big-value"][0])
        client = self.client()
        client.value("SELECT", "1")
        self.assertEqual([], self.found())
        self.lab("LINT OFF")
        self.assertEqual({"off"}, {row[0] for row in modes().values()})
        self.assertEqual([], self.report())
        self.lab("RESET LINT")
        self.assertEqual("1048576", modes()["big-value"][1])
        self.begin()
        self.assertEqual({"no-ttl", "newer"}, {name for name, row in modes().items() if row[0] == "off"})

    def test_a_strict_rule_refuses(self):
        self.lab("LINT STRICT cross-slot lost-message")
        anna = self.client("anna")
        self.assertEqual(
            b"-LINT cross-slot: a is in slot 15495, b in slot 3300: a cluster refuses to use both at once. Instead: give "
            b"keys that are used together one hash tag, as in {user:1}:cart and {user:1}:orders",
            anna.value("MSET", "a", "1", "b", "2"))
        self.assertEqual(0, anna.value("EXISTS", "a"))
        self.run_all(anna, "MULTI", "SET a 1", "SET b 1")
        self.assertTrue(anna.value("EXEC").startswith(b"-LINT cross-slot"))
        self.assertEqual(0, anna.value("EXISTS", "a"))
        self.assertEqual(b"+OK", anna.value("SET", "a", "1"))
        reply = anna.value("EVAL", "redis.call('SET',KEYS[1],1) return redis.call('GET',ARGV[1])", "1", "a", "b")
        self.assertTrue(reply.startswith(b"-LINT cross-slot"), reply)
        reply = anna.value("EVAL", "return redis.pcall('PUBLISH','news','x').err", "0")
        self.assertTrue(reply.startswith(b"LINT lost-message: nobody has subscribed to news"), reply)
        self.run_all(anna, "MULTI", "PUBLISH news x", "INCR n")
        refused, done = anna.value("EXEC")
        self.assertTrue(refused.startswith(b"-LINT lost-message"), refused)
        self.assertEqual(1, done)

    def test_the_lines_of_the_page(self):
        lines = lines_of_page("Lint") + lines_of_page("Missing commands")
        self.assertEqual(8, len(lines))
        for line in lines:
            reply = self.admin.value(*line.split())
            self.assertTrue(isinstance(reply, list) if line in ("TEST LINT REPORT", "TEST MISSING") else reply == b"+OK",
                            (line, reply))

    def test_secrets_are_not_shown(self):
        self.begin("big-value=3")
        self.client().value("AUTH", "secret")
        self.client().value("HELLO", "3", "AUTH", "default", "secret")
        requests = [finding[b"request"] for finding in self.report()]
        self.assertEqual([b"AUTH (redacted)"], [request for request in requests if request.startswith(b"AUTH")])
        self.assertFalse([request for request in requests if b"secret" in request], requests)

    def test_findings_are_bounded(self):
        self.begin("cross-slot")
        client = self.client()
        letters = "abcdefghijklmnopqrstuvwxyzABCDEFG"
        client.batch([("MGET", "{x}" + one, one + other) for one in letters for other in letters])
        self.assertEqual(1000, len(self.report()))

    def test_a_crash_keeps_rules_and_findings(self):
        self.begin("select-in-cluster", "big-value=20")
        self.client("anna").value("SELECT", "1")
        self.assertEqual(b"+OK", self.lab("CRASH"))
        self.client("bob").value("SET", "k", "x" * 21)
        self.assertEqual([("select-in-cluster", "anna", "select", 1), ("big-value", "bob", "set", 1)], self.found())


class Locks(LintTest):
    def test_a_lock_needs_a_deadline(self):
        self.begin("lock-without-ttl")
        anna = self.client("anna")
        self.run_all(anna, "SETNX a me", "EXPIRE a 10", "SET b me NX")
        self.run_all(anna, "MULTI", "SETNX c me", "EXEC", ("EVAL", "return redis.call('SETNX',KEYS[1],1)", "1", "d"))
        self.assertEqual([("lock-without-ttl", "anna", name, 1) for name in ("setnx", "set", "exec", "eval")],
                         [row[:3] + (1,) for row in self.found()])
        self.run_all(anna, "SET e me NX PX 1000", "SET f me EX 5 NX", "SETNX e other", "MULTI", "SETNX g me",
                     "EXPIRE g 10", "EXEC",
                     ("EVAL", "redis.call('SETNX',KEYS[1],1) return redis.call('PEXPIRE',KEYS[1],99)", "1", "h"))
        self.assertEqual([], self.found())

    def test_the_lock_of_another_client_is_not_deleted(self):
        self.begin("foreign-unlock")
        anna, bob = self.pair()
        self.run_all(anna, "SET lock anna NX PX 100")
        self.advance("200ms")
        self.run_all(bob, "SET lock bob NX PX 1000")
        self.assertEqual(1, anna.value("DEL", "lock"))
        [finding] = self.report()
        self.assertEqual(b"lock is the lock of client bob, and is deleted by another client, whose own time was over, "
                         b"without a comparison at that moment", finding[b"why"])
        self.assertEqual([("foreign-unlock", "anna", "del", 1)], self.found())
        # By GET, then DEL: another client may take the lock in between.
        self.run_all(anna, "SET lock anna NX PX 100", "GET lock")
        self.advance("200ms")
        self.run_all(bob, "SET lock bob NX PX 1000")
        self.run_all(anna, "UNLINK lock")
        self.assertEqual([("foreign-unlock", "anna", "unlink", 1)], self.found())
        # In a script that does not check the owner.
        self.run_all(bob, "SET lock bob NX PX 1000")
        self.run_all(anna, ("EVAL", "return redis.call('DEL',KEYS[1])", "1", "lock"))
        self.assertEqual([("foreign-unlock", "anna", "del", 1)], self.found())

    def test_who_compares_may_delete(self):
        self.begin("foreign-unlock")
        anna, bob = self.pair()
        self.run_all(anna, "SET lock anna NX PX 100")
        self.assertEqual(1, anna.value("EVAL", UNLOCK, "1", "lock", "anna"))
        self.run_all(anna, "SET lock anna NX PX 100")
        self.advance("200ms")
        self.run_all(bob, "SET lock bob NX PX 100")
        self.assertEqual(0, anna.value("EVAL", UNLOCK, "1", "lock", "anna"))
        # A program may have several connections.
        self.assertEqual(1, anna.value("EVAL", UNLOCK, "1", "lock", "bob"))
        self.run_all(bob, "SET lock bob NX PX 100")
        self.run_all(anna, "WATCH lock", "GET lock", "MULTI", "DEL lock")
        self.assertEqual([1], anna.value("EXEC"))
        self.run_all(bob, "SET lock bob NX PX 100", "DEL lock", "SET lock free")
        self.run_all(anna, "DEL lock")
        self.run_all(bob, "SET lock bob NX PX 100")
        self.advance("200ms")
        self.run_all(anna, "DEL lock")
        self.assertEqual([], self.found())

    def test_work_behind_the_end_of_the_lock(self):
        self.begin("expired-lock-work")
        anna, bob = self.pair()
        self.run_all(anna, "SET lock anna NX PX 100", "GET stock")
        self.advance("200ms")
        self.run_all(bob, "SET lock bob NX PX 1000", "GET stock")
        self.run_all(anna, "SET stock 9")
        [finding] = self.report()
        self.assertEqual(b"stock is written under a lock that is over: client bob has it now", finding[b"why"])
        self.assertEqual([("expired-lock-work", "anna", "set", 1)], self.found())
        # The new holder uses the key later.
        self.run_all(anna, "DEL other", "SET report 1")
        self.run_all(bob, "INCR report")
        self.assertEqual([("expired-lock-work", "anna", "", 1)], self.found())

    def test_work_within_the_lock(self):
        self.begin("expired-lock-work")
        anna, bob = self.pair()
        self.run_all(anna, "SET lock anna NX PX 1000", "GET stock", "SET stock 9",
                     ("EVAL", UNLOCK, "1", "lock", "anna"))
        self.run_all(bob, "SET lock bob NX PX 100", "GET stock", "SET stock 8")
        self.run_all(anna, "SET unrelated 1")
        self.advance("200ms")
        # Its lock has expired, and it finds that out before it continues.
        self.run_all(anna, "SET lock anna NX PX 1000", "GET stock")
        self.run_all(bob, ("EVAL", UNLOCK, "1", "lock", "bob"), "SET stock 1", "SET elsewhere 1")
        self.assertEqual([], self.found())


class Updates(LintTest):
    def test_an_update_is_lost(self):
        self.begin("lost-update")
        anna, bob = self.pair()
        self.run_all(bob, "SET stock 10")
        self.run_all(anna, "GET stock")
        self.run_all(bob, "DECR stock")
        self.run_all(anna, "SET stock 8")
        [finding] = self.report()
        self.assertEqual(b"client bob has written stock since it was read; what it wrote is lost", finding[b"why"])
        self.assertEqual([("lost-update", "anna", "set", 1)], self.found())
        # Both clients take one item, and both write the same value.
        self.run_all(anna, "GET stock")
        self.run_all(bob, "SET stock 7")
        self.run_all(anna, "SET stock 7")
        self.assertEqual([("lost-update", "anna", "set", 1)], self.found())
        self.run_all(anna, "HSET user name a age 7", "HGET user age")
        self.run_all(bob, "HINCRBY user age 1")
        self.run_all(anna, "HSET user age 9")
        self.assertEqual([("lost-update", "anna", "hset", 1)], self.found())
        self.run_all(anna, "GET stock", "MULTI", "SET stock 5")
        self.run_all(bob, "SET stock 6")
        self.run_all(anna, "EXEC")
        self.assertEqual([("lost-update", "anna", "set", 1)], self.found())

    def test_nothing_is_lost(self):
        self.begin("lost-update")
        anna, bob = self.pair()
        self.run_all(bob, "SET stock 10")
        self.run_all(anna, "GET stock", "SET stock 9", "GET stock")
        self.run_all(bob, "GET stock", "DECR stock")
        # The transaction of a client that watches the key does not run.
        self.run_all(anna, "WATCH stock", "GET stock", "MULTI", "SET stock 5")
        self.run_all(bob, "SET stock 6")
        self.assertIsNone(anna.value("EXEC"))
        # Other fields.
        self.run_all(anna, "HGET user age")
        self.run_all(bob, "HSET user name b")
        self.run_all(anna, "HSET user age 9")
        # Two clients fill a cache, or write the same value.
        self.run_all(anna, "GET cached")
        self.run_all(bob, "GET cached", "SET cached 1 EX 10")
        self.run_all(anna, "SET cached 2 EX 10", "GET page")
        self.run_all(bob, "SET page 4")
        self.run_all(anna, "SET page 4", "GET first")
        self.run_all(bob, "SET first 1")
        self.run_all(anna, "SET first 2 NX")
        # The read is too old to belong to the write.
        self.run_all(anna, "GET stock")
        self.run_all(bob, "SET stock 5")
        self.run_all(anna, *["PING"] * 21, "SET stock 7")
        self.assertEqual([], self.found())


class Clusters(LintTest):
    def test_keys_of_different_slots(self):
        self.begin("cross-slot")
        anna = self.client("anna")
        self.run_all(anna, "MGET a b", "MULTI", "SET a 1", "SET b 1", "EXEC",
                     ("EVAL", "return redis.call('GET',ARGV[1])", "1", "a", "b"))
        self.assertEqual([("cross-slot", "anna", name, 1) for name in ("mget", "exec", "get")], self.found())
        self.run_all(anna, "MGET {a}1 {a}2", "MULTI", "SET {a}1 1", "SET {a}2 1", "EXEC", "GET a", "GET b",
                     ("EVAL", "return redis.call('GET',KEYS[2])", "2", "{a}1", "{a}2"))
        self.assertEqual([], self.found())

    def test_keys_that_a_script_does_not_declare(self):
        self.begin("undeclared-key")
        anna = self.client("anna")
        self.run_all(anna, ("EVAL", "return redis.call('GET','user:'..ARGV[1])", "0", "7"))
        self.assertEqual([("undeclared-key", "anna", "get", 1)], self.found())
        self.run_all(anna, "MULTI", ("EVAL", "return redis.call('GET','a')", "1", "b"), "EXEC")
        self.assertEqual([("undeclared-key", "anna", "get", 1)], self.found())
        self.run_all(anna, ("EVAL", "return redis.call('MGET',KEYS[1],KEYS[2])", "2", "a", "b"),
                     ("EVAL", "return redis.call('PING')", "0"),
                     ("FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f',function(k) "
                                          "return redis.call('GET',k[1]) end)"), "FCALL f 1 a")
        self.assertEqual([], self.found())

    def test_other_databases(self):
        self.begin("select-in-cluster")
        anna = self.client("anna")
        self.run_all(anna, "SELECT 0")
        self.assertEqual([], self.found())
        self.run_all(anna, "SELECT 1")
        self.assertEqual([("select-in-cluster", "anna", "select", 1)], self.found())


class Messages(LintTest):
    def test_publish_without_receivers(self):
        self.begin("lost-message")
        anna, bob = self.pair()
        self.run_all(anna, "PUBLISH news 1", "SPUBLISH news 1")
        self.assertEqual([("lost-message", "anna", "publish", 1), ("lost-message", "anna", "spublish", 1)], self.found())
        for subscribe, publish in (("SUBSCRIBE news", "PUBLISH news 1"), ("PSUBSCRIBE n*", "PUBLISH nest 1"),
                                   ("SSUBSCRIBE news", "SPUBLISH news 1")):
            self.client().value(*subscribe.split())
            self.assertEqual([1], self.run_all(anna, publish))
        self.assertEqual([], self.found())

    def test_pops(self):
        self.begin("lost-message")
        anna = self.client("anna")
        self.run_all(anna, "RPUSH jobs 1 2 3 4", "BRPOP jobs 0", "LPOP jobs")
        self.assertEqual([("lost-message", "anna", "brpop", 1), ("lost-message", "anna", "lpop", 1)], self.found())
        self.run_all(anna, "LMOVE jobs doing LEFT RIGHT", "BLMOVE jobs doing LEFT RIGHT 0", "LREM doing 1 2",
                     ("EVAL", "redis.call('HSET',KEYS[2],'job',redis.call('LPOP',KEYS[1]))", "2", "doing", "state"))
        self.assertEqual([], self.found())

    def test_entries_that_are_never_acknowledged(self):
        self.begin("lost-message")
        self.run_all(self.admin, "XGROUP CREATE jobs g $ MKSTREAM", "XADD jobs 1-1 n 1", "XADD jobs 2-1 n 2",
                     "XADD jobs 3-1 n 3")
        anna, bob = self.pair()
        self.run_all(anna, "XREADGROUP GROUP g a COUNT 2 STREAMS jobs >", "XACK jobs g 1-1")
        self.run_all(bob, "XREADGROUP GROUP g b COUNT 2 STREAMS jobs >", "XACK jobs g 3-1")
        self.assertEqual([], self.found())
        anna.close()
        bob.close()
        self.lab("AWAIT CLIENTS 0")
        [finding] = self.report()
        self.assertEqual(b"client anna has left 1 entries of jobs behind that consumer a of group g has not acknowledged",
                         finding[b"why"])
        self.assertEqual([("lost-message", "anna", "", 1)], self.found())


class Shapes(LintTest):
    def test_commands_that_go_through_many_elements(self):
        self.begin("slow-shape")
        anna = self.client("anna")
        many = [str(number) for number in range(1001)]
        for name, words in (("SADD", many), ("RPUSH", many), ("HSET", many + ["x"])):
            anna.value(name, "few:" + name, *words[:2])
            anna.value(name, "many:" + name, *words, *(many if name == "HSET" else []))
        anna.value("HSET", "many:HSET", *[word for number in many for word in (number, "v")])
        self.run_all(anna, "SMEMBERS few:SADD", "HGETALL few:HSET", "LRANGE few:RPUSH 0 -1", "LRANGE many:RPUSH 0 9",
                     "SCAN 0", "SRANDMEMBER many:SADD 5", "DEL few:SADD")
        self.assertEqual([], self.found())
        self.run_all(anna, "SMEMBERS many:SADD", "HGETALL many:HSET", "LRANGE many:RPUSH 0 -1", "SORT many:RPUSH",
                     "KEYS *", "DEL many:SADD", "UNLINK many:RPUSH", "FLUSHALL", "FLUSHALL ASYNC")
        self.assertEqual([("slow-shape", "anna", name, 1)
                          for name in ("smembers", "hgetall", "lrange", "sort", "keys", "del", "flushall")], self.found())

    def test_many_round_trips(self):
        self.begin("chatty")
        anna = self.client("anna")
        for number in range(20):
            anna.value("GET", str(number))
        self.assertEqual([], self.found())
        anna.value("GET", "20")
        anna.value("GET", "21")
        self.assertEqual([("chatty", "anna", "get", 1)], self.found())
        bob = self.client("bob")
        bob.batch([("GET", str(number)) for number in range(100)])
        for number in range(50):
            self.run_all(bob, "PING", "INCR a", "GET a")
        self.assertEqual([], self.found())

    def test_big_values(self):
        self.begin("big-value=100")
        anna = self.client("anna")
        self.run_all(anna, ("SET", "k", "x" * 100), ("APPEND", "k", "y"))
        self.assertEqual([], self.found())
        self.run_all(anna, "GET k", ("SET", "k", "x" * 101))
        self.assertEqual([("big-value", "anna", "get", 1), ("big-value", "anna", "set", 1)], self.found())

    def test_hot_keys(self):
        self.begin("hot-key=60")
        anna = self.client("anna")
        anna.batch([("GET", "hot" if number % 10 < 6 else f"k{number}") for number in range(1000)])
        self.assertEqual([], self.found())
        anna.batch([("GET", "hot" if number % 10 < 7 else f"k{number}") for number in range(1000)])
        [finding] = self.report()
        self.assertEqual((b"700 of the last 1000 accesses were to hot", b"hot"), (finding[b"why"], finding[b"key"]))


class Habits(LintTest):
    def test_keys_without_a_deadline(self):
        self.begin("no-ttl=session:*")
        anna = self.client("anna")
        self.run_all(anna, "SET other 1", "SET session:1 a EX 10", "APPEND session:1 b", "SET session:1 c KEEPTTL", "SET session:1 d NX",
                     "SETEX session:2 10 a", "MULTI", "HSET session:3 a 1", "EXPIRE session:3 10", "EXEC", "DEL session:2",
                     ("EVAL", "redis.call('HSET',KEYS[1],'a',1) redis.call('EXPIRE',KEYS[1],9)", "1", "session:4"))
        self.assertEqual([], self.found())
        self.run_all(anna, "SET session:1 x", "HSET session:5 a 1", "MULTI", "HSET session:6 a 1", "EXEC",
                     ("EVAL", "redis.call('HSET',KEYS[1],'a',1)", "1", "session:7"))
        self.assertEqual([("no-ttl", "anna", name, 1) for name in ("set", "hset", "exec", "eval")], self.found())

    def test_what_is_deprecated(self):
        self.begin("deprecated")
        anna = self.client("anna")
        self.run_all(anna, "GETSET a 1", "SETEX a 10 1", "ZADD z 1 a", "ZRANGEBYSCORE z 0 1", "SET a 1 GET", "ZRANGE z 0 -1")
        self.assertEqual(["getset", "setex", "zrangebyscore"], [row[2] for row in self.found()])
        self.begin("deprecated=2.0")
        self.run_all(anna, "GETSET a 1", "SETEX a 10 1")
        self.assertEqual([], self.found())

    def test_what_a_version_does_not_have(self):
        self.begin("newer=6.0")
        anna = self.client("anna")
        self.run_all(anna, "GETDEL a", "SET a 1 GET", "LMOVE a b LEFT RIGHT", "HPEXPIRE h 1 FIELDS 1 f")
        whys = [finding[b"why"].decode() for finding in self.report()]
        self.assertEqual(["GETDEL is not in 6.0: it came with 6.2.0", "SET GET is not in 6.0: it came with 6.2.0",
                          "LMOVE is not in 6.0: it came with 6.2.0", "HPEXPIRE is not in 6.0: it came with 7.4.0 and Valkey 9.0.0"],
                         whys)
        self.lab("LINT CLEAR")
        self.run_all(anna, "GET a", "SET a 1 KEEPTTL", "SET GET 1", "RPOPLPUSH a b")
        self.assertEqual([], self.found())

    def test_options_of_newer_versions_are_found_at_their_places(self):
        self.begin("newer=6.0", "deprecated")
        anna = self.client("anna")
        for request, what in (("ZADD z GT CH 1 m", "ZADD GT"), ("EXPIRE k 10 NX", "EXPIRE NX"), ("LPOP l 2", "LPOP COUNT"),
                              ("SET k 1 EXAT 99999999999 GET", "SET EXAT"), ("XADD s NOMKSTREAM * f v",
                              "XADD NOMKSTREAM"), ("XTRIM s MINID = 1", "XTRIM MINID"), ("BITCOUNT k 0 1 BIT", "BITCOUNT BIT"),
                              ("GEORADIUS g 1 1 1 km COUNT 1 ANY", "GEORADIUS ANY"), ("CLIENT PAUSE 0 WRITE",
                              "CLIENT|PAUSE WRITE"), ("ZRANGE z 0 1 REV BYSCORE", "ZRANGE REV"),
                              ("SCRIPT FLUSH SYNC", "SCRIPT|FLUSH SYNC")):
            anna.value(*request.split())
            whys = [finding[b"why"].decode().split(" is not in ")[0] for finding in self.report("newer")]
            self.assertEqual([what], whys, request)
            self.lab("LINT CLEAR")
        self.run_all(anna, "SET method GET", "SET GET GET EX 5", "XADD log * option NOMKSTREAM NOMKSTREAM GET", "LPOP l",
                     "LPOS l a", "ZADD z NX 1 GT", "HSET h BIT BIT", "MSET NX GET", "EXPIRE k 10", "SET k GET KEEPTTL",
                     "CLIENT KILL ID 99999", "SCAN 0 TYPE string", "CONFIG GET GET", "ZRANGE z 0 1 WITHSCORES")
        self.assertEqual([], self.report("newer"))
        self.lab("LINT OFF")
        self.lab("LINT CLEAR")
        for version, count in (("6.0.5", 1), ("6.0.6", 0), ("6", 0), ("5", 1)):
            self.begin("newer=" + version)
            self.run_all(anna, "LPOS l a")
            self.assertEqual(count, len(self.found()), version)

    def test_watch_without_exec(self):
        self.begin("watch-without-exec")
        anna, bob = self.pair()
        self.run_all(anna, "WATCH a", "WATCH b", "MULTI", "EXEC", "WATCH a", "UNWATCH", "WATCH a", "MULTI", "DISCARD",
                     *["PING"] * 60)
        self.assertEqual([], self.found())
        self.run_all(anna, "WATCH a", *["PING"] * 60)
        self.assertEqual([("watch-without-exec", "anna", "ping", 1)], self.found())
        self.run_all(bob, "WATCH b")
        bob.close()
        self.lab("AWAIT CLIENTS 0 NAME bob")
        self.assertEqual([("watch-without-exec", "bob", "", 1)], self.found())


class Bounds(LintTest):
    def memory(self):
        text = self.admin.value("INFO", "memory").decode()
        return int(text.split("used_memory:")[1].split("\r")[0])

    def test_what_is_remembered_of_updates_is_bounded(self):
        self.begin("lost-update")
        anna, bob = self.pair()
        self.run_all(anna, "HSET h f 1", "HGET h f", ("HMGET", "absent", *[f"x{number}" for number in range(50_000)]))
        before = self.memory()
        for start in range(0, 100_000, 1000):
            bob.value("HSET", "h", *[word for number in range(start, start + 1000) for word in (f"g{number}", "1")])
        self.run_all(self.admin, "UNLINK h", "FLUSHALL")
        for turn in range(16):
            anna.value("HMGET", f"absent:{turn}", *[f"x{number}" for number in range(50_000)])
        self.assertLess(self.memory() - before, 4_000_000)
        # Other clients have written many fields, but not this one.
        self.run_all(anna, "HSET h f 1", "HGETALL h")
        bob.value("HSET", "h", *[word for number in range(1000) for word in (f"g{number}", "1")])
        self.run_all(anna, "HSET h f 2")
        self.assertEqual([], self.found())

    def test_long_keys_are_not_kept(self):
        self.begin()
        anna = self.client("anna")
        before = self.memory()
        for number in range(40):
            self.run_all(anna, ("SET", str(number) + "k" * 1_000_000, "x", "NX", "PX", "1"))
        self.run_all(anna, ("WATCH", "w" * 1_000_000), "UNWATCH", ("PUBLISH", "c" * 1_000_000, "x"), "PING")
        self.run_all(self.admin, "FLUSHALL")
        self.assertLess(self.memory() - before, 8_000_000)
        for finding in self.report():
            self.assertLess(max(len(finding[name]) for name in (b"why", b"key", b"request")), 5000, finding[b"rule"])
        self.lab("LINT STRICT lock-without-ttl")
        reply = anna.value("SETNX", b"\x00" * 1000, "x")
        self.assertTrue(reply.startswith(b"-LINT lock-without-ttl"), reply[:100])
        self.assertLess(len(reply), 1000)
        self.assertEqual(1, anna.value("SETNX", b"\x00" * 2000, "x"))


class WritesOfOthers(LintTest):
    def between(self, written, last="SET k 2", first="GET k"):
        self.run_all(self.anna, "DEL k h", "SET k 1", "HSET h f 1", first)
        self.run_all(self.bob, *written)
        self.run_all(self.anna, last)
        return [row[0] for row in self.found()]

    def test_who_changes_nothing_has_written_nothing(self):
        self.begin("lost-update")
        self.anna, self.bob = self.pair()
        for request in ("SET k 9 NX", "SETNX k 9", "GETEX k", "GETEX k EX 9", "BITFIELD k GET u8 0", "COPY k k2",
                        "BITOP NOT d k", "EXPIRE k 100", "PERSIST k", "SORT k STORE d"):
            self.assertEqual([], self.between([request], "SET k 2 KEEPTTL"), request)
        for request in ("EXPIRE h 100", "HSETNX h f 3", "HDEL h nothing"):
            self.assertEqual([], self.between([request], "HSET h f 2", "HGET h f"), request)
        for flush in ("FLUSHALL", "TEST RESET DATA", "SWAPDB 0 1"):
            self.assertEqual([], self.between([flush, "SET k 3"]), flush)

    def test_who_changes_something_has_written_it(self):
        self.begin("lost-update")
        self.anna, self.bob = self.pair()
        for request in ("SET k 9", "APPEND k 9", "GETSET k 9", "COPY h k REPLACE", "BITFIELD k SET u8 0 1", "RENAME h k",
                        "DEL k", ("EVAL", "return redis.call('SET',KEYS[1],5)", "1", "k")):
            self.assertEqual(["lost-update"], self.between([request]), request)
        for first in ("GETEX k", "SUBSTR k 0 -1", "MGET a k"):
            self.assertEqual(["lost-update"], self.between(["SET k 9"], first=first), first)
        self.assertEqual(["lost-update"], self.between(["HSET h f 9"], "HSET h f 2", "HVALS h"))


class EndsOfLocks(LintTest):
    def test_the_test_removes_locks(self):
        self.begin("foreign-unlock", "expired-lock-work")
        anna, bob = self.pair()
        self.lab("SNAPSHOT SAVE s0")
        for removal in ("FLUSHALL", "TEST RESET DATA", "TEST SNAPSHOT RESTORE s0"):
            self.run_all(anna, "SET l x NX PX 10000", "DECR stock", "GET stock")
            self.assertEqual([b"+OK"], self.run_all(self.admin, removal))
            self.run_all(bob, "SET l y NX PX 1000", "GET stock")
            self.run_all(anna, "SET stock 10")
            self.assertEqual([], self.found(), removal)
            self.run_all(self.admin, "FLUSHALL")
        self.run_all(anna, "SET l x NX PX 10000")
        self.run_all(self.admin, "FLUSHALL")
        self.run_all(bob, "RPUSH l 1", "DEL l")
        self.assertEqual([], self.found())

    def test_what_is_overwritten_is_no_lock(self):
        self.begin("foreign-unlock")
        anna, bob = self.pair()
        for request in ("SETEX l 60 y", "PSETEX l 60000 y", "MSET l y", "GETSET l y", "COPY o l REPLACE"):
            self.run_all(self.admin, "FLUSHALL", "SET o 1")
            self.run_all(anna, "SETNX l x")
            self.run_all(bob, request, "DEL l")
            self.assertEqual([], self.found(), request)
        self.run_all(anna, "SETNX l x")
        self.run_all(bob, "APPEND l y", "DEL l")
        self.assertEqual(["foreign-unlock"], [row[0] for row in self.found()])

    def test_keys_of_jobs_do_not_hide_locks(self):
        self.begin("expired-lock-work")
        anna, bob = self.pair()
        self.lab("CLOCK FREEZE")
        for number in range(70):
            self.run_all(anna, f"SET dedupe:{number} 1 NX PX 100")
        self.advance("1s")
        self.run_all(anna, "SET l x NX PX 1000", "GET stock")
        self.advance("2s")
        self.run_all(bob, "SET l y NX PX 1000", "DECR stock")
        self.run_all(anna, "SET stock 5")
        self.assertEqual([("expired-lock-work", "anna", "set", 1)], self.found())

    def test_who_only_counts_may_go_on(self):
        self.begin("expired-lock-work")
        anna, bob = self.pair()
        self.lab("CLOCK FREEZE")
        self.run_all(anna, "SET once:job 1 NX PX 1000", "INCR done")
        self.advance("2s")
        self.run_all(bob, "SET once:job 1 NX PX 1000", "INCR done")
        self.run_all(anna, "INCR done")
        self.assertEqual([], self.found())
        # A client that has read the value decides by it.
        self.run_all(anna, "SET l 1 NX PX 1000", "GET stock")
        self.advance("2s")
        self.run_all(bob, "SET l 1 NX PX 1000", "GET stock")
        self.run_all(anna, "DECR stock")
        self.assertEqual([("expired-lock-work", "anna", "decr", 1)], self.found())

    def test_what_ends_a_watch(self):
        self.begin("foreign-unlock", "watch-without-exec")
        anna, bob = self.pair()
        self.run_all(anna, "WATCH k", "MULTI", "NOSUCH", "EXEC", *["PING"] * 60)
        self.run_all(anna, "WATCH k", "RESET", *["PING"] * 60)
        self.assertEqual([], self.found())
        for end in (("MULTI", "NOSUCH", "EXEC"), ("RESET",), ("UNWATCH",)):
            self.run_all(self.admin, "FLUSHALL")
            self.run_all(anna, "SET l x NX PX 100000")
            self.run_all(bob, "WATCH l", *end, "MULTI", "DEL l", "EXEC")
            self.assertEqual(["foreign-unlock"], [row[0] for row in self.found()], end)
        self.run_all(bob, "WATCH l", "MULTI", "NOSUCH", "EXEC")
        bob.close()
        self.lab("AWAIT CLIENTS 0 NAME bob")
        self.assertEqual([], self.found())

    def test_to_look_whether_a_key_is_there_is_no_comparison(self):
        self.begin("foreign-unlock")
        anna, bob = self.pair()
        self.run_all(anna, "SET l x NX PX 100000")
        self.run_all(bob, ("EVAL", "redis.call('EXISTS',KEYS[1]) return redis.call('DEL',KEYS[1])", "1", "l"))
        self.assertEqual([("foreign-unlock", "bob", "del", 1)], self.found())


class Claims(LintTest):
    def test_entries_however_they_were_claimed(self):
        self.begin("lost-message")
        reading = ("XREADGROUP COUNT 1 GROUP g c STREAMS jobs >", "XAUTOCLAIM jobs g c 0 0", "XCLAIM jobs g c 0 1-1")
        for request in reading:
            self.run_all(self.admin, "FLUSHALL", "XGROUP CREATE jobs g $ MKSTREAM", "XADD jobs 1-1 n 1")
            if request != reading[0]:
                self.run_all(self.admin, "XREADGROUP GROUP g other STREAMS jobs >")
            client = self.client("leaver")
            self.run_all(client, request)
            client.close()
            self.lab("AWAIT CLIENTS 0 NAME leaver")
            self.assertEqual([("lost-message", "leaver", "", 1)], self.found(), request)
        self.run_all(self.admin, "XADD NOACK 1-1 n 1", "XGROUP CREATE NOACK g 0")
        client = self.client("leaver")
        self.run_all(client, "XREADGROUP NOACK GROUP g c STREAMS NOACK >")
        client.close()
        self.lab("AWAIT CLIENTS 0 NAME leaver")
        self.assertEqual([], self.found())


if __name__ == "__main__":
    unittest.main()
