"""The program as redis-cli: compared with the real one where that is installed, at a terminal, with a password and over
TLS."""
import fcntl
import itertools
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import termios
import time
import unittest

from certificates import Authority
from launcher import SERVER, WAIT_S, LaunchTest, call, free_port, wait_until

WARNING = "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.\n"
CONTROL_C, CONTROL_D, CONTROL_R, CONTROL_U, TAB, UP = "\x03", "\x04", "\x12", "\x15", "\t", "\x1b[A"
COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def real_client():
    """Returns the redis-cli of this system if its version prints the same output as ours."""
    program = shutil.which("redis-cli")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout if program else ""
    return program if re.match(r"redis-cli 7\.", version) else None


class Terminal:
    """A client in a terminal of 100 columns. `edits`: it has a line editor, which echoes keys itself."""

    def __init__(self, *words, edits, **variables):
        self.edits = edits
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.environ.update(variables)
            os.execv(words[0], list(map(str, words)))
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.text = ""

    def read(self, limit_s):
        """Returns False if nothing came."""
        if not select.select([self.terminal], [], [], limit_s)[0]:
            return False
        try:
            part = os.read(self.terminal, 65536)
        except OSError:  # the client has ended
            return False
        self.text += part.decode(errors="replace").replace("\r\n", "\n")
        return bool(part)

    def type(self, keys, at_prompt=True):
        """Discards the output until now. Waits for the editor, since the terminal echoes earlier keys as well."""
        if self.edits and at_prompt:
            wait_until(lambda: not termios.tcgetattr(self.terminal)[3] & termios.ECHO, "the editor")
        self.text = ""
        os.write(self.terminal, keys.encode())

    def wait_for(self, text):
        """Returns the output since the last keys, up to and including this text."""
        end = time.monotonic() + WAIT_S
        while text not in self.text:
            if not self.read(0.05) and time.monotonic() > end:
                raise AssertionError(f"no {text!r} in {self.text!r}")
        return self.text[:self.text.index(text) + len(text)]

    def answer(self, line):
        """Returns the output between a typed line and the next prompt."""
        self.type(line + "\r")
        end = time.monotonic() + WAIT_S
        while not self.prompt().endswith("> ") or "\n" not in self.text:
            if not self.read(0.05) and time.monotonic() > end:
                raise AssertionError(f"no prompt in {self.text!r}")
        return COLOURS.sub("", self.text).partition("\n")[2].rpartition("\n")[0]

    def prompt(self):
        return COLOURS.sub("", self.text).rpartition("\n")[2]

    def exit_code(self):
        end = time.monotonic() + WAIT_S
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = None
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > end:
                raise AssertionError("the client does not end")
            self.read(0.01)

    def kill(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)


class ClientTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.tool = self.path("respite-cli")
        os.symlink(os.path.abspath(SERVER), self.tool)

    def answer(self, *words, **variables):
        done = subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, timeout=20, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **variables})
        return done.returncode, done.stdout, done.stderr

    def feed(self, text, *words, tool=None):
        done = subprocess.run([tool or self.tool, *map(str, words)], capture_output=True, text=True, timeout=20, check=False,
                              input=text, errors="surrogateescape")
        return done.returncode, done.stdout, done.stderr


