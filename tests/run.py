#!/usr/bin/env python3
"""Runs the tests of a build folder, several at a time, and prints the totals in the last line: "N passed, N failed".

    tests/run.py --build-dir build/test            all C++ tests, and the system tests that show that a server works
    tests/run.py --build-dir build/test --all      every C++ and system test
    tests/run.py --build-dir build/test --rest     those of --all that run only with --all
    tests/run.py --build-dir build/test --quick    tests that start no server
    tests/run.py --build-dir build/test NAME       the tests with NAME in their name: Suite.Test, script.Class.test
    tests/run.py --targets [--all|--rest|--quick|NAME]    the targets to build for these tests; fails if no test has that name

A test is a GoogleTest binary (in shards, when it takes long) or a Python script. Each runs with its own temporary
folder, and fails if it leaves something there. The times of each run are kept next to the logs, and improve the
estimates of the next run."""
import argparse
import collections
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
ROOMS = ("base", "protocol", "datatypes", "persistence", "scripting", "server")
LIMIT_S = 900
SERVER_SHARDS = 4
# A processor counts as four shares. A script that mostly waits, for failovers and timeouts, takes one.
SHARES = 4
WAITING = {"sentinel_test", "replication_test", "replication_tls_test", "blocking_differential_test", "migrate_test",
           "slot_migration_redis_test"}
# They measure latencies of other clients during attacks, so nothing else may run at the same time.
ALONE = {"hostile_connections_test", "hostile_data_test"}
# The system tests of `./dev test`: most parts of the product, the quick ones, in about two minutes of processor time together.
BASIC = {"acl_start_test", "aof_effects_test", "aof_replay_test", "check_tools_test", "client_tool_test", "connection_test",
         "crash_test", "emulate_test", "faults_test", "fixtures_test", "journal_test", "key_events_test",
         "launch_contract_test", "launch_harnesses_test", "lint_test", "migrate_test", "node_group_test", "printed_lines_test",
         "recording_test", "regress_test", "replication_test", "report_test", "reproducible_test", "restarts_test",
         "slot_migration_test", "test_profile_test", "tls_test", "transcripts_test", "worlds_test"}
# Estimated durations in seconds, used before a run has measured them.
EXPECTED_S = {"sentinel_test": 350, "cluster_test": 190, "cluster_move_test": 180, "slot_migration_valkey_test": 110,
              "slot_migration_redis_test": 340, "cluster_tls_test": 100, "replication_test": 80, "replication_tls_test": 75, "out_of_memory_test": 72,
              "datatypes": 65, "sentinels_at_once_test": 55, "hostile_connections_test": 43, "transcripts_test": 36,
              "server": 35, "hostile_data_test": 27, "node_group_test": 16}

CPP_TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\s*\)", re.M)
CPP_INSTANCE = re.compile(r"^\s*INSTANTIATE_(?:TYPED_)?TEST_SUITE_P\(\s*(\w*),\s*(\w+)", re.M)
PYTHON_NAME = re.compile(r"^(?:class (\w+)|    def (test\w*))", re.M)
GTEST_RAN = re.compile(r"^\[==========\] (\d+) tests? from \d+ test suites? ran", re.M)
GTEST_COUNT = r"^\[  %s +\] (\d+) tests?[.,]"
GTEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.*)$", re.M)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in", re.M)
UNITTEST_COUNT = r"\b%s=(\d+)"
UNITTEST_REASON = re.compile(r"^Skipped: \S+?(?: \(.*?\))?: (.*)$", re.M)
COMPARED = re.compile(r"^Compared with (.*): (\d+)$", re.M)


