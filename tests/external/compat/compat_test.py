#!/usr/bin/env python3
"""The output of other people's suites is parsed correctly, and a suite without output is no success. This runs none of
them."""
import json
import pathlib
import subprocess
import tempfile
import unittest
import unittest.mock

import compat
import suites

TCL = """\x1b[1;37;49mTesting unit/x\x1b[0m
[\x1b[0;32;49mok\x1b[0m]: SET works (3 ms)
[\x1b[0;31;49merr\x1b[0m]: GET works in tests/unit/x.tcl
Expected 'a' to be equal to 'b'
[exception]: Executing test client: ERR no.
[\x1b[0;33;49mskip\x1b[0m]: Too slow
[\x1b[0;33;49mignore\x1b[0m]: large memory flag not provided
*** [\x1b[0;31;49merr\x1b[0m]: GET works in tests/unit/x.tcl
"""
RESP = """test: get passed
-------- The result of tests --------
Summary: version: 7.2.0, total tests: 352, passed: 350, rate: 99.43%
This is failed tests for 7.2.0:
FailedTest(name='acl log', reason=ValueError())
FailedTest(name='wait', reason='x')
"""
HIREDIS = """#01 Is able to pass commands: \x1b[0;32mPASSED\x1b[0;0m
#02 Handles \x1b[0;33mSKIPPED\x1b[0;0m
#03 Says what: a colon: \x1b[0;31mFAILED\x1b[0;0m
ALL TESTS PASSED
"""
PYTEST = """....F.
FAILED tests/test_commands.py::TestA::test_x - AssertionError
ERROR tests/test_commands.py::TestA::test_y
2 failed, 711 passed, 40 skipped, 12 deselected, 1 xfailed, 3 warnings, 1 error in 88.11s
"""
MOCHA = """some text
{
  "stats": {"passes": 5, "failures": 1, "pending": 2},
  "failures": [{"fullTitle": "a b"}]
}
more"""
GINKGO = """------------------------------
  [PANICKED] in [AfterEach] - /x/panic.go:336 @ 11/22/26 10:52:52.167
Summarizing 1 Failure:
  [FAIL] Commands server [It] should Time
  /x/commands_test.go:1

Ran 3 of 9 Specs in 3.1 seconds
FAIL! -- 2 Passed | 1 Failed | 4 Pending | 6 Skipped
"""
VITEST = """some text
{"numTotalTestSuites":1,"testResults":[{"name":"/x/a.test.ts","status":"failed","assertionResults":[
""".rstrip("\n") + """{"fullName":"a b","status":"passed"},{"fullName":"a c","status":"failed"},{"fullName":"a d","status":"pending"}]},\
{"name":"/x/b.test.ts","status":"failed","assertionResults":[]}]}
"""
GO = """=== RUN   TestA
--- PASS: TestA (0.01s)
    --- PASS: TestA/part (0.00s)
--- FAIL: TestB (0.01s)
--- SKIP: TestC (0.00s)
panic: No connection on port 1
"""


class Readers(unittest.TestCase):
    def check(self, suite, text, counts, failures):
        result = suite("/", "/nowhere").read(text)
        self.assertEqual((counts, failures), (result.counts(), result.failures))

    def test_each(self):
        self.check(suites.RedisTcl, TCL, (1, 2, 2), ["GET works", "Executing test client: ERR no."])
        self.check(suites.RespCompatibility, RESP, (350, 2, 0), ["acl log", "wait"])
        self.check(suites.Hiredis, HIREDIS, (1, 1, 1), ["Says what: a colon"])
        self.check(suites.RedisPy, PYTEST, (712, 3, 40),
                   ["tests/test_commands.py::TestA::test_x", "tests/test_commands.py::TestA::test_y"])
        self.check(suites.Ioredis, MOCHA, (5, 1, 2), ["a b"])
        self.check(suites.BullMQ, VITEST, (1, 2, 1), ["a c", "b.test.ts"])
        self.check(suites.FakeRedis, PYTEST, (712, 3, 40),
                   ["tests/test_commands.py::TestA::test_x", "tests/test_commands.py::TestA::test_y"])
        self.check(suites.Miniredis, GO, (1, 2, 1), ["TestB", "panic: No connection on port 1"])
        self.check(suites.GoRedis, GINKGO, (2, 1, 10), ["Commands server [It] should Time"])

    def test_nothing_to_read_is_a_failure(self):
        for suite in suites.SUITES:
            with self.subTest(suite.name):
                result = compat.read_part(suite("/", "/nowhere"), "part", "Segmentation fault", in_time=True)
                self.assertEqual((0, 1, 0), result.counts())

    def test_too_slow_is_a_failure(self):
        result = compat.read_part(suites.RedisTcl("/", "/nowhere"), "unit/x", TCL, in_time=False)
        self.assertEqual((1, 3, 2), result.counts())
        self.assertIn("unit/x: took too long", result.failures)