class ClientToolTest(ClientTest):
    def test_ping(self):
        server = self.start("--test", "--requirepass", "secret")
        self.assertEqual((0, "PONG\n", WARNING), self.answer("-p", server.port, "-a", "secret", "PING"))
        self.assertEqual((0, "PONG\n", ""), self.answer("-p", server.port, "-a", "secret", "--no-auth-warning", "PING"))
        self.assertEqual((0, "PONG\n", WARNING), self.answer("-u", f"redis://:secre%74@localhost:{server.port}/2", "PING"))
        self.assertEqual((0, "PONG\n", ""), self.answer("-p", server.port, "--raw", "PING", REDISCLI_AUTH="secret"))
        self.assertEqual((1, "", "NOAUTH Authentication required.\n"), self.answer("-e", "-p", server.port, "PING"))
        code, said, _ = self.answer("-p", server.port, "--user", "nobody", "-a", "wrong", "PING")
        self.assertEqual((0, "NOAUTH Authentication required.\n\n"), (code, said))
        code, said, error = self.answer("-p", free_port(), "PING")
        self.assertEqual((1, ""), (code, said))
        self.assertIn("Could not connect to Redis at 127.0.0.1:", error)

    def test_tls(self):
        authority, stranger = Authority(self.folder, "authority"), Authority(self.folder, "stranger")
        issued, client = authority.issue("server"), authority.issue("client")
        port = free_port()
        server = self.start("--test", "--tls-port", port, "--tls-cert-file", issued.cert, "--tls-key-file", issued.key,
                            "--tls-ca-cert-file", authority.cert)
        own = ("--cert", client.cert, "--key", client.key)
        to = ("-p", port, "--tls", *own)
        self.assertEqual((0, "PONG\n", ""), self.answer(*to, "--cacert", authority.cert, "--sni", "localhost", "PING"))
        self.assertEqual((0, "PONG\n", ""), self.answer(*to, "--insecure", "PING"))
        long = "x" * 300_000
        self.assertEqual(0, self.answer(*to, "--insecure", "SET", "long", long[:100_000])[0])
        self.assertEqual("+OK", call(server.port, "SET", "long", long))
        self.assertEqual((0, long + "\n", ""), self.answer(*to, "--insecure", "GET", "long"))
        for words, reason in ((("--cacert", stranger.cert, *own), "certificate verify failed|unable to get|self.signed"),
                              ((*own,), "unable to get|self.signed"), (("--cacert", "/no/such.crt"), "No such file"),
                              (("--insecure", "--cert", client.cert, "--key", issued.key), "key values mismatch")):
            with self.subTest(words):
                code, said, error = self.answer("-p", port, "--tls", *words, "PING")
                self.assertEqual((1, ""), (code, said))
                self.assertRegex(error, f"Could not connect to Redis at 127.0.0.1:{port}: .*({reason})")
        self.assertEqual(1, self.answer("-p", port, "--tls", "--insecure", "PING")[0])  # it requires a certificate
        self.assertEqual(1, self.answer("-p", server.port, "--tls", "--insecure", "PING")[0])

    def test_wrong_options(self):
        for words in (("--no-such-option", "PING"), ("--cacert",), ("-u", "http://localhost"), ("-r", "x", "PING"),
                      ("-i", "x", "PING")):
            with self.subTest(words):
                code, said, error = self.answer(*words)
                self.assertEqual((1, ""), (code, said))
                self.assertRegex(error, "Unrecognized option|Invalid URI scheme|needs a whole number")

    def test_help_and_version(self):
        for words in (("--help",), ("-h",)):
            code, said, error = self.answer(*words)
            self.assertEqual((0, ""), (code, error))
            self.assertTrue(said.startswith(f"Usage: {self.tool} "), said)
        self.assertEqual("\n  GET key\n  summary: ", self.answer("help", "get")[1][:22])
        for words in (("--version",), ("-v",)):
            code, said, error = self.answer(*words)
            self.assertEqual((0, ""), (code, error))
            self.assertRegex(said, r"^redis-cli 7\.2\.\d+\n$")

    def test_unix_socket(self):
        path = self.path("socket")
        self.start("--test", "--unixsocket", path)
        self.assertEqual((0, "PONG\n", ""), self.answer("-s", path, "PING"))

    def test_repeats_and_reads_input(self):
        server = self.start("--test")
        self.assertEqual((0, "1\n2\n3\n", ""), self.answer("-p", server.port, "-r", 3, "-i", 0.01, "INCR", "n"))
        self.assertEqual("OK\n", self.feed("a\n\0b", "-p", server.port, "-x", "SET", "k")[1])
        self.assertEqual((0, "\"a\\n\\x00b\"\n", ""), self.answer("-p", server.port, "--no-raw", "GET", "k"))
        self.assertEqual("OK\n", self.answer("-p", server.port, "--quoted-input", "SET", "k", "'a b'")[1])
        self.assertEqual("a b\n", self.answer("-p", server.port, "GET", "k")[1])

    def test_shutdown(self):
        for words in (("SHUTDOWN",), ("shutdown", "nosave"), ("--no-raw", "SHUTDOWN", "NOSAVE", "NOW")):
            server = self.start("--test")
            self.assertEqual((0, "", ""), self.answer("-p", server.port, *words))
            self.assertEqual(0, server.exit_code())
        server = self.start("--test")
        code, said, error = self.feed("PING\nSHUTDOWN NOSAVE\nPING\n", "-p", server.port)
        self.assertEqual((0, "PONG\n"), (code, said))
        self.assertEqual(f"Could not connect to Redis at 127.0.0.1:{server.port}: Connection refused\n", error)


