#!/usr/bin/env python3
"""Adds up what GoogleTest and unittest printed into CTest's logs; the last line is "N passed, N failed"."""
import argparse
import pathlib
import re
import sys

ENTRY = re.compile(r"^\d+/\d+ Testing: (.*?)$(.*?)^\"\1\" end time", re.M | re.S)
GTEST_RAN = re.compile(r"^\[==========\] (\d+) tests? from \d+ test suites? ran", re.M)
GTEST_COUNT = r"^\[  %s +\] (\d+) tests?[.,]"
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
UNITTEST_COUNT = r"\b%s=(\d+)"


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    return int(found.group(1)) if found else 0


def gtest_counts(text):
    ran = int(GTEST_RAN.search(text).group(1))
    passed = number(GTEST_COUNT % "PASSED", text)
    return passed, ran - passed - number(GTEST_COUNT % "SKIPPED", text)


def unittest_counts(text):
    ran = int(UNITTEST_RAN.search(text).group(1))
    last_line = text[UNITTEST_RAN.search(text).end():]
    failed = sum(number(UNITTEST_COUNT % word, last_line) for word in (r"(?<!expected )failures", "errors"))
    return ran - failed - number(UNITTEST_COUNT % "skipped", last_line), failed


def entry_counts(text):
    """A binary that died before its summary counts as one failure."""
    if GTEST_RAN.search(text):
        passed, failed = gtest_counts(text)
    elif UNITTEST_RAN.search(text):
        passed, failed = unittest_counts(text)
    else:
        passed, failed = 0, 0
    if not re.search(r"^Test Passed\.$", text, re.M):
        failed = max(failed, 1)
    return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit-status", type=int, default=0, help="what ctest returned")
    parser.add_argument("logs", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    passed = failed = 0
    for log in arguments.logs:
        text = log.read_text(errors="replace") if log.exists() else ""
        for entry in ENTRY.finditer(text):
            more_passed, more_failed = entry_counts(entry.group(2))
            passed, failed = passed + more_passed, failed + more_failed
    if arguments.exit_status and not failed:
        failed = 1
    if not passed and not failed:
        print("No test matches.")
    print(f"{passed} passed, {failed} failed")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
