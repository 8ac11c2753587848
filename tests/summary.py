#!/usr/bin/env python3
"""Adds up the output of GoogleTest and unittest in CTest's logs: skipped tests and why, comparisons with each server, and in
the last line "N passed, N failed", followed by ", N skipped" if there are any."""
import argparse
import collections
import dataclasses
import os
import pathlib
import re
import sys

ENTRY = re.compile(r"^\d+/\d+ Testing: (.*?)$(.*?)^\"\1\" end time", re.M | re.S)
GTEST_RAN = re.compile(r"^\[==========\] (\d+) tests? from \d+ test suites? ran", re.M)
GTEST_COUNT = r"^\[  %s +\] (\d+) tests?[.,]"
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
UNITTEST_COUNT = r"\b%s=(\d+)"
UNITTEST_REASON = re.compile(r"^Skipped: \S+?(?: \(.*?\))?: (.*)$", re.M)
COMPARED = re.compile(r"^Compared with (.*): (\d+)$", re.M)


@dataclasses.dataclass
class Counts:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    reasons: tuple = ()


def number(pattern, text):
    found = re.search(pattern, text, re.M)
    return int(found.group(1)) if found else 0


def gtest_counts(text):
    ran = int(GTEST_RAN.search(text).group(1))
    passed = number(GTEST_COUNT % "PASSED", text)
    skipped = number(GTEST_COUNT % "SKIPPED", text)
    return Counts(passed, ran - passed - skipped, skipped, tuple(GTEST_REASON.findall(text)))


def unittest_counts(text):
    ran = int(UNITTEST_RAN.search(text).group(1))
    last_line = text[UNITTEST_RAN.search(text).end():]
    failed = sum(number(UNITTEST_COUNT % word, last_line) for word in (r"(?<!expected )failures", "errors"))
    skipped = number(UNITTEST_COUNT % "skipped", last_line)
    return Counts(ran - failed - skipped, failed, skipped, tuple(UNITTEST_REASON.findall(text)))


def entry_counts(text, is_narrowed):
    """A binary that ended before its summary counts as one failure, and so does one that skipped everything."""
    if GTEST_RAN.search(text):
        counts = gtest_counts(text)
    elif UNITTEST_RAN.search(text):
        counts = unittest_counts(text)
    else:
        counts = Counts()
    all_skipped = counts.skipped and not counts.passed and not counts.failed and not is_narrowed
    if all_skipped or not re.search(r"^Test Passed\.$", text, re.M):
        counts.failed = max(counts.failed, 1)
    return counts


class Summary:
    def __init__(self, is_narrowed):
        self.is_narrowed = is_narrowed
        self.total = Counts()
        self.reasons = collections.defaultdict(collections.Counter)  # reason -> suites
        self.compared = collections.Counter()

    def add(self, suite, text):
        counts = entry_counts(text, self.is_narrowed)
        for field in ("passed", "failed", "skipped"):
            setattr(self.total, field, getattr(self.total, field) + getattr(counts, field))
        for reason in counts.reasons:
            self.reasons[reason][suite] += 1
        for server, comparisons in COMPARED.findall(text):
            self.compared[server] += int(comparisons)

    def print(self):
        for reason, suites in sorted(self.reasons.items()):
            where = ", ".join(f"{suite} {count}" for suite, count in sorted(suites.items()))
            print(f"Skipped: {reason} ({where})")
        for server, comparisons in sorted(self.compared.items()):
            print(f"Compared with {server}: {comparisons}")
        total = self.total
        if not total.passed and not total.failed:
            print("No test matches.")
        print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exit-status", type=int, default=0, help="what ctest returned")
    parser.add_argument("logs", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    summary = Summary(bool(os.environ.get("RESPITE_TEST_FILTER")))
    for log in arguments.logs:
        text = log.read_text(errors="replace") if log.exists() else ""
        for entry in ENTRY.finditer(text):
            summary.add(entry.group(1), entry.group(2))
    if arguments.exit_status and not summary.total.failed:
        summary.total.failed = 1
    summary.print()
    return 0 if summary.total.passed and not summary.total.failed else 1


if __name__ == "__main__":
    sys.exit(main())
