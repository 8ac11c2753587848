"""Test suites of clients, and of programs that imitate a server, recognised by their files."""
import collections
import json
import os
import re

from suite import (ANSI, Result, Suite, make_venv, read_ginkgo, read_go, read_mocha_json, read_pytest, read_vitest, redirect_node,
                   rewrite)


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
        """Changes port 6379, which some tests use, in the copy."""
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=self.copy("docs", "node_modules"))

    def command(self, part, program, port):
        redirect_node(self.work, port)
        return ["npx", "mocha", "--no-experimental-strip-types", "--reporter", "json", "--exit", "--timeout", "40000", "--require",
                str(self.work.absolute() / "port.js"), "test/helpers/*.ts", "test/functional/**/*.ts"], self.work / "copy", \
            {"TS_NODE_TRANSPILE_ONLY": "true", "NODE_ENV": "test"}

    def read(self, text):
        return read_mocha_json(text)


class GoRedis(Suite):
    name = "go-redis"
    marks = ("redis.go", "commands_test.go", "internal/pool")
    limit_s = 900
    LEFT_OUT = ("ClusterClient|UniversalClient|Command Tips|withConn|cluster races|newClusterState|Sentinel|Ring|TLS|"
                "HIMPORT|HotKeys|Array Commands|JSON|Search|FT[.]|Probabilistic|[Tt]ime[Ss]eries|TS[.]|[Vv]ectorset|Vector")

    def prepare(self, run):
        """Makes the tests of the copy read the port from COMPAT_PORT, and skip ring, sentinels and cluster."""
        copy = self.copy()
        rewrite(copy / "main_test.go", (r'redisStackPort = "6379"', 'redisStackPort = os.Getenv("COMPAT_PORT")'),
                (r"if !RECluster \{\n(?=\t\t(ringShard1|Expect\(cluster))", 'if os.Getenv("COMPAT_PORT") == "" {\n'))
        run(["go", "test", "-vet=off", "-c", "-o", str(self.work.absolute() / "go-redis.test"), "."], cwd=copy,
            env={"GOFLAGS": "-mod=mod", "GOMAXPROCS": "2"})

    def command(self, part, program, port):
        return [str(self.work.absolute() / "go-redis.test"), "-test.timeout", f"{self.limit_s}s", "-ginkgo.noColor", "-ginkgo.v",
                "-test.run", "TestGinkgoSuite", "-ginkgo.skip", self.LEFT_OUT], \
            self.work / "copy", {"RE_CLUSTER": "false", "RCE_DOCKER": "true", "REDIS_VERSION": "7.2", "COMPAT_PORT": str(port)}

    def read(self, text):
        return read_ginkgo(text)


class NodeRedis(Suite):
    """Its tests start servers with docker, but can use a running one of a managed cluster, which this does. It skips
    the tests of clusters, sentinels, TLS and of commands after 7.2."""
    name = "node-redis"
    marks = ("packages/client/index.ts", "packages/test-utils/lib/re-cluster.ts")
    limit_s = 900

    def prepare(self, run):
        copy = self.copy("node_modules", "docs", "examples")
        rewrite(copy / "packages/test-utils/lib/index.ts",
                (r"const reCluster = isReCluster\(\);", "const reCluster = isReCluster() && this.isVersionGreaterThan(options.minimumDockerVersion);"))
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=copy)
        run(["npx", "tsc", "--build", "packages/client", "packages/test-utils", "packages/bloom"], cwd=copy)

    def parts(self):
        return ["lib/commands/[A-F]*.spec.ts", "lib/commands/[G-R]*.spec.ts", "lib/commands/[S-Z]*.spec.ts",
                "lib/client/*.spec.ts lib/RESP/*.spec.ts"]

    def command(self, part, program, port):
        endpoints = self.work.absolute() / "endpoints.json"
        endpoints.write_text(json.dumps({"standalone": {"tls": False, "raw_endpoints": [{"dns_name": "127.0.0.1", "port": port}]}}))
        return ["npx", "mocha", "-r", "tsx", "--reporter", "json", "--exit", "--timeout", "10000", "--grep", "^TLS ", "--invert",
                *part.split(), "--redis-tag=7.2", "--redis-version=7.2"], \
            self.work / "copy/packages/client", {"RE_CLUSTER": "true", "REDIS_ENDPOINTS_CONFIG_PATH": str(endpoints)}

    def read(self, text):
        return read_mocha_json(text)


