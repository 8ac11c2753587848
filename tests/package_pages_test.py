#!/usr/bin/env python3
"""What pages say of packages: the version of the project, every kind that is made, no place of a registry."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "packaging"))
from makers import facts  # noqa: E402

PAGES = ["README.md", "docs/install.md", "docs/releasing.md"]
VERSION = re.compile(r"\brespite[\w.-]*?[-_:]v?(\d+\.\d+\.\d+)")


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


class PackagePagesTest(unittest.TestCase):
    def test_versions_are_that_of_the_project(self):
        for page in PAGES:
            found = VERSION.findall(text_of(page))
            self.assertTrue(found, page)
            self.assertEqual({facts.version()}, set(found), page)

    def test_each_kind_is_named(self):
        kinds = re.findall(r'^EACH = \{(.*?)\}|^WHOLE = \{(.*?)\}', text_of("packaging/package.py"), re.M | re.S)
        names = set(re.findall(r'"(\w+)":', str(kinds)))
        self.assertEqual({"tarball", "deb", "rpm", "image", "wheel", "npm", "go", "maven", "crate"}, names)
        usage = re.search(r"package \[KIND\.\.\.\] +(.*)", text_of("dev"))[1]
        self.assertLessEqual(names, set(re.findall(r"\w+", usage)))

    def test_names_of_the_program_are_where_packages_have_them(self):
        """What the program does under a name, its packages offer under that name."""
        for name in ("-cli", "-check-rdb", "-check-aof"):
            self.assertIn(f'"{name}"', text_of("server/config/command_line.cc"))
            self.assertIn(f"respite{name}", facts.TOOL_NAMES)
        self.assertIn('"docker-entrypoint"', text_of("server/config/container_arguments.cc"))


if __name__ == "__main__":
    unittest.main()
