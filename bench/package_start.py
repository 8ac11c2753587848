#!/usr/bin/env python3
"""Measures how long a test waits for its server: from the call that starts it to the first PONG, with the packages of
dist/ and with packages that start redis-server in the same language. All run in turns; prints the table of
docs/clients.md."""
import argparse
import atexit
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/external/packages"))
from languages_test import JavaTest, NodeTest, PythonTest  # noqa: E402
from places import DIST, facts, kept, run  # noqa: E402

PYTHON = """
import socket, sys, time

def pong(port):
    with socket.create_connection(("127.0.0.1", port)) as sock:
        sock.sendall(b"PING\\r\\n")
        assert sock.recv(64).startswith(b"+PONG"), "no PONG"

def ours():
    import respite_server
    begin = time.perf_counter()
    server = respite_server.start()
    pong(server.port)
    return begin, server.close

def theirs():
    from pathlib import Path
    from pytest_redis.executor import RedisExecutor
    from port_for import get_port
    import tempfile
    folder = Path(tempfile.mkdtemp(dir=sys.argv[2]))
    executor = RedisExecutor("/usr/bin/redis-server", databases=8, redis_timeout=30, loglevel="notice", host="127.0.0.1",
                             port=get_port(None), startup_timeout=30, datadir=folder)
    begin = time.perf_counter()
    executor.start()
    pong(executor.port)
    return begin, executor.stop

start = {"ours": ours, "theirs": theirs}[sys.argv[1]]
for _ in range(int(sys.argv[3])):
    begin, stop = start()
    print((time.perf_counter() - begin) * 1000, flush=True)
    stop()
"""
NODE = """
const net = require('node:net');
const pong = (port) => new Promise((resolve, reject) => {
  const socket = net.connect(port, '127.0.0.1', () => socket.write('PING\\r\\n'));
  socket.once('data', (octets) => { socket.destroy(); resolve(octets); }).once('error', reject);
});
const starts = {
  ours: async () => { const server = await require('respite-server').startRespite(); return [server.port, () => server.stop()]; },
  theirs: async () => {
    const { RedisMemoryServer } = require('redis-memory-server');
    const server = await RedisMemoryServer.create({ binary: { systemBinary: '/usr/bin/redis-server' } });
    return [await server.getPort(), () => server.stop()];
  },
};
(async () => {
  for (let i = 0; i < Number(process.argv[4]); ++i) {
    const begin = process.hrtime.bigint();
    const [port, stop] = await starts[process.argv[2]]();
    await pong(port);
    console.log(Number(process.hrtime.bigint() - begin) / 1e6);
    await stop();
  }
})();
"""
JAVA = """
import java.net.*;

public class Start {
  static void pong(int port) throws Exception {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.getOutputStream().write("PING\\r\\n".getBytes());
      if (socket.getInputStream().read() != '+') throw new IllegalStateException("no PONG");
    }
  }

  public static void main(String[] arguments) throws Exception {
    for (int i = 0; i < Integer.parseInt(arguments[2]); ++i) {
      long begin = System.nanoTime();
      if (arguments[0].equals("ours")) {
        respite.RespiteServer server = respite.RespiteServer.start();
        pong(server.port());
        System.out.println((System.nanoTime() - begin) / 1e6);
        server.close();
      } else {
        int port = 21000 + (int) (Math.random() * 5000);
        redis.embedded.RedisServer server = new redis.embedded.RedisServer(port);
        begin = System.nanoTime();
        server.start();
        pong(port);
        System.out.println((System.nanoTime() - begin) / 1e6);
        server.stop();
      }
    }
  }
}
"""
EMBEDDED_POM = """<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<dependencies><dependency><groupId>com.github.codemonstur</groupId><artifactId>embedded-redis</artifactId><version>1.4.3</version>
</dependency></dependencies></project>"""


class Place:
    """An environment for one language: created in a folder, and timed there."""

    def __init__(self, suite):
        suite.folder = pathlib.Path(tempfile.mkdtemp(prefix="start-"))
        atexit.register(shutil.rmtree, suite.folder, ignore_errors=True)
        suite.addClassCleanup = lambda *_, **__: None
        suite.install()
        self.folder, self.variables = suite.folder, suite.variables if hasattr(suite, "variables") else suite.environment()

    def times(self, *words):
        text = run(*words, cwd=self.folder, env=self.variables)
        return [float(line) for line in text.splitlines() if re.fullmatch(r"[\d.]+", line)]


def python():
    place = Place(PythonTest)
    wheels = kept("wheels-pytest-redis", lambda part: run("pip", "download", "-q", "-d", part, "pytest-redis==5.0.1"))
    run("bash", "-c", f"pip install -q --find-links {wheels} pytest-redis==5.0.1", cwd=place.folder, env=place.variables)
    (place.folder / "start.py").write_text(PYTHON)
    return lambda which, rounds: place.times("python", "start.py", which, place.folder, rounds)


def node():
    place = Place(NodeTest)

    def fetch(part):
        part.mkdir()
        (part / "package.json").write_text('{"private": true}\n')
        run("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "redis-memory-server@0.17.1", cwd=part)
    modules = kept("node-redis-memory-server", fetch)
    shutil.copytree(modules, place.folder / "theirs", symlinks=True)
    script = {"ours": place.folder / "start.js", "theirs": place.folder / "theirs/start.js"}
    for path in script.values():
        path.write_text(NODE)
    return lambda which, rounds: place.times("node", script[which], which, place.folder, rounds)


def java():
    place = Place(JavaTest)

    def fetch(part):
        pom = place.folder / "fetch.xml"
        pom.write_text(EMBEDDED_POM)
        run("mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", f"-DoutputDirectory={part}", cwd=place.folder)
    theirs = kept("embedded-redis", fetch)
    (place.folder / "Start.java").write_text(JAVA)
    own = next((DIST / "maven" / facts.MAVEN_GROUP / "respite-test").glob(f"*/respite-test-{facts.version()}.jar"))
    run("javac", "-cp", f"{own}:{theirs}/*", "Start.java", cwd=place.folder)
    path = {"ours": f"{own}:.", "theirs": f"{theirs}/*:."}
    return lambda which, rounds: place.times("java", "-cp", path[which], "Start", which, ".", rounds)


ROWS = {"Python": (python, "pytest-redis 5.0.1 with redis-server"), "Node": (node, "redis-memory-server 0.17.1 with redis-server"),
        "Java": (java, "embedded-redis 1.4.3 with its Redis")}


def shown(times):
    """Returns the median, and the first time, which includes loading code."""
    return f"{statistics.median(times[1:]):.1f} ms (first {times[0]:.0f} ms)"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=6, help="in each round")
    given = parser.parse_args()
    print("| language | with Respite's package | other package | with the other package |\n| --- | --- | --- | --- |")
    for language, (prepare, rival) in ROWS.items():
        start = prepare()
        times = {"ours": [], "theirs": []}
        for _ in range(given.rounds):
            for which, found in times.items():
                found.append(start(which, given.starts))
        rows = [shown([statistics.median(each[0] for each in found)] + [each for one in found for each in one[1:]])
                for found in times.values()]
        print(f"| {language} | {rows[0]} | {rival} | {rows[1]} |", flush=True)


if __name__ == "__main__":
    main()
