#!/usr/bin/env python3
"""The program for ARM, under qemu's emulation of a processor: that it serves, scripts run, saves and speaks TLS. Emulated
programs are slow, so this is no test of speed."""
import pathlib
import shutil
import ssl
import sys
import unittest

from places import DIST, ROOT, PackageTest, ask, facts, free_port, run, wait_until

sys.path.insert(0, str(ROOT / "tests/system"))
from certificates import Authority  # noqa: E402

ARCHITECTURE = facts.ARCHITECTURES["aarch64"]
MOST_OCTETS = 12 * 1000 * 1000


class Aarch64Test(PackageTest):
    def setUp(self):
        super().setUp()
        self.program = self.package(facts.program(ARCHITECTURE).name)
        self.emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
        if not self.emulator:
            self.skipTest("qemu-user is not installed")

    def serve(self, *arguments):
        port = self.folder / "port"
        self.start([self.emulator, self.program, "--test", "--port-file", port, "--dir", self.folder, *arguments])
        wait_until(lambda: port.exists() and port.read_text(), "the port")
        return int(port.read_text())

    def test_is_for_arm_and_small(self):
        self.assertIn("AArch64", run("readelf", "-hW", self.program))
        self.assertNotIn("INTERP", run("readelf", "-lW", self.program))
        self.assertLess(self.program.stat().st_size, MOST_OCTETS)
        self.assertNotIn(str(pathlib.Path.home()).encode() + b"/.cache", self.program.read_bytes())

    def test_serves(self):
        port = self.serve()
        self.assertEqual("+OK\r\n", ask(port, "SET", "a", "1", "PX", "1000"))
        self.assertEqual("+OK\r\n", ask(port, "TEST", "CLOCK", "ADVANCE", "2s"))
        self.assertEqual("$-1\r\n", ask(port, "GET", "a"))
        self.assertIn("mem_allocator:jemalloc", ask(port, "INFO", "memory"))

    def test_runs_scripts_written_for_lua_5_1(self):
        """What cmake/lua_seam_check.cc tries on the machine that builds cannot be tried when it builds for another one."""
        port = self.serve()
        for script, reply in (("return tostring(3 .. '')", "3"), ("local r = 5 % (1 / 0) return tostring(r ~= r)", "true"),
                              ("return (select(1.5, 'a', 'b'))", "a"), ("return tostring(2^53 == 2^53 + 1)", "true"),
                              ("return #setmetatable({1, 2, 3}, {__len = function() return 9 end}) .. ''", "3")):
            with self.subTest(script):
                self.assertEqual(f"${len(reply)}\r\n{reply}\r\n", ask(port, "EVAL", script, "0"))

    def test_saves(self):
        port = self.serve()
        ask(port, "RPUSH", "list", *map(str, range(1000)))
        self.assertEqual("+OK\r\n", ask(port, "SAVE"))
        self.assertIn("[info] 1 keys read", self.check_rdb())

    def check_rdb(self):
        (self.folder / "respite-check-rdb").symlink_to(self.program)
        return run(self.emulator, "-0", "respite-check-rdb", self.program, self.folder / "dump.rdb")

    def test_speaks_tls(self):
        authority = Authority(str(self.folder), "authority")
        issued = authority.issue("server")
        tls_port = free_port()
        self.serve("--tls-port", tls_port, "--tls-auth-clients", "no", "--tls-cert-file", issued.cert, "--tls-key-file", issued.key,
                   "--tls-ca-cert-file", authority.cert)
        context = ssl.create_default_context(cafile=authority.cert)
        context.check_hostname = False
        self.assertEqual("+PONG\r\n", ask(tls_port, "PING", wrap=context.wrap_socket))

    def test_is_in_each_package(self):
        for pattern in (f"*_{ARCHITECTURE.deb}.deb", "*.aarch64.rpm", "*-linux-aarch64.tar.gz", "*aarch64.oci.tar", "*aarch64.whl",
                        "respite-server-linux-arm64-*.tgz", "cargo/respite-server-linux-aarch64-*.crate"):
            with self.subTest(pattern):
                self.assertEqual(1, len(list(DIST.glob(pattern))))
        names = run("unzip", "-l", next(DIST.glob("go/**/*.zip"))) + run("unzip", "-l", next(DIST.glob("maven/**/respite-test-?.?.?.jar")))
        for name in ("programs/linux_arm64.gz", "respite/linux-aarch64/respite-server"):
            self.assertIn(name, names)


if __name__ == "__main__":
    unittest.main()