class Checkouts(unittest.TestCase):
    def test_each_is_recognised_by_its_files(self):
        for suite in suites.SUITES:
            with self.subTest(suite.name), tempfile.TemporaryDirectory() as folder:
                self.assertEqual([], suites.suites_of(folder))
                for mark in suite.marks:
                    path = pathlib.Path(folder, mark)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()
                self.assertIn(suite, suites.suites_of(folder))

    def test_parts_are_summed(self):
        def part(date, passed, failures):
            return {"date": date, "servers": [{"name": "Respite 1", "counts": [passed, 1, 0], "failures": failures}]}
        record = compat.summed("s", {"checkout": "abc", "of": 3, "parts": {"x": part("2026-01-02", 2, ["b"]),
                                                                          "y": part("2026-01-01", 3, ["a"])}})
        self.assertEqual(("2026-01-02", "2 of 3"), (record["date"], record["parts"]))
        self.assertEqual([{"name": "Respite 1", "counts": [5, 2, 0], "failures": ["a", "b"]}], record["servers"])

    def test_rows_without_a_result_stay_in_the_table(self):
        def record(name, passed):
            server = {"name": "Respite 1", "counts": [passed, 0, 0], "failures": []}
            return {"suite": name, "checkout": "abc", "date": "2026-01-02", "parts": "1 of 1", "servers": [server, server]}
        first = compat.table(compat.merged([], [record("b", 1), record("a, `x`", 2)]))
        second = compat.table(compat.merged(compat.groups_in(first), [record("b", 7), record("C", 3)]))
        rows = [compat.rows_of(each) for each in (record("a, `x`", 2), record("b", 7), record("C", 3))]
        self.assertEqual(compat.table(rows), second)

    def test_a_part_replaces_its_own_result_only(self):
        suite = suites.RespCompatibility("/", "/nowhere")
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(compat, "WORK", pathlib.Path(folder)):
            for part, passed in (("x", 1), ("y", 2), ("x", 5)):
                compat.keep(suite, suite.name, part, [{"name": "Respite 1", "counts": (passed, 0, 0), "failures": []}])
            self.assertEqual([[7, 0, 0]], [server["counts"] for server in compat.records_of([suite.name])[0]["servers"]])

    def test_an_emulated_version_has_its_own_rows_and_program(self):
        suite = suites.RespCompatibility("/", "/nowhere")
        names = [compat.row_name(suite, unittest.mock.Mock(emulate=version)) for version in ("", "redis:8.0")]
        self.assertEqual([suite.name, f"{suite.name} as redis:8.0"], names)
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(compat, "WORK", pathlib.Path(folder)):
            program = compat.emulating("/bin/echo", "redis:8.0")
            said = subprocess.run([program, "--port", "1"], capture_output=True, text=True, check=True).stdout
        self.assertEqual("--port 1 --emulate redis:8.0\n", said)

    def test_the_table(self):
        record = {"suite": "s", "checkout": "abc (2026-01-01)", "date": "2026-01-02", "parts": "1 of 2", "servers": [
            {"name": "Respite 1", "counts": (5, 2, 0), "failures": ["a", "b"]},
            {"name": "Redis 7.2.6", "counts": (6, 1, 0), "failures": ["b"]}]}
        lines = compat.table([compat.rows_of(json.loads(json.dumps(record)))]).split("\n")
        self.assertEqual("| s, abc (2026-01-01) | 2026-01-02 | 1 of 2 | Respite 1 | 5 | 2 | 0 | 1 |", lines[2])
        self.assertEqual("|  |  |  | Redis 7.2.6 | 6 | 1 | 0 |  |", lines[3])
        self.assertEqual(["a"], compat.only_here(record))


if __name__ == "__main__":
    unittest.main()
