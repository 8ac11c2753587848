#!/usr/bin/env python3
"""Runs each piece of code of docs/json.md and docs/vector_sets.md as it is printed, except for the port. Comments after
statements that print are the output.

The clients' libraries are those that `./dev clients` installs, or $PYTHON and $NODE_PATH name. A language whose library is
missing is skipped."""
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from launcher import LaunchTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLIENTS = ROOT / "build" / "clients"
VENV_PYTHON = CLIENTS / "python" / "venv" / "bin" / "python"
PYTHON = os.environ.get("PYTHON", str(VENV_PYTHON) if VENV_PYTHON.exists() else sys.executable)
NODE_PATH = os.environ.get("NODE_PATH", str(CLIENTS / "node" / "node_modules"))
LIMIT_S = 180


def run(words, folder):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, "NODE_PATH": NODE_PATH})


class Page:
    name = program = None  # the page, and the name of its programs

    @classmethod
    def setUpClass(cls):
        cls.pieces = dict(re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / "docs" / cls.name).read_text(encoding="utf-8"), re.S | re.M))

    def written(self, language, name):
        """Starts a server, writes a piece to a file in a folder of its own, and returns the folder."""
        self.assertIn("6379", self.pieces[language])
        port = self.start("--port", "auto", "--save", "").port
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / name).write_text(self.pieces[language].replace("6379", str(port)), encoding="utf-8")
        return folder

    def compiles(self, done):
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def passes(self, done, language):
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        expected = re.findall(r"(?:print|log|[pP]rintln)\(.*\);?\s+(?:#|//) (.*)$", self.pieces[language], re.M)
        self.assertEqual(expected, done.stdout.splitlines())

    def test_the_page_has_all_languages(self):
        self.assertEqual({"go", "java", "js", "python"}, set(self.pieces))

    def test_python(self):
        if run([PYTHON, "-c", "import redis"], self.folder).returncode != 0:
            self.skipTest("redis-py is not installed")
        self.passes(run([PYTHON, "program.py"], self.written("python", "program.py")), "python")

    def test_node(self):
        if not shutil.which("node") or run(["node", "-e", "require('redis')"], self.folder).returncode != 0:
            self.skipTest("the package redis of Node is not installed")
        self.passes(run(["node", "program.js"], self.written("js", "program.js")), "js")

    def test_java(self):
        jars = glob.glob(os.path.expanduser("~/.m2/repository/redis/clients/jedis/*/jedis-*.jar"))
        newest = sorted((jar for jar in jars if not jar.endswith("sources.jar")),
                        key=lambda jar: [int(part) for part in re.findall(r"\d+", pathlib.Path(jar).stem)])[-1:]
        others = [jar for group in ("org/slf4j/slf4j-api", "org/apache/commons/commons-pool2", "org/json/json",
                                    "com/google/code/gson/gson", "redis/clients/authentication/redis-authx-core")
                  for jar in sorted(glob.glob(os.path.expanduser(f"~/.m2/repository/{group}/*/*.jar")))[-1:]]
        if not newest or not shutil.which("javac"):
            self.skipTest("Jedis is not installed")
        folder = self.written("java", self.program + ".java")
        path = ":".join([*newest, *others, str(folder)])
        self.compiles(run(["javac", "-cp", path, self.program + ".java"], folder))
        self.passes(run(["java", "-cp", path, self.program], folder), "java")

    def test_go(self):
        versions = glob.glob(os.path.expanduser("~/go/pkg/mod/github.com/redis/go-redis/v9@*"))
        if not versions or not shutil.which("go"):
            self.skipTest("go-redis is not in the cache of Go modules")
        folder = self.written("go", "program.go")
        version = sorted(versions)[-1].split("@")[1]
        self.compiles(run(["go", "mod", "init", "program"], folder))
        self.compiles(run(["go", "get", f"github.com/redis/go-redis/v9@{version}"], folder))
        self.passes(run(["go", "run", "program.go"], folder), "go")


class JsonPageTest(Page, LaunchTest):
    name, program = "json.md", "Bikes"


class VectorSetsPageTest(Page, LaunchTest):
    name, program = "vector_sets.md", "Animals"


if __name__ == "__main__":
    unittest.main()
