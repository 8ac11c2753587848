#!/usr/bin/env python3
"""The static program, in a root with nothing else, as on any Linux."""
import os
import pathlib
import pty
import select
import shutil
import signal
import ssl
import subprocess
import sys
import unittest

from places import ARCHITECTURE, ROOT, PackageTest, ask, facts, free_port, run, wait_until

sys.path.insert(0, str(ROOT / "tests/system"))
from certificates import Authority  # noqa: E402

MOST_OCTETS = 12_500_000


class ProgramTest(PackageTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            raise unittest.SkipTest("chroot needs root")
        self.program = self.package(facts.program(ARCHITECTURE).name)
        shutil.copy(self.program, self.folder / "respite-server")
        (self.folder / "respite-cli").symlink_to("respite-server")

    def inside(self, *words, **options):
        return subprocess.run([*words], cwd=self.folder, preexec_fn=lambda: os.chroot(self.folder), capture_output=True,
                              text=True, timeout=30, check=False, **options)

    def serve(self, *arguments):
        self.start(["/respite-server", "--test", "--port-file", "/port", *arguments], cwd=self.folder,
                   preexec_fn=lambda: (os.chroot(self.folder), os.chdir("/")))
        port = self.folder / "port"
        wait_until(lambda: port.exists() and port.read_text(), "the port")
        return int(port.read_text())

    def test_is_small_and_needs_nothing(self):
        self.assertLess(self.program.stat().st_size, MOST_OCTETS)
        self.assertNotIn("INTERP", run("readelf", "-lW", self.program))
        self.assertNotIn("NEEDED", run("readelf", "-dW", self.program))

    def test_names_no_folder_of_its_build(self):
        self.assertNotIn(str(ROOT).encode(), self.program.read_bytes())

    def test_serves(self):
        port = self.serve()
        self.assertEqual("+OK\r\n", ask(port, "SET", "a", "1"))
        self.assertIn("mem_allocator:jemalloc", ask(port, "INFO", "memory"))
        self.assertEqual("$1\r\n3\r\n", ask(port, "EVAL", "return tostring(1 + 2)", "0"))
        self.assertEqual("+OK\r\n", ask(port, "CONFIG", "SET", "locale-collate", "C"))

    def test_saves_in_a_child(self):
        port = self.serve("--dir", "/")
        ask(port, "SET", "a", "1")
        self.assertEqual("+OK\r\n", ask(port, "SAVE"))
        self.assertTrue((self.folder / "dump.rdb").exists())
        self.assertIn("Background saving started", ask(port, "BGSAVE"))
        wait_until(lambda: "rdb_bgsave_in_progress:0" in ask(port, "INFO", "persistence"), "the child")
        self.assertIn("rdb_last_bgsave_status:ok", ask(port, "INFO", "persistence"))

    def look_up(self, host, port):
        return self.inside("/respite-cli", "-h", host, "-p", str(port), "PING")

    def test_looks_up_names(self):
        etc = self.folder / "etc"
        etc.mkdir()
        (etc / "hosts").write_text("127.0.0.1 primary.test\n")
        port = self.serve()
        for services in (None, "hosts: mymachines resolve [!UNAVAIL=return] files myhostname\n", "hosts: files mdns4_minimal dns\n"):
            with self.subTest(services):
                if services:
                    (etc / "nsswitch.conf").write_text(services)
                self.assertEqual("PONG\n", self.look_up("primary.test", port).stdout)
                unknown = self.look_up("nobody.test", port)
                self.assertEqual((1, ""), (unknown.returncode, unknown.stdout))
                self.assertIn("Could not connect", unknown.stderr)

    def test_speaks_tls(self):
        authority = Authority(str(self.folder), "authority")
        issued = authority.issue("server")
        tls_port = free_port()
        names = {"--tls-cert-file": issued.cert, "--tls-key-file": issued.key, "--tls-ca-cert-file": authority.cert}
        options = [word for option, path in names.items() for word in (option, "/" + pathlib.Path(path).name)]
        self.serve("--tls-port", str(tls_port), "--tls-auth-clients", "no", *options)
        context = ssl.create_default_context(cafile=authority.cert)
        context.check_hostname = False
        self.assertEqual("+PONG\r\n", ask(tls_port, "PING", wrap=context.wrap_socket))

    def test_reports_a_crash(self):
        process = self.start(["/respite-server", "--test", "--enable-debug-command", "yes", "--port-file", "/port"], cwd=self.folder,
                             preexec_fn=lambda: (os.chroot(self.folder), os.chdir("/")))
        port = self.folder / "port"
        wait_until(lambda: port.exists() and port.read_text(), "the port")
        try:
            ask(int(port.read_text()), "DEBUG", "SEGFAULT")
        except OSError:
            pass
        text = process.communicate(timeout=30)[0].decode()
        self.assertIn("BUG REPORT START", text)
        self.assertIn("STACK TRACE", text)

    def test_client_exits_as_redis_cli(self):
        port = self.serve("--requirepass", "secret")
        self.assertEqual((0, "PONG\n"), self.answer("-p", str(port), "-a", "secret", "PING"))
        self.assertEqual((0, "PONG\n"), self.answer("-p", str(port), "PING", env={"REDISCLI_AUTH": "secret"}))
        self.assertEqual((0, "NOAUTH Authentication required.\n\n"), self.answer("-p", str(port), "PING"))
        self.assertEqual(1, self.answer("-p", str(free_port()), "PING")[0])
        self.assertEqual((0, "save\n\n"), self.answer("-p", str(port), "-a", "secret", "CONFIG", "GET", "save"))

    def test_client_has_a_prompt(self):
        """The root has no descriptions of terminals or locales."""
        port = self.serve()
        pid, terminal = pty.fork()
        if pid == 0:
            os.chroot(self.folder)
            os.chdir("/")
            os.execve("/respite-cli", ["respite-cli", "-p", str(port)], {"TERM": "xterm", "HOME": "/"})
        text = ""
        try:
            for keys, wanted in (("", "> "), ("geta\x1b[D \r", "(nil)\r\n")):  # get a
                os.write(terminal, keys.encode())
                while wanted not in text:
                    self.assertTrue(select.select([terminal], [], [], 20)[0], text)
                    text += os.read(terminal, 4096).decode()
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            os.close(terminal)
        self.assertNotIn("terminal", text)
        self.assertTrue((self.folder / ".respitecli_history").exists())

    def answer(self, *words, **options):
        done = self.inside("/respite-cli", *words, **options)
        return done.returncode, done.stdout


if __name__ == "__main__":
    unittest.main()
