#!/usr/bin/env python3
"""The program for ARM, under qemu's emulation of a processor: it must serve, run scripts, save and use TLS. Emulated
programs are slow, so this is no test of speed."""
import os
import pathlib
import random
import shutil
import socket
import ssl
import sys
import unittest

from places import DIST, ROOT, PackageTest, ask, facts, free_port, run, wait_until

sys.path.insert(0, str(ROOT / "tests/system"))
from certificates import Authority  # noqa: E402
from generators import Generator  # noqa: E402

ARCHITECTURE = facts.ARCHITECTURES["aarch64"]
MOST_OCTETS = 12 * 1000 * 1000
COMMANDS = 6000
BATCH = 200
FROZEN_MS = 1_700_000_000_000


class Aarch64Test(PackageTest):
    def setUp(self):
        super().setUp()
        self.program = self.package(facts.program(ARCHITECTURE).name)
        self.emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
        if not self.emulator:
            self.skipTest("qemu-user is not installed")

    def serve(self, *arguments):
        return self.serve_by([self.emulator, self.program], "port", *arguments)

    def serve_by(self, words, name, *arguments):
        port = self.folder / name
        self.start([*words, "--test", "--port-file", port, "--dir", self.folder, *arguments])
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
        """The checks of cmake/lua_seam_check.cc cannot run during a build for another machine."""
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

    def test_replies_as_on_x86_64(self):
        """Compares to the last byte, also where numbers are rounded: both get the same commands, seed and time. (Sines
        of glibc differ in the last bit on processors for x86_64 that are too old for FMA.)"""
        other = self.package(facts.program(facts.ARCHITECTURES["x86_64"]).name)
        if os.uname().machine != "x86_64":
            self.skipTest("this machine does not run the program for x86_64")
        seed = int(os.environ.get("RESPITE_SEED") or random.randrange(1 << 30))
        rng = random.Random(seed)
        generator = Generator(rng, (7, 2))
        ports = self.serve("--seed", "7"), self.serve_by([other], "other", "--seed", "7")
        talks = [Talk(port) for port in ports]
        self.assertEqual(*(talk.ask([["TEST", "CLOCK", "FREEZE", FROZEN_MS]]) for talk in talks))
        for batch in range(COMMANDS // BATCH):
            commands = [calculation(rng) if rng.random() < 0.4 else generator.command() for _ in range(BATCH)]
            replies = [talk.ask(commands) for talk in talks]
            if replies[0] != replies[1]:
                at = len(os.path.commonprefix(replies))
                self.fail(f"RESPITE_SEED={seed}, batch {batch}, octet {at}: aarch64 {replies[0][at - 80:at + 40]!r}, x86_64 "
                          f"{replies[1][at - 80:at + 40]!r}")

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


class Talk:
    """A connection whose replies are bytes."""
    MARK = b"$13\r\nthe-end-of-it\r\n"

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=120)

    def ask(self, commands):
        octets = b""
        for words in [*commands, ["ECHO", "the-end-of-it"]]:
            parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            octets += b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
        self.sock.sendall(octets)
        replies = b""
        while not replies.endswith(self.MARK):
            replies += self.sock.recv(1 << 20)
        return replies.removesuffix(self.MARK)


def number(rng):
    return rng.choice([rng.uniform(-1, 1), rng.uniform(-1e6, 1e6), rng.uniform(-1, 1) * 10 ** rng.randint(-30, 30),
                       rng.randint(-10**17, 10**17), round(rng.uniform(-100, 100), 2)])


def calculation(rng):
    """Returns a command whose reply depends on how numbers are rounded."""
    key, member = f"f{rng.randrange(4)}", f"m{rng.randrange(20)}"
    place = [rng.uniform(-180, 180), rng.uniform(-85, 85)]
    return rng.choice([
        ["INCRBYFLOAT", f"n{key}", number(rng)], ["HINCRBYFLOAT", f"h{key}", member, number(rng)],
        ["ZADD", f"z{key}", "INCR", number(rng), member], ["ZADD", f"z{key}", number(rng), member], ["ZINCRBY", f"z{key}", number(rng), member],
        ["ZRANGE", f"z{key}", 0, -1, "WITHSCORES"], ["ZUNION", 2, f"z{key}", "zf0", "WEIGHTS", number(rng), number(rng), "WITHSCORES"],
        ["GEOADD", f"p{key}", *place, member], ["GEODIST", f"p{key}", member, f"m{rng.randrange(20)}", rng.choice(["m", "km", "mi", "ft"])],
        ["GEOPOS", f"p{key}", member], ["GEOHASH", f"p{key}", member],
        ["GEOSEARCH", f"p{key}", "FROMLONLAT", *place, "BYRADIUS", 9000, "km", "ASC", "WITHDIST", "WITHCOORD", "WITHHASH"],
        ["PFADD", f"l{key}", *(rng.randrange(10**6) for _ in range(40))], ["PFCOUNT", f"l{key}"],
        ["EVAL", "local a, b = tonumber(ARGV[1]), tonumber(ARGV[2]) return {tostring(a * b + a), tostring(a / b - b * b), "
                 "string.format('%.17g', math.sin(a) * b + math.exp(b % 10) + math.sqrt(math.abs(a))), cjson.encode({a * b + b})}",
         0, number(rng), number(rng)],
        ["SET", f"n{key}", number(rng)]])


if __name__ == "__main__":
    unittest.main()
