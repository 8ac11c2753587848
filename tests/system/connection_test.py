"""Clients that read late, hang up early or vanish: the server must act on the readiness of their sockets."""
import contextlib
import os
import pathlib
import select
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest

LONG = 60_000
REPLY = len(b"$60000\r\n") + LONG + 2


class OneServer(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        port_file = pathlib.Path(self.folder.name) / "port"
        self.server = subprocess.Popen(
            [os.environ["RESPITE_SERVER"], "--port", "auto", "--port-file", str(port_file), "--bind", "127.0.0.1"],
            cwd=self.folder.name, stdout=subprocess.DEVNULL)
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        deadline = time.monotonic() + 10
        while not port_file.exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        self.port = int(port_file.read_text())

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        self.addCleanup(client.close)
        return client

    def read(self, client, size):
        got = bytearray()
        while len(got) < size:
            part = client.recv(1 << 20)
            if not part:
                break
            got += part
        return bytes(got)

    def assert_serves(self):
        client = self.connect()
        client.sendall(b"PING\r\n")
        self.assertEqual(b"+PONG\r\n", self.read(client, 7))

    def store_long(self):
        client = self.connect()
        client.sendall(b"SET long " + b"x" * LONG + b"\r\n")
        self.assertEqual(b"+OK\r\n", self.read(client, 5))


class ConnectionTest(OneServer):
    def test_replies_that_did_not_fit_follow_when_there_is_room(self):
        self.store_long()
        client = self.connect()
        client.sendall(b"GET long\r\n" * 1000 + b"PING\r\n")
        self.assert_serves()
        self.assertTrue(self.read(client, 1000 * REPLY + 7).endswith(b"+PONG\r\n"))

    def test_what_stands_behind_a_wait_for_the_disk_runs_when_that_is_over(self):
        """Such work formerly ran only at a tick of the timer, which here comes once a second."""
        client = self.connect()
        client.sendall(b"CONFIG SET appendfsync everysec\r\nCONFIG SET appendonly yes\r\nCONFIG SET hz 1\r\n")
        self.assertEqual(b"+OK\r\n" * 3, self.read(client, 15))
        client.sendall(b"SET k v\r\nWAITAOF 1 0 0\r\nPING\r\n")
        waited = b"+OK\r\n*2\r\n:1\r\n:0\r\n"
        replies = client.makefile("rb")
        self.addCleanup(replies.close)
        self.assertEqual(waited, replies.read(len(waited)))
        over = time.monotonic()
        self.assertEqual(b"+PONG\r\n", replies.read(7))
        self.assertLess(time.monotonic() - over, 0.5)

    def test_a_half_closed_client_gets_all_replies(self):
        client = self.connect()
        client.sendall(b"INCR n\r\n" * 5000)
        client.shutdown(socket.SHUT_WR)
        self.assertEqual(5000, self.read(client, 1 << 30).count(b":"))

    def test_quit_behind_unread_replies_closes_and_ignores_what_follows(self):
        self.store_long()
        client = self.connect()
        client.sendall(b"GET long\r\n" * 1000 + b"QUIT\r\n" + b"INCR after\r\n" * 1000)
        got = self.read(client, 1000 * REPLY + 5)
        self.assertTrue(got.endswith(b"+OK\r\n"))
        other = self.connect()
        other.sendall(b"EXISTS after\r\n")
        self.assertEqual(b":0\r\n", self.read(other, 4))

    def test_clients_that_vanish_leave_no_session(self):
        for _ in range(20):
            client = self.connect()
            client.sendall(b"PING\r\n" * 3000)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
        client = self.connect()
        deadline = time.monotonic() + 10
        listed = 0
        while listed != 1 and time.monotonic() < deadline:
            client.sendall(b"CLIENT LIST\r\n")
            listed = client.recv(1 << 16).count(b"id=")
        self.assertEqual(1, listed)

    # A launcher whose connection closes may start the next server on the same port.
    def test_nobody_listens_when_a_shutdown_closes_connections(self):
        others = [self.connect() for _ in range(200)]
        for other in others:
            other.sendall(b"PING\r\n")
            self.assertEqual(b"+PONG\r\n", self.read(other, 7))
        # All connections close in the turn that stops the server.
        self.connect().sendall(b"CLIENT KILL TYPE normal SKIPME yes\r\nSHUTDOWN NOSAVE\r\n")
        self.assertEqual(b"", others[0].recv(1))
        self.assertRaises(ConnectionRefusedError, self.connect)

    def test_clients_that_come_and_go_during_an_endless_script(self):
        """They take neither places of maxclients nor memory, so an operator can still connect and end the script."""
        first = self.connect()
        for words in ("maxclients 60", "busy-reply-threshold 50"):
            first.sendall(f"CONFIG SET {words}\r\n".encode())
            self.assertEqual(b"+OK\r\n", self.read(first, 5))
        old = [self.connect() for _ in range(30)]
        first.sendall(b"INFO memory\r\n")
        peak = int(first.recv(1 << 16).split(b"used_memory_peak:")[1].split(b"\r\n")[0])
        first.sendall(b"EVAL 'while true do end' 0\r\n")
        for number in range(300):
            client = socket.create_connection(("127.0.0.1", self.port), timeout=20)
            client.sendall(b"x" * 60000)
            if number % 3 == 0:
                client.sendall(b"\r\n")
                self.assertIn(client.recv(1), b"-")
            client.close()
            if old:
                old.pop().close()
        killer = self.connect()
        killer.sendall(b"PING\r\n")
        self.assertIn(b"-BUSY", killer.recv(300))
        killer.sendall(b"SCRIPT KILL\r\n")
        self.assertEqual(b"+OK\r\n", self.read(killer, 5))
        self.assertIn(b"-ERR Script killed by user", first.recv(200))
        killer.sendall(b"INFO memory\r\n")
        grown = int(killer.recv(1 << 16).split(b"used_memory_peak:")[1].split(b"\r\n")[0]) - peak
        self.assertLess(grown, 4 << 20)

    def test_requests_before_a_slow_script_are_not_refused(self):
        script, other = self.connect(), self.connect()
        other.sendall(b"CONFIG SET busy-reply-threshold 1\r\n")
        self.assertEqual(b"+OK\r\n", self.read(other, 5))
        other.sendall(b"EVAL 'for i = 1, 200000 do redis.call(\"RPUSH\", \"l\", i) end' 0\r\n")
        self.assertEqual(b"$-1\r\n", self.read(other, 5))
        sort = b"SORT l LIMIT 0 1\r\n"  # takes longer than one pipeline may run in a turn
        other.sendall(sort * 5 + b"MULTI\r\n" + b"INCR z\r\n" * 3 + b"EXEC\r\n")
        script.sendall(b"EVAL 'for i = 1, 30000000 do end return 1' 0\r\n")
        expected = b"*1\r\n$1\r\n1\r\n" * 5 + b"+OK\r\n" + b"+QUEUED\r\n" * 3 + b"*3\r\n:1\r\n:2\r\n:3\r\n"
        self.assertEqual(expected, self.read(other, len(expected)))
        self.assertEqual(b":1\r\n", self.read(script, 4))

    def test_long_pipelines_are_answered_during_an_endless_script(self):
        script, operator = self.connect(), self.connect()
        operator.sendall(b"CONFIG SET busy-reply-threshold 1\r\n")
        self.assertEqual(b"+OK\r\n", self.read(operator, 5))
        script.sendall(b"EVAL 'while true do end' 0\r\n")
        answer = b""
        while not answer.startswith(b"-BUSY"):
            operator.sendall(b"PING\r\n")
            answer = operator.recv(1000)
        count = 4000
        others = [self.connect() for _ in range(12)]
        for other in others:
            other.sendall(b"GET x\r\n" * count)
        operator.sendall(b"GET x\r\n" * count + b"SCRIPT KILL\r\n")
        self.assertEqual(answer * count + b"+OK\r\n", self.read(operator, len(answer) * count + 5))
        self.assertIn(b"-ERR Script killed by user", script.recv(200))
        for other in others:  # those that come after the end of the script find no key
            got = self.read(other, 5 * count)
            while got.count(b"\r\n") < count:
                got += other.recv(1 << 16)
            self.assertEqual(answer * got.count(answer) + b"$-1\r\n" * (count - got.count(answer)), got)

    def test_a_slow_script_gets_half_of_the_time(self):
        operator = self.connect()
        operator.sendall(b"CONFIG SET busy-reply-threshold 1\r\n")
        self.assertEqual(b"+OK\r\n", self.read(operator, 5))

        def run_script():
            began = time.monotonic()
            operator.sendall(b"EVAL 'for i = 1, 30000000 do end return 1' 0\r\n")
            self.assertEqual(b":1\r\n", self.read(operator, 4))
            return time.monotonic() - began

        alone_s = run_script()
        is_over = threading.Event()
        others = [self.connect() for _ in range(40)]

        def flood():
            for other in others:
                other.setblocking(False)
            while not is_over.is_set():
                readable, writable, _ = select.select(others, others, [], 1)
                for other in writable:
                    with contextlib.suppress(BlockingIOError):
                        other.send(b"GET x\r\n" * 2000)
                for other in readable:
                    with contextlib.suppress(BlockingIOError):
                        other.recv(1 << 16)

        thread = threading.Thread(target=flood)
        thread.start()
        try:
            self.assertLess(run_script(), 8 * alone_s + 2)
        finally:
            is_over.set()
            thread.join()

    def test_nobody_listens_when_a_shutdown_ends_a_late_script(self):
        late, other = self.connect(), self.connect()
        other.sendall(b"CONFIG SET busy-reply-threshold 1\r\n")
        self.assertEqual(b"+OK\r\n", self.read(other, 5))
        late.sendall(b"EVAL 'while true do end' 0\r\n")
        answer = b""
        while not answer.startswith(b"-BUSY"):
            other.sendall(b"PING\r\n")
            answer = other.recv(1000)
        other.sendall(b"SHUTDOWN NOSAVE\r\n")
        self.assertEqual(b"", other.recv(1))
        self.assertRaises(ConnectionRefusedError, self.connect)


class ManySubscriptionsTest(OneServer):
    """UNSUBSCRIBE from many channels takes many turns: tests clients that disconnect in between."""
    COUNT = 50_000

    def subscribe(self):
        client = self.connect()
        names = [b"%d" % n for n in range(self.COUNT)]
        client.sendall(b"*%d\r\n$9\r\nSUBSCRIBE\r\n" % (self.COUNT + 1) + b"".join(b"$%d\r\n%s\r\n" % (len(n), n) for n in names))
        self.read_confirmations(client, self.COUNT)
        return client

    def read_confirmations(self, client, count):
        got = bytearray()
        while got.count(b"*3\r\n") < count or not got.endswith(b"\r\n"):
            part = client.recv(1 << 20)
            if not part:
                break
            got += part
        return got

    def assert_all_is_gone(self):
        client = self.connect()
        deadline = time.monotonic() + 20
        left = None
        while left != (b"*0\r\n", 1) and time.monotonic() < deadline:
            client.sendall(b"PUBSUB CHANNELS 4999*\r\nCLIENT LIST\r\n")
            got = bytearray()
            while not (b"cmd=client|list" in got and got.endswith(b"\n\r\n")):
                got += client.recv(1 << 16)
            left = bytes(got[:4]), got.count(b" addr=")
        client.close()
        self.assertEqual((b"*0\r\n", 1), left)

    def test_a_client_that_vanishes_in_the_middle(self):
        for linger in (True, False):
            client = self.subscribe()
            client.sendall(b"UNSUBSCRIBE\r\nPING\r\n")
            client.recv(1)
            if linger:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            client.close()
            self.assert_all_is_gone()

    def test_a_client_that_is_killed_in_the_middle(self):
        client, killer = self.subscribe(), self.connect()
        client.sendall(b"UNSUBSCRIBE\r\nPING\r\n")
        client.recv(1)
        killer.sendall(b"CLIENT KILL TYPE pubsub\r\nCLIENT KILL TYPE normal\r\nQUIT\r\n")
        self.read(killer, 1 << 20)
        self.read_confirmations(client, self.COUNT)
        self.assert_all_is_gone()

    def test_a_half_closed_client_gets_all_answers(self):
        client = self.subscribe()
        client.sendall(b"UNSUBSCRIBE\r\n")
        client.shutdown(socket.SHUT_WR)
        self.assertEqual(self.COUNT, self.read_confirmations(client, self.COUNT).count(b"*3\r\n"))
        self.assert_all_is_gone()


if __name__ == "__main__":
    unittest.main()
