"""Other people's test suites: how each is recognised, prepared, run against a server and read.

A suite runs in parts, each with a limit of time of its own; a part that takes longer counts as one failure. Nothing is
written into the checkout: what a suite must build or change it does in a copy below `work`."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Result:
    """What one part came to. `failures` are names; there may be fewer than `failed` says."""

    def __init__(self, passed=0, failed=0, skipped=0, failures=()):
        self.passed, self.failed, self.skipped, self.failures = passed, failed, skipped, list(failures)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def counts(self):
        return self.passed, self.failed, self.skipped


class Suite:
    """`marks` are files that only this project has. `server_options` are what its server needs; None where the suite starts
    servers by itself."""
    name = ""
    marks = ()
    server_options = ("--save", "", "--enable-debug-command", "yes")
    limit_s = 600

    def __init__(self, checkout, work):
        self.checkout, self.work = pathlib.Path(checkout).resolve(), pathlib.Path(work)

    @classmethod
    def recognises(cls, checkout):
        return all((pathlib.Path(checkout) / mark).exists() for mark in cls.marks)

    def prepare(self, run):
        """`run(words, **options)` runs a program, and fails with its output."""

    def parts(self):
        return ["all"]

    def command(self, part, program, port):
        """(words, folder, variables) for this part, against a server that runs at the port."""
        raise NotImplementedError

    def read(self, text):
        """The Result that the output says."""
        raise NotImplementedError

    def copy(self, *without):
        target = self.work / "copy"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.checkout, target, symlinks=True, ignore=shutil.ignore_patterns(".git", *without))
        return target


class RedisTcl(Suite):
    """Redis' own suite starts the server under test with its own files."""
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
             "integration/convert-ziplist-zset-on-load integration/redis-cli integration/redis-benchmark").split()
    LINE = re.compile(r"^\[(ok|err|exception|timeout|ignore|skip)\]: (.*)$", re.M | re.I)
    TOOLS = ("cli", "benchmark", "check-rdb", "check-aof")
    BASE_PORT = 31000

    def parts(self):
        return [unit for unit in self.UNITS if (self.checkout / "tests" / (unit + ".tcl")).exists()]

    def prepare(self, run):
        """A folder as the suite expects it: its scripts, and in src/ the tools of the reference."""
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
                 "--baseport", str(self.BASE_PORT), "--portcount", "500", "--timeout", str(self.limit_s)]
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
    """The same suite against a server that runs already."""
    name = "Redis' Tcl suite, external"
    server_options = ("--save", "", "--enable-debug-command", "yes", "--enable-protected-configs", "yes")
    BASE_PORT = 33000
    UNITS = ("unit/type/string unit/type/incr unit/type/list unit/type/set unit/type/zset unit/type/hash unit/type/stream "
             "unit/type/stream-cgroups unit/keyspace unit/scan unit/sort unit/expire unit/multi unit/bitops unit/bitfield unit/geo "
             "unit/hyperloglog unit/pubsub unit/scripting unit/functions unit/other unit/introspection unit/dump").split()

    def command(self, part, program, port):
        words, folder, variables = super().command(part, program, port)
        return [*words, "--host", "127.0.0.1", "--port", str(port), "--tags", "-slow"], folder, variables


class RespCompatibility(Suite):
    name = "resp-compatibility"
    marks = ("resp_compatibility.py", "cts.json")
    SUMMARY = re.compile(r"^Summary: version: (\S+), total tests: (\d+), passed: (\d+)", re.M)

    def prepare(self, run):
        # Later versions of redis-py speak RESP3 unasked, which this suite does not expect.
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