@unittest.skipUnless(real_client(), "no redis-cli 7 is installed")
class BesideRedisCliTest(ClientTest):
    """Returns the output of the real one for the same server."""
    SETUP = ("RPUSH l a b c", "HSET h f v g w", "SADD s one", "ZADD z 1.5 a 3e20 b", "SET n 10", "XADD x 1-1 f v g w",
             "SET binary \"a\\x00\\xff\\n\\\"\\\\\"")
    COMMANDS = (("PING",), ("ping", "a b"), ("NOSUCH", "x"), ("GET", "missing"), ("GET", "binary"), ("GET", "n", "more"), ("INCR", "n"),
                ("LRANGE", "l", "0", "-1"), ("LRANGE", "missing", "0", "-1"), ("HGETALL", "h"), ("SMEMBERS", "s"),
                ("ZRANGE", "z", "0", "-1", "WITHSCORES"), ("ZSCORE", "z", "b"), ("XRANGE", "x", "-", "+"), ("MGET", "n", "missing"),
                ("XREAD", "STREAMS", "x", "0"), ("XINFO", "STREAM", "x"), ("CONFIG", "GET", "nothing"), ("CONFIG", "GET", "maxmemory*"),
                ("COMMAND", "INFO", "get", "nothing"), ("COMMAND", "DOCS", "get"), ("INFO", "keyspace"), ("CLUSTER", "INFO"), ("MEMORY", "DOCTOR"), ("LATENCY", "DOCTOR"),
                ("EVAL", "return {1,{},{2,{3,'x'}},'y',{'a','b','c','d','e','f','g','h','i','j'}}", "0"),
                ("EVAL", "return {{err='MY x'},{ok='fine'},false}", "0"),
                ("EVAL", "redis.setresp(3); return {map={a={map={x=1}}}}", "0"),
                ("EVAL", "redis.setresp(3); return {map={b={set={s=true}}}}", "0"),
                ("EVAL", "redis.setresp(3); return {map={b={'one','two'}}}", "0"),
                ("EVAL", "redis.setresp(3); return {map={b={}}}", "0"), ("EVAL", "redis.setresp(3); return {map={b={{1,2}}}}", "0"),
                ("DEBUG", "PROTOCOL", "double"), ("DEBUG", "PROTOCOL", "verbatim"), ("DEBUG", "PROTOCOL", "true"),
                ("DEBUG", "PROTOCOL", "map"), ("DEBUG", "PROTOCOL", "set"), ("DEBUG", "PROTOCOL", "null"), ("SHUTDOWN", "WRONG"), ("SUBSCRIBE",))
    LINES = ("ping", "foo x", "\"unbalanced", "5 incr n", "0 incr n", "-1 incr n", "set q '\\x41 b'", "get q", "set q \"\\x41 b\"", "get q",
             "multi", "select 2", "get n", "nosuch", "exec", "multi", "ping", "exec", "  ", "set 'a'b", "select 99", "lrange l 0 -1",
             "reset", "quit", "ping")

    def setUp(self):
        super().setUp()
        self.server = self.start("--test", "--enable-debug-command", "yes")
        self.feed("\n".join(self.SETUP), "-p", self.server.port)

    def both(self, *words, text=None):
        outcomes = []
        for tool in (real_client(), self.tool):
            if text or "INCR" in words:
                self.feed("SET n 10\nSELECT 3\nSET n 10", "-p", self.server.port)
            outcomes.append(self.feed(text or "", "-p", self.server.port, *words, tool=tool))
        return outcomes

    def test_formats(self):
        for options in ((), ("--no-raw",), ("--csv",), ("-3",), ("-3", "--no-raw"), ("-3", "--csv"), ("-e", "--no-raw"), ("-n", "3"),
                        ("-n", "99"), ("-r", "2"), ("-d", ",", "-D", ";"), ("--no-raw", "-a", "wrong")):
            for command in self.COMMANDS:
                with self.subTest(f"{' '.join(options)} {command}"):
                    theirs, ours = self.both(*options, *command)
                    self.assertEqual(theirs, ours)

    def test_options(self):
        """Those that it refuses, or that end it: an option is a whole word, and its value another."""
        for options in (("-p6379",), ("--use", "x"), ("--user=x",), ("-23",), ("-ex",), ("--no-auth",), ("--tl",), ("--",), ("-",), ("-1",), ("-help",),
                        ("-2", "-3"), ("-3", "-2"), ("-u", "http://localhost"), ("-u", "redis"), ("-u", ""), ("--no-such", "--help"),
                        ("--show-pushes", "maybe"), ("--show-pushes", "No"), ("--show-pushes", ""), ("--raw", "--csv"), ("--csv", "--no-raw"),
                        ("-u", f"REDIS://127.0.0.1:{self.server.port}/3"), ("-u", "redis://127.0.0.1:1", "-p", self.server.port),
                        ("--quoted-input", "'a' 'b'"), ("--quoted-input", "'a"), ("--quoted-input", '"a"b')):
            with self.subTest(options):
                theirs, ours = self.both(*options, "LRANGE", "l", "0", "-1")
                self.assertEqual(theirs, ours)
        for option in ("-p", "-s", "-a", "--pass", "--user", "-n", "-u", "-r", "-i", "-d", "-D", "--show-pushes"):
            theirs, ours = self.both(option)
            self.assertEqual(theirs, ours)
        for options in (("-h",), ("--help",), ("--help", "--no-such"), ("-x", "-h"), ("-v", "PING"), ("-x", "--version")):
            theirs, ours = self.both(*options)
            self.assertEqual((0, ""), (ours[0], ours[2]))
            self.assertEqual((theirs[0], theirs[2]), (ours[0], ours[2]))

    def test_lines(self):
        for options in ((), ("--no-raw",), ("--csv",), ("-e",)):
            with self.subTest(options):
                theirs, ours = self.both(*options, text="\n".join(self.LINES) + "\n")
                self.assertEqual(theirs, ours)

    def test_pushed_messages(self):
        lines = ("client tracking on bcast", "set a 5", "get a", "mset a 1 'b c' 2", "flushall", "ping")
        for options in ((), ("--no-raw",), ("--csv",), ("--show-pushes", "yes"), ("--show-pushes", "yes", "--no-raw"),
                        ("--show-pushes", "yes", "--csv")):
            with self.subTest(options):
                theirs, ours = self.both("-3", *options, text="\n".join(lines) + "\n")
                self.assertEqual(theirs, ours)

    def test_shutdown_that_is_refused(self):
        folder = self.path("gone")
        os.mkdir(folder)
        server = self.start("--port", free_port(), "--dir", folder, cwd=self.folder)
        os.rmdir(folder)
        for options in ((), ("--no-raw",), ("-e",), ("--csv",)):
            theirs, ours = (self.feed("", "-p", server.port, *options, "SHUTDOWN", "SAVE", tool=tool)
                            for tool in (real_client(), self.tool))
            self.assertEqual(theirs, ours)
            self.assertIn("Errors trying to SHUTDOWN", ours[1] + ours[2])
        server.stop(signal.SIGKILL)

    def test_without_a_server(self):
        port = free_port()
        for words, text in ((("PING",), None), ((), "PING\nPING\n"), (("--no-raw", "SHUTDOWN"), None)):
            theirs, ours = (self.feed(text or "", "-p", port, *words, tool=tool) for tool in (real_client(), self.tool))
            self.assertEqual(theirs, ours)

    def test_a_port_that_is_no_number(self):
        code, _, error = self.feed("", "-p", "abc", "PING")
        self.assertEqual(1, code)
        self.assertRegex(error, r"^Could not connect to Redis at 127\.0\.0\.1:abc: (?!Success)\w")

    def test_terminal(self):
        """At a dumb terminal, where the real redis-cli draws only the lines."""
        said = []
        for tool in (real_client(), self.tool):
            self.feed("SET n 10", "-p", self.server.port)
            terminal = Terminal(tool, "-p", self.server.port, edits=tool == self.tool, TERM="dumb", HOME=self.folder)
            self.addCleanup(terminal.kill)
            terminal.wait_for("> ")
            rows = []
            # The real redis-cli treats a SELECT that is queued for EXEC as done.
            lines = [line for line in self.LINES[:-2] if line != "select 2"]
            for line in (*lines, "hello 3", "hgetall h", "config get nothing", "reset", "auth x", "connect 127.0.0.1 1",
                         f"connect 127.0.0.1 {self.server.port}", "hgetall h", "get binary", "info keyspace"):
                rows.append((line, terminal.answer(line), terminal.prompt()))
            terminal.type("shutdown nosave foo\r")
            terminal.wait_for("ERR syntax error")
            terminal.type("exit\r")
            self.assertEqual(0, terminal.exit_code())
            said.append([row for row in rows if row[0] != "hello 3"])
        self.assertEqual(*said)


