"""Limits of single clients and of all clients together, over real sockets."""
import os
import pathlib
import resource
import socket
import time
import unittest

from launcher import LaunchTest, ask, call, connect, wait_until


def answer(port, request=b"PING\r\n", host="127.0.0.1"):
    """Returns what a client without a login receives before the server closes or stops replying."""
    with socket.create_connection((host, port), timeout=20) as sock:
        received = b""
        try:
            sock.sendall(request)
            while not received.endswith(b"\r\n"):
                part = sock.recv(10000)
                if not part:
                    break
                received += part
        except ConnectionResetError:
            pass
        return received


def own_address():
    """Returns an address of this machine that other machines reach; None if it has only loopback. Sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect(("198.51.100.1", 9))
        except OSError:
            return None
        return sock.getsockname()[0]


def info(sock, name):
    return next(line.partition(":")[2] for line in ask(sock, "INFO", "everything").splitlines() if line.startswith(name + ":"))


class Memory(LaunchTest):
    def test_threads_of_jemalloc_return_pages(self):
        def has_threads():
            names = [pathlib.Path(f"/proc/{server.pid}/task/{task}/comm").read_text(encoding="ascii")
                     for task in os.listdir(f"/proc/{server.pid}/task")]
            return any(name.startswith("jemalloc") for name in names)
        server = self.start("--port", "auto", "--enable-debug-command", "yes")
        with connect(server.port) as client:
            if "jemalloc" not in info(client, "mem_allocator"):
                self.skipTest("built without jemalloc")
            wait_until(has_threads, "the threads")
            ask(client, "DEBUG", "POPULATE", "100000")
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "jemalloc-bg-thread", "no"))
            wait_until(lambda: not has_threads(), "the end of the threads")
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "jemalloc-bg-thread", "yes"))
            wait_until(has_threads, "the threads")
            ask(client, "BGSAVE")
            wait_until(lambda: info(client, "rdb_bgsave_in_progress") == "0", "the snapshot")
            self.assertEqual("ok", info(client, "rdb_last_bgsave_status"))


class Connections(LaunchTest):
    def test_beyond_maxclients(self):
        server = self.start("--port", "auto", "--maxclients", "2")
        with connect(server.port) as one:
            self.assertEqual("+PONG", ask(one, "PING"))
            with connect(server.port) as two:
                self.assertEqual("+PONG", ask(two, "PING"))
                self.assertEqual(b"-ERR max number of clients reached\r\n", answer(server.port))
                self.assertEqual("1", info(one, "rejected_connections"))
                self.assertEqual("2", info(two, "connected_clients"))
            wait_until(lambda: answer(server.port) == b"+PONG\r\n", "a free place")

    def test_without_descriptors_clients_wait_until_there_are_some(self):
        server = self.start("--port", "auto")
        with connect(server.port) as old:
            self.assertEqual("+PONG", ask(old, "PING"))
            soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
            resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (len(os.listdir(f"/proc/{server.pid}/fd")), hard))
            with connect(server.port) as new:
                server.wait_for("Accepting client connection: Too many open files")
                self.assertEqual("+PONG", ask(old, "PING"))
                resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (soft, hard))
                self.assertEqual("+PONG", ask(new, "PING"))
        self.assertLess(server.text.count("Too many open files"), 100)

    def test_protected_mode(self):
        host = own_address()
        if host is None:
            self.skipTest("this machine has the loopback address only")
        server = self.start("--port", "auto")
        refusal = answer(server.port, host=host)
        self.assertTrue(refusal.startswith(b"-DENIED Redis is running in protected mode because protected mode is enabled"), refusal)
        self.assertEqual("+OK", call(server.port, "CONFIG", "SET", "requirepass", "x"))
        self.assertEqual(b"-NOAUTH Authentication required.\r\n", answer(server.port, host=host))


class OneClient(LaunchTest):
    def test_idle_for_too_long(self):
        server = self.start("--port", "auto", "--timeout", "1", "--loglevel", "verbose")
        with connect(server.port) as busy, connect(server.port) as idle, connect(server.port) as subscriber:
            subscriber.sendall(b"SUBSCRIBE news\r\n")
            self.assertIn(b"subscribe", subscriber.recv(100))
            self.assertEqual("+PONG", ask(idle, "PING"))
            began = time.monotonic()
            idle.settimeout(0.1)
            while True:
                self.assertEqual("+PONG", ask(busy, "PING"))
                try:
                    self.assertEqual(b"", idle.recv(1))
                    break
                except TimeoutError:
                    self.assertLess(time.monotonic() - began, 20)
            self.assertGreater(time.monotonic() - began, 0.9)
            self.assertEqual("2", info(busy, "connected_clients"))
        wait_until(lambda: "Closing idle client" in server.text, "the log line")
        self.assertEqual(1, server.text.count("Closing idle client"))

    def test_a_request_that_never_ends(self):
        server = self.start("--port", "auto", "--client-query-buffer-limit", "1mb")
        with connect(server.port) as bystander, connect(server.port) as client:
            with self.assertRaises(OSError):
                client.sendall(b"*2\r\n$4\r\nECHO\r\n$100000000\r\n")
                while True:
                    client.sendall(b"x" * 65536)
            server.wait_for(r"Closing client that reached max query buffer length: id=\d+ .*qbuf initial bytes: ")
            self.assertEqual("+PONG", ask(bystander, "PING"))

    def test_replies_that_nobody_reads(self):
        server = self.start("--port", "auto", "--client-output-buffer-limit", "normal 1mb 0 0")
        with connect(server.port) as bystander, connect(server.port) as client:
            ask(bystander, "SET", "k", "v" * 100_000)
            with self.assertRaises(OSError):
                for _ in range(100_000):
                    client.sendall(b"GET k\r\n" * 100)
            server.wait_for(r"Client id=\d+ .* scheduled to be closed ASAP for overcoming of output buffer limits\.")
            self.assertEqual("+PONG", ask(bystander, "PING"))


if __name__ == "__main__":
    unittest.main()