class Hiredis(Suite):
    name = "hiredis"
    marks = ("hiredis.c", "test.c", "Makefile")
    server_options = ("--save", "", "--enable-debug-command", "yes", "--unixsocket", "{socket}")
    LINE = re.compile(r"^#(\d+) ((?:(?!^#\d).)*?):?\s*(PASSED|FAILED|SKIPPED)$", re.M | re.S)

    def prepare(self, run):
        run(["make", "-s", "hiredis-test"], cwd=self.copy())

    def command(self, part, program, port):
        socket = self.work / "server.socket"
        return ["./hiredis-test", "-h", "127.0.0.1", "-p", str(port), "-s", str(socket)], \
            self.work / "copy", {}

    def read(self, text):
        found = self.LINE.findall(ANSI.sub("", text))
        kinds = collections.Counter(kind for _, _, kind in found)
        return Result(kinds["PASSED"], kinds["FAILED"], kinds["SKIPPED"],
                      [name for _, name, kind in found if kind == "FAILED"])


class RedisPy(Suite):
    name = "redis-py"
    marks = ("redis/client.py", "dev_requirements.txt", "tests/conftest.py")
    limit_s = 900
    NOT_OF_THE_SERVER = "not redismod and not onlycluster and not ssl and not replica and not cp_integration and not fixed_client"
    IGNORED = ("test_scenario", "test_auth", "test_asyncio/test_scenario", "test_asyncio/test_multidb", "test_multidb")

    def prepare(self, run):
        self.copy()
        make_venv(run, self.work / "venv", ["pytest", "pytest-asyncio", "pytest-timeout", "pytest-cov", "packaging", "numpy", "mock",
                                            "cryptography", "requests", "pybreaker", "PyJWT", "aiohttp", "xxhash",
                                            "redis-entraid", "opentelemetry-api", "opentelemetry-sdk"])

    def parts(self):
        return ["test_commands.py", "test_asyncio/test_commands.py", "test_pipeline.py test_pubsub.py test_scripting.py test_lock.py "
                "test_monitor.py test_connection_pool.py test_encoding.py test_function.py test_cache.py test_multiprocessing.py",
                "test_asyncio/test_pipeline.py test_asyncio/test_pubsub.py test_asyncio/test_scripting.py "
                "test_asyncio/test_lock.py test_asyncio/test_connection_pool.py test_asyncio/test_encoding.py"]

    def command(self, part, program, port):
        copy = self.work / "copy"
        files = ["tests/" + name for name in part.split() if (copy / "tests" / name).exists()]
        return [str((self.work / "venv/bin/python").absolute()), "-m", "pytest", "-q", "-rfE", "--no-header", "--tb=no", "-p",
                "no:cacheprovider", "-m", self.NOT_OF_THE_SERVER, f"--redis-url=redis://127.0.0.1:{port}/0", "--timeout=60",
                *files], copy, {}

    def read(self, text):
        return read_pytest(text)


class Ioredis(Suite):
    name = "ioredis"
    marks = ("lib/Redis.ts", "test/functional", "package.json")
    server_options = ("--save", "", "--enable-debug-command", "yes")
    limit_s = 600

    def prepare(self, run):
        """It speaks to port 6379 in places: the copy speaks to another."""
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=self.copy("docs", "node_modules"))

    def command(self, part, program, port):
        redirect_node(self.work, port)
        return ["npx", "mocha", "--no-experimental-strip-types", "--reporter", "json", "--exit", "--timeout", "8000", "--require",
                str(self.work.absolute() / "port.js"), "test/helpers/*.ts", "test/functional/**/*.ts"], self.work / "copy", \
            {"TS_NODE_TRANSPILE_ONLY": "true", "NODE_ENV": "test"}

    def read(self, text):
        return read_mocha_json(text)


