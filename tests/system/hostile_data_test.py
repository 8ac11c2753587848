"""Requests made to be expensive: patterns, offsets, scripts, giant values, forged payloads. No other client may be
delayed, and all memory must be released (hostile.py). Where Redis also blocks all clients, there is no bystander, and
the test says so."""
import os
import random
import struct
import subprocess
import sys
import time
import unittest

from dump_payload import crc64
from hostile import SANITIZED, HostileTest, Raw, size
from launcher import wait_until
from two_servers import Closed, encode

# How long a single command may block other clients at these sizes (docs/security.md, "Commands that block other clients").
ONE_COMMAND_MS = 1_000  # a reply of 64 MB
ALGEBRA_MS = size(150, 1_500)
SCRIPT_MS = 50 + 50  # busy-reply-threshold of the class Scripts, and the ticks until a script is detected
LIBRARY_MS = 1_000  # one call of a library with some 100 MB
SCRIPT_MEMORY_MS = 5_000  # a script that allocates 1 GB in large pieces


class Measure(HostileTest):
    """Tests the measurement itself: it detects delays that the server causes, and ignores others."""

    @unittest.skipIf(SANITIZED, "nothing is asked of the bystander's p99 there")
    def test_a_server_that_stands_still_fails_its_case(self):
        self.start_server("--enable-debug-command", "yes")

        def case():
            for _ in range(10):
                self.admin.value("DEBUG", "SLEEP", "0.1")
        with self.assertRaisesRegex(AssertionError, "p99 of the bystander"):
            self.attack(case)

    def test_a_busy_machine_fails_no_case(self):
        def case():
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
            try:
                with Raw(self.port) as client:
                    for n in range(300):
                        client.batch([["SET", "k", n]] * 100)
                    client.value("DEL", "k")
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
        self.attack(case)


class Patterns(HostileTest):
    def explosive(self):
        long = 1_000_000
        return ["a*" * 12 + "b", "a*" * 500 + "b", "*a" * 2_000 + "b", "*" * long, "?" * long, "a" * long, "[" * 10_000,
                "[" * long, "[^" + "x" * long, "\\" * long, "*[a-z]" * 100 + "!", "*" + "[ab]" * 20 + "c", "*?" * 50 + "b",
                "[a-" * 1_000, "*" + "a" * 50_000 + "b", "*" + "?" * 50_000 + "b", "*[" + "a-b" * 1_000 + "]b"]

    def fill(self):
        self.admin.batch([["SET", "a" * n + tail, "v"] for n in range(1, 100) for tail in ("", "c")])

    def test_keys_and_scan(self):
        def case():
            self.fill()
            client = self.client()
            for pattern in self.explosive():
                for words in (["KEYS", pattern], ["SCAN", 0, "MATCH", pattern, "COUNT", 1_000]):
                    started = time.monotonic()
                    self.assertEqual(b"*", client.run(*words)[:1])
                    self.assertLess(time.monotonic() - started, 2, (words[0], pattern[:20]))
            self.admin.batch([["SADD", "set", *("a" * n for n in range(1, 60))], ["HSET", "hash", *"a" * 60],
                              ["ZADD", "zset", *(w for n in range(60) for w in (n, "a" * n))]])
            for pattern in self.explosive():
                for words in (["SSCAN", "set"], ["HSCAN", "hash"], ["ZSCAN", "zset"]):
                    client.run(*words, 0, "MATCH", pattern, "COUNT", 1_000)
            client.close()
            self.admin.value("FLUSHALL")
        self.attack(case)

    def test_patterns_that_everybody_may_give(self):
        def case():
            client = self.client()
            for pattern in self.explosive():
                for words in (["CONFIG", "GET", pattern], ["COMMAND", "LIST", "FILTERBY", "PATTERN", pattern],
                              ["PUBSUB", "CHANNELS", pattern], ["FUNCTION", "LIST", "LIBRARYNAME", pattern]):
                    self.assertIn(client.run(*words)[:1], (b"*", b"%"))
            client.close()
        self.attack(case)

    def test_messages_to_explosive_patterns(self):
        def case():
            listener, publisher = self.client(), self.client()
            for pattern in self.explosive():
                listener.run("PSUBSCRIBE", pattern)
            for channel in ("a" * 100, "a" * 1_000, "b" * 2_000):
                publisher.run("PUBLISH", channel, "message")
            listener.close()
            publisher.close()
        self.attack(case)

    def test_a_long_text_and_a_long_pattern(self):
        """Text and pattern for which a naive search compares half a million bytes at half a million positions."""
        def case():
            client = self.client()
            text = "a" * 1_000_000
            client.run("SET", text, "v")
            for pattern in ("*" + "a" * 500_000 + "b", "*" + "a" * 500_000 + "b*", "*b" + "a" * 500_000, "*" + "a*" * 900 + "b"):
                started = time.monotonic()
                self.assertEqual(b"*0\r\n", client.run("KEYS", pattern))
                self.assertLess(time.monotonic() - started, 2, pattern[:10])
            self.assertEqual(1, len(client.value("KEYS", "*" + "a" * 500_000)))
            client.run("DEL", text)
            client.close()
        self.attack(case)

    def test_permissions(self):
        def case():
            patterns = [p for p in self.explosive() if len(p) < 20_000 and "(" not in p]
            self.admin.run("ACL", "SETUSER", "u", "on", "nopass", "+@all", *("~" + p for p in patterns), *("&" + p for p in patterns))
            client = self.client()
            client.run("AUTH", "u", "x")
            for _ in range(3):
                client.batch([["GET", "a" * 200], ["MGET", *("a" * n for n in range(100))], ["PUBLISH", "a" * 200, "x"]])
            client.close()
            self.admin.batch([["ACL", "DELUSER", "u"], ["ACL", "LOG", "RESET"]])
        self.attack(case)


