"""Other people's test suites: how each is recognised, prepared, run against a server and read.

A suite runs in parts, each with its own time limit; a part that exceeds it counts as one failure. Writes nothing into the
checkout: suites that must build or change files use a copy in `work`."""
import collections
import contextlib
import os
import pathlib
import re
import shutil
import socket
import subprocess

from client_suites import BullMQ, FakeRedis, GoRedis, Hiredis, Ioredis, Miniredis, NodeRedis, RedisPy
from suite import ANSI, Result, Suite, make_venv


def base_port():
    """The suite listens 32 ports below this, and its servers above."""
    for base in range(21000, 32000, 600):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", base - 32))
            return base
    raise OSError("no ports are free")


class RedisTcl(Suite):
    """Redis' own suite starts the server under test with its own files. A test that needs replication would end its
    whole block, so all servers skip such tests, and also tests marked as slow."""
    name = "Redis' Tcl suite"
    marks = ("runtest", "tests/test_helper.tcl", "tests/support/server.tcl")
    server_options = None
    limit_s = 420
    UNITS = ("unit/auth unit/protocol unit/keyspace unit/scan unit/info unit/type/string unit/type/incr unit/type/list "
             "unit/type/list-2 unit/type/list-3 unit/type/set unit/type/zset unit/type/hash unit/type/stream "
             "unit/type/stream-cgroups unit/sort unit/expire unit/other unit/multi unit/quit unit/aofrw unit/acl unit/acl-v2 "
             "unit/dump unit/latency-monitor unit/introspection unit/introspection-2 unit/limits unit/obuf-limits "
             "unit/bitops unit/bitfield unit/geo unit/memefficiency unit/hyperloglog unit/lazyfree unit/pubsub "
             "unit/pubsubshard unit/slowlog unit/scripting unit/functions unit/maxmemory unit/tracking unit/querybuf "
             "unit/pause unit/replybufsize unit/client-eviction unit/violations unit/shutdown integration/aof "
             "integration/aof-multi-part integration/rdb integration/logging integration/corrupt-dump "
             "integration/convert-zipmap-hash-on-load integration/convert-ziplist-hash-on-load "
             "integration/convert-ziplist-zset-on-load integration/redis-cli integration/redis-benchmark unit/wait "
             "integration/replication integration/replication-2 integration/replication-3 integration/replication-4 "
             "integration/replication-psync integration/replication-buffer integration/block-repl integration/failover "
             "integration/psync2 integration/psync2-reg integration/psync2-pingoff integration/psync2-master-restart "
             "integration/shutdown integration/dismiss-mem").split()
    LINE = re.compile(r"^\[(ok|err|exception|timeout|ignore|skip)\]: (.*)$", re.M | re.I)
    TOOLS = ("cli", "benchmark", "check-rdb", "check-aof")

    def parts(self):
        return [unit for unit in self.UNITS if (self.checkout / "tests" / (unit + ".tcl")).exists()]

    def prepare(self, run):
        """Creates a directory as the suite expects it: its scripts, and in src/ the tools of the reference."""
        target = self.work / "copy"
        shutil.rmtree(target, ignore_errors=True)
        (target / "src").mkdir(parents=True)
        for name in ("tests", "utils"):
            shutil.copytree(self.checkout / name, target / name, symlinks=True, ignore=shutil.ignore_patterns("tmp"))
        (target / "tests/tmp").mkdir(exist_ok=True)
        for name in ("runtest", "redis.conf", "valkey.conf"):
            if (self.checkout / name).exists():
                shutil.copy(self.checkout / name, target / name)
        for tool in self.TOOLS:
            own = self.checkout / "src" / f"redis-{tool}"
            os.symlink(own if own.exists() else shutil.which(f"redis-{tool}"), target / "src" / f"redis-{tool}")

    def command(self, part, program, port):
        target = self.work / "copy"
        link = target / "src/redis-server"
        link.unlink(missing_ok=True)
        os.symlink(program, link)
        words = ["./runtest", "--single", part, "--clients", "1", "--durable", "--no-latency",
                 "--baseport", str(base_port()), "--portcount", "500", "--timeout", str(self.limit_s), "--tags",
                 "-slow"]
        return words, target, {}

    def read(self, text):
        text = ANSI.sub("", text)
        counts = collections.Counter()
        failures = []
        for kind, rest in self.LINE.findall(text):
            counts[kind.lower()] += 1
            if kind.lower() not in ("ok", "ignore", "skip"):
                failures.append(re.sub(r" in tests/\S+$| \(\d+ ms\)$", "", rest))
        return Result(counts["ok"], len(failures), counts["ignore"] + counts["skip"], failures)


class RedisTclExternal(RedisTcl):
    """Runs Redis' own suite against a running server."""
    name = "Redis' Tcl suite, external"
    server_options = ("--save", "", "--enable-debug-command", "yes", "--enable-protected-configs", "yes")
    UNITS = ("unit/type/string unit/type/incr unit/type/list unit/type/set unit/type/zset unit/type/hash unit/type/stream "
             "unit/type/stream-cgroups unit/keyspace unit/scan unit/sort unit/expire unit/multi unit/bitops unit/bitfield unit/geo "
             "unit/hyperloglog unit/pubsub unit/scripting unit/functions unit/other unit/introspection unit/dump").split()

    def command(self, part, program, port):
        words, folder, variables = super().command(part, program, port)
        return [*words, "--host", "127.0.0.1", "--port", str(port)], folder, variables


class RespCompatibility(Suite):
    name = "resp-compatibility"
    marks = ("resp_compatibility.py", "cts.json")
    SUMMARY = re.compile(r"^Summary: version: (\S+), total tests: (\d+), passed: (\d+)", re.M)

    def prepare(self, run):
        # Later versions of redis-py speak RESP3 by default, which this suite does not expect.
        make_venv(run, self.work / "venv", ["redis<6", "pyyaml"])

    def parts(self):
        return ["7.2.0"]

    def command(self, part, program, port):
        python = self.work / "venv/bin/python"
        return [str(python), "resp_compatibility.py", "--port", str(port), "--testfile", "cts.json", "--specific-version", part,
                "--show-failed"], self.checkout, {"PYTHONDONTWRITEBYTECODE": "1"}

    def read(self, text):
        _, total, passed = self.SUMMARY.search(text).groups()
        failures = re.findall(r"^FailedTest\(name='(.*?)', reason=", text, re.M)
        return Result(int(passed), int(total) - int(passed), 0, failures)


SUITES = [RedisTcl, RedisTclExternal, RespCompatibility, Hiredis, RedisPy, Ioredis, GoRedis, NodeRedis, BullMQ, FakeRedis, Miniredis]


def suites_of(checkout):
    return [suite for suite in SUITES if suite.recognises(checkout)]


def commit_of(checkout, *paths):
    """Returns a short commit and its date; without git, the version that the directory states."""
    done = subprocess.run(["git", "-C", str(checkout), "log", "-1", "--format=%h (%cs)", "--", *paths], capture_output=True, text=True, check=False)
    inside = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    if done.returncode == 0 and os.path.realpath(inside.stdout.strip()) == os.path.realpath(checkout):
        return done.stdout.strip()
    header = pathlib.Path(checkout, "src/version.h")
    version = re.search(r'_VERSION "(.*?)"', header.read_text()) if header.exists() else None
    return version[1] if version else "unknown"
