"""What a running process reports about itself: crash reports, the watchdog, syslog, the processors of its threads."""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import unittest

from launcher import SERVER, LaunchTest, ask, call, connect, wait_until

PACKAGING = os.path.join(os.path.dirname(__file__), "../../packaging")


class CrashReports(LaunchTest):
    def crash(self, *arguments, words=("DEBUG", "SEGFAULT")):
        server = self.start("--port", "auto", "--enable-debug-command", "yes", *arguments)
        with connect(server.port) as client:
            ask(client, "CLIENT", "SETNAME", "the-culprit")
            with contextlib.suppress(OSError, ValueError, IndexError):
                ask(client, *words)
        return server, server.exit_code()

    def test_all_parts_are_there(self):
        server, code = self.crash("--debug-context", "run 7")
        self.assertEqual(-signal.SIGSEGV, code)
        parts = ["=== REDIS BUG REPORT START", "crashed by signal: 11, si_code: ", "Accessing address: 0x",
                 "Crashed running the instruction at: 0x", "------ STACK TRACE ------\n", "------ REGISTERS ------\n",
                 "------ TOP OF THE STACK ------\n", "------ CURRENT CLIENT INFO ------\n", 'name="the-culprit"',
                 'argv[1]: "SEGFAULT"\n', "------ INFO OUTPUT ------\n# Server\n", f"\nprocess_id:{server.pid}\n", "# Keyspace\n",
                 "------ CLIENT LIST OUTPUT ------\n", "name=the-culprit", "------ CONFIG DEBUG OUTPUT ------\n",
                 "\ndebug-context run 7\n", "------ CODE AROUND THE INSTRUCTION ------\n",
                 "------ FAST MEMORY TEST ------\n", " KB tested, 0 bad words. Fast memory test PASSED",
                 "=== REDIS BUG REPORT END. ==="]
        places = [server.text.find(part) for part in parts]
        self.assertNotIn(-1, places, dict(zip(parts, places)))
        self.assertEqual(sorted(places), places)
        self.assertNotIn("could not be", server.text)

    def test_the_trace_begins_where_it_crashed_and_has_names(self):
        server, _ = self.crash()
        address = int(re.search(r"instruction at: (0x[0-9a-f]+)", server.text)[1], 16)
        frames = re.search(r"STACK TRACE ------\n(.*?)\n\n", server.text, re.S)[1].splitlines()
        offset = int(re.search(r"\[(0x[0-9a-f]+)\]$", frames[0])[1], 16)
        self.assertEqual(0, (address - offset) % 4096, frames[0])
        self.assertRegex(frames[0], r"^respite-server\(_ZN7respite[\w.]*\+0x[0-9a-f]+\)")
        self.assertTrue(any("8Executor" in frame for frame in frames), frames)
        if shutil.which("addr2line"):
            said = subprocess.run(["addr2line", "-f", "-e", SERVER, hex(offset)], capture_output=True, text=True, check=True)
            self.assertIn("respite", said.stdout)

    def test_memory_is_not_tested_if_not_wanted(self):
        server, _ = self.crash("--crash-memcheck-enabled", "no")
        self.assertIn("=== REDIS BUG REPORT END. ===", server.text)
        self.assertNotIn("MEMORY TEST", server.text)

    def test_a_panic_aborts(self):
        for word in ("PANIC", "ASSERT", "OOM"):
            server, code = self.crash(words=("DEBUG", word))
            self.assertEqual(-signal.SIGABRT, code)
            self.assertIn(f'argv[1]: "{word}"\n', server.text)
            self.assertIn("=== REDIS BUG REPORT END. ===", server.text)

    def test_a_panic_exits_if_so_configured(self):
        server, code = self.crash("--use-exit-on-panic", "yes", words=("DEBUG", "PANIC"))
        self.assertEqual(1, code)
        self.assertIn("=== REDIS BUG REPORT END. ===", server.text)
        server, code = self.crash("--use-exit-on-panic", "yes", "--crash-log-enabled", "no", words=("DEBUG", "PANIC"))
        self.assertEqual(1, code)
        self.assertNotIn("BUG REPORT", server.text)
        _, code = self.crash("--use-exit-on-panic", "yes")
        self.assertEqual(-signal.SIGSEGV, code)

    def test_passwords_are_left_out(self):
        server = self.start("--port", "auto")
        with socket.create_server(("127.0.0.1", 0)) as silent, connect(server.port) as client:
            ask(client, "SET", "k", "v")
            words = ["MIGRATE", "127.0.0.1", str(silent.getsockname()[1]), "k", "0", "60000", "AUTH", "a-secret"]
            request = b"".join([b"*%d\r\n" % len(words)] + [b"$%d\r\n%s\r\n" % (len(word), word.encode()) for word in words])
            client.sendall(b"MULTI\r\n" + request + b"EXEC\r\n")  # in a transaction it runs until its reply is sent
            silent.settimeout(20)
            peer, _ = silent.accept()
            with peer:
                peer.settimeout(20)
                self.assertIn(b"a-secret", peer.recv(1000))  # now the server waits for the reply
                self.assertEqual(-signal.SIGSEGV, server.stop(signal.SIGSEGV))
        self.assertIn('argv[3]: "k"\n', server.text)
        self.assertIn('argv[7]: "(redacted)"\n', server.text)
        self.assertNotIn("a-secret", server.text)


