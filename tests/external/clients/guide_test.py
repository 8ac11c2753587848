#!/usr/bin/env python3
"""Each piece of code in docs/test_server_tasks.md is run by the suite of its language, and each task has all languages."""
import pathlib
import re
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[2] / "docs" / "test_server_tasks.md"

# Maps a language to the suite that runs its pieces: a file, and the text by which it finds them.
SUITES = {
    "go": ("go/goredis/guide_test.go", '|^```go\\n('),
    "java": ("java/redisson/src/test/java/clients/redisson/GuideTest.java", 'PrintedClass.of("docs/test_server_tasks.md")'),
    "js": ("node/tests/ioredis-guide.test.js", '|^```js\\n('),
    "python": ("python/test_redis_py_guide.py", '|^```python\\n('),
}


def fences(text):
    """Returns the info strings of the fences that open a piece of code."""
    return re.findall(r"^```(.*)$", text, re.M)[::2]


def tasks(text):
    """Returns (heading, text) of each task."""
    return re.findall(r"^## (.*?)$(.*?)(?=^## |\Z)", text, re.S | re.M)


class GuideTest(unittest.TestCase):
    page = PAGE.read_text(encoding="utf-8")

    def test_each_piece_of_code_is_claimed(self):
        found = fences(self.page)
        self.assertGreaterEqual(len(found), 2)
        for language in found:
            self.assertIn(language, SUITES, "nobody runs this piece as it is printed")

    def test_each_claim_is_kept(self):
        for language, (path, looks_for) in SUITES.items():
            with self.subTest(language):
                source = (HERE / path).read_text(encoding="utf-8")
                self.assertIn(looks_for, source)
                self.assertIn("test_server_tasks.md", source)

    def test_each_task_is_shown_in_all_languages(self):
        found = tasks(self.page)
        self.assertGreaterEqual(len(found), 2)
        for heading, text in found:
            with self.subTest(heading):
                self.assertEqual(sorted(SUITES), sorted(fences(text)))

    def test_a_piece_that_nobody_runs_is_seen(self):
        self.assertEqual(["python", "", "c"], fences("```python\n1\n```\n\n```\n2\n```\n```c\n3\n```\n"))


if __name__ == "__main__":
    unittest.main()
