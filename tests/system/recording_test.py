"""--record and --replay: the requests of one server's clients are sent to another server, and the replies are
compared."""
import os
import signal
import socket
import stat
import struct
import subprocess
import tempfile
import unittest

from certificates import Authority
from hostile import Raw
from launcher import SERVER, LaunchTest, connect, exists, free_port, wait_until
from test_server_page import lines_of_page

LIMIT_S = 60


class RecordingTest(LaunchTest):
    def record(self, *options):
        self.server = self.start("--test", "--bind", "127.0.0.1", "--record", self.path("session.rec"), *options)

    def client(self, port=None):
        client = Raw(port or self.server.port)
        self.addCleanup(client.close)
        return client

    def end(self):
        self.server.stop()
        self.assertEqual(0, self.server.exit_code())

    def replay(self, *options):
        done = subprocess.run([SERVER, "--replay", self.path("session.rec"), *options], capture_output=True, text=True,
                              timeout=LIMIT_S, cwd=self.folder, check=False)
        return done.returncode, done.stdout + done.stderr

    def session(self):
        """Two clients, one of which waits for the other."""
        one, two = self.client(), self.client()
        one.run("HELLO", "3", "SETNAME", "one")
        two.run("SET", "k", "1")
        self.assertEqual(b":2\r\n", one.run("INCR", "k"))
        one.run("SADD", "s", "a", "b", "c")
        two.run("SMEMBERS", "s")
        two.run("MULTI")
        two.run("SET", "x", "y", "PX", "100")
        two.run("PTTL", "x")
        two.run("EXEC")
        one.send(b"*3\r\n$5\r\nBLPOP\r\n$4\r\nlist\r\n$1\r\n0\r\n")
        wait_until(lambda: b"blocked_clients:1" in two.value("INFO", "clients"), "the client to wait")
        two.run("RPUSH", "list", "job")
        one.read()
        one.run("SUBSCRIBE", "news")
        two.run("PUBLISH", "news", "today")
        one.read()
        one.run("UNSUBSCRIBE", "news")
        two.run("NOSUCH")
        one.run("QUIT")
        two.close()

    def test_a_session_is_the_same_again(self):
        self.record()
        self.session()
        self.end()
        self.assertEqual(0o600, stat.S_IMODE(os.stat(self.path("session.rec")).st_mode))
        code, output = self.replay()
        self.assertRegex(output, r"^\d+ requests on 2 connections\. Replies: \d+ the same, 0 different, [1-9]\d* that need not")
        self.assertEqual(0, code)

    def test_orders_and_choices_are_the_same_again(self):
        self.record()
        client = self.client()
        client.run("HSET", "h", *(str(i) for i in range(2000)))
        client.run("SADD", "s", *(f"member-{i}" for i in range(1000)))
        client.run("EVAL", "return redis.call('HGETALL', 'h')", "0")
        client.run("EVAL", "return redis.call('SPOP', 's', 5)", "0")
        client.run("EVAL", "return redis.call('SMEMBERS', 's')", "0")
        client.run("EVAL", "return math.random(1000000)", "0")
        # The seed belongs to the recording: a configuration file that is written now must not keep it.
        self.assertEqual(b"*2\r\n$4\r\nseed\r\n$0\r\n\r\n", client.run("CONFIG", "GET", "seed"))
        self.end()
        code, output = self.replay()
        self.assertEqual((0, 1), (code, output.count("6 the same, 0 different, 1 that")), output)

    def test_the_emulated_version_is_the_same_again(self):
        self.record("--emulate", "redis:6.2")
        client = self.client()
        for words in (("SET", "k", "v"), ("LMPOP", "1", "k", "LEFT"), ("FUNCTION", "LIST"), ("OBJECT", "ENCODING", "k")):
            client.run(*words)
        self.end()
        code, output = self.replay()
        self.assertEqual((0, 1), (code, output.count("4 the same, 0 different, 0 that")), output)

    def test_another_server_is_asked(self):
        self.record()
        self.session()
        self.end()
        other = self.start("--test", "--bind", "127.0.0.1")
        code, output = self.replay("--to", f"127.0.0.1:{other.port}")
        self.assertEqual((0, 1), (code, output.count("0 different")), output)
        code, output = self.replay("--to", f"127.0.0.1:{other.port}")
        self.assertEqual(1, code)
        self.assertIn("connection 1: SADD s a b c\n  recorded: 3\n  replayed: 0\n", output)
        code, output = self.replay("--to", f"127.0.0.1:{other.port}", "--ignore", "sadd")
        self.assertEqual((0, 1), (code, output.count("0 different")), output)

    def test_the_clock_of_the_recording_passes_at_once(self):
        self.record()
        client, admin = self.client(), self.client()
        client.run("SET", "k", "v", "PX", "30")
        wait_until(lambda: client.run("GET", "k") == b"$-1\r\n", "the key to expire")
        client.run("EXISTS", "k")
        client.run("BLPOP", "list", "0.05")
        client.run("SET", "k", "v", "EX", "3600")
        admin.run("SAVE")
        client.run("EXPIRETIME", "k")
        self.end()
        for _ in range(3):
            code, output = self.replay("--ignore", "get")  # at the moment at which the key expires, microseconds decide
            self.assertEqual((0, 1), (code, output.count(" 0 different")), output)

    def test_the_pauses_of_the_recording(self):
        self.record()
        client = self.client()
        client.run("SET", "k", "v", "PX", "40")
        wait_until(lambda: client.run("GET", "k") == b"$-1\r\n", "the key to expire")
        self.end()
        other = self.start("--test", "--bind", "127.0.0.1")
        code, output = self.replay("--to", f"127.0.0.1:{other.port}", "--speed", "0.5", "--ignore", "get")
        self.assertEqual((0, 1), (code, output.count(" 0 different")), output)
        self.assertEqual(b"$-1\r\n", self.client(other.port).run("GET", "k"))

    def test_a_clock_that_the_recording_moves(self):
        self.record()
        client = self.client()
        client.run("SET", "k", "v", "EX", "100")
        client.run("TEST", "CLOCK", "ADVANCE", "60s")
        client.run("GET", "k")
        client.run("TEST", "CLOCK", "ADVANCE", "60s")
        self.assertEqual(b"$-1\r\n", client.run("GET", "k"))
        self.end()
        code, output = self.replay()
        self.assertEqual((0, 1), (code, output.count(" 0 different")), output)

    def test_a_script_that_is_late(self):
        self.record()
        one, two = self.client(), self.client()
        two.run("CONFIG", "SET", "busy-reply-threshold", "20")
        one.send(b"*3\r\n$4\r\nEVAL\r\n$17\r\nwhile true do end\r\n$1\r\n0\r\n")
        wait_until(lambda: two.run("PING").startswith(b"-BUSY"), "the script to be late")
        two.run("SCRIPT", "KILL")
        one.read()
        two.run("SET", "k", "v")
        self.end()
        code, output = self.replay("--ignore", "ping")
        self.assertEqual((0, 1), (code, output.count(" 0 different")), output)

    def test_what_is_large_and_what_comes_in_pieces(self):
        self.record()
        client = self.client()
        value = os.urandom(300_000)
        client.run("SET", "k", value)
        client.run("GET", "k")
        for octet in b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n":
            client.send(bytes([octet]))
        client.read()
        client.send(b"*1\r\n$4\r\nPING\r\n" * 2000)
        for _ in range(2000):
            client.read()
        self.end()
        code, output = self.replay()
        self.assertEqual((0, 1), (code, output.count("2003 requests on 1 connections. Replies: 2003 the same, 0 diff")), output)

    def test_a_server_that_ends_connections(self):
        self.record()
        one, two = self.client(), self.client()
        two.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.assertEqual(b"", one.read_to_end())
        two.run("PING")
        self.end()
        code, output = self.replay()  # also kills the connection that moves the clock
        self.assertEqual(0, code, output)

    def test_the_lines_that_the_page_prints(self):
        self.record()
        self.session()
        self.end()
        other = self.start("--test", "--bind", "127.0.0.1")
        lines = lines_of_page("Recordings", "respite-server ", indent="")
        self.assertEqual(2, len(lines))
        for line in lines:
            program, *words = line.replace("127.0.0.1:6379", f"127.0.0.1:{other.port}").split()
            self.assertEqual("respite-server", program)
            self.assertEqual(0, self.run_once(*words).returncode, line)

    def test_a_handshake_that_fails(self):
        authority = Authority(self.folder, "authority")
        pair = authority.issue("server")
        tls_port = free_port()
        self.record("--tls-port", str(tls_port), "--tls-cert-file", pair.cert, "--tls-key-file", pair.key,
                    "--tls-ca-cert-file", authority.cert)
        stranger = connect(tls_port)
        stranger.sendall(b"PING\r\n")
        self.assertNotIn(b"PONG", stranger.recv(100))
        stranger.close()
        self.client().run("PING")
        self.end()
        code, output = self.replay()
        self.assertEqual((0, 1), (code, output.count(" 0 different")), output)

    def test_a_replay_leaves_the_files_of_its_folder_alone(self):
        self.record("--dir", self.folder)
        client = self.client()
        for words in ("SET a 1", "SAVE", "CONFIG SET appendonly yes", "CONFIG SET appendonly no"):
            self.assertEqual(b"+OK\r\n", client.run(*words.split()))
        self.end()
        self.write("dump.rdb", "mine")
        before = sorted(os.listdir(self.folder))
        code, output = self.replay()
        self.assertEqual((0, before, 4), (code, sorted(os.listdir(self.folder)), os.path.getsize(self.path("dump.rdb"))), output)

    def test_the_server_of_a_replay_ends_with_it(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(number):
                self.interrupt_a_replay(number)

    def interrupt_a_replay(self, number):
        folder = tempfile.mkdtemp(dir=self.folder)
        self.record()
        client = self.client()
        client.run("PING")
        wait_until(lambda: client.run("TIME") and os.path.getsize(self.path("session.rec")) > 1000, "a longer recording")
        self.end()
        replay = subprocess.Popen([SERVER, "--replay", self.path("session.rec"), "--speed", "0.0001"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder,
                                  env={**os.environ, "TMPDIR": folder})
        self.addCleanup(replay.wait)

        def child():
            with open(f"/proc/{replay.pid}/task/{replay.pid}/children", encoding="ascii") as children:
                return children.read().split()
        server = int(wait_until(child, "its server")[0])
        own = wait_until(lambda: os.listdir(folder), "its folder")
        replay.send_signal(number)
        wait_until(lambda: not exists(server), "the end of its server")
        self.assertEqual(2 if number == signal.SIGINT else -number, replay.wait())
        self.assertEqual([] if number == signal.SIGINT else own, os.listdir(folder))

    def test_an_address_of_ip_6(self):
        try:
            socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        except OSError:
            self.skipTest("this machine has no ::1")
        self.record()
        self.client().run("PING")
        self.end()
        other = self.start("--test", "--bind", "::1")
        code, output = self.replay("--to", f"[::1]:{other.port}")
        self.assertEqual(0, code, output)

    def test_what_cannot_be_replayed(self):
        self.write("session.rec", "REDIS0011")
        self.assertEqual((2, f"{self.path('session.rec')}: is no recording\n"), self.replay())
        self.write("session.rec", "respite-recording 1 0\n0 1 open\n1 1 in 4\nPING\n")
        code, output = self.replay("--to", "127.0.0.1:1")
        self.assertEqual(2, code)
        self.assertIn("The replay has failed: the server cannot be reached", output)
        for options in (("--to", "nowhere"), ("--speed", "0"), ("--speed",), ("--fast", "yes")):
            code, output = self.replay(*options)
            self.assertEqual(2, code)
            self.assertIn("--replay FILE", output)
        os.remove(self.path("session.rec"))
        self.assertEqual(2, self.replay()[0])

    def test_a_start_that_fails_leaves_the_recording(self):
        self.record()
        self.client().run("PING")
        self.end()
        before = self.read("session.rec")
        for options in (("--aclfile", "/nonexistent"), ("--port", str(self.start("--test").port))):
            self.fails("--test", "--record", self.path("session.rec"), *options)
            self.assertEqual(before, self.read("session.rec"))

    def test_a_client_that_breaks_off(self):
        self.record("--client-output-buffer-limit", "normal 0 0 0")
        for _ in range(5):
            client = self.client()
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.send(b"PING\r\n" * 2000)
            client.close()
        self.client().run("PING")
        self.end()
        output = self.replay()[1]
        self.assertNotIn("owes replies", output)

    def test_a_device_keeps_its_mode(self):
        before = os.stat("/dev/full").st_mode
        self.start("--test", "--bind", "127.0.0.1", "--record", "/dev/full").wait_for("The recording ends here: No space left")
        self.assertEqual(before, os.stat("/dev/full").st_mode)

    def test_what_cannot_be_recorded(self):
        self.assertIn("Can't open the recording /nowhere/x: No such file or directory",
                      self.fails("--test", "--record", "/nowhere/x"))
        self.assertIn("record writes down one server", self.fails("--test", "--nodes", "3", "--record", "x"))


if __name__ == "__main__":
    unittest.main()