class BullMQ(Suite):
    """Each test file is a part. Skips tests of clusters, of other databases, and of workers in their own processes,
    which need a finished build."""
    name = "BullMQ"
    marks = ("src/commands/addStandardJob-9.lua", "tests/queue.test.ts", "vitest.config.ts")
    limit_s = 300
    LEFT_OUT = ("adapter-conformance", "bun", "child", "cluster", "connection.", "job_scheduler_stress", "node-redis", "postgres",
                "sandboxed", "valkey-glide")
    NEEDED = ("cron-parser", "msgpackr", "node-abort-controller", "semver", "tslib", "ioredis", "redis", "pg", "vitest", "typescript",
              "ts-node", "fast-glob", "minimatch", "sinon", "moment", "rrule", "progress", "test-console", "rimraf", "@types/node")

    def prepare(self, run):
        """Only the packages that the tests need, in the project's versions."""
        copy = self.copy("node_modules", "docs", "python", "php", "rust", "dotnet", "elixir")
        package = json.loads((copy / "package.json").read_text())
        wanted = {**package["devDependencies"], **package["dependencies"]}
        package["dependencies"] = {name: version for name, version in wanted.items() if name in self.NEEDED}
        for key in ("devDependencies", "peerDependencies", "peerDependenciesMeta"):
            del package[key]
        (copy / "package.json").write_text(json.dumps(package))
        run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], cwd=copy)
        run(["npx", "ts-node", "--transpile-only", "--project", "tsconfig-cjs.json", "scripts/generateRawScripts.ts"], cwd=copy)
        run(["node", "scripts/commandTransform.js", "./rawScripts", "./src/scripts"], cwd=copy)

    def parts(self):
        return [path.name for path in sorted((self.checkout / "tests").glob("*.test.ts")) if not path.name.startswith(self.LEFT_OUT)]

    def command(self, part, program, port):
        redirect_node(self.work, port)
        return ["npx", "vitest", "run", "--no-file-parallelism", "--reporter=json", "tests/" + part], self.work / "copy", \
            {"NODE_OPTIONS": f"--require={self.work.absolute() / 'port.js'}", "REDIS_HOST": "127.0.0.1", "REDIS_PORT": "6379"}

    def read(self, text):
        return read_vitest(text)


class FakeRedis(Suite):
    """Its tests compare its imitation of a server with a real one, some with hypothesis. Runs every test that uses the
    real one, with fixed seeds."""
    name = "fakeredis"
    marks = ("fakeredis/_fakesocket.py", "test/test_hypothesis", "test/conftest.py")
    PORT = 'int(__import__("os").environ["COMPAT_PORT"])'
    # On a busy machine tests must not fail because generating their data is slow.
    PROFILE = 'register_profile("fakeredis", deadline=None, suppress_health_check=list(__import__("hypothesis").HealthCheck), '

    def prepare(self, run):
        copy = self.copy("docs")
        for name in ("conftest.py", "test_async/test_asyncredis.py", "test_hypothesis/base.py"):
            rewrite(copy / "test" / name, (r"(?m)\b6390(?=[,)]|$)", self.PORT))
        rewrite(copy / "test/test_hypothesis/conftest.py", (r'register_profile\("fakeredis", ', self.PROFILE))
        make_venv(run, self.work / "venv", ["pytest", "pytest-asyncio", "pytest-timeout", "pytest-mock", "pytest-html", "hypothesis",
                                            "redis", "valkey", "sortedcontainers", "lupa", "jsonpath-ng", "pyprobables", "numpy",
                                            "--editable", str(copy)])  # it reads its version from its package

    def parts(self):
        machines = [f"test_hypothesis/{path.name}" for path in sorted((self.checkout / "test/test_hypothesis").glob("test_*.py"))]
        return [*machines, "test_mixins", "test_async test_keyspace_notifications.py test_valkey"]

    def command(self, part, program, port):
        words = [str(self.work.absolute() / "venv/bin/python"), "-m", "pytest", "-q", "-rfE", "--no-header", "--tb=short", "-p",
                 "no:cacheprovider", "-m", "not fake and not tcp_server", "--timeout=240", "--hypothesis-seed=1"]
        return [*words, *("test/" + name for name in part.split())], self.work / "copy", \
            {"COMPAT_PORT": str(port), "FAKEREDIS_HYPOTHESIS_EXAMPLES": "100"}

    def read(self, text):
        return read_pytest(text)


class Miniredis(Suite):
    """Its tests compare its imitation of a server with real ones, which they start. They wait a second for a server,
    and stop at the first failure: the copy waits longer, and skips clusters and TLS."""
    name = "miniredis integration"
    marks = ("miniredis.go", "integration/ephemeral.go")
    server_options = None
    limit_s = 420

    def prepare(self, run):
        tests = self.copy() / "integration"
        rewrite(tests / "ephemeral.go", (r"Add\(1 \* time.Second\)", "Add(30 * time.Second)"))
        run(["go", "test", "-vet=off", "-c", "-o", str(self.work.absolute() / "miniredis.test"), "."], cwd=tests,
            env={"GOFLAGS": "-mod=mod"})

    def command(self, part, program, port):
        tools = self.work.absolute() / "bin"
        tools.mkdir(exist_ok=True)
        (tools / "redis-server").unlink(missing_ok=True)
        (tools / "redis-server").symlink_to(program)
        return [str(self.work.absolute() / "miniredis.test"), "-test.v", "-test.skip", "Cluster|TLS", "-test.timeout", f"{self.limit_s}s"], \
            self.work / "copy/integration", {"INT": "1", "PATH": f"{tools}:{os.environ['PATH']}"}

    def read(self, text):
        return read_go(text)