@dataclasses.dataclass
class Test:
    name: str
    path: pathlib.Path  # the path of the script, or of the folder of sources
    is_binary: bool
    shard: int = 0
    shards: int = 1

    @property
    def label(self):
        return self.name if self.shards == 1 else f"{self.name} {self.shard + 1}/{self.shards}"

    @property
    def starts_server(self):
        return self.path.parent.name == "system" or self.name == "server"

    @property
    def target(self):
        if self.is_binary:
            return f"respite_{self.name}_tests"
        return "respite-server" if self.starts_server else None

    @property
    def shares(self):
        return 1 if self.name in WAITING else SHARES


def all_tests():
    rooms = [Test(room, TESTS / room, True) for room in ROOMS]
    folders = (TESTS, TESTS / "external/clients", TESTS / "external/compat", TESTS / "system")
    scripts = [path for folder in folders for path in sorted(folder.glob("*_test.py"))]
    return rooms + [Test(path.stem, path, False) for path in scripts]


# ---------------------------------------------------------------------------------------------------------------------
# Names. They are read from the sources, so that a name that no test has is refused before anything is built.


def cpp_names(folder):
    for path in folder.rglob("*.cc"):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from (f"{suite}.{test}" for suite, test in CPP_TEST.findall(text))
        yield from (f"{instance}/{suite}." for instance, suite in CPP_INSTANCE.findall(text))


def script_names(path):
    yield path.stem
    name = path.stem
    for class_name, test in PYTHON_NAME.findall(path.read_text(encoding="utf-8")):
        name = f"{path.stem}.{class_name}" if class_name else name
        yield f"{name}.{test}" if test else name


def has_name(test, wanted):
    if not test.is_binary and wanted.split(".")[0] == test.name:
        return True  # some classes are made for each server of the comparison
    plain = re.sub(r"/\d+$", "", wanted)  # one parameter of a test
    return any(plain in name for name in (cpp_names if test.is_binary else script_names)(test.path))


def chosen_tests(options):
    tests = all_tests()
    if options.name:
        return [test for test in tests if has_name(test, options.name)]
    if options.quick:
        return [test for test in tests if not test.starts_server]
    if options.all:
        return tests
    return [test for test in tests if (test.path.parent.name != "system" or test.name in BASIC) != options.rest]


def in_shards(test, is_narrowed):
    if test.name != "server" or is_narrowed:
        return [test]
    return [dataclasses.replace(test, shard=shard, shards=SERVER_SHARDS) for shard in range(SERVER_SHARDS)]


# ---------------------------------------------------------------------------------------------------------------------
# Counting what GoogleTest and unittest print.


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


def output_counts(text, succeeded, is_narrowed):
    """A program that ended before its summary counts as one failure, and so does one that skipped everything."""
    if GTEST_RAN.search(text):
        counts = gtest_counts(text)
    elif UNITTEST_RAN.search(text):
        counts = unittest_counts(text)
    else:
        counts = Counts()
    all_skipped = counts.skipped and not counts.passed and not counts.failed and not is_narrowed
    may_skip_all = all_skipped and succeeded and UNITTEST_RAN.search(text)  # run_script.py made this decision
    if not succeeded or (all_skipped and not may_skip_all):
        counts.failed = max(counts.failed, 1)
    return counts


class Summary:
    def __init__(self, is_narrowed):
        self.is_narrowed = is_narrowed
        self.total = Counts()
        self.failures = []
        self.reasons = collections.defaultdict(collections.Counter)  # reason -> tests
        self.compared = collections.Counter()

    def add(self, name, text, succeeded):
        counts = output_counts(text, succeeded, self.is_narrowed)
        for field in ("passed", "failed", "skipped"):
            setattr(self.total, field, getattr(self.total, field) + getattr(counts, field))
        if counts.failed:
            self.failures.append(name)
        for reason in counts.reasons:
            self.reasons[reason][name] += 1
        for server, comparisons in COMPARED.findall(text):
            self.compared[server] += int(comparisons)
        return not counts.failed

    def print(self):
        for reason, tests in sorted(self.reasons.items()):
            where = ", ".join(f"{name} {count}" for name, count in sorted(tests.items()))
            print(f"Skipped: {reason} ({where})")
        for server, comparisons in sorted(self.compared.items()):
            print(f"Compared with {server}: {comparisons}")
        total = self.total
        if self.failures:
            print("Failed: " + ", ".join(sorted(self.failures)))
        if not total.passed and not total.failed:
            print("No test ran.")
        print(f"{total.passed} passed, {total.failed} failed" + (f", {total.skipped} skipped" if total.skipped else ""))
        return 0 if total.passed and not total.failed else 1


