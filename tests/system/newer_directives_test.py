"""Directives that came after Redis 7.2, and whose effect only a process shows."""
import grp
import os
import pathlib
import re
import socket
import unittest

from launcher import LaunchTest, ask, call, connect


class Log(LaunchTest):
    def test_lines_in_logfmt(self):
        server = self.start("--port", "0", "--unixsocket", self.path("socket"), "--log-format", "logfmt",
                            "--log-timestamp-format", "milliseconds")
        server.wait_for(rf'pid={server.pid} role=primary timestamp="\d{{13}}" level=notice message="Ready to accept connections unix"\n')
        self.assertEqual("+OK", call(self.path("socket"), "CONFIG", "SET", "log-format", "legacy",
                                     "log-timestamp-format", "iso8601"))
        call(self.path("socket"), "SAVE")
        server.wait_for(rf"{server.pid}:M \d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}[+-]\d\d:\d\d \* DB saved on disk\n")

    def protocol_error(self, *arguments):
        server = self.start("--port", "auto", "--loglevel", "verbose", *arguments)
        with connect(server.port) as sock:
            sock.sendall(b"*1\r\nsecret\r\n")
            self.assertEqual(b"-ERR Protocol error: expected '$', got 's'\r\n", sock.recv(1000))
        return server.wait_for(r"Protocol error \(expected [^\n]*\n")[0]

    def test_what_users_sent_can_be_hidden(self):
        self.assertIn("secret", self.protocol_error())
        hidden = self.protocol_error("--hide-user-data-from-log", "yes")
        self.assertNotIn("secret", hidden)
        self.assertIn("(redacted)", hidden)

    def test_a_crash_report_hides_it_too(self):
        server = self.start("--port", "auto", "--enable-debug-command", "yes", "--hide-user-data-from-log", "yes")
        with connect(server.port) as sock:
            sock.sendall(b"*2\r\n$5\r\nDEBUG\r\n$8\r\nsegfault\r\n")
            self.assertEqual(b"", sock.recv(1000))
        server.exit_code()
        self.assertRegex(server.text, r'argv\[0\]: "DEBUG"\nargv\[1\]: "\(redacted\)"')


class Sockets(LaunchTest):
    def test_few_connections_in_each_round_are_still_all_accepted(self):
        server = self.start("--port", "auto", "--max-new-connections-per-cycle", "1")
        clients = [socket.create_connection(("127.0.0.1", server.port), timeout=20) for _ in range(50)]
        for client in clients:
            self.assertEqual("+PONG", ask(client, "PING"))
        for client in clients:
            client.close()

    @unittest.skipUnless(os.geteuid() == 0, "needs to give a file to any group")
    def test_a_unix_socket_can_belong_to_a_group(self):
        other = next(group for group in grp.getgrall() if group.gr_gid != os.getegid())
        path = self.path("socket")
        self.start("--port", "0", "--unixsocket", path, "--unixsocketgroup", other.gr_name)
        self.assertEqual(other.gr_gid, os.stat(path).st_gid)
        self.assertEqual("+PONG", call(path, "PING"))

    def test_an_unknown_group_is_an_error(self):
        path = self.path("socket")
        server = self.launch("--port", "0", "--unixsocket", path, "--unixsocketgroup", "no-such-group-here")
        self.assertEqual(1, server.exit_code())
        self.assertIn("Failed opening Unix socket: there is no group 'no-such-group-here'", server.text)
        self.assertFalse(os.path.exists(path))


class Others(LaunchTest):
    def test_the_zone_is_in_info_and_hello(self):
        server = self.start("--port", "auto")
        self.assertNotIn("availability_zone", call(server.port, "INFO", "server"))
        self.assertEqual("+OK", call(server.port, "CONFIG", "SET", "availability-zone", "zone-a"))
        self.assertIn("availability_zone:zone-a\r\n", call(server.port, "INFO", "server"))
        with connect(server.port) as sock:
            sock.sendall(b"HELLO 3\r\n")
            said = b""
            while not said.endswith(b"zone-a\r\n"):
                said += sock.recv(1000)
            self.assertTrue(said.startswith(b"%8\r\n"), said)

    def test_a_newer_snapshot_is_read_if_it_may_be(self):
        with open(self.path("dump.rdb"), "wb") as file:
            file.write(b"REDIS0080" + b"\xfe\x00" + b"\x00\x01k\x01v" + b"\xff" + bytes(8))
        refused = self.launch("--port", "auto", "--dir", self.path(""))
        self.assertEqual(1, refused.exit_code())
        self.assertIn("Can't handle RDB format version 80", refused.text)
        server = self.start("--port", "auto", "--dir", self.path(""), "--rdb-version-check", "relaxed")
        self.assertEqual("v", call(server.port, "GET", "k"))


class Unknown(LaunchTest):
    """Directives that only later versions have, and those without effect."""
    ALARMING = re.compile(r"error|denied|can't|not listen|already in use|aborting after|shutting down with code", re.I)

    def test_those_that_may_be_ignored_are_and_the_log_says_so(self):
        page = pathlib.Path(__file__).resolve().parents[2].joinpath("docs/differences.md").read_text(encoding="utf-8")
        any_value, defaults = page.split("**Directives of Redis 8.6 and 8.8 and Valkey 9.1")[1].split("These are ignored with their defaults")
        lines = [f"{name} 7" for name in re.findall(r"`([a-z-]+)`", any_value)] + re.findall(r"`([a-z-]+ [^`]+)`", defaults)
        self.assertGreater(len(lines), 7)
        server = self.start(self.write("newer.conf", "port auto\n" + "\n".join(lines) + "\n"))
        for line in lines:
            self.assertIn(f"# '{line.split()[0]}' is a directive of ", server.text)
        self.assertIsNone(self.ALARMING.search(server.text.split("Ready to accept")[0]))
        for line in defaults and re.findall(r"`([a-z-]+) [^`]+`", defaults):
            said = self.fails("--port", "0", "--unixsocket", "s", f"--{line}", "other")
            self.assertRegex(said, rf"Bad directive or wrong number of arguments\n'{line}' is a directive of [^\n]+, which Respite does "
                                   r"not have\n$")

    def test_those_of_modules_stop_the_start(self):
        said = self.fails(self.write("modules.conf", "port auto\nBF-error-rate 0.01\n"))
        self.assertIn("Bad directive or wrong number of arguments\n'bf-error-rate' is a directive of a module of Redis 8, "
                      "which Respite does not have\n", said)

    def test_those_without_effect_are_named_once(self):
        server = self.start("--port", "auto", "--activedefrag", "yes", "--io-threads", "4", "--list-compress-depth", "0")
        self.assertEqual(["* These directives are accepted without effect: io-threads, activedefrag"],
                         re.findall(r"\* These directives .*", server.text))
        self.assertIsNone(self.ALARMING.search(server.text))


if __name__ == "__main__":
    unittest.main()
