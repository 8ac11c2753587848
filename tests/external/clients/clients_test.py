#!/usr/bin/env python3
"""The runner of the client suites: a crash, a leftover process or an unreadable report never counts as a success."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import clients  # noqa: E402
import results  # noqa: E402
import suite  # noqa: E402
import table  # noqa: E402

JUNIT = """<testsuites><testsuite>
<testcase classname="a.B" name="good"/>
<testcase classname="a.B" name="bad"><failure message="wanted 1">at line 3</failure></testcase>
<testcase classname="a.B" name="torn"><error/></testcase>
<testcase classname="a.B" name="later"><skipped/></testcase>
</testsuite></testsuites>"""
TAP = """1..4
ok 1 - connects
not ok 2 - reads
#   got 3
ok 3 - waits # SKIP no server
ok
"""
LIBTEST = """running 3 tests
test locks::frees ... ok
test locks::waits ... FAILED
test streams::reads ... ignored
"""


class ResultsTest(unittest.TestCase):
    def read(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                pathlib.Path(folder, name.replace("_", ".")).write_text(text, encoding="utf-8")
            return results.read_all(pathlib.Path(folder))

    def test_junit(self):
        found = self.read(x_xml=JUNIT)
        self.assertEqual([("a.B.good", "passed"), ("a.B.bad", "failed"), ("a.B.torn", "failed"), ("a.B.later", "skipped")],
                         [(outcome.name, outcome.status) for outcome in found])
        self.assertEqual("wanted 1\nat line 3", found[1].message)

    def test_tap(self):
        found = self.read(plain_tap=TAP)
        self.assertEqual([("plain.connects", "passed"), ("plain.reads", "failed"), ("plain.waits", "skipped"), ("plain.", "passed")],
                         [(outcome.name, outcome.status) for outcome in found])
        self.assertEqual("got 3", found[1].message.strip())

    def test_libtest(self):
        self.assertEqual([("crate.locks.frees", "passed"), ("crate.locks.waits", "failed"), ("crate.streams.reads", "skipped")],
                         [(outcome.name, outcome.status) for outcome in self.read(crate_libtest=LIBTEST)])

    def test_junit_with_the_colours_of_a_terminal(self):
        coloured = JUNIT.replace("wanted 1", "wanted \x1b[32m1\x1b[39m")
        self.assertEqual("wanted 1\nat line 3", self.read(x_xml=coloured)[1].message)

    def test_a_torn_report_is_a_failure(self):
        self.assertEqual(["failed"], [outcome.status for outcome in self.read(x_xml="<testsuite>")])


class ElectionsTest(unittest.TestCase):
    def test_each_node_says_its_last_words(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "cluster.log")
            self.assertEqual([], list(clients.elections(log)))
            log.write_text("== 1\nFailover auth denied\nDB loaded\nManual failover timed out\n== 2\nReady\n", encoding="utf-8")
            self.assertEqual(["== 1", "Manual failover timed out", "== 2"], list(clients.elections(log, lines=1)))


class SuiteTest(unittest.TestCase):
    """Runs made-up suites with a server name that stands for no program."""

    class Server:
        class process:
            @staticmethod
            def poll():
                return None

    def outcomes(self, script):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "run").write_text("#!/bin/bash\n" + script, encoding="utf-8")
            (path / "run").chmod(0o755)
            made = suite.Suite.__new__(suite.Suite)
            made.name, made.folder, made.work, made.facts = "made-up", path, path, {}
            (path / "results").mkdir()
            program = suite.Program.__new__(suite.Program)
            program.path, program.label = "/bin/true", "respite"
            return made._run_against(self.Server, {}, program, "part", path / "results")

    def failures(self, script):
        return [outcome.message for outcome in self.outcomes(script) if outcome.status == results.FAILED]

    def test_what_passes_passes(self):
        self.assertEqual([], self.failures("echo 'ok 1 - fine' > $CLIENTS_RESULTS/a.tap"))

    def test_no_report_is_a_failure(self):
        self.assertEqual(["no test was reported"], self.failures("true"))

    def test_an_exit_code_without_a_failed_test_is_a_failure(self):
        self.assertEqual(["run ended with 3"], self.failures("echo 'ok 1 - fine' > $CLIENTS_RESULTS/a.tap; exit 3"))

    def test_a_process_left_behind_is_a_failure_and_is_ended(self):
        script = "echo 'ok 1 - fine' > $CLIENTS_RESULTS/a.tap; setsid sleep 4711 & echo $! > $CLIENTS_RESULTS/pid"
        found = self.failures(script)
        self.assertEqual(1, len(found))
        pid = int(re.match(r"left behind: (\d+) sleep 4711", found[0])[1])
        suite.launcher.wait_until(lambda: not suite.launcher.exists(pid), "the end of the process")


class TestServerTest(unittest.TestCase):
    """Returns which suite is given the server with the command TEST."""

    class Program:
        def __init__(self, is_ours):
            self.is_ours, self.path, self.started, self.ended = is_ours, "/bin/true", [], 0

        def start(self, _folder, *more):
            self.started.append(more)
            return self, 4711

        def kill(self):
            self.ended += 1

    def given(self, program, needs):
        made = suite.Suite.__new__(suite.Suite)
        made.name, made.facts = "made-up", {"needs": needs}
        with made._test_server(program) as variables:
            self.assertEqual(0, program.ended)
            return variables

    def test_it_has_the_test_commands_and_ends_with_the_suite(self):
        program = self.Program(is_ours=True)
        self.assertEqual({"REDIS_TEST_SERVER": "127.0.0.1:4711"}, self.given(program, {"test_server": True}))
        self.assertEqual([("--test-commands", "local")], program.started)
        self.assertEqual(1, program.ended)

    def test_only_who_asks_has_one_and_no_redis_has(self):
        for program, needs in ((self.Program(is_ours=True), {}), (self.Program(is_ours=False), {"test_server": True})):
            self.assertEqual({}, self.given(program, needs))
            self.assertEqual([], program.started)


class TableTest(unittest.TestCase):
    def test_a_client_is_counted_by_its_patterns(self):
        client = {"tests": ["a.*", "b.One.*"]}
        ran = {"outcomes": [["a.x", "passed"], ["b.One.y", "failed"], ["b.Two.z", "passed"], ["a.w", "skipped"]]}
        self.assertEqual("1 passed, **1 failed**, 1 skipped", table.verdict(client, ran))
        self.assertEqual("not run", table.verdict(client, None))

    def test_every_suite_says_what_it_needs_and_exercises(self):
        for name in suite.all_names():
            made = suite.Suite(name)
            self.assertTrue(os.access(made.folder / "run", os.X_OK), name)
            for client in made.clients:
                self.assertLessEqual({"name", "version", "tests", "exercised"}, set(client), name)
                if "package" not in client["version"] and "command" not in client["version"]:
                    self.assertNotEqual("?", table.version(made, client), client["name"])


class DoorTest(unittest.TestCase):
    def test_an_unknown_language_is_refused(self):
        done = subprocess.run([sys.executable, pathlib.Path(__file__).with_name("clients.py"), "cobol"], capture_output=True,
                              text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("no suite cobol", done.stderr)


if __name__ == "__main__":
    unittest.main()