# ---------------------------------------------------------------------------------------------------------------------
# Running.


class Progress:
    """Prints a line for each test that has ended. On a terminal it also prints a line below that shows the running
    tests."""

    def __init__(self, tests, expected_s, shares):
        self.tests, self.expected_s, self.shares = tests, expected_s, shares
        self.done = 0
        self.running = {}
        self.is_terminal = sys.stdout.isatty()

    def left_s(self):
        now = time.monotonic()
        waiting = [test for test in self.tests if test.label not in self.running]
        work = sum(self.expected_s(test) * test.shares for test in waiting)
        rests = [(max(self.expected_s(test) - (now - since), 1), test) for test, since in self.running.values()]
        work += sum(rest * test.shares for rest, test in rests)
        longest = max([rest for rest, _ in rests] + [self.expected_s(test) for test in waiting], default=0)
        return max(work / self.shares, longest)

    def left_text(self):
        left = self.left_s()
        return f"about {left / 60:.0f} min left" if left >= 90 else f"about {max(left, 1):.0f} s left"

    def started(self, test):
        self.running[test.label] = (test, time.monotonic())
        self.tests.remove(test)
        self.tests.append(test)
        self.show()

    def ended(self, test, result, seconds):
        del self.running[test.label]
        self.tests.remove(test)
        self.done += 1
        rest = f"; {self.left_text()}" if self.tests else ""
        self.clear()
        print(f"[{self.done}/{self.done + len(self.tests)}] {test.label}: {result}, {seconds:.1f} s{rest}", flush=True)
        self.show()

    def clear(self):
        if self.is_terminal:
            print("\r\x1b[K", end="")

    def show(self):
        if self.is_terminal and self.running:
            text = f"running: {', '.join(self.running)}; {self.left_text()}"
            print("\r\x1b[K" + text[:shutil.get_terminal_size().columns - 1], end="", flush=True)