class PromptTest(LaunchTest):
    """At a terminal."""

    def setUp(self):
        super().setUp()
        self.tool = self.path("respite-cli")
        os.symlink(os.path.abspath(SERVER), self.tool)
        self.server = self.start("--test", "--enable-debug-command", "yes")

    def open(self, *words, **variables):
        terminal = Terminal(self.tool, "-p", self.server.port, *words, edits=True, **{"TERM": "xterm", "HOME": self.folder, **variables})
        self.addCleanup(terminal.kill)
        terminal.wait_for("> ")
        return terminal

    def test_edits_lines(self):
        terminal = self.open()
        self.assertEqual(f"127.0.0.1:{self.server.port}> ", terminal.prompt())
        self.assertEqual('"BA"', terminal.answer("echo A\x1b[DB"))  # B was typed before A
        self.assertEqual('"two words"', terminal.answer("nothing" + CONTROL_U + "echo 'two words'"))
        self.assertEqual('"\\xc3\\xa4"', terminal.answer("echo ä"))
        terminal.type(CONTROL_D)
        self.assertEqual(0, terminal.exit_code())

    def test_history(self):
        terminal = self.open()
        for line in ("set a 1", "auth secret", "acl setuser u >secret", "config set requirepass ''", "hello 2 auth default secret",
                     "2 auth secret", "+2 auth secret", 'auth "secret', "help auth secret", "get a", "get a"):
            terminal.answer(line)
        self.assertEqual('"1"', terminal.answer(UP))
        self.assertEqual("OK", terminal.answer(UP + UP))
        terminal.type("quit\r")
        self.assertEqual(0, terminal.exit_code())
        file = self.path(".respitecli_history")
        self.assertEqual("set a 1\nget a\nset a 1\nquit\n", self.read(".respitecli_history"))
        self.assertEqual(0o600, stat.S_IMODE(os.stat(file).st_mode))
        terminal = self.open()
        terminal.type(CONTROL_R + "get\r")
        terminal.wait_for('"1"\n')
        for name in ("REDISCLI_HISTFILE", "RESPITECLI_HISTFILE"):
            terminal = self.open(**{name: self.path(name)})
            terminal.answer("echo " + name)
            self.assertEqual(f"echo {name}\n", self.read(name))

    def test_history_has_a_limit(self):
        self.write("history", "".join(f"echo {i}\n" for i in range(1500)))
        terminal = self.open(RESPITECLI_HISTFILE=self.path("history"))
        self.assertEqual('"1499"', terminal.answer(UP))
        self.assertEqual(["echo 500", "echo 1499", "echo 1499"],
                         [self.read("history").splitlines()[i] for i in (0, 999, -1)])

    def test_hints(self):
        terminal = self.open()
        terminal.type("mset")
        terminal.wait_for(" key value [key value ...]")
        terminal.type(" a")
        terminal.wait_for(" value [key value ...]")
        terminal.answer(" 1")
        terminal.answer(":set nohints")
        self.assertEqual("", terminal.answer(""))
        terminal.type("get")
        terminal.wait_for("get")
        terminal.type(" a\r")
        self.assertNotIn("key", terminal.wait_for("> "))

    def test_completes(self):
        terminal = self.open()
        terminal.type("getd" + TAB)
        terminal.wait_for("el ")
        terminal.type(CONTROL_U + "config re" + TAB + TAB)
        terminal.wait_for("config resetstat  config rewrite\n")
        self.assertEqual("OK", terminal.answer("sets" + TAB))

    def test_shows_the_state(self):
        terminal = self.open()
        for line, prompt in (("select 3", "[3]> "), ("multi", "[3](TX)> "), ("select 2", "[3](TX)> "), ("exec", "[2]> "),
                             ("multi", "[2](TX)> "), ("nosuch", "[2](TX)> "), ("exec", "[2]> "), ("reset", f":{self.server.port}> "), ("multi", "(TX)> "), ("select 5", "(TX)> "),
                             # A SELECT that RESET has discarded does not take effect at the next EXEC.
                             ("reset", f":{self.server.port}> "), ("multi", "(TX)> "), ("exec", f":{self.server.port}> ")):
            terminal.answer(line)
            self.assertTrue(terminal.prompt().endswith(prompt), (line, terminal.prompt()))

    def test_interrupts(self):
        terminal = self.open("-n", "2")
        for line, printed in (("subscribe news", '3) (integer) 1\n'), ("monitor", "OK\n"), ("blpop list 0", "\n")):
            terminal.type(line + "\r")
            terminal.wait_for(printed)
            if line.startswith("blpop"):
                wait_until(lambda: "cmd=blpop" in call(self.server.port, "CLIENT", "LIST"), "BLPOP")
            terminal.type(CONTROL_C, at_prompt=False)
            terminal.wait_for(f":{self.server.port}[2]> ")
            self.assertEqual("PONG", terminal.answer("ping"))
        terminal.type(CONTROL_C)
        self.assertEqual(0, terminal.exit_code())

    def test_prints_messages(self):
        terminal = self.open()
        terminal.type("subscribe news\r")
        terminal.wait_for("Reading messages... (press Ctrl-C to quit)\n1) \"subscribe\"\n2) \"news\"\n3) (integer) 1\n")
        call(self.server.port, "PUBLISH", "news", "hello")
        terminal.wait_for('1) "message"\n2) "news"\n3) "hello"\n')

    def test_connects_again(self):
        terminal = self.open("-n", "2")
        terminal.answer("set a 1")
        call(self.server.port, "CLIENT", "KILL", "TYPE", "normal")
        self.assertEqual('"1"', terminal.answer("get a"))
        terminal.answer("multi")
        call(self.server.port, "CLIENT", "KILL", "TYPE", "normal")
        self.assertEqual("Error: Server closed the connection", terminal.answer("set a 2"))
        self.assertEqual("not connected> ", terminal.prompt())
        self.assertEqual('"1"', terminal.answer("get a"))
        self.assertTrue(terminal.prompt().endswith("[2]> "))

    def test_shutdown(self):
        terminal = self.open()
        self.assertEqual("(error) ERR syntax error", terminal.answer("shutdown wrong"))
        self.assertEqual("", terminal.answer("shutdown nosave"))
        self.assertEqual("not connected> ", terminal.prompt())
        self.assertEqual(0, self.server.exit_code())
        refused = f"Could not connect to Redis at 127.0.0.1:{self.server.port}: Connection refused"
        self.assertEqual(refused, terminal.answer("ping"))
        self.start("--test", "--port", self.server.port)
        self.assertEqual("PONG", terminal.answer("ping"))

    def test_time_of_slow_commands(self):
        terminal = self.open()
        self.assertRegex(terminal.answer("blpop list 0.6"), r"^\(nil\)\n\(0\.[5-9]\ds\)$")

    def test_terminal_without_a_description(self):
        """In a container there is no description of the terminal type xterm."""
        terminal = self.open(TERM="no-such-terminal")
        self.assertNotIn("No entry", terminal.text)
        self.assertEqual('"BA"', terminal.answer("echo A\x1b[DB"))

    def test_draws_the_line_anew(self):
        """After Ctrl-Z and fg, and when the window changes."""
        terminal = self.open()
        widths = itertools.cycle((60, 70))
        terminal.type("echo A")
        terminal.wait_for("A")
        for change in (lambda: os.kill(terminal.pid, signal.SIGCONT),
                       lambda: fcntl.ioctl(terminal.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, next(widths), 0, 0))):
            terminal.text = ""
            end = time.monotonic() + WAIT_S
            while "echo A" not in COLOURS.sub("", terminal.text):
                self.assertLess(time.monotonic(), end)
                change()  # again, since the client may not have waited for a key yet
                terminal.read(0.05)
        self.assertEqual('"BA"', terminal.answer("\x1b[DB"))

    def test_help(self):
        terminal = self.open()
        self.assertIn("  GET key\n  summary: ", terminal.answer("help get"))
        self.assertIn("help @<group>", terminal.answer("help"))
        terminal.type("clear\r")
        terminal.wait_for("\x1b[H\x1b[2J")


if __name__ == "__main__":
    unittest.main()