class Watchdog(LaunchTest):
    def test_it_tells_where_the_loop_is_held_up(self):
        server = self.start("--port", "auto", "--enable-debug-command", "yes")
        with connect(server.port) as client:
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "watchdog-period", "10"))
            self.assertEqual(["watchdog-period", "200"], ask(client, "CONFIG", "GET", "watchdog-period"))
            self.assertEqual("+OK", ask(client, "DEBUG", "SLEEP", "0.6"))
            report = server.wait_for(r"--- WATCHDOG TIMER EXPIRED ---\n\n------ STACK TRACE ------\n(.*?)\n\d+:signal-handler "
                                     r"\(\d+\) --------\n")[1]
            self.assertIn("8Executor", report)
            self.assertEqual("+PONG", ask(client, "PING"))
            os.kill(server.pid, signal.SIGALRM)
            server.wait_for("Received SIGALRM")
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "watchdog-period", "0"))
            before = server.text.count("WATCHDOG TIMER EXPIRED")
            self.assertEqual("+OK", ask(client, "DEBUG", "SLEEP", "0.4"))
            os.kill(server.pid, signal.SIGALRM)
            self.assertEqual("+PONG", ask(client, "PING"))
        self.assertEqual(0, server.stop())
        self.assertEqual(before, server.text.count("WATCHDOG TIMER EXPIRED"))

    def test_from_the_start_and_in_a_daemons_place(self):
        server = self.start("--port", "auto", "--enable-debug-command", "yes", "--watchdog-period", "300")
        self.assertEqual("+OK", call(server.port, "DEBUG", "SLEEP", "0.5"))
        server.wait_for("WATCHDOG TIMER EXPIRED")


class StateInTheLog(LaunchTest):
    def test_every_five_seconds(self):
        server = self.start("--port", "auto", "--loglevel", "debug")
        server.wait_for(r" \. \d+ clients connected \(0 replicas\), \d+ bytes in use\n")
        self.assertEqual("+OK", call(server.port, "SET", "k", "v", "EX", "1000"))
        server.wait_for(r" - DB 0: 1 keys \(1 volatile\) in \d+ slots HT\.\n")
        with connect(server.port) as replica:
            replica.sendall(b"PSYNC ? -1\r\n")
            server.wait_for(r" \. 0 clients connected \(1 replicas\), ")

    def test_not_unless_asked_for(self):
        server = self.start("--port", "auto")
        call(server.port, "SET", "k", "v")
        call(server.port, "CONFIG", "SET", "loglevel", "debug")
        server.wait_for("clients connected")
        self.assertEqual(1, server.text.count("clients connected"))


class Processors(LaunchTest):
    @staticmethod
    def allowed(path):
        with open(f"{path}/status", encoding="ascii") as status:
            return re.search(r"Cpus_allowed_list:\s*(\S+)", status.read())[1]

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "there is but one processor")
    def test_lists(self):
        first, second = sorted(os.sched_getaffinity(0))[:2]
        server = self.start("--port", "auto", "--server_cpulist", first, "--bio_cpulist", second)
        self.assertEqual(str(first), self.allowed(f"/proc/{server.pid}"))
        with connect(server.port) as client:
            ask(client, "SET", "k", "v")
            ask(client, "FLUSHALL", "ASYNC")
        threads = wait_until(lambda: [thread for thread in os.listdir(f"/proc/{server.pid}/task") if int(thread) != server.pid],
                             "the thread")
        wait_until(lambda: {self.allowed(f"/proc/{server.pid}/task/{thread}") for thread in threads} == {str(second)},
                   "its processor")


