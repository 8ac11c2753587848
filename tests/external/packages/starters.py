"""What each package must withstand: the end of the process that started a server. Packages that unpack the program must
also withstand many processes that start together, damage, folders that others have made, and file systems that run
nothing."""
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

from places import ask, run, wait_until

DAMAGED_OCTETS = 1000


def is_open(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class EndsWithItsStarter:
    """starter() returns the command of a program that starts a server, prints its port, and waits for its own end."""

    def start_starter(self, **variables):
        process = subprocess.Popen([str(word) for word in self.starter()], cwd=self.folder, env={**self.variables, **variables},
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def port_of(self, process):
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate()[1])
        return int(line)

    def check_starts(self, **variables):
        process = self.start_starter(**variables)
        port = self.port_of(process)
        self.assertEqual("+PONG\r\n", ask(port, "PING"))
        process.kill()
        wait_until(lambda: not is_open(port), "the end of the server")

    def test_the_server_ends_when_its_starter_is_killed(self):
        self.check_starts()


class Unpacks(EndsWithItsStarter):
    """temporary(folder) returns the variables that make this folder the one for temporary files."""
    REFUSES_FOLDERS_OF_OTHERS = True

    @staticmethod
    def temporary(folder):
        return {"TMPDIR": str(folder)}

    def empty(self):
        folder = tempfile.mkdtemp(dir=self.folder)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def programs(self, cache):
        return run("find", cache, "-type", "f", "-printf", "%f %s\n").split("\n")[:-1]

    def test_many_unpack_at_once(self):
        cache = self.empty()
        processes = [self.start_starter(XDG_CACHE_HOME=cache) for _ in range(6)]
        ports = {self.port_of(process) for process in processes}
        self.assertEqual(6, len(ports))
        for port in ports:
            self.assertEqual("+PONG\r\n", ask(port, "PING"))
        self.assertRegex("\n".join(self.programs(cache)), r"^respite-server \d+$")

    def test_a_damaged_program_is_replaced(self):
        cache = self.empty()
        self.check_starts(XDG_CACHE_HOME=cache)
        whole = self.programs(cache)
        os.truncate(run("find", cache, "-type", "f").strip(), DAMAGED_OCTETS)
        self.check_starts(XDG_CACHE_HOME=cache)
        self.assertEqual(whole, self.programs(cache))

    def test_without_a_cache(self):
        folder = self.empty()
        self.check_starts(XDG_CACHE_HOME="/dev/null/cache", **self.temporary(folder))

    def test_a_cache_where_nothing_is_run(self):
        cache = self.empty()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", cache], capture_output=True, check=False)
        if mounted.returncode:
            self.skipTest("mounting a file system is not permitted")
        self.addCleanup(subprocess.run, ["umount", cache], check=True)
        self.check_starts(XDG_CACHE_HOME=cache, **self.temporary(self.empty()))

    def test_folders_that_others_have_made(self):
        """Another user could put another program there."""
        def others(path):
            path.mkdir()
            os.chown(path, 1, 1)

        def link(path):
            path.symlink_to(self.empty())

        def open_to_all(path):
            path.mkdir()
            path.chmod(0o777)
        if os.geteuid() != 0:
            self.skipTest("making folders of others needs root")
        for prepare in (others, link, open_to_all):
            with self.subTest(prepare.__name__), tempfile.TemporaryDirectory(dir=self.folder) as folder:
                prepare(pathlib.Path(folder) / f"respite-{os.getuid()}")
                variables = {"XDG_CACHE_HOME": "/dev/null/cache", **self.temporary(folder)}
                if not self.REFUSES_FOLDERS_OF_OTHERS:
                    self.check_starts(**variables)
                    continue
                text = self.start_starter(**variables).communicate(timeout=30)[1]
                self.assertIn("is not a folder of this user alone; RESPITE_SERVER can name the program", text)
