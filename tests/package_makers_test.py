#!/usr/bin/env python3
"""The makers of packages, with a text in place of the program: what they put into archives, and that repeated runs give
the same bytes. `./dev package --test` tests the packages themselves."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "tests/external/packages")]
import archive_checks  # noqa: E402
from makers import crate, deb, facts, gomodule, image, npm, rpm, tarball, wheel  # noqa: E402

EPOCH = 1_700_000_000
TOOLS = {deb: "dpkg-deb", rpm: "rpmbuild"}
ARCHITECTURE = facts.ARCHITECTURES["x86_64"]


class MakersTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="makers-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for patch in (mock.patch.object(facts, "DIST", self.folder / "dist"), mock.patch.object(facts, "WORK", self.folder / "work"),
                      mock.patch.dict("os.environ", SOURCE_DATE_EPOCH=str(EPOCH))):
            patch.start()
            self.addCleanup(patch.stop)
        facts.DIST.mkdir()
        stem = facts.program(ARCHITECTURE)
        for path in (stem, pathlib.Path(f"{stem}.NOTICE"), pathlib.Path(f"{stem}.spdx.json")):
            path.write_text(f"in the place of {path.name}\n")

    def check(self, make, *words, has_program=True):
        made = make(*words)
        octets = made.read_bytes()
        found = archive_checks.members(made)
        self.assertEqual([], list(archive_checks.objections(found, EPOCH)))
        self.assertEqual([], archive_checks.missing_texts(found, has_program))
        made.unlink()
        self.assertEqual(octets, make(*words).read_bytes(), "another time, other octets")
        return {each.name.removeprefix("./"): each for each in found}

    def need(self, maker):
        if not shutil.which(TOOLS[maker]):
            self.skipTest(f"{TOOLS[maker]} is not installed")

    def test_tarball(self):
        found = self.check(tarball.make, ARCHITECTURE)
        top = f"respite-{facts.version()}-linux-x86_64"
        self.assertEqual(0o755, found[f"{top}/bin/respite-server"].mode)
        self.assertEqual("../bin/respite-server", found[f"{top}/redis-names/redis-server"].target)

    def test_deb(self):
        self.need(deb)
        found = self.check(deb.make, ARCHITECTURE)
        self.assertEqual(b"/etc/default/respite-server\n/etc/respite/respite.conf\n", found["conffiles"].octets)
        for name in facts.TOOL_NAMES:
            self.assertEqual("respite-server", found[f"usr/bin/{name}"].target)
            self.assertEqual("respite-server.1.gz", found[f"usr/share/man/man1/{name}.1.gz"].target)
            self.assertEqual("respite-server", found[f"usr/share/bash-completion/completions/{name}"].target)
        self.assertIn("usr/share/zsh/vendor-completions/_respite", found)
        for name in ("postinst", "prerm", "postrm"):
            script = found[name].octets.decode()
            self.assertTrue(script.startswith("#!/bin/sh\n"))
            self.assertIn("\nset -e\n", script)
            self.assertEqual(0, subprocess.run(["sh", "-n"], input=script, text=True, check=False).returncode)

    def test_rpm(self):
        self.need(rpm)
        self.check(rpm.make, ARCHITECTURE)

    def test_image(self):
        found = self.check(image.make, ARCHITECTURE)
        for name in ("redis-server", "redis-cli", "docker-entrypoint"):
            self.assertEqual("respite-server", found[f"usr/local/bin/{name}"].target)

    def test_wheel(self):
        found = self.check(wheel.make, ARCHITECTURE)
        self.assertEqual(0o755, found[f"respite_server-{facts.version()}.data/scripts/respite-server"].mode)

    def test_npm(self):
        self.assertEqual(0o755, self.check(npm.make_platform, ARCHITECTURE)["package/bin/respite-server"].mode)
        self.check(npm.make_main, has_program=False)

    def test_go(self):
        self.assertIn(f"{facts.GO_MODULE}@v{facts.version()}/programs/linux_amd64.gz", self.check(gomodule.make))

    def test_crate(self):
        self.check(crate.make, has_program=False)


class ChecksTest(unittest.TestCase):
    """Returns what the checks above would find."""

    def test_objections(self):
        member = archive_checks.Member
        bad = [member("/etc/passwd", "file", 0o644), member("a/../../b", "file", 0o644), member("c", "file", 0o4755),
               member("d", "file", 0o644, (1000, 0)), member("e", "file", 0o644, time=1), member("f", "link", 0o777, target="../g"),
               member("h", "other", 0o644), member("i", "file", 0o644), member("./i", "file", 0o644)]
        for each in bad[:-2]:
            self.assertEqual(1, len(list(archive_checks.objections([each], EPOCH))), each)
        self.assertEqual(["./i is there twice"], list(archive_checks.objections(bad[-2:], EPOCH)))

    def test_missing_texts(self):
        self.assertEqual(["changes", "licence"], archive_checks.missing_texts([], False))


if __name__ == "__main__":
    unittest.main()