class Collation(LaunchTest):
    """`locale-collate` cannot be tested in process, because the machine provides the locales."""

    def setUp(self):
        super().setUp()
        made = shutil.which("localedef") and subprocess.run(
            ["localedef", "-i", "sv_SE", "-f", "UTF-8", self.path("sv_SE.UTF-8")], capture_output=True, check=False)
        if not made or not os.path.exists(self.path("sv_SE.UTF-8/LC_COLLATE")):
            self.skipTest("this machine cannot make locales")

    def sorted(self, server, *options):
        with connect(server.port) as client:
            ask(client, "DEL", "l")
            ask(client, "RPUSH", "l", "z", "ö", "B", "a", "å", "A", "")
            return ask(client, "SORT", "l", *options)

    def test_sort(self):
        octets, swedish = ["", "A", "B", "a", "z", "å", "ö"], ["", "a", "A", "B", "z", "å", "ö"]
        environment = dict(os.environ, LOCPATH=self.folder, LC_ALL="C")
        server = self.start("--port", "auto", "--locale-collate", "sv_SE.UTF-8", env=environment)
        self.assertEqual(swedish, self.sorted(server, "ALPHA"))
        self.assertEqual(swedish[::-1], self.sorted(server, "ALPHA", "DESC"))
        self.assertEqual(swedish[1:3], self.sorted(server, "ALPHA", "LIMIT", "1", "2"))
        self.assertEqual("+OK", call(server.port, "CONFIG", "SET", "locale-collate", "C"))
        self.assertEqual(octets, self.sorted(server, "ALPHA"))
        by_environment = self.start("--port", "auto", env=dict(environment, LC_ALL="sv_SE.UTF-8"))
        self.assertEqual(swedish, self.sorted(by_environment, "ALPHA"))
        self.sorted(by_environment, "ALPHA", "STORE", "d")
        with connect(by_environment.port) as client:
            self.assertEqual(octets, ask(client, "LRANGE", "d", "0", "-1"))

    def test_no_such_locale(self):
        self.assertIn("Failed to configure LOCALE for invalid locale name.", self.fails("--locale-collate", "xx_NO", "--port", "0",
                                                                                       "--unixsocket", "s"))


class Syslog(LaunchTest):
    def test_lines_go_there_too(self):
        if os.path.exists("/dev/log") or os.geteuid() != 0:
            self.skipTest("needs a machine without syslog, and to be root")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as system_log:
            system_log.bind("/dev/log")
            try:
                system_log.settimeout(20)
                lines = []

                def read():  # read meanwhile, since the socket holds only a few lines
                    while not lines or "DEBUG LOG" not in lines[-1]:
                        lines.append(system_log.recv(10000).decode())
                reader = threading.Thread(target=read)
                reader.start()
                server = self.start("--port", "auto", "--syslog-enabled", "yes", "--syslog-ident", "a-name",
                                    "--syslog-facility", "local3", "--enable-debug-command", "yes")
                self.assertEqual("+OK", call(server.port, "DEBUG", "LOG", "hello"))
                reader.join()
            finally:
                os.unlink("/dev/log")
        local3, notice, warning = 19 << 3, 5, 4
        self.assertRegex(lines[-1], rf"^<{local3 | warning}>.* a-name\[{server.pid}\]: DEBUG LOG: hello$")
        self.assertTrue(any(re.search(rf"^<{local3 | notice}>.*: Ready to accept connections tcp$", line) for line in lines), lines)
        self.assertIn("Ready to accept connections tcp", server.text)


class UnitFile(LaunchTest):
    """The packaged unit, as systemd reads it."""

    def setUp(self):
        super().setUp()
        if not shutil.which("systemd-analyze"):
            self.skipTest("there is no systemd-analyze")
        with open(os.path.join(PACKAGING, "respite-server.service.in"), encoding="utf-8") as file:
            text = file.read().replace("@CMAKE_INSTALL_FULL_BINDIR@/respite-server", os.path.abspath(SERVER))
        self.unit = self.path("respite-server.service")
        with open(self.unit, "w", encoding="utf-8") as file:
            file.write(text)

    def analyze(self, *arguments):
        return subprocess.run(["systemd-analyze", *arguments, self.unit], capture_output=True, text=True, check=False)

    def test_is_well_formed(self):
        done = self.analyze("verify", "--man=no")
        self.assertEqual((0, ""), (done.returncode, done.stderr))

    def test_exposes_little(self):
        done = self.analyze("security", "--offline=true")
        found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
        if not found:
            self.skipTest("this systemd-analyze cannot judge files: " + done.stderr)
        self.assertLessEqual(float(found[1]), 2.0, done.stdout)


if __name__ == "__main__":
    unittest.main()
