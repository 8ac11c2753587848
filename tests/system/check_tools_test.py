"""redis-check-aof and redis-check-rdb, which are our server under other names. On damaged files of every kind they
reach the same verdict as Redis' tools and change the same bytes, and our server starts with the repaired files."""
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest

from launcher import SERVER
from two_servers import REDIS, RESPITE, Server, value_of

SEED = random.SystemRandom().randrange(1 << 32)
MANIFEST = "appendonlydir/appendonly.aof.manifest"
INCR = "appendonlydir/appendonly.aof.1.incr.aof"
BASE = "appendonlydir/appendonly.aof.1.base.rdb"
COMMANDS = [("SET", "a", "b"), ("RPUSH", "list", *range(200)), ("HSET", "hash", "f", "v"), ("ZADD", "zset", 1, "m"),
            ("SADD", "set", *range(50)), ("XADD", "stream", "*", "f", "v"), ("SET", "timed", "x", "EX", 1000)]
TRANSACTION = [("MULTI",), ("SET", "in", "1"), ("SET", "also", "2"), ("EXEC",)]


class CheckToolsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        print(f"seed {SEED}", flush=True)
        cls.sample = tempfile.mkdtemp(prefix="check-tools-")
        cls.addClassCleanup(shutil.rmtree, cls.sample, ignore_errors=True)
        cls.make_sample("rdb", "yes")
        cls.make_sample("resp", "no")

    @classmethod
    def make_sample(cls, name, preamble):
        folder = os.path.join(cls.sample, name)
        os.mkdir(folder)
        server = Server(RESPITE, "--dir", folder, "--appendonly", "yes", "--aof-use-rdb-preamble", preamble,
                        "--aof-timestamp-enabled", "yes")
        client = server.client()
        for words in COMMANDS + TRANSACTION + [("SAVE",)]:
            reply = client.run(*words)
            assert not reply.startswith(b"-"), (words, reply)
        client.close()
        server.stop()

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="check-tools-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def copy(self, sample="rdb"):
        """A fresh copy of the files, to be damaged."""
        target = os.path.join(self.folder, "data")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(os.path.join(self.sample, sample), target)
        return target

    @staticmethod
    def read(*path):
        with open(os.path.join(*path), "rb") as file:
            return file.read()

    @staticmethod
    def write(content, *path):
        with open(os.path.join(*path), "wb") as file:
            file.write(content)

    @staticmethod
    def run_tool(program, folder, name, *arguments, answer="y\n"):
        return subprocess.run([name, *arguments], executable=os.path.abspath(shutil.which(program)), cwd=folder, input=answer,
                              capture_output=True, text=True, errors="replace", timeout=60, check=False)

    def compare(self, folder, *arguments, name="redis-check-aof"):
        """Runs both tools on the same files: the verdicts and the repaired files must be equal. Keeps the files that
        our tool repaired."""
        other = folder + ".redis"
        shutil.rmtree(other, ignore_errors=True)
        shutil.copytree(folder, other)
        theirs = self.run_tool(REDIS, other, name, *arguments)
        ours = self.run_tool(SERVER, folder, name, *arguments)
        detail = f"seed {SEED}, {arguments}\n--- Redis\n{theirs.stdout}{theirs.stderr}\n--- here\n{ours.stdout}"
        self.assertEqual(theirs.returncode, ours.returncode, detail)
        for key in ("ok_up_to=", "diff=", "looks OK", "is valid", "is empty", "Successfully truncated",
                    "ERROR DETECTED", "Use the --fix option", "not the last file"):
            self.assertEqual(self.figures(theirs.stdout, key), self.figures(ours.stdout, key), detail)
        for root, _, files in os.walk(folder):
            for file in files:
                if ".removed" in file:
                    continue  # a transaction without EXEC, which only our tool keeps
                there = root.replace(folder, other, 1)
                self.assertEqual(self.read(there, file), self.read(root, file), detail)
        return ours

    @staticmethod
    def figures(text, key):
        return re.findall(re.escape(key) + r"\d*", text)

    def starts(self, folder):
        """Checks that our server loads the files and has the first key."""
        server = Server(RESPITE, "--dir", folder, "--appendonly", "yes", "--aof-load-truncated", "no")
        client = server.client()
        try:
            return value_of(client.run("GET", "a"))
        finally:
            client.close()
            server.stop()

    def damages(self, content):
        """Names and damaged versions of a file of commands."""
        chance = random.Random(SEED)
        for _ in range(25):
            at = chance.randrange(1, len(content))
            # Redis' tool accepts an incomplete annotation; what a server appends to it is lost.
            if not content[:at].rpartition(b"\n")[2].startswith(b"#"):
                yield f"cut at {at}", content[:at]
        exec_at = content.rindex(b"*1\r\n$4\r\nEXEC")
        yield "open transaction", content[:exec_at]
        yield "junk behind", content + b"junk"
        yield "zeros behind", content + bytes(100)
        yield "second MULTI", content + b"*1\r\n$5\r\nMULTI\r\n" * 2
        yield "EXEC alone", content + b"*1\r\n$4\r\nEXEC\r\n"
        yield "wrong mark", content + b"*1\r\n#4\r\nPING\r\n"
        yield "wrong size", content + b"*1\r\n$5\r\nPING\r\n"
        yield "no line end", content + b"*1\r\n$4\r\nPINGxx"

    def test_commands(self):
        content = self.read(self.sample, "rdb", INCR)
        for name, damaged in self.damages(content):
            with self.subTest(name):
                folder = self.copy("resp")
                self.write(damaged, folder, "old.aof")
                self.compare(folder, "old.aof")
                self.compare(folder, "--fix", "old.aof")
                self.assertEqual(0, self.run_tool(SERVER, folder, "redis-check-aof", "old.aof").returncode)

    def test_repaired_parts_load(self):
        content = self.read(self.sample, "resp", INCR)
        first = content.index(b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n") + 27
        for name, damaged in self.damages(content):
            with self.subTest(name):
                folder = self.copy("resp")
                self.write(damaged, folder, INCR)
                self.compare(folder, MANIFEST)
                self.compare(folder, "--fix", MANIFEST)
                # Any key may be lost, even the first; the rest loads without aof-load-truncated.
                self.assertEqual(b"b" if len(damaged) >= first else None, self.starts(folder))

    def test_only_the_last_part_is_repaired(self):
        folder = self.copy("resp")
        base = BASE.replace(".rdb", ".aof")
        self.write(self.read(folder, base) + b"junk", folder, base)
        self.compare(folder, MANIFEST)
        self.compare(folder, "--fix", MANIFEST)

    def test_no_is_an_answer(self):
        folder = self.copy()
        self.write(self.read(folder, INCR) + b"junk", folder, "old.aof")
        run = self.run_tool(SERVER, folder, "redis-check-aof", "--fix", "old.aof", answer="n\n")
        self.assertEqual(1, run.returncode)
        self.assertIn("Continue? [y/N]: Aborting...", run.stdout)

    def test_manifests(self):
        for name, text in (("type", b"file x seq 1 type q\n"), ("words", b"file\n"), ("absent", b"file x seq 1 type b\n"),
                           ("twice", b"file x seq 1 type b\nfile y seq 1 type b\n")):
            with self.subTest(name):
                folder = self.copy()
                self.write(text, folder, MANIFEST)
                self.compare(folder, MANIFEST)
        folder = self.copy("resp")
        os.unlink(os.path.join(folder, INCR))
        self.compare(folder, MANIFEST)

    def test_truncate_to_timestamp(self):
        record = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n"
        content = b"".join(b"#TS:%d\r\n%s" % (second, record) for second in (100, 200, 300))
        for second in (50, 100, 200, 250, 300, 999, "x"):
            with self.subTest(second):
                folder = self.copy()
                self.write(content, folder, "old.aof")
                self.compare(folder, "--truncate-to-timestamp", str(second), "old.aof")
        folder = self.copy("resp")
        self.compare(folder, "--truncate-to-timestamp", "100", MANIFEST)

    def test_a_running_server_keeps_its_file(self):
        folder = self.copy("resp")
        server = Server(RESPITE, "--dir", folder, "--appendonly", "yes")
        self.addCleanup(server.stop)
        content = self.read(folder, INCR)
        self.write(content[:-1], folder, INCR)
        run = self.run_tool(SERVER, folder, "redis-check-aof", "--fix", MANIFEST)
        self.assertEqual(1, run.returncode, run.stdout)
        self.assertIn("A server that is running writes to", run.stdout)

    def own(self, *arguments, folder):
        return self.run_tool(SERVER, folder, "redis-check-rdb", *arguments)

    def test_rdb_files(self):
        """Every truncation, and many flipped bits. Our tool finds them all; Redis' tool has the same verdict if it
        knows the version."""
        probe = Server(REDIS)
        version = probe.version
        probe.stop()
        folder = self.copy()
        content = self.read(folder, "dump.rdb")
        self.assertEqual(0, self.own("dump.rdb", folder=folder).returncode)
        chance = random.Random(SEED)
        for _ in range(40):
            damaged = bytearray(content)
            if chance.random() < 0.5:
                del damaged[chance.randrange(len(damaged)):]
            else:
                # Skips the version in the signature and the checksum: 0 means that there is none.
                damaged[chance.randrange(9, len(damaged) - 8)] ^= 1 << chance.randrange(8)
            self.write(damaged, folder, "damaged.rdb")
            run = self.own("damaged.rdb", folder=folder)
            self.assertEqual(1, run.returncode, f"seed {SEED}\n{run.stdout}")
            self.assertIn("--- RDB ERROR DETECTED ---", run.stdout)
            self.assertRegex(run.stdout, r"\[additional info\] While doing: [a-z-]+\n")
            if version >= (7, 2):
                self.compare(folder, "damaged.rdb", name="redis-check-rdb")

    def test_rdb_of_the_other_server(self):
        """Redis' tool and our tool print the same for Redis' file."""
        server = Server(REDIS, "--dir", self.folder)
        client = server.client()
        for words in COMMANDS + [("SAVE",)]:
            client.run(*words)
        client.close()
        server.stop()
        self.compare_tools("redis-check-rdb")
        self.compare_tools("redis-check-aof")

    def compare_tools(self, name):
        theirs = self.run_tool(REDIS, self.folder, name, "dump.rdb")
        ours = self.run_tool(SERVER, self.folder, name, "dump.rdb")
        said = theirs.stdout.replace("[info] 0 subexpires\n", "")  # since 7.4
        self.assertEqual((0, said), (ours.returncode, ours.stdout))
        self.assertEqual(0, theirs.returncode)

    def test_arguments(self):
        for name, arguments in (("redis-check-aof", []), ("redis-check-aof", ["--fix"]), ("redis-check-aof", ["absent"]),
                                ("redis-check-aof", ["--what", "x"]), ("redis-check-aof", ["a", "b", "c", "d"]),
                                ("redis-check-aof", ["--truncate-to-timestamp", "1x", "f"]),
                                ("redis-check-rdb", []), ("redis-check-rdb", ["a", "b"])):
            with self.subTest(f"{name} {arguments}"):
                theirs = self.run_tool(REDIS, self.folder, name, *arguments)
                ours = self.run_tool(SERVER, self.folder, name, *arguments)
                self.assertEqual((theirs.returncode, theirs.stdout, theirs.stderr),
                                 (ours.returncode, ours.stdout, ours.stderr))
        for name in ("redis-check-aof", "redis-check-rdb"):
            for option in ("-h", "--help"):
                run = self.run_tool(SERVER, self.folder, name, option)
                self.assertEqual((0, ""), (run.returncode, run.stderr))
                self.assertRegex(run.stdout, rf"^Usage: \S*{name} (.|\n)*--help")
        run = self.own("--version", folder=self.folder)
        self.assertEqual(0, run.returncode)
        self.assertRegex(run.stdout, r"^redis-check-rdb 7\.2\.\d+\n$")
        self.assertEqual(1, self.own("absent.rdb", folder=self.folder).returncode)
        os.symlink(os.path.abspath(SERVER), os.path.join(self.folder, "respite-check-rdb"))
        run = subprocess.run([os.path.join(self.folder, "respite-check-rdb"), "--version"], capture_output=True,
                             text=True, timeout=20, check=False)
        self.assertEqual(0, run.returncode)


if __name__ == "__main__":
    unittest.main()
