#!/usr/bin/env python3
"""tests/run.py: which tests a name selects, that crashes and failures never count as a success in the last line, and
its output during the run."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import run  # noqa: E402


def gtest(ran, passed, skipped=0):
    lines = f"[==========] {ran} tests from 2 test suites ran. (3 ms total)\n[  PASSED  ] {passed} tests.\n"
    return lines + (f"[  SKIPPED ] {skipped} tests.\n" if skipped else "")


class SummaryTest(unittest.TestCase):
    def summarise(self, *outputs, is_narrowed=False):
        """Returns the last line and the exit status; an output is (name, text, succeeded)."""
        summary = run.Summary(is_narrowed)
        for output in outputs:
            summary.add(*output)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            status = summary.print()
        self.lines = printed.getvalue().splitlines()
        return self.lines[-1], status

    def test_adds_up_both_kinds(self):
        self.assertEqual(("8 passed, 0 failed", 0), self.summarise(
            ("a", gtest(5, 5), True), ("b", "Ran 3 tests in 0.1s\n\nOK", True)))

    def test_one_test_is_singular(self):
        output = "[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test."
        self.assertEqual(("1 passed, 0 failed", 0), self.summarise(("a", output, True)))

    def test_counts_failures(self):
        self.assertEqual(("5 passed, 5 failed, 1 skipped", 1), self.summarise(
            ("a", gtest(5, 3), False),
            ("b", "Ran 6 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)", False)))
        self.assertIn("Failed: a, b", self.lines)

    def test_skipped_is_neither(self):
        self.assertEqual(("3 passed, 0 failed, 2 skipped", 0), self.summarise(("a", gtest(5, 3, skipped=2), True)))

    def test_a_binary_that_skips_everything_is_a_failure(self):
        everything = ("a", gtest(2, 0, skipped=2), True), ("b", "Ran 3 tests in 0.1s\n\nOK", True)
        self.assertEqual(("3 passed, 1 failed, 2 skipped", 1), self.summarise(*everything))
        self.assertEqual(("3 passed, 0 failed, 2 skipped", 0), self.summarise(*everything, is_narrowed=True))

    def test_says_why(self):
        reasons = "/x/y_test.cc:206: Skipped\nno moon\n", "Skipped: c.C.test_a: no moon\nSkipped: c.C.test_b (n=1): no sun: today\n"
        self.summarise(("a", reasons[0] + gtest(2, 1, skipped=1), True),
                       ("b", reasons[1] + "Ran 3 tests in 0.1s\n\nOK (skipped=2)", True))
        self.assertEqual(["Skipped: no moon (a 1, b 1)", "Skipped: no sun: today (b 1)", "2 passed, 0 failed, 3 skipped"],
                         self.lines)

    def test_adds_up_comparisons(self):
        self.summarise(*((name, f"Ran 1 test in 0.1s\n\nOK\nCompared with Redis 8.0.2: {count}", True)
                         for name, count in (("a", 7), ("b", 35))))
        self.assertEqual(["Compared with Redis 8.0.2: 42", "2 passed, 0 failed"], self.lines)

    def test_a_crash_is_a_failure(self):
        self.assertEqual(("5 passed, 1 failed", 1), self.summarise(
            ("a", gtest(5, 5), True), ("b", "Segmentation fault", False)))

    def test_a_failure_after_good_tests_is_a_failure(self):
        self.assertEqual(("4 passed, 1 failed", 1), self.summarise(("a", gtest(5, 5).replace("5 tests.", "4 tests."), False)))
        self.assertEqual(("5 passed, 1 failed", 1), self.summarise(("a", gtest(5, 5), False)))

    def test_no_test_is_a_failure(self):
        self.assertEqual(("0 passed, 0 failed", 1), self.summarise())
        self.assertEqual("No test ran.", self.lines[0])


class NamesTest(unittest.TestCase):
    def targets(self, *arguments):
        done = subprocess.run([sys.executable, HERE / "run.py", "--targets", *arguments], capture_output=True, text=True,
                              check=False, timeout=60)
        return done.stdout.split(), done.stderr, done.returncode

    def test_a_name_selects_the_binaries_and_scripts_that_have_it(self):
        self.assertEqual((["respite_server_tests"], "", 0), self.targets("SetHonoursItsConditions"))
        self.assertEqual(["respite_base_tests"], self.targets("LapTimerTest")[0])
        self.assertEqual(["respite-server"], self.targets("sentinel_test")[0])
        self.assertEqual([], self.targets("NamesTest.test_no_such_name")[0])

    def test_no_such_name(self):
        # Written as two strings, since the search includes this file.
        name = "Nobody" + "IsCalledSo"
        self.assertEqual(([], f"No test has '{name}' in its name.\n", 1), self.targets(name))

    def test_names_as_tests_print_them(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "x_test.cc").write_text("TEST_P(Suite, Does) {}\nINSTANTIATE_TEST_SUITE_P(Resp, Suite, Both());\n")
            (folder / "y_test.py").write_text("class Base:\n    def test_it(self): pass\n")
            binary = run.Test("x", folder, True)
            script = run.Test("y_test", folder / "y_test.py", False)
            for name in ("Suite", "Suite.Does", "Does", "Resp/Suite.", "Suite.Does/1"):
                self.assertTrue(run.has_name(binary, name), name)
            self.assertFalse(run.has_name(binary, "test_it"))
            for name in ("y_test", "Base", "test_it", "y_test.Base.test_it", "y_test.Base_redis8_0.test_it"):
                self.assertTrue(run.has_name(script, name), name)
            self.assertFalse(run.has_name(script, "Suite"))

    def test_tiers(self):
        def names(**which):
            options = {"name": "", "all": False, "rest": False, "quick": False, **which}
            return {test.name for test in run.chosen_tests(types.SimpleNamespace(**options))}
        self.assertEqual(names(all=True), names() | names(rest=True))
        self.assertFalse(names() & names(rest=True))
        self.assertLess(names(quick=True), names())
        self.assertEqual(set(), run.BASIC - names(all=True), "a script of the first tier does not exist")
        self.assertNotIn("server", names(quick=True))
        self.assertLess({"server", "base", "run_test", "connection_test"}, names())
        self.assertNotIn("sentinel_test", names())
        self.assertIn("sentinel_test", names(all=True))


class RunnerTest(unittest.TestCase):
    def run_scripts(self, **scripts):
        """Runs Python scripts as tests; returns the printed lines and the exit status."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            tests = []
            for name, body in scripts.items():
                path = folder / f"{name}.py"
                path.write_text("import os, pathlib, tempfile, unittest\nclass T(unittest.TestCase):\n"
                                f"    def test(self):\n        {body}\n")
                tests.append(run.Test(name, path, False))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed), mock.patch.dict(os.environ, {"RESPITE_TEST_FILTER": ""}):
                status = run.Runner(folder, "", 2).run_all(tests)
            self.kept = (folder / "test_logs/times.json").read_text()
        return printed.getvalue(), status

    def test_says_what_is_done_and_how_long_the_rest_takes(self):
        text, status = self.run_scripts(a_test="pass", b_test="pass", sentinel_test="pass")
        self.assertEqual(0, status)
        self.assertRegex(text, r"(?m)^\[1/3\] \w+: passed, \d+\.\d s; about \d+ (s|min) left$")
        self.assertRegex(text, r"(?m)^\[3/3\] \w+: passed, \d+\.\d s$")
        self.assertIn('"a_test"', self.kept)
        self.assertTrue(text.endswith("3 passed, 0 failed\n"), text)

    def test_shows_the_output_of_what_failed(self):
        text, status = self.run_scripts(good_test="pass", bad_test="self.fail('the moon is missing')")
        self.assertEqual(1, status)
        self.assertIn("AssertionError: the moon is missing", text)
        self.assertRegex(text, r"(?m)^\[\d/2\] bad_test: FAILED")
        self.assertTrue(text.endswith("Failed: bad_test\n1 passed, 1 failed\n"), text)

    def test_what_is_left_in_the_temporary_folder_is_a_failure(self):
        text, status = self.run_scripts(untidy_test="pathlib.Path(tempfile.mkdtemp(), 'x').write_text('')")
        self.assertEqual(1, status)
        self.assertRegex(text, "It left in the temporary folder: tmp")

    def test_a_crash(self):
        text, status = self.run_scripts(crashing_test="os.abort()")
        self.assertEqual(1, status)
        self.assertIn("It was ended by signal 6.", text)

    def test_a_test_that_does_not_end(self):
        with mock.patch.object(run, "LIMIT_S", 0.5):
            text, status = self.run_scripts(slow_test="__import__('threading').Event().wait(60)")
        self.assertEqual(1, status)
        self.assertIn("It did not end within 0.5 s.", text)


