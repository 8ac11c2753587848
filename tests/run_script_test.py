#!/usr/bin/env python3
"""A script that runs no tests must not count as a success."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN_SCRIPT = pathlib.Path(__file__).resolve().parent / "run_script.py"
SOME = """
import unittest
class A(unittest.TestCase):
    def test_runs(self): pass
    @unittest.skip("no moon")
    def test_skips(self): pass
"""


class RunScriptTest(unittest.TestCase):
    def run_script(self, text, wanted=""):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "x_test.py")
            script.write_text(text)
            done = subprocess.run([sys.executable, RUN_SCRIPT, script], capture_output=True, text=True, check=False,
                                  env={**os.environ, "RESPITE_TEST_FILTER": wanted})
        return done.returncode, done.stderr

    def test_says_what_was_skipped(self):
        code, text = self.run_script(SOME)
        self.assertEqual(0, code)
        self.assertIn("Skipped: x_test.A.test_skips: no moon\n", text)

    def test_no_test_fails(self):
        self.assertEqual(1, self.run_script("")[0])

    def test_no_test_is_fine_when_narrowed_down(self):
        self.assertEqual(0, self.run_script(SOME, "nothing is called so")[0])

    def test_all_skipped_fails(self):
        text = SOME.replace("test_runs", "not_run")
        self.assertEqual(1, self.run_script(text)[0])
        self.assertEqual(0, self.run_script(text, "test_skips")[0])

    def test_all_skipped_is_fine_where_the_script_says_so(self):
        text = SOME.replace("test_runs", "not_run")
        self.assertEqual(0, self.run_script(text + "\nMAY_SKIP_ALL = True\n")[0])
        self.assertEqual(1, self.run_script(text + "\nMAY_SKIP_ALL = False\n")[0])
        self.assertEqual(1, self.run_script("MAY_SKIP_ALL = True")[0])

    def test_failure(self):
        self.assertEqual(1, self.run_script(SOME.replace("pass", "self.fail()"))[0])


if __name__ == "__main__":
    unittest.main()
