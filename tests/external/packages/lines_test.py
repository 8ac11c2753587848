#!/usr/bin/env python3
"""Runs the lines of docs/install.md that a user may copy, as printed, in a folder with only dist/. languages_test.py
has README's lines, those for Java and Rust, and those of the packages' own pages; system_test.py has the line for
Debian."""
import os
import re
import shutil
import subprocess
import unittest

from places import ARCHITECTURE, DIST, ROOT, PackageTest, code_in, facts, readme_row, run
from registry import Registry

PAGE = "docs/install.md"


def printed(pattern):
    """Returns the one line in code of the page that matches."""
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    found = set(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text) + [line.strip() for line in re.findall(r"^    (\S.*)$", text, re.M)])
    lines = [line for line in found if re.match(pattern, line)]
    assert len(lines) == 1, (pattern, lines)
    return lines[0]


class LinesTest(PackageTest):
    def setUp(self):
        super().setUp()
        self.package("SHA256SUMS")
        (self.folder / "dist").symlink_to(DIST)
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        self.tool("sudo", 'exec "$@"')

    def tool(self, name, script):
        path = self.tools / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def shell(self, line, folder=None, **variables):
        path = f"{self.tools}:{os.environ['PATH']}"
        return run("bash", "-c", line, cwd=folder or self.folder, env={**os.environ, "PATH": path, **variables})

    def in_project(self, line, **variables):
        """Runs a line for a project, after the line that sets DIST."""
        (self.folder / "project").mkdir(exist_ok=True)
        return self.shell(f"{code_in(PAGE, '## For tests', 'sh')}cd project\n{line}", **variables)

    def need(self, *programs):
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"{program} is not installed")

    def test_python(self):
        run("python3", "-m", "venv", self.folder / "venv")
        text = self.in_project(f". ../venv/bin/activate\n{code_in(PAGE, '### Python', 'sh')}respite-server --version",
                               PIP_INDEX_URL="http://127.0.0.1:1/")
        self.assertIn(f"respite={facts.version()}", text)

    def test_pip_refuses_other_platforms_and_takes_musl(self):
        wheel = ("python3", "-m", "pip", "download", "-q", "--no-index", "--find-links", "dist", "--only-binary=:all:", "-d", "got",
                 "respite-server", "--platform")
        for platform in ("musllinux_1_1_x86_64", "manylinux2014_x86_64", "manylinux_2_28_x86_64"):
            tags = [word for tag in (platform, "manylinux_2_17_x86_64") if "many" in platform or tag == platform for word in ("--platform", tag)]
            run(*wheel[:-1], *tags, cwd=self.folder)
        for platform in ("macosx_11_0_arm64", "win_amd64", "manylinux2014_ppc64le", "musllinux_1_1_armv7l"):
            done = subprocess.run([*wheel, platform], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertNotEqual(0, done.returncode)
            self.assertIn("No matching distribution found for respite-server", done.stderr)

    def test_node(self):
        self.need("node", "npm")
        settings = {"npm_config_registry": "http://127.0.0.1:1/", "npm_config_cache": str(self.folder / "npm"), "npm_config_ignore_scripts": "true",
                    "npm_config_update_notifier": "false", "npm_config_audit": "false", "npm_config_fund": "false"}
        self.in_project(code_in(PAGE, "### Node", "sh"), **settings)
        self.assertIn(f"respite={facts.version()}", self.in_project("npx --no-install respite-server --version", **settings))

    def test_go(self):
        self.need("go")
        variables = {"GOMODCACHE": str(self.folder / "modules"), "GOPROXY": "off", "GOFLAGS": "-modcacherw", "GOTOOLCHAIN": "local"}
        self.in_project("go mod init shop", **variables)
        self.in_project(code_in(PAGE, "### Go", "sh"), **variables)
        self.assertIn(f"{facts.GO_MODULE} v{facts.version()}", self.in_project("go list -m all", **variables))

    def test_readme_has_the_same_lines(self):
        for language in ("Python", "Node", "Go"):
            self.assertEqual(code_in(PAGE, f"### {language}", "sh"), readme_row(language)[0][0] + "\n")
        self.assertIn(code_in(PAGE, "## For tests", "sh"), (ROOT / "README.md").read_text(encoding="utf-8").replace("    export", "export"))

    def test_npm_says_when_the_program_is_missing(self):
        self.need("node", "npm")
        with Registry() as address:
            settings = {"npm_config_registry": address, "npm_config_cache": str(self.folder / "npm"), "npm_config_update_notifier": "false",
                        "npm_config_audit": "false", "npm_config_fund": "false"}
            self.shell("npm install --omit=optional respite-server", **settings)
        done = subprocess.run(["node", "-e", "require('respite-server').startRespite().catch((error) => console.log(error.message))"],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertIn("is not installed; the environment variable RESPITE_SERVER can name the program", done.stdout)

    def test_the_program_alone(self):
        probe = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
        if probe.returncode:
            self.skipTest("name spaces are not permitted")
        line = printed(r"\./respite-server-\d.*--port 6379$")
        process = self.start(["unshare", "--net", "bash", "-c", f"exec {line}"], cwd=DIST)
        for text in iter(process.stdout.readline, b""):
            if b"Ready to accept connections" in text:
                return
        self.fail("it does not start")

    def test_the_tarball(self):
        self.shell(printed("tar -xzf").replace("respite-", "dist/respite-", 1))
        self.assertTrue((self.folder / f"respite-{facts.version()}-linux-{ARCHITECTURE.name}/bin/respite-server").exists())

    def test_dnf(self):
        """Installs into a root of Debian without a repository; an empty package provides the shell that rpm needs."""
        self.need("dnf", "rpmbuild")
        root = self.unpacked("bookworm")
        spec = self.folder / "shell.spec"
        spec.write_text("Name: shell\nVersion: 1\nRelease: 1\nSummary: shell\nLicense: none\nBuildArch: noarch\nProvides: /bin/sh\n"
                        "%description\nshell\n%files\n")
        run("rpmbuild", "--quiet", "-bb", "--define", f"_topdir {self.folder}/rpm", spec)
        run("rpm", "--root", root, "-i", next((self.folder / "rpm").rglob("*.rpm")))
        self.tool("dnf", f'exec {shutil.which("dnf")} -q -y --installroot={root} --releasever=1 "--disablerepo=*" --setopt=reposdir=/ "$@"')
        self.shell(printed("sudo dnf install"))
        self.assertIn(f"respite={facts.version()}", run(root / "usr/bin/respite-server", "--version"))
        self.shell("sudo dnf remove respite")
        self.assertFalse((root / "usr/bin/respite-server").exists())

    def test_skopeo(self):
        """The program docker is not run, so the copy goes to a folder."""
        self.need("skopeo")
        line = printed("skopeo copy oci-archive")
        self.assertIn(" docker-daemon:respite:", line)
        self.shell(line.replace(f"docker-daemon:respite:{facts.version()}", "dir:copy"))
        self.assertTrue((self.folder / "copy/manifest.json").exists())

    def test_podman(self):
        self.need("podman")
        store = self.folder / "store"
        self.tool("podman", f'exec {shutil.which("podman")} --root={store} --runroot={self.folder}/run --storage-driver=vfs '
                            '--events-backend=file "$@"')
        self.shell(printed("podman load"))
        self.assertIn(facts.version(), self.shell("podman images"))


if __name__ == "__main__":
    unittest.main()
