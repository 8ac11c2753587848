#!/usr/bin/env python3
"""The content of the packages in dist/: no member that leads elsewhere or has unusual permissions; the version, changes
and licences."""
import datetime
import json
import re
import unittest

import archive_checks
from places import DIST, PackageTest, facts

# Packages that contain only texts.
WITHOUT_PROGRAM = ("-sources.jar", "-javadoc.jar", f"embedded-redis-{facts.version()}.jar", f"respite-test-{facts.version()}.crate",
                   f"respite-server-{facts.version()}.tgz")


def epoch():
    made = json.loads(next(DIST.glob("*.spdx.json")).read_text())["creationInfo"]["created"]
    return int(datetime.datetime.fromisoformat(made.replace("Z", "+00:00")).timestamp())


class ArchivesTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.package("*.spdx.json")

    def test_members(self):
        paths = archive_checks.archives(DIST)
        self.assertGreater(len(paths), 12)
        for path in paths:
            with self.subTest(path.name):
                found = archive_checks.members(path)
                self.assertEqual([], list(archive_checks.objections(found, epoch())))
                has_program = not path.name.endswith(WITHOUT_PROGRAM)
                self.assertEqual([], archive_checks.missing_texts(found, has_program))

    def test_versions(self):
        for path in archive_checks.archives(DIST):
            with self.subTest(path.name):
                self.assertIn(facts.version(), path.name)

    def test_nothing_runs_when_npm_installs(self):
        for path in DIST.glob("*.tgz"):
            manifest = next(json.loads(each.octets) for each in archive_checks.members(path) if each.name == "package/package.json")
            self.assertNotIn("scripts", manifest)

    def test_changes_are_those_of_the_sources(self):
        text = (facts.ROOT / "CHANGELOG.md").read_bytes()
        for path in archive_checks.archives(DIST):
            for member in archive_checks.members(path) if not path.name.endswith(".rpm") else ():
                if re.search(r"CHANGELOG\.md$", member.name):
                    self.assertEqual(text, member.octets, path.name)


if __name__ == "__main__":
    unittest.main()