class InterruptTest(unittest.TestCase):
    @staticmethod
    def has_ended(pid):
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                if pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                    return True
            except (FileNotFoundError, ProcessLookupError):
                return True
            time.sleep(0.002)
        return False

    def test_no_process_and_no_folder_stays(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            pids = folder / "pids"
            os.mkfifo(pids)
            (folder / "a_test.py").write_text(
                "import os, subprocess, unittest\nclass T(unittest.TestCase):\n    def test(self):\n"
                f"        child = subprocess.Popen(['sleep', '300'])\n        open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
                "        child.wait()\n")
            program = ("import pathlib, sys; sys.path.insert(0, sys.argv[1]); import run\n"
                       "place = pathlib.Path(sys.argv[2])\n"
                       "run.all_tests = lambda: [run.Test('a_test', place / 'a_test.py', False)]\n"
                       "sys.argv = ['run.py', '--build-dir', str(place / 'build'), '--all']; sys.exit(run.main())")
            runner = subprocess.Popen([sys.executable, "-c", program, str(HERE), str(folder)], stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, "TMPDIR": str(folder), "RESPITE_TEST_FILTER": ""})
            started = [int(pid) for pid in pids.read_text().split()]
            runner.terminate()
            self.assertEqual("", runner.communicate(timeout=30)[1])
            self.assertEqual(130, runner.returncode)
            for pid in started:  # a process that has ended may wait to be reaped
                self.assertTrue(self.has_ended(pid), pid)
            self.assertEqual([], list(folder.glob("respite-*")))


class OrderTest(unittest.TestCase):
    def test_those_that_measure_run_alone_and_last(self):
        with tempfile.TemporaryDirectory() as folder:
            runner = run.Runner(pathlib.Path(folder), "", 2)
        alone, other, waiting = (run.Test(name, pathlib.Path(), False) for name in ("hostile_data_test", "x", "sentinel_test"))
        self.assertEqual(other, runner.take([alone, other], []))
        self.assertEqual(None, runner.take([alone], [other]))
        self.assertEqual(alone, runner.take([alone], []))
        self.assertEqual(None, runner.take([other], [alone]))
        self.assertEqual(None, runner.take([other], [other, other]))
        self.assertEqual(waiting, runner.take([other, waiting], [other, other]))


if __name__ == "__main__":
    unittest.main()
