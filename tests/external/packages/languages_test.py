#!/usr/bin/env python3
"""The packages of languages: each is installed from dist/ into an empty project, by the line of README, and its first
example runs there as printed. Client libraries come from the cache; the test contacts no registry."""
import os
import pathlib
import re
import shutil
import tempfile
import textwrap
import unittest

from places import DIST, ROOT, PackageTest, code, code_in, facts, kept, readme_row, run
from starters import EndsWithItsStarter, Unpacks


class LanguageTest(PackageTest):
    """All tests of a class share a project, in which the package is installed once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="package-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.install()

    def setUp(self):
        pass

    @classmethod
    def need(cls, *programs):
        for program in programs:
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed")

    @classmethod
    def shell(cls, line):
        return run("bash", "-c", line, cwd=cls.folder, env=cls.variables)

    @classmethod
    def write(cls, name, text):
        path = cls.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return path

    @classmethod
    def environment(cls, **variables):
        """Returns variables with DIST as README sets it, no server other than that of the package, and an empty cache
        to unpack it into."""
        (cls.folder / "dist").symlink_to(DIST)
        run("bash", "-c", f"{code_in('docs/install.md', '## For tests', 'sh')} env > environment", cwd=cls.folder)
        place = re.search(r"^DIST=(.*)$", (cls.folder / "environment").read_text(), re.M)[1]
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("RESPITE_", "npm_"))}
        return {**inherited, "DIST": place, "XDG_CACHE_HOME": str(cls.folder / "cache"), **variables}


class PythonTest(EndsWithItsStarter, LanguageTest):
    @classmethod
    def install(cls):
        cls.package("respite_server-*.whl")
        wheels = kept("wheels", lambda part: run("pip", "download", "-q", "-d", part, "redis", "pytest", "pytest-xdist"))
        run("python3", "-m", "venv", cls.folder / "venv")
        cls.variables = cls.environment(PATH=f"{cls.folder / 'venv/bin'}:{os.environ['PATH']}", PIP_NO_INDEX="1",
                                          PIP_FIND_LINKS=str(wheels), PIP_DISABLE_PIP_VERSION_CHECK="1")
        cls.shell(readme_row("Python")[0][0])
        cls.shell("pip install -q redis pytest pytest-xdist")

    def starter(self):
        return self.folder / "venv/bin/python", self.write("starter.py", """
            import sys
            import respite_server
            print(respite_server.start().port, flush=True)
            sys.stdin.read()
            """)

    def test_lines_of_readme(self):
        self.write("test_it.py", "import redis\n\n" + readme_row("Python")[1][0].replace(": ", ":\n    ", 1) + "\n")
        self.assertIn("1 passed", self.shell("pytest -q test_it.py"))

    def test_example(self):
        self.write("test_lock.py", code("packaging/python/README.md", "python"))
        self.assertIn("1 passed", self.shell("pytest -q test_lock.py"))
        self.write("start.py", code("packaging/python/README.md", "python", 1))
        self.assertIn("redis://127.0.0.1:", self.shell("python start.py"))

    def test_command(self):
        self.assertIn(f"respite={facts.version()}", self.shell("respite-server --version"))
        self.assertIn("ELF", self.shell("file -L venv/bin/respite-server"))

    def test_worlds_are_apart_and_the_clock_stands(self):
        self.write("pytest.ini", "[pytest]\nrespite_args = --maxmemory 64mb\n")
        self.write("test_worlds.py", """
            import datetime
            import pytest
            import redis


            @pytest.mark.parametrize("number", range(20))
            def test_alone(respite_world, respite_clock, number):
                client = redis.Redis.from_url(respite_world.url, decode_responses=True)
                assert client.dbsize() == 0
                client.set("number", number, px=1000)
                respite_clock.advance(datetime.timedelta(milliseconds=999))
                assert client.get("number") == str(number)
                assert respite_clock.next()["what"]
                assert client.get("number") is None


            def test_settings(respite):
                assert redis.Redis.from_url(respite.url).config_get("maxmemory") == {"maxmemory": str(64 << 20)}
                respite.test("FAULT", "ADD", "f", "WHEN", "COMMAND", "GET", "DO", "ERROR", "OOM")
                with pytest.raises(redis.exceptions.OutOfMemoryError):
                    redis.Redis.from_url(respite.url).get("a")


            def test_without_what_was_before(respite, respite_clock):
                assert redis.Redis.from_url(respite.url).get("a") is None
                respite_clock.set(1_900_000_000)
                assert respite_clock.now == 1_900_000_000
            """)
        self.assertIn("22 passed", self.shell("pytest -q -n 2 test_worlds.py"))

    def test_failures_say_why(self):
        self.write("wrong.py", """
            import respite_server
            try:
                respite_server.start("--nonsense", 1)
            except RuntimeError as error:
                print(error)
            import redis
            with respite_server.start(password="s@cret/:1 %41") as server:
                print(server.ask("PING"), server.world().ask("PING"))
                assert redis.Redis.from_url(server.url).ping() and redis.Redis.from_url(server.world().url).ping()
            print(server.process.returncode)
            """)
        text = self.shell("python wrong.py")
        self.assertIn("Bad directive", text)
        self.assertTrue(text.endswith("PONG PONG\n0\n"), text)

    def test_other_systems(self):
        self.write("elsewhere.py", """
            import sys
            import respite_server
            sys.platform = "darwin"
            try:
                respite_server.start()
            except OSError as error:
                print(error)
            """)
        self.assertIn("Respite runs on Linux only, so far: use ", self.shell("python elsewhere.py"))


class NodeTest(EndsWithItsStarter, LanguageTest):
    @classmethod
    def install(cls):
        cls.need("node", "npm")
        cls.package("respite-server-linux-*.tgz")
        modules = kept("node", cls.fetch)
        shutil.copytree(modules, cls.folder, symlinks=True, dirs_exist_ok=True)
        # There is no registry at this address: the line must not contact one.
        cls.variables = cls.environment(npm_config_registry="http://127.0.0.1:1/", npm_config_cache=str(cls.folder / "npm-cache"),
                                          npm_config_audit="false", npm_config_fund="false", npm_config_update_notifier="false")
        cls.shell(readme_row("Node")[0][0])

    @staticmethod
    def fetch(part):
        part.mkdir()
        (part / "package.json").write_text('{"private": true}\n')
        run("npm", "install", "--no-audit", "--no-fund", "ioredis@5", "vitest@3", "jest@30", cwd=part)

    def starter(self):
        return "node", self.write("starter.js", """
            require('respite-server').startRespite().then((server) => console.log(server.port));
            process.stdin.resume();
            """)

    def test_lines_of_readme(self):
        self.write("it.mjs", f"""
            import Redis from 'ioredis';
            import {{ startRespite }} from 'respite-server';
            {readme_row("Node")[1][0]}
            console.log(await client.ping());
            client.disconnect();
            """)
        self.assertEqual("PONG\n", self.shell("node it.mjs"))

    def test_example(self):
        self.write("lock.test.js", code("packaging/node/README.md", "js"))
        self.assertRegex(self.shell("node --test lock.test.js"), r"pass 1\n.*fail 0")

    def test_command(self):
        self.assertIn(f"respite={facts.version()}", self.shell("npx --no-install respite-server --version"))

    def test_other_systems(self):
        self.write("elsewhere.js", "Object.defineProperty(process, 'platform', { value: 'darwin' });\n")
        says = "Respite runs on Linux only, so far: use "
        self.assertIn(says, self.shell("node -r ./elsewhere.js -e \"require('respite-server').startRespite().catch((e) => console.log(e.message))\""))
        text = self.shell("node -r ./elsewhere.js node_modules/.bin/respite-server || echo ended with $?")
        self.assertTrue(text.startswith(f"respite-server: {says}"), text)
        self.assertTrue(text.endswith("ended with 1\n"), text)

    HOOKS = """
        const respite = useRespite({ args: ['--maxmemory', '64mb'] });
        for (const name of ['one', 'two']) {
          test(name, async () => {
            const client = new Redis(respite.url);
            expect(await client.dbsize()).toBe(0);
            await client.set('a', 1, 'EX', 1);
            await respite.clock.freeze();
            await respite.clock.advance(2000);
            expect(await client.get('a')).toBeNull();
            await client.set('left', 1);
            expect(await client.config('GET', 'maxmemory')).toEqual(['maxmemory', String(64 << 20)]);
            client.disconnect();
          });
        }
        """

    def test_jest(self):
        self.write("jest.test.js", "const Redis = require('ioredis');\nconst { useRespite } = require('respite-server/jest');\n" +
                   textwrap.dedent(self.HOOKS))
        self.assertIn("2 passed", self.shell("npx --no-install jest --watchman=false jest.test.js"))

    def test_vitest(self):
        self.write("vitest.test.mjs", "import { expect, test } from 'vitest';\nimport Redis from 'ioredis';\n"
                   "import { useRespite } from 'respite-server/vitest';\n" + textwrap.dedent(self.HOOKS))
        self.assertIn("2 passed", self.shell("NO_COLOR=1 npx --no-install vitest run vitest.test.mjs"))

    def test_interface_of_redis_memory_server(self):
        self.write("memory.js", """
            const Redis = require('ioredis');
            const { RedisMemoryServer } = require('respite-server/redis-memory-server');
            (async () => {
              const server = new RedisMemoryServer({ instance: { args: ['--maxmemory', '64mb'] } });
              const client = new Redis({ host: await server.getHost(), port: await server.getPort() });
              console.log(await client.set('a', 1), (await client.config('GET', 'maxmemory'))[1]);
              client.disconnect();
              console.log((await server.ensureInstance()).ip, await server.stop(), server.getInstanceInfo());
              const other = await RedisMemoryServer.create();
              console.log(await other.getIp(), await other.stop());
            })();
            """)
        self.assertEqual(f"OK {64 << 20}\n127.0.0.1 true false\n127.0.0.1 true\n", self.shell("node memory.js"))

    def test_worlds_and_failures(self):
        self.write("worlds.js", """
            const { startRespite } = require('respite-server');
            (async () => {
              await startRespite({ args: ['--nonsense', 1] }).catch((error) => console.log(/Bad directive/.test(error.message)));
              const server = await startRespite({ password: 's@cret/:1 %41' });
              for (const { url } of [server, server.world()]) {
                const client = new (require('ioredis'))(url);
                await client.ping();
                client.disconnect();
              }
              const world = server.world();
              await world.ask('SET', 'a', 1);
              console.log(await server.ask('DBSIZE'), await world.ask('DBSIZE'));
              console.log(await world.ask('NONSENSE').catch((error) => error.message.slice(0, 19)));
              console.log((await server.test('WORLD', 'LIST')).length, await world.drop());
              const ended = await startRespite();
              await ended.ask('PING');
              ended.process.ref();
              await new Promise((resolve) => ended.process.once('exit', resolve).kill());
              while (!ended.connection.socket.destroyed) await new Promise((resolve) => setImmediate(resolve));
              console.log(await ended.ask('PING').catch((error) => error.message));
              // Not stopped: the server must end with this process, and not keep it alive.
            })();
            """)
        self.assertEqual("true\n0 1\nERR unknown command\n2 OK\nthe server ended the connection\n", self.shell("node worlds.js"))


class GoTest(Unpacks, LanguageTest):
    @classmethod
    def install(cls):
        cls.need("go")
        cls.package(f"go/{facts.GO_MODULE}/@v/*.zip")
        modules = kept("go", cls.fetch)
        cls.variables = cls.environment(
            GOPROXY=f"file://{DIST}/go,file://{modules}/cache/download,off", GOSUMDB="off", GOFLAGS="-mod=mod -modcacherw", GOTOOLCHAIN="local",
            GOMODCACHE=str(cls.folder / "modules"), GOCACHE=os.environ.get("GOCACHE", str(pathlib.Path.home() / ".cache/go-build")))
        cls.shell("go mod init shop")
        cls.shell(readme_row("Go")[0][0])

    @staticmethod
    def fetch(part):
        versions = re.search(r"github.com/redis/go-redis/v9 \S+", (ROOT / "tests/external/clients/go/go.mod").read_text())[0]
        place = part.parent / "module"
        place.mkdir()
        (place / "go.mod").write_text(f"module fetch\n\ngo 1.21\n\nrequire {versions}\n")
        environment = {**os.environ, "GOMODCACHE": str(part), "GOFLAGS": "-mod=mod -modcacherw"}
        (place / "a.go").write_text('package a\n\nimport _ "github.com/redis/go-redis/v9"\n')
        run("go", "mod", "tidy", cwd=place, env=environment)
        run("go", "build", "./...", cwd=place, env=environment)
        shutil.copy(place / "go.mod", part / "with-go-redis.mod")
        shutil.rmtree(place)

    def use_go_redis(self):
        versions = re.search(r"github.com/redis/go-redis/v9 (\S+)", (ROOT / "tests/external/clients/go/go.mod").read_text())
        self.shell(f"go get github.com/redis/go-redis/v9@{versions[1]}")

    def starter(self):
        program = self.folder / "starter/starter"
        if not program.exists():
            self.write("starter/main.go", f"""
                package main

                import (
                \t"fmt"
                \t"io"
                \t"os"

                \t"{facts.GO_MODULE}"
                )

                func main() {{
                \tserver, err := respitetest.Start()
                \tif err != nil {{
                \t\tpanic(err)
                \t}}
                \tfmt.Println(server.Port())
                \tio.Copy(io.Discard, os.Stdin)
                }}
                """)
            self.shell("go build -o starter/starter ./starter")
        return (program,)

    def test_unpacks_and_starts_in_parallel(self):
        self.write("parallel_test.go", f"""
            package shop

            import (
            \t"testing"

            \t"{facts.GO_MODULE}"
            )

            func TestMany(t *testing.T) {{
            \tt.Setenv("XDG_CACHE_HOME", t.TempDir())
            \tt.Run("all", func(t *testing.T) {{
            \t\tfor i := 0; i < 20; i++ {{
            \t\t\tt.Run("one", func(t *testing.T) {{
            \t\t\t\tt.Parallel()
            \t\t\t\trespitetest.Run(t).FlushAll()
            \t\t\t}})
            \t\t}}
            \t}})
            }}

            func TestFailures(t *testing.T) {{
            \tif _, err := respitetest.Start("--nonsense", "1"); err == nil {{
            \t\tt.Error("no error")
            \t}}
            \tif _, err := respitetest.Start("--requirepass", "secret"); err == nil {{
            \t\tt.Error("no error")
            \t}}
            }}
            """)
        self.assertIn("ok", self.shell("go test -count 1 -parallel 8 -run 'TestMany|TestFailures' ."))

    def test_lines_of_readme(self):
        self.use_go_redis()
        self.write("it_test.go", f"""
            package shop

            import (
            \t"context"
            \t"testing"

            \t"github.com/redis/go-redis/v9"
            \t"{facts.GO_MODULE}"
            )

            func TestIt(t *testing.T) {{
            \t{readme_row("Go")[1][0]}
            \tif err := client.Ping(context.Background()).Err(); err != nil {{
            \t\tt.Fatal(err)
            \t}}
            }}
            """)
        self.assertIn("ok", self.shell("go test ./..."))

    def test_example(self):
        self.use_go_redis()
        self.write("lock_test.go", code("packaging/go/README.md", "go").replace("@GO_MODULE@", facts.GO_MODULE))
        self.assertIn("ok", self.shell("go vet ./... && go test ./..."))

    def test_other_systems(self):
        """On other systems the module compiles, and returns a clear error."""
        self.starter()
        for system in ("darwin", "windows"):
            self.shell(f"GOOS={system} go build -o starter/{system} ./starter")
            self.assertIn(b"Respite runs on Linux only, so far; use ", (self.folder / "starter" / system).read_bytes())

    def test_methods_of_miniredis(self):
        self.use_go_redis()
        shutil.copy(pathlib.Path(__file__).with_name("respitetest_methods_test.go.txt"), self.folder / "methods_test.go")
        text = (self.folder / "methods_test.go").read_text().replace("@GO_MODULE@", facts.GO_MODULE)
        (self.folder / "methods_test.go").write_text(text)
        self.assertIn("ok", self.shell("go test -count 1 ./..."))


class JavaTest(Unpacks, LanguageTest):
    REFUSES_FOLDERS_OF_OTHERS = False  # its folder has a new random name
    @classmethod
    def install(cls):
        cls.need("mvn", "javac")
        cls.package(f"maven/{facts.MAVEN_GROUP}/respite-test/*/*.jar")
        cls.repository = kept("maven", cls.fetch)
        own = cls.repository / facts.MAVEN_GROUP
        shutil.rmtree(own, ignore_errors=True)
        cls.addClassCleanup(shutil.rmtree, own, ignore_errors=True)
        cls.variables = cls.environment()
        # Packages that are not in the cache must not come from a network.
        cls.write("settings.xml", f"""
            <settings><mirrors><mirror>
              <id>central</id><mirrorOf>central</mirrorOf><url>file://{cls.folder}/none</url>
            </mirror></mirrors></settings>
            """.lstrip())

    @staticmethod
    def temporary(folder):
        return {"JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={folder} -Duser.home=?"}

    def starter(self):
        own = next((DIST / "maven" / facts.MAVEN_GROUP / "respite-test").glob(f"*/respite-test-{facts.version()}.jar"))
        source = self.write("starter/Starter.java", """
            public class Starter {
              public static void main(String[] arguments) throws Exception {
                System.out.println(respite.RespiteServer.start().port());
                System.in.read();
              }
            }
            """)
        if not source.with_suffix(".class").exists():
            run("javac", "-cp", own, source)
        return "java", "-cp", f"{own}:{source.parent}", "Starter"

    POM = """\
        <project xmlns="http://maven.apache.org/POM/4.0.0">
          <modelVersion>4.0.0</modelVersion>
          <groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
          <properties><maven.compiler.release>17</maven.compiler.release>
            <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
          <dependencyManagement><dependencies><dependency>
            <groupId>org.springframework.boot</groupId><artifactId>spring-boot-dependencies</artifactId><version>3.5.16</version>
            <type>pom</type><scope>import</scope>
          </dependency></dependencies></dependencyManagement>
          {repositories}
          <dependencies>
            {dependencies}
            <dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId><version>5.12.2</version></dependency>
            <dependency><groupId>redis.clients</groupId><artifactId>jedis</artifactId><version>6.2.0</version></dependency>
            <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-test</artifactId><version>3.5.16</version></dependency>
            <dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-data-redis</artifactId><version>3.5.16</version></dependency>
          </dependencies>
          <build><plugins>
            <plugin><artifactId>maven-surefire-plugin</artifactId><version>3.5.4</version></plugin>
            <plugin><artifactId>maven-compiler-plugin</artifactId><version>3.14.0</version>
              <configuration><parameters>true</parameters></configuration></plugin>
            <plugin><artifactId>maven-resources-plugin</artifactId><version>3.3.1</version></plugin>
          </plugins></build>
        </project>
        """

    @classmethod
    def fetch(cls, part):
        """Returns what a project needs in addition to our package: its libraries, and Maven's own."""
        place = part.parent / "project"
        (place / "src/test/java").mkdir(parents=True)
        (place / "pom.xml").write_text(textwrap.dedent(cls.POM).format(repositories="", dependencies=""))
        (place / "src/test/java/EmptyTest.java").write_text("class EmptyTest { @org.junit.jupiter.api.Test void passes() {} }\n")
        run("mvn", "-q", "-B", f"-Dmaven.repo.local={part}", "test", cwd=place, timeout=900)
        shutil.rmtree(place)

    @staticmethod
    def lines(artifact="respite-test"):
        """Returns the lines of docs/install.md for a pom.xml."""
        return code_in("docs/install.md", "### Java", "xml").replace("respite-test", artifact)

    def check(self, lines, tests, count):
        for name in ("src", "target"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        repositories, dependencies = lines.split("<dependencies>\n")
        pom = textwrap.dedent(self.POM).replace("{repositories}", repositories)
        self.write("pom.xml", pom.replace("{dependencies}", dependencies.replace("</dependencies>\n", "")))
        for name, text in tests.items():
            self.write(f"src/test/java/{name}.java", text)
        text = run("mvn", "-B", "-s", "settings.xml", f"-Dmaven.repo.local={self.repository}", "test", cwd=self.folder,
                   env=self.variables)
        self.assertIn(f"Tests run: {count}, Failures: 0, Errors: 0, Skipped: 0", text)

    @staticmethod
    def class_of_readme():
        return f"""
            import org.junit.jupiter.api.Test;
            import redis.clients.jedis.Jedis;
            import respite.RespiteServer;
            import respite.junit.Respite;

            {readme_row("Java")[1][0].replace(" { ", " {" + chr(10), 1)}
            """

    def test_lines_of_readme(self):
        group, artifact, version = readme_row("Java")[0][0].split(":")
        lines = self.lines()
        for tag, name in (("groupId", group), ("artifactId", artifact), ("version", version)):
            self.assertIn(f"<{tag}>{name}</{tag}>", lines)
        self.check(lines, {"ItTest": self.class_of_readme()}, 1)

    def test_page_of_the_package_has_the_same_lines(self):
        printed = code("packaging/java/README.md", "xml")
        self.assertEqual(self.lines(), printed.replace("@GROUP@", facts.MAVEN_GROUP).replace("@VERSION@", facts.version()))

    JEDIS = ("5.2.0", "6.2.0", "7.5.3", "8.0.2")

    @classmethod
    def fetch_jedis(cls, part):
        for version in cls.JEDIS:
            (part / version).mkdir(parents=True)
            (part / version / "pom.xml").write_text(
                '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>a</groupId>'
                "<artifactId>a</artifactId><version>1</version><dependencies>"
                f"<dependency><groupId>redis.clients</groupId><artifactId>jedis</artifactId><version>{version}</version></dependency>"
                "<dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter-api</artifactId><version>5.12.2</version>"
                "</dependency></dependencies></project>")
            run("mvn", "-q", "-B", "-f", part / version / "pom.xml", "dependency:copy-dependencies",
                f"-DoutputDirectory={part / version}", timeout=900)

    def test_lines_of_pages_compile_with_jedis_5_to_8(self):
        """README's line, and the lines of docs/clients.md and docs/tls.md; TLS with SslOptions came with Jedis 6."""
        libraries = kept("jedis", self.fetch_jedis)
        own = next((DIST / "maven" / facts.MAVEN_GROUP / "respite-test").glob(f"*/respite-test-{facts.version()}.jar"))
        client = re.search(r"\| Jedis, Lettuce \| `(.*?)`", (ROOT / "docs/clients.md").read_text(encoding="utf-8"))[1]
        imports = "import java.io.File;\nimport redis.clients.jedis.*;\n"
        self.write("ItTest.java", self.class_of_readme())
        self.write("Plain.java", f"{imports}class Plain {{ Jedis of() {{ return {client}; }} }}\n")
        self.write("Tls.java", f"{imports}class Tls {{ void of() {{\n{code('docs/tls.md', 'java')}\n}} }}\n")
        for version in self.JEDIS:
            sources = ["ItTest.java", "Plain.java"] + (["Tls.java"] if version >= "6" else [])
            run("javac", "-cp", f"{own}:{libraries / version}/*", "-d", self.folder / "classes" / version, *sources, cwd=self.folder)

    def test_other_systems(self):
        program, *words = self.starter()
        text = run("bash", "-c", '"$@" 2>&1 || true', "bash", program, "-Dos.name=Mac OS X", *words)
        self.assertIn("Respite runs on Linux only, so far: use ", text)

    def test_example_worlds_and_spring(self):
        self.check(self.lines(), {
            "LockTest": code("packaging/java/README.md", "java"),
            "WorldTest": (pathlib.Path(__file__).with_name("WorldTest.java.txt")).read_text(),
            "shop/ShopTest": (pathlib.Path(__file__).with_name("ShopTest.java.txt")).read_text()}, 8)

    def test_interface_of_embedded_redis(self):
        self.check(self.lines("respite-embedded-redis"), {
            "EmbeddedTest": (pathlib.Path(__file__).with_name("EmbeddedTest.java.txt")).read_text()}, 2)


class RustTest(Unpacks, LanguageTest):
    @classmethod
    def install(cls):
        cls.need("cargo")
        cls.package("cargo/respite-test-*.crate")
        cls.variables = cls.environment(CARGO_HOME=str(cls.folder / "home"), CARGO_NET_OFFLINE="true")
        cls.shell("cargo init -q --lib --vcs none --name shop shop")
        lines = code_in("docs/install.md", "### Rust", "sh")
        readme = readme_row("Rust")[0][0]
        if not lines.endswith(f"\n{readme}\n"):
            raise AssertionError(f"docs/install.md does not end with README's {readme}")
        cls.shell(f"cd shop && {lines}")

    def starter(self):
        program = self.folder / "shop/target/debug/examples/starter"
        if not program.exists():
            self.write("shop/examples/starter.rs", """
                fn main() {
                    let respite = respite_test::Respite::start().unwrap();
                    println!("{}", respite.port());
                    std::io::stdin().read_line(&mut String::new()).unwrap();
                }
                """)
            self.shell("cd shop && cargo build -q --example starter")
        return (program,)

    def test_lines_of_readme(self):
        self.write("shop/tests/it.rs", f"#[test]\nfn it() {{\n    {readme_row('Rust')[1][0]}\n"
                                       '    assert_eq!(respite.ask(&["PING"]).unwrap().text(), "PONG");\n}\n')
        self.assertIn("1 passed", self.shell("cd shop && cargo test -q --test it"))

    def test_example(self):
        self.write("shop/tests/lock.rs", code("packaging/rust/respite-test/README.md", "rust"))
        self.write("shop/tests/more.rs", """
            use respite_test::{Reply, Respite};

            #[test]
            fn replies_and_errors() {
                let folder = std::env::temp_dir();
                let respite = Respite::start_with(&["--nodes", "2x0"]).unwrap();
                assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
                assert_eq!(respite.ports().len(), 2);
                let error = respite.ask(&["NONSENSE"]).unwrap_err();
                assert!(error.to_string().starts_with("ERR unknown command"));
                let reply = respite.ask(&["CONFIG", "GET", "save"]).unwrap();
                assert_eq!(reply, Reply::Array(vec![Reply::Text("save".into()), Reply::Text(String::new())]));
                drop(respite);
                assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
            }

            #[test]
            fn one_that_cannot_be_used_does_not_stay() {
                let error = Respite::start_with(&["--requirepass", "secret"]).unwrap().ask(&["PING"]).unwrap_err();
                assert!(error.to_string().starts_with("NOAUTH"), "{error}");
            }

            #[test]
            fn a_wrong_argument_is_shown() {
                let error = Respite::start_with(&["--nonsense", "1"]).map(|_| ()).unwrap_err();
                assert!(error.to_string().contains("Bad directive"), "{error}");
            }
            """)
        self.shell("cd shop && cargo test -q --no-run --test lock --test more && mkdir own")
        text = self.shell("cd shop && TMPDIR=$PWD/own cargo test -q --test lock --test more 2>&1")
        self.assertEqual(2, len(re.findall(r"test result: ok. [13] passed", text)), text)


if __name__ == "__main__":
    unittest.main()