class Sizes(HostileTest):
    def test_offsets_and_lengths_beyond_the_limits(self):
        huge = (536870912, 4294967296, 9223372036854775807)

        def case():
            client = self.client()
            client.run("SET", "k", "v")
            for offset in huge:
                for words in (["SETRANGE", "k", offset, "x"], ["SETBIT", "k", offset * 8, 1], ["SETBIT", "new", offset * 8, 1],
                              ["BITFIELD", "k", "SET", "u8", offset * 8, 1], ["BITFIELD", "k", "SET", "u8", f"#{offset}", 1],
                              ["BITFIELD", "new", "INCRBY", "i64", f"#{offset}", 1]):
                    self.assertEqual(b"-ERR", client.run(*words)[:4], words)
                for words in (["GETRANGE", "k", offset, offset], ["GETRANGE", "k", -offset, offset], ["GETBIT", "new", offset - 1],
                              ["BITCOUNT", "k", -offset, offset], ["BITPOS", "k", 1, offset, -1], ["LRANGE", "new", -offset, offset]):
                    client.run(*words)
            self.assertEqual(1, client.value("STRLEN", "k"))
            self.assertEqual(0, client.value("EXISTS", "new"))
            client.run("DEL", "k")
            client.close()
        self.attack(case)

    def test_appending_to_the_limit(self):
        self.start_server("--proto-max-bulk-len", "1mb")

        def case():
            client = self.client()
            for _ in range(11):
                client.run("APPEND", "k", "x" * 100_000)
            self.assertEqual(b"-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n",
                             client.run("APPEND", "k", "x" * 100_000))
            self.assertEqual(1_000_000, client.value("STRLEN", "k"))
            client.run("DEL", "k")
            for command in (b"XADD", b"LPUSH", b"HSET"):
                with Raw(self.port) as other:
                    other.send(b"*4\r\n$%d\r\n%s\r\n$1\r\nk\r\n$1048577\r\n" % (len(command), command))
                    self.assertEqual(b"-ERR Protocol error: invalid bulk length\r\n", other.read_to_end())
            client.close()
        self.attack(case)

    def test_counts_that_ask_for_more_than_there_is_memory(self):
        """Redis writes such replies until it runs out of memory."""
        def case():
            self.admin.batch([["HSET", "h", "f", "v"], ["SADD", "s", "m"], ["ZADD", "z", 1, "m"], ["RPUSH", "l", "e"]])
            for words in (["HRANDFIELD", "h", -2**62], ["HRANDFIELD", "h", -2**61, "WITHVALUES"], ["SRANDMEMBER", "s", -2**63 + 1],
                          ["ZRANDMEMBER", "z", -2**62, "WITHSCORES"], ["SRANDMEMBER", "s", -10**10]):
                with Raw(self.port, limit_s=10) as client:
                    client.send(encode(words))
                    self.assertEqual(b"-", client.read()[:1], words)
                self.assertEqual(b"+PONG", self.admin.value("PING"))
            for words in (["SPOP", "s", 2**62], ["ZPOPMIN", "z", 2**62], ["LPOP", "l", 2**62], ["HRANDFIELD", "h", 2**62]):
                self.assertEqual(b"*", self.admin.run(*words)[:1], words)
            self.admin.value("FLUSHALL")
        self.attack(case, limit_ms=ONE_COMMAND_MS)

    def test_oddities_of_trimming(self):
        def case():
            self.admin.batch([["XADD", "x", f"{n}-1", "f", "v"] for n in range(1, 300)])
            for words in (["XADD", "x", "MAXLEN", 2**63 - 1, "*", "f", "v"], ["XADD", "x", "MAXLEN", "~", 2**63 - 1, "*", "f", "v"],
                          ["XTRIM", "x", "MAXLEN", "~", 0, "LIMIT", 2**63 - 1], ["XTRIM", "x", "MINID", f"{2**64 - 1}-{2**64 - 1}"],
                          ["XADD", "x", f"{2**64 - 1}-{2**64 - 1}", "f", "v"], ["XADD", "x", "*", "f", "v"], ["XADD", "x", "0-0", "f", "v"],
                          ["XREAD", "COUNT", 2**63 - 1, "STREAMS", "x", "0"], ["XRANGE", "x", "-", "+", "COUNT", -2**63],
                          ["XSETID", "x", f"{2**64 - 1}-{2**64 - 1}", "ENTRIESADDED", 2**63 - 1, "MAXDELETEDID", "0-0"],
                          ["XADD", "x", "*", "f", "v"], ["XAUTOCLAIM", "x", "g", "c", 0, "0", "COUNT", 2**63 - 1]):
                self.assertIn(self.admin.run(*words)[:1], (b"-", b":", b"*", b"$", b"+"), words)
            self.admin.value("DEL", "x")
        self.attack(case)