class Runner:
    def __init__(self, build_dir, name, jobs):
        self.build_dir = build_dir.resolve()
        self.name = name
        self.shares = jobs * SHARES + 2  # two scripts that wait run next to those that use all processors
        self.logs = self.build_dir / "test_logs"
        self.logs.mkdir(parents=True, exist_ok=True)
        self.times_file = self.logs / "times.json"
        self.times = json.loads(self.times_file.read_text()) if self.times_file.exists() else {}
        self.summary = Summary(bool(name))
        self.processes = set()
        self.threads = []
        self.is_interrupted = False

    def expected_s(self, test):
        return self.times.get(test.label) or EXPECTED_S.get(test.name, 4)

    def environment(self, test, temporary):
        added = {"RESPITE_SERVER": str(self.build_dir / "respite-server"), "RESPITE_SOURCE_DIR": str(ROOT),
                 "REDIS_SERVER": shutil.which("redis-server") or "redis-server", "TMPDIR": str(temporary)}
        if test.shards > 1:
            added |= {"GTEST_TOTAL_SHARDS": str(test.shards), "GTEST_SHARD_INDEX": str(test.shard)}
        if self.name and test.is_binary:
            added["GTEST_FILTER"] = f"*{self.name}*"
        if self.name and not test.is_binary:
            added["RESPITE_TEST_FILTER"] = self.name
        return {**os.environ, **added}

    def command(self, test):
        if test.is_binary:
            return [self.build_dir / "tests" / test.target, "--gtest_brief=1"]
        return [sys.executable, TESTS / "run_script.py", test.path]

    def run(self, test, temporary):
        """Returns the output, and whether the test succeeded. The test has its own folder and process group."""
        temporary.mkdir()
        with subprocess.Popen(self.command(test), cwd=self.build_dir, env=self.environment(test, temporary), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                              start_new_session=True) as process:
            self.processes.add(process.pid)
            if self.is_interrupted:
                os.killpg(process.pid, signal.SIGKILL)
            expired = threading.Timer(LIMIT_S, lambda: os.killpg(process.pid, signal.SIGKILL))
            expired.start()
            text = process.communicate()[0]
            is_late = not expired.is_alive()
            expired.cancel()
            self.processes.discard(process.pid)
        if is_late:
            text += f"\nIt did not end within {LIMIT_S} s.\n"
        elif process.returncode < 0:
            text += f"\nIt was ended by signal {-process.returncode}.\n"
        left = sorted(path.name for path in temporary.iterdir())
        if left:
            text += f"\nIt left in the temporary folder: {', '.join(left)}\n"
        shutil.rmtree(temporary, ignore_errors=True)
        (self.logs / f"{test.label.replace('/', '_of_')}.log").write_text(text, encoding="utf-8")
        return text, process.returncode == 0 and not left

    def interrupt(self):
        """Ends the running tests, and waits until their folders are gone."""
        self.is_interrupted = True
        for pid in list(self.processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        for thread in self.threads:
            thread.join(10)

    def take(self, waiting, running):
        """Returns the next test that may start now. The longest tests come first, tests that must run alone come
        last."""
        used = sum(test.shares for test in running)
        for test in waiting:
            if test.name in ALONE:
                if not running and all(other.name in ALONE for other in waiting):
                    return test
            elif used + test.shares <= self.shares and not any(other.name in ALONE for other in running):
                return test
        return None

    def run_all(self, tests):
        waiting = sorted((part for test in tests for part in in_shards(test, self.name)), key=self.expected_s, reverse=True)
        progress = Progress(list(waiting), self.expected_s, self.shares)
        changed = threading.Condition()
        running, ended = [], []

        def work(test, temporary):
            since = time.monotonic()
            text, succeeded = self.run(test, temporary)
            with changed:
                ended.append((test, text, succeeded, time.monotonic() - since))
                changed.notify()

        with tempfile.TemporaryDirectory(prefix="respite-") as folder:
            try:
                with changed:
                    count = 0
                    while waiting or running:
                        while test := self.take(waiting, running):
                            waiting.remove(test)
                            running.append(test)
                            progress.started(test)
                            count += 1
                            self.threads.append(threading.Thread(target=work, args=(test, pathlib.Path(folder, str(count)))))
                            self.threads[-1].start()
                        changed.wait_for(lambda: ended)
                        test, text, succeeded, seconds = ended.pop(0)
                        running.remove(test)
                        has_passed = self.summary.add(test.name, text, succeeded)
                        progress.ended(test, "passed" if has_passed else "FAILED", seconds)
                        if has_passed and not self.name:
                            self.times[test.label] = round(seconds, 1)
                        if not has_passed:
                            print(text, flush=True)
            except KeyboardInterrupt:
                self.interrupt()
                raise
        self.times_file.write_text(json.dumps(self.times, indent=0, sort_keys=True))
        return self.summary.print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--build-dir", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--rest", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--targets", action="store_true")
    parser.add_argument("name", nargs="?", default="")
    options = parser.parse_args()
    tests = chosen_tests(options)
    if not tests:
        sys.exit(f"No test has '{options.name}' in its name.")
    if options.targets:
        print("\n".join(sorted({test.target for test in tests if test.target})))
        return 0
    runner = Runner(options.build_dir, options.name, options.jobs)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return runner.run_all(tests)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
