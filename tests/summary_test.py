#!/usr/bin/env python3
"""The last line of `./dev test` must not call a crash or a failure a success."""
import os
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
    wanted = ""

    def summarise(self, *entries, exit_status=0):
        with tempfile.NamedTemporaryFile("w", suffix=".log") as log:
            log.write("".join(entries))
            log.flush()
            done = subprocess.run([sys.executable, SUMMARY, "--exit-status", str(exit_status), log.name, "/no/such/log"],
                                  capture_output=True, text=True, check=False,
                                  env={**os.environ, "RESPITE_TEST_FILTER": self.wanted})
        self.lines = done.stdout.splitlines()
        return self.lines[-1], done.returncode

    def test_adds_up_both_kinds(self):
        self.assertEqual(("8 passed, 0 failed", 0), self.summarise(
            entry("a", gtest(5, 5), PASSED), entry("b", "Ran 3 tests in 0.1s\n\nOK", PASSED)))

    def test_one_test_is_singular(self):
        output = "[==========] 1 test from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test."
        self.assertEqual(("1 passed, 0 failed", 0), self.summarise(entry("a", output, PASSED)))

    def test_counts_failures(self):
        self.assertEqual(("5 passed, 5 failed, 1 skipped", 1), self.summarise(
            entry("a", gtest(5, 3), FAILED),
            entry("b", "Ran 6 tests in 0.1s\n\nFAILED (failures=1, errors=2, skipped=1)", FAILED), exit_status=8))

    def test_skipped_is_neither(self):
        self.assertEqual(("3 passed, 0 failed, 2 skipped", 0), self.summarise(entry("a", gtest(5, 3, skipped=2), PASSED)))

    def test_skipping_everything_is_a_failure(self):
        everything = entry("a", gtest(2, 0, skipped=2), PASSED), entry("b", "Ran 3 tests in 0.1s\n\nOK", PASSED)
        self.assertEqual(("3 passed, 1 failed, 2 skipped", 1), self.summarise(*everything))
        self.wanted = "these"
        self.assertEqual(("3 passed, 0 failed, 2 skipped", 0), self.summarise(*everything))

    def test_says_why(self):
        reasons = "/x/y_test.cc:206: Skipped\nno moon\n", "Skipped: c.C.test_a: no moon\nSkipped: c.C.test_b (n=1): no sun: today\n"
        self.summarise(entry("a", reasons[0] + gtest(2, 1, skipped=1), PASSED),
                       entry("b", reasons[1] + "Ran 3 tests in 0.1s\n\nOK (skipped=2)", PASSED))
        self.assertEqual(["Skipped: no moon (a 1, b 1)", "Skipped: no sun: today (b 1)", "2 passed, 0 failed, 3 skipped"],
                         self.lines)

    def test_adds_up_comparisons(self):
        self.summarise(*(entry(name, f"Ran 1 test in 0.1s\n\nOK\nCompared with Redis 8.0.2: {count}", PASSED)
                         for name, count in (("a", 7), ("b", 35))))
        self.assertEqual(["Compared with Redis 8.0.2: 42", "2 passed, 0 failed"], self.lines)

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