class GoRedis(Suite):
    name = "go-redis"
    marks = ("redis.go", "commands_test.go", "internal/pool")
    limit_s = 900
    FOCUS = "Commands|Client|PubSub|Tx|pipelining|races|Scanning|Script|pool"

    def prepare(self, run):
        """Its tests speak to port 6379 when told that there is one server only."""
        copy = self.copy()
        run(["go", "test", "-c", "-o", str(self.work.absolute() / "go-redis.test"), "."], cwd=copy,
            env={"GOFLAGS": "-mod=mod", "GOMAXPROCS": "2"})

    def command(self, part, program, port):
        return [str(self.work.absolute() / "go-redis.test"), "-test.timeout", f"{self.limit_s}s", "-ginkgo.noColor", "-ginkgo.v",
                "-test.run", "TestGinkgoSuite", "-ginkgo.focus", self.FOCUS, "-ginkgo.skip", "ClusterClient|Sentinel|Ring|TLS"], \
            self.work / "copy", {"RE_CLUSTER": "false", "RCE_DOCKER": "false", "REDIS_VERSION": "7.2", "REDIS_PORT": str(port)}

    def read(self, text):
        return read_ginkgo(text)


def make_venv(run, folder, packages):
    if not (folder / "bin/python").exists():
        run([sys.executable, "-m", "venv", str(folder)])
    run([str(folder / "bin/python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages])


def redirect_node(work, port):
    """A module that makes connections to the default port go to this one."""
    (work / "port.js").write_text(
        "const net = require('net'); const connect = net.Socket.prototype.connect;\n"
        "const move = o => { if (o && typeof o === 'object' && !Array.isArray(o) && o.port == 6379) o.port = %d; return o; };\n"
        "net.Socket.prototype.connect = function (...a) { "
        "if (Array.isArray(a[0])) move(a[0][0]); else if (a[0] == 6379) a[0] = %d; else move(a[0]); "
        "return connect.apply(this, a); };\n" % (port, port))


def read_pytest(text):
    last = [line for line in ANSI.sub("", text).splitlines() if re.search(r"\d+ (passed|failed|error|skipped)", line)]
    counts = collections.Counter()
    for number, kind in re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)", last[-1] if last else ""):
        counts[kind.rstrip("s")] += int(number)
    names = re.findall(r"^(?:FAILED|ERROR) (\S+)", ANSI.sub("", text), re.M)
    return Result(counts["passed"] + counts["xfailed"] + counts["xpassed"], counts["failed"] + counts["error"],
                  counts["skipped"], names)


def read_mocha_json(text):
    """What is printed besides stands before or behind the report."""
    for start in (match.start() for match in re.finditer(r"^\{\n  \"stats\"", text, re.M)):
        report, _ = json.JSONDecoder().raw_decode(text[start:])
        stats = report["stats"]
        return Result(stats["passes"], stats["failures"], stats["pending"],
                      [failure["fullTitle"] for failure in report["failures"]])
    raise ValueError("no report in: " + text[-300:])


def read_ginkgo(text):
    text = ANSI.sub("", text)
    said = re.search(r"^(?:FAIL|SUCCESS|Ran).*? -- (\d+) Passed \| (\d+) Failed \|(?: \d+ Flaked \|)? (\d+) Pending \| (\d+) Skipped",
                     text, re.M)
    if not said:
        raise ValueError("no summary in: " + text[-300:])
    failures = re.findall(r"^\s*\[(?:Fail|FAIL|PANICKED)!?\] (.*?)\s*$", text, re.M)
    return Result(int(said[1]), int(said[2]), int(said[3]) + int(said[4]), failures)


SUITES = [RedisTcl, RedisTclExternal, RespCompatibility, Hiredis, RedisPy, Ioredis, GoRedis]


def suites_of(checkout):
    return [suite for suite in SUITES if suite.recognises(checkout)]


def commit_of(checkout):
    """A short commit and its date; without git, what the folder says of itself."""
    done = subprocess.run(["git", "-C", str(checkout), "log", "-1", "--format=%h (%cs)"], capture_output=True, text=True, check=False)
    inside = subprocess.run(["git", "-C", str(checkout), "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=False)
    if done.returncode == 0 and os.path.realpath(inside.stdout.strip()) == os.path.realpath(checkout):
        return done.stdout.strip()
    header = pathlib.Path(checkout, "src/version.h")
    version = re.search(r'_VERSION "(.*?)"', header.read_text()) if header.exists() else None
    return version[1] if version else "unknown"