class Scripts(HostileTest):
    OPTIONS = ("--busy-reply-threshold", "50", "--client-output-buffer-limit", "normal 20mb 0 0")

    def run_script(self, text):
        """Returns the reply; SCRIPT KILL ends a slow script. Returns None if the connection is closed instead."""
        with Raw(self.port) as client:
            client.send(encode(["EVAL", text, 0]))
            client.socket.settimeout(0.25)
            for _ in range(200):
                try:
                    return client.read()
                except TimeoutError:
                    self.admin.run("SCRIPT", "KILL")
                except (Closed, ConnectionError):
                    return None
        raise AssertionError(f"no end of {text}")

    def finish(self):
        wait_until(lambda: self.admin.run("PING") == b"+PONG\r\n", "no script to be running")
        self.admin.run("SCRIPT", "FLUSH", "SYNC")

    def test_scripts_that_never_end_are_killed(self):
        """Until the threshold a script blocks all clients; after it other clients get BUSY."""
        def case():
            for text in ("while true do end", "while true do pcall(redis.call, 'PING') end", "while true do pcall(function() while true do end end) end",
                         "local function f() return f() end return f()", "repeat pcall(error, 'x') until false",
                         "local co = coroutine.wrap(function() while true do end end) co()",
                         "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) pcall(function() return t[1] end) while true do end"):
                self.assertIn(b"Script killed by user", self.run_script(text) or b"", text)
            self.finish()
        self.attack(case, limit_ms=SCRIPT_MS)

    def test_patterns_of_lua_that_never_end_are_killed(self):
        """Redis itself can only be stopped by a kill here."""
        def case():
            for text in ("return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40) .. 'b')",
                         "return string.match(string.rep('a', 5000), string.rep('a*', 20) .. 'b')",
                         "return string.gsub(string.rep('a', 9000), '(.-)(.-)(.-)b', '')",
                         "for w in string.gmatch(string.rep('a', 5000), string.rep('[a-b]*', 20) .. 'b') do end"):
                self.assertIn(b"Script killed by user", self.run_script(text) or b"", text)
            self.finish()
        self.attack(case, limit_ms=SCRIPT_MS)

    def test_long_calls_of_libraries(self):
        """A single call of a library cannot be interrupted, so it must end soon with any arguments."""
        def case():
            for text in ("return #string.rep('x', 2^28)", "return string.rep('x', 1e15)", "return string.format('%99.99f', 1e308)", "local t = {} for i = 1, 100 do t[i] = i end return table.concat(t, string.rep('x', 1e6))",
                         "return string.find(string.rep('[', 1e5), string.rep('[', 1e5))", "return #table.concat({string.rep('x', 1e7)}, 'y')"):
                started = time.monotonic()
                self.run_script(text)
                self.assertLess(time.monotonic() - started, 10, text)
            self.finish()
        self.attack(case, limit_ms=LIBRARY_MS)

    @unittest.skipIf(SANITIZED, "needs more memory than there is")
    def test_memory(self):
        """A script's memory is limited: exceeding the limit is an error, and all of the memory is released."""
        def case():
            for text in ("local t = {} while true do t[#t + 1] = string.rep('x', 1e6) .. #t end",
                         "local s = 'x' while true do s = s .. s end", "return unpack({}, 1, 1e8)", "return string.rep('x', 2^31 - 1)",
                         "local f f = function() return f() + 1 end return f()", "return loadstring(string.rep('return {', 1e5))()",
                         *size([], ["local t = {} while true do t = {t, t} end", "local t = {} for i = 1, 1e9 do t[i] = i end",
                                    "local t = {} for i = 1, 1e8 do t['k' .. i] = i end"])):
                reply = self.run_script(text)
                self.assertTrue(reply is None or reply[:1] == b"-", (text, reply and reply[:50]))
            self.finish()
        self.attack(case, limit_ms=SCRIPT_MEMORY_MS)

    def test_codecs(self):
        def case():
            for text in ("return cjson.decode(string.rep('[', 1e5))", "return cjson.decode(string.rep('{\"a\":', 1e5))",
                         "local t = {} for i = 1, 1e4 do t = {t} end return cjson.encode(t)", "return cmsgpack.unpack(string.rep('\\145', 1e5))",
                         "local t = {} for i = 1, 1e4 do t = {t} end return #cmsgpack.pack(t)", "return struct.unpack(string.rep('i4', 1e5), 'x')",
                         "return struct.pack('s' .. string.rep('i', 1e5), 'x')", "return cmsgpack.unpack('\\221\\255\\255\\255\\255')",
                         "return cmsgpack.unpack('\\219\\255\\255\\255\\255')", "return bit.tohex(1, -2147483648)", "return cjson.encode({[2^31] = 1})"):
                reply = self.run_script(text)
                self.assertIn(reply[:1], (b"-", b"*", b":", b"$"), text)
            self.finish()
        self.attack(case)

    def test_replies_that_are_too_large_or_too_deep(self):
        """Such a script runs for a long time, and blocks everything else."""
        def case():
            for text in ("local t = {} for i = 1, 1e5 do t = {t} end return t", "local t = {} t[1] = t return t",
                         "local s = string.rep('x', 1e6) local t = {} for i = 1, 200 do t[i] = s end return t"):
                self.run_script(text)
            self.finish()
        self.attack(case, limit_ms=LIBRARY_MS)


