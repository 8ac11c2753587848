"""A test runs every launcher line of README.md and docs/clients.md as printed: the shell lines here, those of other
languages in the suites of tests/external/clients. A line without a test fails."""
import os
import re
import subprocess
import unittest

from launcher import SERVER, LaunchTest, call, wait_until

ROOT = os.environ.get("RESPITE_SOURCE_DIR", ".")
PROGRAM = re.compile("/opt/respite/redis-server")
JAVA = "tests/external/clients/java/support/src/main/java/clients/support/PrintedLines.java"
OZIMOV = "tests/external/clients/java/embedded-redis-ozimov/src/test/java/clients/embeddedozimov/OzimovEmbeddedRedisTest.java"
EMBEDDED = "tests/external/clients/java/embedded-redis/src/test/java/clients/embedded/EmbeddedRedisTest.java"
NODE = "tests/external/clients/node/tests/launchers.test.js"
PERL = "tests/external/clients/perl/test_redisserver.t"

# How a suite uses a line: its file, and the text that must be in it.
SUITES = {
    "new RedisServer(6379, new File(": (EMBEDDED, 'PrintedLines.of("README.md"'),
    "new RedisServer(6400, new File(": (EMBEDDED, 'PrintedLines.of("docs/clients.md"'),
    "RedisServer.newRedisServer()": (EMBEDDED, 'PrintedLines.of("docs/clients.md"'),
    "new RedisServer(new File(": (OZIMOV, 'PrintedLines.of("docs/clients.md"'),
    "REDISMS_SYSTEM_BINARY=": (NODE, "REDISMS_SYSTEM_BINARY = serverProgram"),
    "new RedisServer({ bin: ": (NODE, "new RedisServer({ bin: serverProgram, port })"),
}
# Words that are not lines: names of programs, files and directives.
NAMES = {"redis-server", "PATH", "test.sh", "pytest.ini", "redis_exec"}
# Their harnesses are whole projects to be checked out; ./dev compat and people run them. Their lines only start the
# program with the arguments that launch_harnesses_test.py has.
CHECKOUTS = {"REDISRS_SERVER_BIN=": "redis_rs", "REDIS_SERVER=": "hiredis", "go test ./... -redis-server": "redigo",
             "./runtest --host": None, "pytest --redis-exec=": "pytest_redis"}


def rows(page, heading):
    """Returns the rows of the first table after a heading (or text) of a page."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read().split(heading, 1)[1]
    table = re.search(r"^\|.*?(?=^[^|])", text, re.S | re.M)[0].splitlines()
    return table[2:]


def printed():
    """Returns (row, piece of code) for each piece of code that starts the server."""
    for row in rows("README.md", "can start Respite instead."):
        if " in tests " in row:
            yield row, re.findall(r"`([^`]+)`", row.split(" in tests ", 1)[1])[0]
    for row in rows("docs/clients.md", "## Start it where"):
        for code in re.findall(r"`([^`]+)`", row):
            if code not in NAMES:
                yield row, code


class PrintedLinesTest(LaunchTest):
    def source(self, path):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            return file.read()

    def test_each_line_has_a_test(self):
        found = list(printed())
        self.assertGreater(len(found), 12)
        for _, line in found:
            with self.subTest(line):
                self.assertTrue(self.runs_here(line) or self.runs_in_suite(line) or self.needs_checkout(line),
                                "nobody runs this line as it is printed")

    @staticmethod
    def runs_here(line):
        return line.startswith(("respite-server ", "ln -s "))

    def runs_in_suite(self, line):
        for begin, (path, does) in SUITES.items():
            if line.startswith(begin):
                self.assertIn(does, self.source(path))
                return True
        return False

    def needs_checkout(self, line):
        for begin, name in CHECKOUTS.items():
            if line.startswith(begin):
                if name:
                    self.assertIn(f"def test_{name}(", self.source("tests/system/launch_harnesses_test.py"))
                return True
        return False

    def test_no_line_is_known_that_is_not_printed(self):
        lines = [line for _, line in printed()]
        for begin in (*SUITES, *CHECKOUTS):
            self.assertTrue(any(line.startswith(begin) for line in lines), begin)

    def shell(self, line, folder):
        """Runs a line in a shell whose PATH finds our server first."""
        os.symlink(os.path.abspath(SERVER), os.path.join(folder, "respite-server"))
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        process = subprocess.Popen(["bash", "-c", f"exec {line}"], cwd=self.folder, env=environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.kill)

    def test_the_line_of_the_shell(self):
        line = next(line for _, line in printed() if line.startswith("respite-server "))
        port_file = re.search(r"--port-file (\S+)", line)[1]
        self.shell(line.replace(port_file, self.path("port")), self.folder)
        wait_until(lambda: os.path.exists(self.path("port")), "the port")
        port = int(self.read("port"))
        self.assertEqual("+PONG", call(port, "PING"))
        self.assertEqual(["save", ""], call(port, "CONFIG", "GET", "save"))

    def test_the_link_in_the_path(self):
        line = next(line for _, line in printed() if line.startswith("ln -s "))
        line = PROGRAM.sub(os.path.abspath(SERVER), line, count=1).replace("/usr/local/bin", self.folder)
        subprocess.run(["bash", "-c", line], check=True, timeout=20)
        environment = dict(os.environ, PATH=f"{self.folder}:{os.environ['PATH']}")
        said = subprocess.run(["redis-server", "--version"], env=environment, capture_output=True, text=True, timeout=20,
                              check=True).stdout
        self.assertIn(" respite=", said)

    def test_save_points_with_a_file_and_without(self):
        """README's claim about `save`."""
        for arguments, points in (([], ""), ([self.write("empty.conf", "# nothing\n")], "3600 1 300 100 60 10000")):
            server = self.start(*arguments, "--port", "auto")
            self.assertEqual(["save", points], call(server.port, "CONFIG", "GET", "save"))


if __name__ == "__main__":
    unittest.main()
