#!/usr/bin/env python3
"""The last line of `./dev test` must not call a crash or a failure a success."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SUMMARY = pathlib.Path(__file__).resolve().parent / "summary.py"
PASSED, FAILED = "Test Passed.", "Test Failed."


def entry(name, output, verdict):
    return (f'1/9 Testing: {name}\n1/9 Test: {name}\nCommand: "x"\nOutput:\n-----\n{output}\n<end of output>\n'
            f'-----\n{verdict}\n"{name}" end time: Jan 01 00:00 UTC\n')


def gtest(ran, passed, skipped=0):
    lines = f"[==========] {ran} tests from 2 test suites ran. (3 ms total)\n[  PASSED  ] {passed} tests.\n"
    return lines + (f"[  SKIPPED ] {skipped} tests.\n" if skipped else "")


class SummaryTest(unittest.TestCase):
    def summarise(self, *entries, exit_status=0):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write("".join(entries))
            log.flush()
            done = subprocess.run([sys.executable, SUMMARY, "--exit-status", str(exit_status), log.name, "/no/such/log"],
                                  capture_output=True, text=True, check=False)
        return done.stdout.splitlines()[-1], done.returncode

    def test_adds_up_both_kinds(self):
        self.assertEqual(("8 passed, 0 failed", 0), self.summarise(
            entry("a", gtest(5, 5), PASSED), entry("b", "Ran 3 tests in 0.1s\n\nOK", PASSED)))

    def test_one_test_is_singular(self):
        output = "[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test."
        self.assertEqual(("1 passed, 0 failed", 0), self.summarise(entry("a", output, PASSED)))

    def test_counts_failures(self):
        self.assertEqual(("5 passed, 5 failed", 1), self.summarise(
            entry("a", gtest(5, 3), FAILED),
            entry("b", "Ran 6 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)", FAILED), exit_status=8))

    def test_skipped_is_neither(self):
        self.assertEqual(("3 passed, 0 failed", 0), self.summarise(entry("a", gtest(5, 3, skipped=2), PASSED)))

    def test_a_crash_is_a_failure(self):
        self.assertEqual(("5 passed, 1 failed", 1), self.summarise(
            entry("a", gtest(5, 5), PASSED), entry("b", "Segmentation fault", FAILED), exit_status=8))

    def test_a_leak_after_the_last_test_is_a_failure(self):
        self.assertEqual(("5 passed, 1 failed", 1), self.summarise(entry("a", gtest(5, 5), FAILED), exit_status=8))

    def test_a_build_that_failed_is_a_failure(self):
        self.assertEqual(("0 passed, 1 failed", 1), self.summarise(exit_status=1))

    def test_nothing_run_is_no_success(self):
        self.assertEqual(("0 passed, 0 failed", 1), self.summarise())


if __name__ == "__main__":
    unittest.main()