class Values(HostileTest):
    def test_a_million_keys_that_expire_at_once(self):
        keys = size(100_000, 1_000_000)

        def case():
            deadline = int(time.time() * 1000) + size(1_500, 8_000)
            with Raw(self.port) as client:
                for start in range(0, keys, 1_000):
                    client.send(b"".join(encode(["SET", f"key:{n}", "v", "PXAT", deadline]) for n in range(start, start + 1_000)))
                    for _ in range(1_000):
                        client.read()
            wait_until(lambda: self.admin.value("DBSIZE") <= 1, "all to expire", 30)
            self.admin.value("SET", "bystander", "v")
        self.attack(case)

    def test_unlinking_large_collections(self):
        elements = size(300_000, 5_000_000)

        def case():
            with Raw(self.port) as client:
                for start in range(0, elements, 500):
                    client.batch([["RPUSH", "l", *range(start, start + 500)], ["SADD", "s", *(f"m{n}" for n in range(start, start + 500))],
                                  ["HSET", "h", *(w for n in range(start, start + 500) for w in (f"f{n}", n))]])
                client.run("UNLINK", "l")
                client.run("UNLINK", "s", "h")
                client.batch([["RPUSH", "l", *range(500)] for _ in range(elements // 2_000)])
                client.run("FLUSHALL", "ASYNC")
        self.attack(case)

    def test_deleting_a_large_collection(self):
        """DEL, FLUSHALL SYNC and a RENAME over a large value: the background thread frees large values."""
        elements = size(200_000, 5_000_000)

        def case():
            with Raw(self.port) as client:
                for words in (["DEL", "s"], ["FLUSHALL", "SYNC"], ["RENAME", "small", "s"], ["SET", "s", "x"]):
                    for start in range(0, elements, 1_000):
                        client.run("SADD", "s", *(f"m{n}" for n in range(start, start + 1_000)))
                    client.run("SET", "small", "v")
                    client.run(*words)
                client.run("FLUSHALL")
        self.attack(case)

    def test_expensive_algebra(self):
        """One command that compares, sorts or combines large inputs blocks all clients, in Redis as well."""
        elements = size(50_000, 500_000)

        def case():
            with Raw(self.port) as client:
                rng = random.Random(5)
                for start in range(0, elements, 1_000):
                    client.batch([["RPUSH", "l", *(rng.random() for _ in range(1_000))],
                                  ["ZADD", "z1", *(w for n in range(start, start + 1_000) for w in (n, f"m{n}"))],
                                  ["ZADD", "z2", *(w for n in range(start, start + 1_000) for w in (f"{n}e300", f"m{n * 7 % elements}"))],
                                  ["SADD", "s1", *(f"m{n}" for n in range(start, start + 1_000))]])
                for words in (["SORT", "l", "BY", "weight_*", "GET", "#", "GET", "o_*->f", "STORE", "out"], ["SORT", "l", "ALPHA", "LIMIT", 0, 1],
                              ["SORT", "l", "LIMIT", -2**63, 2**63 - 1, "STORE", "out"],
                              ["ZUNIONSTORE", "out", 3, "z1", "z2", "s1", "WEIGHTS", "inf", "-inf", "1e308"],
                              ["ZINTERCARD", 2, "z1", "z2", "LIMIT", 2**63 - 1], ["SINTERCARD", 1, "s1", "LIMIT", 2**63 - 1],
                              ["ZDIFFSTORE", "out", 2, "z1", "s1"], ["SUNIONSTORE", "out", *["s1"] * 20]):
                    self.assertEqual(b":", client.run(*words)[:1] if words[0] != "SORT" or "STORE" in words else client.run(*words) and b":", words)
                client.batch([["SET", "a", "ab" * 1_000], ["SET", "b", "ba" * 1_000]])
                self.assertEqual(1_999, client.value("LCS", "a", "b", "LEN"))
                client.batch([["SET", "a", "ab" * 200_000], ["SET", "b", "ba" * 200_000]])
                self.assertEqual(b"-ERR Insufficient memory", client.run("LCS", "a", "b")[:24])
                client.run("FLUSHALL")
        self.attack(case, limit_ms=ALGEBRA_MS)


class Payloads(HostileTest):
    def values(self):
        rng = random.Random(1)
        return [["SET", "k", "text"], ["SET", "k", "a" * 5_000], ["SET", "k", 12345], ["RPUSH", "k", *range(40), "x" * 70],
                ["RPUSH", "k", *("y" * 3_000 for _ in range(10))], ["SADD", "k", 1, 70_000, 2**40], ["SADD", "k", "a", "b", 5],
                ["SADD", "k", *range(600), "z"], ["HSET", "k", "f", "v", "g", 7], ["HSET", "k", *(f"w{n}" for n in range(1_200))],
                ["ZADD", "k", 1, "a", 2.5, "b", "inf", "c"], ["ZADD", "k", *(w for n in range(200) for w in (rng.random(), f"m{n}"))],
                ["PFADD", "k", *range(50)], ["GEOADD", "k", 13, 38, "p", 15, 37, "q"],
                ["EVAL", "for i = 1, 200 do redis.call('XADD', KEYS[1], i .. '-1', 'f', i, 'g', 'v') end redis.call('XGROUP', 'CREATE', KEYS[1], 'g', 0) "
                 "redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', 50, 'STREAMS', KEYS[1], '>') redis.call('XDEL', KEYS[1], '7-1')", 1, "k"]]

    READERS = {b"+string": [["GET", "f"], ["STRLEN", "f"], ["BITCOUNT", "f"], ["PFCOUNT", "f"], ["APPEND", "f", "x"]],
               b"+list": [["LRANGE", "f", 0, -1], ["LPOP", "f"], ["RPUSH", "f", "x"], ["LINSERT", "f", "BEFORE", "x", "y"]],
               b"+set": [["SMEMBERS", "f"], ["SADD", "f", "new"], ["SPOP", "f"], ["SSCAN", "f", 0]],
               b"+hash": [["HGETALL", "f"], ["HSET", "f", "new", "v"], ["HDEL", "f", "g"], ["HSCAN", "f", 0]],
               b"+zset": [["ZRANGE", "f", 0, -1, "WITHSCORES"], ["ZADD", "f", 1, "new"], ["ZPOPMIN", "f"], ["ZRANK", "f", "b"]],
               b"+stream": [["XRANGE", "f", "-", "+"], ["XINFO", "STREAM", "f", "FULL"], ["XADD", "f", "*", "a", "b"], ["XTRIM", "f", "MAXLEN", 3],
                            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "f", ">"], ["XDEL", "f", "9-1"]]}

    def forge(self, rng, payload):
        body = bytearray(payload[:-10])
        for _ in range(rng.choice([1, 1, 2, 5])):
            what, at = rng.randrange(5), rng.randrange(len(body))
            if what == 0:
                body[at] ^= 1 << rng.randrange(8)
            elif what == 1:
                body[at] = rng.choice([0, 1, 0x7f, 0x80, 0x81, 0xc0, 0xc3, 0xf0, 0xf4, 0xff, rng.randrange(256)])
            elif what == 2:
                del body[at:at + rng.randint(1, 8)]
            elif what == 3:
                body[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
            else:
                body[at:at + 4] = struct.pack("<i", rng.choice([-1, 2**31 - 1, -2**31, rng.randrange(2**16)]))[:len(body) - at]
            if not body:
                body = bytearray(b"\0")
        body += payload[-10:-8]
        return bytes(body) + struct.pack("<Q", crc64(body))

    def test_forged_payloads(self):
        seed = random.randrange(2**32)
        print(f"seed {seed}", flush=True)
        rng = random.Random(seed)

        def case():
            client = self.client()
            accepted = 0
            for words in self.values():
                client.batch([["DEL", "k"], words])
                payload = client.value("DUMP", "k")
                rounds = size(60, 3_000) if len(payload) < 2_000 else size(15, 300)
                for forged in (self.forge(rng, payload) for _ in range(rounds)):
                    client.run("DEL", "f")
                    if client.run("RESTORE", "f", 0, forged)[:1] == b"+":
                        accepted += 1
                        for use in self.READERS.get(client.run("TYPE", "f").strip(), []):
                            client.run(*use)
                        self.assertEqual(b"+OK\r\n", client.run("RESTORE", "g", 0, client.value("DUMP", "f"), "REPLACE")
                                         if client.value("EXISTS", "f") else b"+OK\r\n")
            self.assertGreater(accepted, 0)
            client.run("FLUSHALL")
            client.run("SCRIPT", "FLUSH", "SYNC")
            client.close()
        self.attack(case)

    def test_what_is_off_by_default(self):
        def case():
            for words in (["DEBUG", "SLEEP", "10"], ["DEBUG", "SEGFAULT"], ["MODULE", "LOAD", "/x.so"], ["CONFIG", "SET", "dir", "/tmp"],
                          ["CONFIG", "SET", "dbfilename", "x"], ["CONFIG", "SET", "enable-debug-command", "yes"]):
                self.assertEqual(b"-ERR", self.admin.run(*words)[:4], words)
        self.attack(case)


if __name__ == "__main__":
    unittest.main()
