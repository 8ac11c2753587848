"""Limits of scripts in a real process: the stack of `ulimit -s`, the time after which other clients are served, the
memory of an engine; and two processes that iterate over a table in the same order."""
import os
import stat
import subprocess
import tempfile
import time
import unittest

from two_servers import RESPITE, WAIT_S, Client, Server, encode

NOW = "local function now() local t = redis.call('TIME') return t[1] + t[2] / 1e6 end local start = now() "


def until(answer, wanted):
    """Repeats the request until the answer begins with this text (None: until there is one), and returns the answer."""
    end = time.monotonic() + WAIT_S
    while True:
        given = answer()
        if wanted is None and given is not None:
            return given
        if wanted is not None and given.startswith(wanted):
            return wanted
        if time.monotonic() > end:
            return given
        time.sleep(0.005)


def connected(path):
    try:
        return Client(path)
    except OSError:
        return None


class LuaLimitsTest(unittest.TestCase):
    def serve(self, *options, program=RESPITE):
        server = Server(program, *options)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        return client

    def test_a_small_stack_is_enough(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = os.path.join(folder.name, "server")
        with open(program, "w") as file:
            file.write("#!/bin/sh\nulimit -s 1024\nexec %s \"$@\"\n" % os.path.abspath(RESPITE))
        os.chmod(program, stat.S_IRWXU)
        client = self.serve(program=program)
        nested = "local t = {} for i = 1, 7990 do t = {%s} end return t"
        for script in (nested % "t", nested % "map={a=t}", nested % "map={[t]=1}", nested % "set={[t]=1}",
                       "cjson.decode_max_depth(1e6) return cjson.decode(('['):rep(1e5) .. (']'):rep(1e5))",
                       "local t = {} for i = 1, 1e5 do t = {t} end cjson.encode_max_depth(1e6) return cjson.encode(t)",
                       "return cmsgpack.unpack(('\\145'):rep(1e5))",
                       "return (string.find(('a'):rep(5000), ('a?'):rep(5000)))",
                       # As deep as Lua calls C, with a command at the deepest point.
                       "local function f() redis.pcall('SORT', 'k') return (string.gsub('a', 'a', f)) end return f()",
                       "local function f() string.find(('a'):rep(999), ('a?'):rep(999)) "
                       "return (string.gsub('a', 'a', f)) end return f()",
                       "local function f() pcall(cjson.decode, ('['):rep(1e5)) return pcall(f) end return {f()}",
                       "return loadstring('return ' .. ('{'):rep(1e5))"):
            client.run("EVAL", script, 0)
            self.assertEqual(client.run("PING"), b"+PONG\r\n", script)

    def test_time_goes_on_in_a_late_script(self):
        client = self.serve("--busy-reply-threshold", "50")
        self.assertEqual(client.run("EVAL", NOW + "while now() < start + 0.2 do end return 1", 0), b":1\r\n")

    def test_what_expires_stays_until_a_late_script_ends(self):
        client = self.serve("--busy-reply-threshold", "50")
        script = NOW + "redis.call('SET', 'k', 'v', 'PX', 60) while now() < start + 0.2 do end return redis.call('GET', 'k')"
        self.assertEqual(client.run("EVAL", script, 0), b"$1\r\nv\r\n")
        self.assertEqual(client.run("GET", "k"), b"$-1\r\n")

    # Otherwise a chain of scripts could delay the end of a child for long, and SHUTDOWN would be refused.
    def test_what_the_timer_missed_is_done_when_a_late_script_ends(self):
        client = self.serve("--busy-reply-threshold", "50")
        script = NOW + "redis.call('SET', 'k', 'v', 'PX', 1) while now() < start + 0.25 do end return 1"
        for _ in range(4):
            self.assertEqual(client.run("EVAL", script, 0), b":1\r\n")
            self.assertEqual(client.run("DBSIZE"), b":0\r\n")

    def test_the_end_of_memory_is_an_error(self):
        client = self.serve()
        script = ("local f, e, k, n = function() return x end, {}, {}, 2^28 "
                  "while n >= 16 do if not pcall(function() k = {('x'):rep(n), k} end) then n = math.floor(n / 2) end end "
                  "return setfenv(f, e)")
        self.assertIn(b"not enough memory", client.run("EVAL", script, 0))
        self.assertIn(b"not enough memory", client.run("EVAL", "local s = 'x' while true do s = s .. s end", 0))
        self.assertEqual(client.run("EVAL", "return 1", 0), b":1\r\n")

    # The client has not read all of its former reply when the script ends without one.
    def test_a_reply_that_is_taken_back_leaves_no_byte(self):
        server = Server(RESPITE, "--busy-reply-threshold", "50")
        self.addCleanup(server.stop)
        client, other = server.client(), server.client()
        self.addCleanup(client.close)
        self.addCleanup(other.close)
        value = b"v" * 20_000_000
        self.assertEqual(client.run("SET", "k", value), b"+OK\r\n")
        client.send(encode(["GET", "k"]))
        self.assertEqual(other.run("PING"), b"+PONG\r\n")
        client.send(encode(["EVAL", "local t = {1} for i = 1, 34 do t = {t, t} end return t", 0]))
        self.assertEqual(until(lambda: other.run("PING"), b"-BUSY"), b"-BUSY")
        self.assertEqual(other.run("SCRIPT", "KILL"), b"+OK\r\n")
        self.assertEqual(client.read(), b"$20000000\r\n" + value + b"\r\n")
        self.assertTrue(client.read().startswith(b"-ERR Script killed by user"))
        self.assertEqual(client.run("PING"), b"+PONG\r\n")

    def test_a_snapshot_is_not_restored_if_its_scripts_are_killed_while_they_are_compiled(self):
        server = Server(RESPITE, "--test-commands", "local", "--busy-reply-threshold", "20")
        self.addCleanup(server.stop)
        client, other = server.client(), server.client()
        self.addCleanup(client.close)
        self.addCleanup(other.close)
        long_script = "local t = {} " + "t.a = 1 " * 2_000_000
        client.run("SET", "k", "then")
        for words in (["SCRIPT", "LOAD", long_script], ["TEST", "SNAPSHOT", "SAVE", "s"], ["SCRIPT", "FLUSH"], ["SET", "k", "now"]):
            self.assertFalse(client.run(*words).startswith(b"-"), words)
        client.send(encode(["TEST", "SNAPSHOT", "RESTORE", "s"]))
        self.assertEqual(until(lambda: other.run("SCRIPT", "KILL"), b"+OK"), b"+OK")
        self.assertIn(b"Script killed by user", client.read())
        self.assertEqual(client.run("GET", "k"), b"$3\r\nnow\r\n")
        self.assertEqual(client.run("TEST", "SNAPSHOT", "RESTORE", "s"), b"+OK\r\n")
        self.assertEqual(client.run("GET", "k"), b"$4\r\nthen\r\n")

    # The server starts with a script that has no end: it reports this, and can be told to end it.
    def test_an_endless_script_of_an_append_only_file(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.mkdir(os.path.join(folder.name, "appendonlydir"))
        for name, content in (("manifest", b"file appendonly.aof.1.incr.aof seq 1 type i\n"),
                              ("1.incr.aof", encode(["SET", "k", "v"]) + encode(["EVAL", "while true do end", 0]))):
            with open(os.path.join(folder.name, "appendonlydir", "appendonly.aof." + name), "wb") as file:
                file.write(content)
        path = os.path.join(folder.name, "socket")
        log_path = os.path.join(folder.name, "log")
        with open(log_path, "wb") as log:
            process = subprocess.Popen([RESPITE, "--port", "0", "--unixsocket", path, "--dir", folder.name, "--appendonly", "yes",
                                        "--busy-reply-threshold", "50"], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        client = until(lambda: connected(path), None)
        self.addCleanup(client.close)
        self.assertEqual(until(lambda: client.run("SCRIPT", "KILL"), b"+OK"), b"+OK")
        self.assertNotEqual(process.wait(WAIT_S), 0)
        with open(log_path, "rb") as log:
            text = log.read()
        self.assertIn(b"Slow script detected", text)
        self.assertIn(b"The command 'eval' at offset", text)

    def test_two_processes_have_one_order(self):
        script = ("local names = {} for i = 1, 500 do names['name:' .. i] = i end for i = 1, 400, 3 do names['name:' .. i] = nil "
                  "end return cjson.encode(names)")
        self.assertEqual(self.serve().run("EVAL", script, 0), self.serve().run("EVAL", script, 0))


if __name__ == "__main__":
    unittest.main()
