"""BACKUP of the real program: its files are hard links, survive signals, and load in our server and in each oracle."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

import oracles
from aof_exchange_test import LATER, AofTest
from rdb_exchange_test import SEED, commands
from two_servers import RESPITE, WAIT_S, Server, value_of

MANIFEST = "appendonly.aof.manifest"


def status(client):
    words = [line for line in client.run("BACKUP", "STATUS").split(b"\r\n") if line and line[:1] not in b"$*"]
    return dict(zip(words[::2], words[1::2]))


class BackupOfServer(AofTest):
    def serve_with(self, *options, program=RESPITE):
        server = Server(program, "--dir", self.folder, *options)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        self.wait_until(lambda: b"\r\nloading:0" in client.run("INFO", "persistence"))
        return server, client

    def back_up(self, client):
        self.assertEqual(client.run("BACKUP", "START"), b"+OK\r\n")
        self.wait_until(lambda: status(client)[b"state"] == b"incrementing")

    def place(self, *names):
        return os.path.join(self.folder, *names)

    def contents(self):
        return {path.name: path.read_bytes() for path in pathlib.Path(self.place("backupdir")).iterdir()}

    def restore(self, *options, program=RESPITE):
        """Returns a client of a server that has loaded the backup."""
        folder = tempfile.mkdtemp(prefix="backup-restore-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        server = Server(program, "--dir", folder, *options)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        self.wait_until(lambda: b"\r\nloading:0" in client.run("INFO", "persistence"))
        return client


class BackupFiles(BackupOfServer):
    def test_hard_links(self):
        _, client = self.serve_with("--appendonly", "yes")
        client.run("SET", "k", "v")
        self.back_up(client)
        base = client.run("BACKUP", "LIST").split(b"\r\n")[2].decode()
        self.assertEqual(os.path.dirname(base), os.path.realpath(self.place("backupdir")))
        self.assertEqual(os.stat(base).st_nlink, 2)
        client.run("SET", "l", "w")
        expected = self.digest(client)
        self.assertEqual(client.run("BACKUP", "SEAL"), b"+OK\r\n")
        before = self.contents()
        self.assertEqual(len(before), 3)
        client.run("SET", "m", "x")
        self.rewrite(client)
        self.assertEqual(self.contents(), before)
        restored = self.restore("--preload-file", "aof:" + self.place("backupdir", MANIFEST))
        self.assertEqual(value_of(restored.run("DEBUG", "DIGEST")), expected)
        self.assertEqual(client.run("BACKUP", "CLEANUP"), b"+OK\r\n")
        self.assertEqual(os.listdir(self.place("backupdir")), [])

    def test_another_file_system(self):
        elsewhere = tempfile.mkdtemp(prefix="respite-backup-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, elsewhere, ignore_errors=True)
        if os.stat(elsewhere).st_dev == os.stat(self.folder).st_dev:
            self.skipTest("/dev/shm is the file system of the temporary files")
        os.symlink(elsewhere, self.place("backupdir"))
        _, client = self.serve_with("--appendonly", "yes")
        client.run("SET", "k", "v")
        self.back_up(client)
        client.run("SET", "l", "w")
        self.assertEqual(client.run("BACKUP", "SEAL"), b"+OK\r\n")
        restored = self.restore("--preload-file", "aof:" + os.path.join(elsewhere, MANIFEST), "--appendonly", "yes")
        self.assertEqual(self.digest(restored), self.digest(client))

    def test_signals(self):
        """SIGTERM while the child writes, and while commands are recorded; then kill -9."""
        for appendonly in ("no", "yes"):
            for state in ("snapshotting", "incrementing", "sealed"):
                with self.subTest(appendonly=appendonly, state=state):
                    shutil.rmtree(self.place("backupdir"), ignore_errors=True)
                    shutil.rmtree(self.place("appendonlydir"), ignore_errors=True)
                    server, client = self.serve_with("--appendonly", appendonly)
                    for i in range(100):
                        client.run("SET", f"k{i}", "v")
                    if state == "snapshotting":
                        client.run("CONFIG", "SET", "rdb-key-save-delay", "100000")
                        client.run("BACKUP", "START")
                    else:
                        self.back_up(client)
                    if state == "sealed":
                        client.run("BACKUP", "SEAL")
                    self.assertEqual(status(client)[b"state"], state.encode())
                    server.process.send_signal(signal.SIGTERM)
                    self.assertEqual(server.process.wait(WAIT_S), 0)
                    self.assertEqual(len(os.listdir(self.place("backupdir"))), 3 if state == "sealed" else 0)

    def test_killed(self):
        server, client = self.serve_with()
        client.run("SET", "k", "v")
        self.back_up(client)
        server.process.kill()
        server.process.wait()
        server.stop()
        _, client = self.serve_with()
        self.assertIn(b"-ERR The backup directory backupdir is not empty", client.run("BACKUP", "START"))
        self.assertEqual(client.run("BACKUP", "CLEANUP"), b"+OK\r\n")
        self.back_up(client)

    def test_refused_preload(self):
        for target, why in (("aof:/nowhere/x.manifest", "No such file or directory"),
                            ("rdb:/nowhere/x.rdb", "there is no such file"),
                            ("zip:/x", "preload-file must be aof:<path> or rdb:<path>")):
            done = subprocess.run([RESPITE, "--port", "0", "--unixsocket", self.place("socket"), "--dir", self.folder,
                                   "--preload-file", target], capture_output=True, text=True, timeout=WAIT_S, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(why, done.stdout + done.stderr)


class BackupAndOracle(BackupOfServer):
    def test_restored_by_oracle(self):
        """The oracle loads the files as its own append-only file, after writes during all states."""
        if self.oracle.version < (7, 2):
            self.skipTest("cannot read RDB files of version 11")
        for appendonly in ("no", "yes"):
            with self.subTest(appendonly=appendonly):
                shutil.rmtree(self.place("backupdir"), ignore_errors=True)
                _, client = self.serve_with("--appendonly", appendonly, "--appenddirname", "aof-" + appendonly)
                self.fill(client, commands(random.Random(SEED), self.oracle.version))
                client.run("CONFIG", "SET", "rdb-key-save-delay", "1000")
                self.assertEqual(client.run("BACKUP", "START"), b"+OK\r\n")
                self.fill(client, LATER)
                client.run("CONFIG", "SET", "rdb-key-save-delay", "0")
                self.wait_until(lambda client=client: status(client)[b"state"] == b"incrementing")
                self.fill(client, [("SET", "last", "1")])
                expected = self.digest(client)
                self.assertEqual(client.run("BACKUP", "SEAL"), b"+OK\r\n")
                client.run("SET", "after", "1")
                folder = tempfile.mkdtemp(prefix="backup-oracle-")
                self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
                shutil.copytree(self.place("backupdir"), os.path.join(folder, "appendonlydir"))
                server = Server(self.oracle.program, "--dir", folder, "--appendonly", "yes")
                self.addCleanup(server.stop)
                theirs = server.client()
                self.addCleanup(theirs.close)
                self.wait_until(lambda theirs=theirs: b"\r\nloading:0" in theirs.run("INFO", "persistence"))
                self.assertEqual(self.digest(theirs), expected)
                ours = self.restore("--preload-file", "aof:" + self.place("backupdir", MANIFEST))
                self.assertEqual(self.digest(ours), expected)
                self.oracle.count(2)


class BackupUnderLoad(BackupOfServer):
    def test_consistent(self):
        """Each client counts in two keys within a transaction; the backup has equal counts, at least those before it."""
        for appendonly in ("no", "yes"):
            with self.subTest(appendonly=appendonly):
                shutil.rmtree(self.place("backupdir"), ignore_errors=True)
                server, client = self.serve_with("--appendonly", appendonly)
                client.run("FLUSHALL")
                ends = threading.Event()

                def count(server=server, ends=ends):
                    own = server.client()
                    while not ends.is_set():
                        for words in (("MULTI",), ("INCR", "a"), ("INCR", "b"), ("EXEC",)):
                            own.run(*words)
                    own.close()
                threads = [threading.Thread(target=count) for _ in range(3)]
                for thread in threads:
                    thread.start()
                try:
                    self.back_up(client)
                    time.sleep(0.3)
                    least = int(value_of(client.run("GET", "a")))
                    self.assertEqual(client.run("BACKUP", "SEAL"), b"+OK\r\n")
                finally:
                    ends.set()
                    for thread in threads:
                        thread.join()
                restored = self.restore("--preload-file", "aof:" + self.place("backupdir", MANIFEST))
                self.assertEqual(restored.run("GET", "a"), restored.run("GET", "b"))
                self.assertGreaterEqual(int(value_of(restored.run("GET", "a"))), least)
                client.run("BACKUP", "CLEANUP")


oracles.multiply(globals(), BackupAndOracle)

if __name__ == "__main__":
    unittest.main()
