#!/usr/bin/env python3
"""The same sources give the same packages, byte by byte, wherever and whenever they are made: dist/ must be made from
the current sources. With RESPITE_SLOW=1 the program is also built again, in another folder."""
import datetime
import json
import os
import shutil
import subprocess
import unittest

from places import ARCHITECTURE, DIST, ROOT, PackageTest, facts, run


class ReproducibleTest(PackageTest):
    def make_again(self, source, *words, **variables):
        """Makes packages in a copy of the sources. Returns the new dist/."""
        dist = self.folder / "dist"
        dist.mkdir(exist_ok=True)
        made = json.loads(self.package(f"*{ARCHITECTURE.name}.spdx.json").read_text())["creationInfo"]["created"]
        epoch = int(datetime.datetime.fromisoformat(made.replace("Z", "+00:00")).timestamp())
        environment = {**os.environ, "RESPITE_DIST": str(dist), "SOURCE_DATE_EPOCH": str(epoch), **variables}
        run("python3", source / "packaging/package.py", *words, env=environment, cwd=source, timeout=3600)
        return dist

    def copy(self):
        """Copies the current sources, without build products."""
        target = self.folder / "elsewhere"
        target.mkdir()
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True,
                               check=True).stdout.decode().split("\0")
        for name in filter(None, names):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
        return target

    def check_same(self, dist):
        made = sorted(path.relative_to(dist) for path in dist.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
        self.assertGreater(len(made), 12)
        for name in made:
            with self.subTest(str(name)):
                self.assertTrue((dist / name).read_bytes() == (DIST / name).read_bytes(), "the octets differ")

    def test_packages_of_one_program(self):
        program = self.package(facts.program(ARCHITECTURE).name)
        source = self.copy()
        dist = self.folder / "dist"
        dist.mkdir()
        # The linked libraries are read from the program's build, which is not repeated here.
        for each in facts.built():
            for path in DIST.glob(f"{facts.program(each).name}*"):
                shutil.copy2(path, dist)
        self.assertTrue((dist / program.name).exists())
        kinds = [kind for kind in ("tarball", "image", "wheel", "npm", "go", "maven", "crate") if shutil.which("mvn") or kind != "maven"]
        kinds += ["deb"] if shutil.which("dpkg-deb") else []
        kinds += ["rpm"] if shutil.which("rpmbuild") else []
        architectures = [word for each in facts.built() for word in ("--arch", each.name)]
        self.check_same(self.make_again(source, "--no-build", *architectures, *kinds))

    @unittest.skipUnless(os.environ.get("RESPITE_SLOW"), "builds the program again: RESPITE_SLOW=1")
    def test_program(self):
        program = self.package(facts.program(ARCHITECTURE).name)
        again = self.make_again(self.copy(), "program", "--jobs", os.environ.get("RESPITE_JOBS", "2"), CCACHE_DISABLE="1")
        self.assertTrue((again / program.name).read_bytes() == program.read_bytes(), "the octets differ")


if __name__ == "__main__":
    unittest.main()
