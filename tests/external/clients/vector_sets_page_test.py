#!/usr/bin/env python3
"""Runs each piece of code of docs/vector_sets.md as it is printed, except for the port.

RESPITE_SERVER is the server. The clients' libraries are those that are installed: redis-py for $PYTHON (or this Python), redis
for Node ($NODE_PATH), Jedis in ~/.m2, go-redis in the cache of Go modules. A language whose library is missing is skipped."""
import glob
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "vector_sets.md"
SERVER = os.environ.get("RESPITE_SERVER", str(ROOT / "build" / "test" / "respite-server"))
PYTHON = os.environ.get("PYTHON", sys.executable)
LIMIT_S = 180


def run(words, folder, **environment):
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=LIMIT_S, check=False,
                          env={**os.environ, **environment})


class VectorSetsPageTest(unittest.TestCase):
    pieces = dict(re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.S | re.M))

    @classmethod
    def setUpClass(cls):
        with socket.create_server(("127.0.0.1", 0)) as free:
            cls.port = free.getsockname()[1]
        cls.folder = tempfile.mkdtemp(prefix="vector-sets-page-")
        cls.server = subprocess.Popen([SERVER, "--port", str(cls.port), "--save", ""], cwd=cls.folder, stdout=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", cls.port)).close()
                return
            except OSError:
                time.sleep(0.05)

    @classmethod
    def tearDownClass(cls):
        cls.server.terminate()
        cls.server.wait()
        shutil.rmtree(cls.folder, ignore_errors=True)

    def written(self, language, name):
        """Writes a piece to a file in a folder of its own, and returns the folder."""
        self.assertIn("6379", self.pieces[language])
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        (folder / name).write_text(self.pieces[language].replace("6379", str(self.port)), encoding="utf-8")
        return folder

    def passes(self, done):
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_the_page_has_all_languages(self):
        self.assertEqual({"go", "java", "js", "python"}, set(self.pieces))

    def test_python(self):
        if run([PYTHON, "-c", "import redis"], self.folder).returncode != 0:
            self.skipTest("redis-py is not installed")
        self.passes(run([PYTHON, "animals.py"], self.written("python", "animals.py")))

    def test_node(self):
        if not shutil.which("node") or run(["node", "-e", "require('redis')"], self.folder).returncode != 0:
            self.skipTest("the package redis of Node is not installed")
        self.passes(run(["node", "animals.js"], self.written("js", "animals.js")))

    def test_java(self):
        jars = glob.glob(os.path.expanduser("~/.m2/repository/redis/clients/jedis/*/jedis-*.jar"))
        newest = sorted((jar for jar in jars if not jar.endswith("sources.jar")),
                        key=lambda jar: [int(part) for part in re.findall(r"\d+", pathlib.Path(jar).stem)])[-1:]
        others = [jar for group in ("org/slf4j/slf4j-api", "org/apache/commons/commons-pool2", "org/json/json",
                                    "com/google/code/gson/gson", "redis/clients/authentication/redis-authx-core")
                  for jar in sorted(glob.glob(os.path.expanduser(f"~/.m2/repository/{group}/*/*.jar")))[-1:]]
        if not newest or not shutil.which("javac"):
            self.skipTest("Jedis is not installed")
        folder = self.written("java", "Animals.java")
        path = ":".join([*newest, *others, str(folder)])
        self.passes(run(["javac", "-cp", path, "Animals.java"], folder))
        self.passes(run(["java", "-cp", path, "Animals"], folder))

    def test_go(self):
        versions = glob.glob(os.path.expanduser("~/go/pkg/mod/github.com/redis/go-redis/v9@*"))
        if not versions or not shutil.which("go"):
            self.skipTest("go-redis is not in the cache of Go modules")
        folder = self.written("go", "animals.go")
        version = sorted(versions)[-1].split("@")[1]
        self.passes(run(["go", "mod", "init", "animals"], folder))
        self.passes(run(["go", "get", f"github.com/redis/go-redis/v9@{version}"], folder))
        self.passes(run(["go", "run", "animals.go"], folder))


if __name__ == "__main__":
    unittest.main()
