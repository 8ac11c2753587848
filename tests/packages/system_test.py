#!/usr/bin/env python3
"""The packages of distributions, in small roots of Debian 11, 12 and 13; the tarball; the container image."""
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import tarfile
import unittest

from places import ARCHITECTURE, DIST, RELEASES, PackageTest, ask, code, facts, free_port, run, wait_until


def within(root):
    return lambda: (os.chroot(root), os.chdir("/"))


class RootTest(PackageTest):
    def inside(self, root, *words, **options):
        return run(*words, preexec_fn=within(root), cwd=root, env={"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
                   **options)

    def check_serves(self, root, program="/usr/bin/respite-server"):
        port = root / "tmp/port"
        self.start([program, "--test", "--port-file", "/tmp/port"], preexec_fn=within(root), cwd=root)
        wait_until(lambda: port.exists() and port.read_text(), "the port")
        self.assertEqual("+PONG\r\n", ask(int(port.read_text()), "PING"))


class DebTest(RootTest):
    def setUp(self):
        super().setUp()
        self.deb = self.package(f"respite_*_{ARCHITECTURE.deb}.deb")

    def test_each_release(self):
        for release in RELEASES:
            with self.subTest(release):
                self.check_release(self.unpacked(release))

    def check_release(self, root):
        shutil.copy(self.deb, root)
        line = code("docs/install.md", "deb").strip().removeprefix("sudo ")
        self.inside(root, "sh", "-c", line.replace("apt install", "dpkg -i").replace("./dist/", "/"))
        self.assertIn(f"respite={facts.version()}", self.inside(root, "respite-server", "--version"))
        self.check_serves(root)
        self.assertTrue((root / "lib/systemd/system/respite-server.service").exists())
        settings = root / "etc/default/respite-server"
        settings.write_text('RESPITE_OPTIONS="--port 7000"\n')
        self.inside(root, "dpkg", "-i", f"/{self.deb.name}")
        self.assertIn("7000", settings.read_text())  # a conffile that was changed stays
        self.inside(root, "dpkg", "-r", "respite")
        self.assertTrue(settings.exists())
        self.assertFalse((root / "usr/bin/respite-server").exists())
        self.inside(root, "dpkg", "-P", "respite")
        self.assertFalse(settings.exists())

    def test_is_clean(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        # Whoever publishes it says who maintains it (docs/releasing.md).
        words = ["lintian", "--suppress-tags", "bogus-mail-host,bogus-mail-host-in-debian-changelog", "--fail-on", "error,warning", "--tag-display-limit", "0", "--allow-root", str(self.deb)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual((0, ""), (done.returncode, done.stdout))


class RpmTest(RootTest):
    def test_installs(self):
        package = self.package(f"respite-*.{ARCHITECTURE.name}.rpm")
        if not shutil.which("rpm"):
            self.skipTest("rpm is not installed")
        root = self.unpacked("bookworm")
        rpm = ("rpm", "--root", root, "--nosignature")
        run(*rpm, "-i", "--nodeps", package)  # rpm does not know what Debian's packages provide
        self.assertEqual("", run(*rpm, "-V", "--nodeps", "respite").strip())
        self.check_serves(root)
        unit = (root / "usr/lib/systemd/system/respite-server.service").read_text()
        self.assertIn("EnvironmentFile=-/etc/sysconfig/respite-server", unit)
        run(*rpm, "-e", "respite")
        self.assertFalse((root / "usr/bin/respite-server").exists())


class TarballTest(PackageTest):
    def test_runs_where_it_is_unpacked(self):
        package = self.package(f"respite-*-linux-{ARCHITECTURE.name}.tar.gz")
        run("tar", "-xzf", package, "-C", self.folder)
        top = next(self.folder.iterdir())
        for name in ("bin/respite-server", "redis-names/redis-server"):
            self.assertIn(f"respite={facts.version()}", run(top / name, "--version"))
        for name in ("LICENSE", "NOTICE", "CHANGELOG.md", "share/man/man1/respite-server.1", "redis-names/redis-sentinel"):
            self.assertTrue((top / name).exists(), name)

    def test_sums(self):
        run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=DIST)

    def test_says_what_is_linked(self):
        bill = json.loads(self.package(f"*{ARCHITECTURE.name}.spdx.json").read_text())
        names = {each["name"] for each in bill["packages"]}
        self.assertLessEqual({"respite", "glibc", "OpenSSL", "jemalloc", "Lua", "LibLZF", "Asio"}, names)
        self.assertTrue(all(each["versionInfo"] and each["licenseDeclared"] for each in bill["packages"]))
        notice = self.package(f"*{ARCHITECTURE.name}.NOTICE").read_text()
        for name in names - {"respite"}:
            self.assertIn(f"\n{name}\n{'=' * 10}", notice)


class ImageTest(RootTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        self.image = self.package(f"respite-*-linux-{ARCHITECTURE.name}.oci.tar")
        layout = self.folder / "layout"
        with tarfile.open(self.image) as archive:
            archive.extractall(layout)
        self.layout = layout
        manifest = self.blob(json.loads((layout / "index.json").read_text())["manifests"][0])
        self.config = self.blob(manifest["config"])["config"]
        self.root = self.folder / "root"
        self.root.mkdir()
        run("tar", "-xzf", self.path(manifest["layers"][0]), "-C", self.root)

    def path(self, descriptor):
        return self.layout / "blobs" / descriptor["digest"].replace(":", "/")

    def blob(self, descriptor):
        return json.loads(self.path(descriptor).read_text())

    def docker_run(self, *words, **variables):
        """Starts what `docker run IMAGE words…` would; the arguments are those of the image if there are none."""
        entry = [f"/usr/local/bin/{self.config['Entrypoint'][0]}", *(words or self.config["Cmd"])]
        environment = {**dict(each.split("=", 1) for each in self.config["Env"]), **variables}
        folder = self.config["WorkingDir"]
        return self.start(entry, env=environment, cwd=self.root, preexec_fn=lambda: (os.chroot(self.root), os.chdir(folder)))

    def answers(self, port, *words):
        def answer():
            try:
                return ask(port, *words)
            except OSError:
                return None
        return wait_until(answer, f"port {port}")

    def test_tools_read_it(self):
        if shutil.which("skopeo"):
            shown = json.loads(run("skopeo", "inspect", f"oci-archive:{self.image}"))
            self.assertEqual(("linux", ARCHITECTURE.deb), (shown["Os"], shown["Architecture"]))
        else:
            self.skipTest("skopeo is not installed")

    def test_arguments_of_the_image_redis(self):
        port = str(free_port())
        for words in (("redis-server", "--port", port), ("--port", port), ("redis-server", "/etc/redis.conf")):
            with self.subTest(words):
                (self.root / "etc/redis.conf").write_text(f"port {port}\n")
                process = self.docker_run(*words)
                self.assertEqual("+PONG\r\n", self.answers(int(port), "PING"))
                self.assertIn("$2\r\nno\r\n", ask(int(port), "CONFIG", "GET", "protected-mode"))
                self.assertIn("$5\r\n/data\r\n", ask(int(port), "CONFIG", "GET", "dir"))
                process.terminate()
                process.communicate(timeout=30)

    def test_a_file_may_protect(self):
        port = free_port()
        (self.root / "etc/redis.conf").write_text(f"port {port}\nprotected-mode yes\n")
        self.docker_run("/etc/redis.conf")
        self.assertIn("$3\r\nyes\r\n", self.answers(port, "CONFIG", "GET", "protected-mode"))

    def test_runs_as_redis(self):
        port = free_port()
        process = self.docker_run("--port", str(port))
        self.answers(port, "PING")
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        self.assertIn("Uid:\t999\t999\t999\t999", status)
        self.assertIn("Groups:\t \n", status)
        self.assertEqual("+OK\r\n", ask(port, "SAVE"))
        self.assertEqual(999, (self.root / "data/dump.rdb").stat().st_uid)

    def test_health_check(self):
        port = free_port()
        self.docker_run("--port", str(port))
        self.answers(port, "PING")
        self.assertEqual("PONG\n", self.inside(self.root, "redis-cli", "-p", port, "ping"))
        dead = self.docker_run("redis-cli", "-p", str(free_port()), "ping")
        self.assertEqual(1, dead.wait(timeout=10))

    def test_other_programs(self):
        process = self.docker_run("no-such-program")
        self.assertIn("no-such-program: No such file", process.communicate(timeout=10)[0].decode())
        self.assertEqual(1, process.returncode)

    def test_environment_of_client_libs_test(self):
        port, tls_port = free_port(), free_port()
        self.docker_run("--save", "", "--tls-auth-clients", "optional", "--enable-debug-command", "yes", PORT=str(port), TLS_PORT=str(tls_port),
                        TLS_ENABLED="yes", REDIS_CLUSTER="no", REDIS_PASSWORD="pass", TLS_CLIENT_CNS="ada bob")
        self.assertTrue(self.answers(port, "PING").startswith("-NOAUTH"))
        folder = self.root / "redis/work/tls"
        for name in ("client", "ada", "bob"):
            context = ssl.create_default_context(cafile=folder / "ca.crt")
            context.load_cert_chain(folder / f"{name}.crt", folder / f"{name}.key")
            with self.subTest(name):
                reply = ask(tls_port, "AUTH", "pass", wrap=lambda sock, c=context: c.wrap_socket(sock, server_hostname="localhost"))
                self.assertEqual("+OK\r\n", reply)

    def test_cluster_of_client_libs_test(self):
        port = free_port()
        self.docker_run("--save", "", PORT=str(port), REDIS_CLUSTER="yes", NODES="6", REPLICAS="1")
        wait_until(lambda: "cluster_state:ok" in self.answers(port + 5, "CLUSTER", "INFO"), "the cluster")
        self.assertIn("cluster_known_nodes:6", ask(port, "CLUSTER", "INFO"))


if __name__ == "__main__":
    unittest.main()
