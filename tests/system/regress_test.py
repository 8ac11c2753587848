"""Runs tests/regress/*.resp: each file shows one bug that the server once had, and describes it at its head. The files
have the format of transcripts (transcripts_test.py), and are also compared with the oracles.

A bug belongs here if requests and their replies show it, and no test of a room covers it. CONTRIBUTING.md says more."""
import glob
import os
import unittest

import oracles
import transcripts_test

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "regress")


class HeadTest(unittest.TestCase):
    def test_each_file_says_what_went_wrong(self):
        files = glob.glob(os.path.join(FOLDER, "*"))
        self.assertTrue(files)
        for path in files:
            self.assertTrue(path.endswith(".resp"), path)
            with open(path, encoding="utf-8") as file:
                head, _, scenario = file.read().partition("\n\n")
            self.assertTrue(all(line.startswith("# ") for line in head.split("\n")), path)
            self.assertGreater(len(head), 40, path)
            self.assertTrue(scenario.startswith("== "), path)


class Regress(transcripts_test.PlayedFiles):
    pass


class OnRespite(Regress):
    pass


Regress.add_tests(FOLDER)
oracles.multiply(globals(), Regress)

if __name__ == "__main__":
    unittest.main()
