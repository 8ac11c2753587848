#!/usr/bin/env python3
"""The packages of distributions, in small roots of Debian 11, 12 and 13; the tarball."""
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import unittest

from places import ARCHITECTURE, DIST, RELEASES, PackageTest, PlaceTest, ask, code, facts, free_port, run, wait_until, within


class RootTest(PlaceTest):
    def check_serves(self, root, program="/usr/bin/respite-server"):
        port = root / "tmp/port"
        self.start([program, "--test", "--port-file", "/tmp/port"], preexec_fn=within(root), cwd=root)
        wait_until(lambda: port.exists() and port.read_text(), "the port")
        self.assertEqual("+PONG\r\n", ask(int(port.read_text()), "PING"))
        return int(port.read_text())


# Replaces systemctl: records its arguments, and reports that the server runs.
SYSTEMCTL = """#!/bin/sh
echo "$*" >>/calls
"""

# Starts and stops the server of the unit as systemd does: environment, ExecStart=, SIGTERM.
RUNNING_SYSTEMCTL = """#!/bin/bash
unit=/lib/systemd/system/respite-server.service
running() { [ -f /run/main.pid ] && kill -0 "$(cat /run/main.pid)" 2>/dev/null; }
start() {
  eval "$(sed -n 's/^Environment=//p' $unit)"
  . "$(sed -n 's/^EnvironmentFile=-//p' $unit)"
  mkdir -p /var/lib/respite
  eval "setsid $(sed -n 's/^ExecStart=//p' $unit) >>/log 2>&1 &"
  echo $! >/run/main.pid
}
stop() { if running; then kill "$(cat /run/main.pid)" && tail -s 0.02 --pid="$(cat /run/main.pid)" -f /dev/null; fi; }
case " $* " in
*" is-active "*) running ;;
*" start "*) start ;;
*" restart "*) stop; start ;;
*" stop "*) stop ;;
esac
"""


class DebTest(RootTest):
    def setUp(self):
        super().setUp()
        self.deb = self.package(f"respite_*_{ARCHITECTURE.deb}.deb")

    def test_each_release(self):
        for release in RELEASES:
            with self.subTest(release):
                self.check_release(self.unpacked(release))

    def check_release(self, root):
        (root / "etc/redis").mkdir()
        (root / "etc/redis/redis.conf").write_text("port 6379\n")
        (root / "dist").mkdir()
        shutil.copy(self.deb, root / "dist")
        line = code("docs/install.md", "deb").strip()
        self.inside(root, "sh", "-c", f'sudo() {{ "$@"; }}; {line}', DEBIAN_FRONTEND="noninteractive")
        self.assertIn(f"respite={facts.version()}", self.inside(root, "respite-server", "--version"))
        port = self.check_serves(root)
        self.assertTrue((root / "lib/systemd/system/respite-server.service").exists())
        for name in ("respite-server", *facts.TOOL_NAMES):
            self.assertEqual(0, os.stat(root / f"usr/share/man/man1/{name}.1.gz").st_uid)
            self.assertTrue((root / f"usr/share/bash-completion/completions/{name}").exists())
        self.assertTrue((root / "usr/share/zsh/vendor-completions/_respite").exists())
        settings = root / "etc/default/respite-server"
        settings.write_text('RESPITE_OPTIONS="--port 7000"\n')
        for _ in range(2):
            self.inside(root, "dpkg", "-i", f"/dist/{self.deb.name}")
        self.assertIn("7000", settings.read_text())  # a conffile that was changed stays
        self.inside(root, "dpkg", "--configure", "-a")
        self.inside(root, "dpkg", "-r", "respite")
        self.assertTrue(settings.exists())
        self.assertFalse((root / "usr/bin/respite-server").exists())
        self.assertEqual("+PONG\r\n", ask(port, "PING"))  # a server without a supervisor keeps running
        self.inside(root, "dpkg", "-P", "respite")
        self.assertFalse(settings.exists())
        self.assertEqual("port 6379\n", (root / "etc/redis/redis.conf").read_text())
        self.assertEqual([], [path for path in run("find", root, "-name", "*respite*", "-not", "-path", "*/proc/*").splitlines()
                              if "/dist/" not in path])

    def test_scripts_tell_systemd(self):
        """A running server restarts with the new program, ends with the package, and is not started automatically."""
        root = self.unpacked("bookworm")
        shutil.copy(self.deb, root)
        (root / "run/systemd/system").mkdir(parents=True)
        (root / "usr/bin/systemctl").write_text(SYSTEMCTL)
        (root / "usr/bin/systemctl").chmod(0o755)
        (root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
        calls = root / "calls"

        def said(*words):
            calls.write_text("")
            self.inside(root, *words)
            return [line for line in calls.read_text().splitlines() if "daemon-reload" not in line]
        package = f"/{self.deb.name}"
        self.assertEqual([], said("dpkg", "-i", package))
        self.assertRegex("\n".join(said("dpkg", "-i", package)), r"is-active respite-server.service\n(.*\n)*.*restart respite-server.service")
        wanted = root / "etc/systemd/system/multi-user.target.wants"
        wanted.mkdir(parents=True, exist_ok=True)
        (wanted / "respite-server.service").symlink_to("/lib/systemd/system/respite-server.service")  # systemctl enable
        self.assertRegex("\n".join(said("dpkg", "-r", "respite")), r"stop respite-server.service")
        self.assertEqual([], [line for line in said("dpkg", "-P", "respite") if "start" in line])
        self.assertNotIn("respite-server.service", os.listdir(wanted))
        self.assertEqual([], said("dpkg", "-i", package))

    def repacked(self, root, version):
        """Builds the same package with another version number, in the root."""
        tree = self.folder / f"tree-{version}"
        run("dpkg-deb", "-R", self.deb, tree)
        control = tree / "DEBIAN/control"
        control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
        run("dpkg-deb", "--root-owner-group", "-Znone", "--build", tree, root / f"{version}.deb")
        return f"/{version}.deb"

    def test_an_upgrade_keeps_the_data(self):
        root = self.unpacked("bookworm")
        (root / "run/systemd/system").mkdir(parents=True)
        (root / "usr/bin/systemctl").write_text(RUNNING_SYSTEMCTL)
        (root / "usr/bin/systemctl").chmod(0o755)
        (root / "usr/sbin/policy-rc.d").unlink(missing_ok=True)
        self.inside(root, "dpkg", "-i", self.repacked(root, "0.0.1"))
        port = free_port()
        (root / "etc/default/respite-server").write_text(f'RESPITE_OPTIONS="--port {port}"\n')
        self.inside(root, "systemctl", "start", "respite-server.service")
        self.addCleanup(self.inside, root, "systemctl", "stop", "respite-server.service")

        def answer(*words):
            try:
                return ask(port, *words)
            except OSError:
                return ""
        wait_until(lambda: answer("SET", "a", "1") == "+OK\r\n", "the server")
        before = (root / "run/main.pid").read_text()
        self.inside(root, "dpkg", "-i", "--force-confold", self.repacked(root, "0.0.2"))
        self.assertNotEqual(before, (root / "run/main.pid").read_text())
        wait_until(lambda: answer("GET", "a") == "$1\r\n1\r\n", "the key")
        self.assertRegex((root / "log").read_text(), r"Data is kept in /var/lib/respite/dump\.rdb, saved after 3600 s with 1 change, ")
        self.assertIn("$2\r\nno\r\n", answer("CONFIG", "GET", "appendonly"))
        answer("SET", "a", "2")
        self.inside(root, "dpkg", "-P", "respite")
        self.assertEqual("", answer("PING"))
        self.assertTrue((root / "var/lib/respite/dump.rdb").exists())
        self.assertFalse((root / "etc/respite").exists())

    def test_scripts_stand_failed_steps(self):
        root = self.unpacked("bookworm")
        shutil.copy(self.deb, root)
        run("dpkg-deb", "-e", self.deb, root / "scripts")
        for words in ("postinst abort-upgrade 0.0.9", "postinst abort-remove", "postinst configure 0.0.9", "postinst configure",
                      "prerm upgrade 0.2.0", "prerm failed-upgrade 0.0.9", "prerm remove", "prerm deconfigure", "postrm upgrade 0.2.0",
                      "postrm failed-upgrade 0.0.9", "postrm abort-install", "postrm abort-upgrade 0.0.9", "postrm disappear",
                      "postrm remove", "postrm purge", "postrm purge"):
            name, *arguments = words.split(" ")
            with self.subTest(words):
                self.assertEqual("", self.inside(root, f"/scripts/{name}", *arguments, DPKG_MAINTSCRIPT_PACKAGE="respite"))

    def test_is_clean(self):
        if not shutil.which("lintian"):
            self.skipTest("lintian is not installed")
        # The publisher states who maintains it (docs/releasing.md).
        words = ["lintian", "--suppress-tags", "bogus-mail-host,bogus-mail-host-in-debian-changelog", "--fail-on", "error,warning", "--tag-display-limit", "0", "--allow-root", str(self.deb)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
        self.assertEqual((0, ""), (done.returncode, done.stdout))


class UnitTest(RootTest):
    """Checks the unit without systemd: it is valid, and its line starts a server that reports when it is ready."""

    def setUp(self):
        super().setUp()
        self.deb = self.package(f"respite_*_{ARCHITECTURE.deb}.deb")
        self.root = self.folder / "root"
        run("dpkg-deb", "-x", self.deb, self.root)
        self.units = self.root / "lib/systemd/system"
        self.unit = (self.units / "respite-server.service").read_text()

    def test_systemd_accepts_it(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd-analyze is not installed")
        for path in ("/lib/systemd/system/" + name for name in os.listdir("/lib/systemd/system")):
            if path.endswith((".target", ".slice", ".socket")) and os.path.isfile(path):
                shutil.copy(path, self.units)
        self.assertEqual("", run("systemd-analyze", "verify", "--man=no", f"--root={self.root}", "respite-server.service"))

    def test_calls_that_it_forbids_are_not_needed(self):
        """The system calls of the server while it starts, answers, saves and stops are in @system-service without
        @privileged."""
        if not (shutil.which("strace") and shutil.which("systemd-analyze")):
            self.skipTest("strace or systemd-analyze is not installed")
        trace = self.folder / "trace"
        process, port, _ = self.start_unit("strace", "-f", "-qq", "-o", trace)
        for words in (("SET", "a", "1"), ("BGSAVE",), ("EVAL", "return redis.call('GET', 'a')", "0"), ("INFO",)):
            ask(port, *words)
        wait_until(lambda: "rdb_bgsave_in_progress:0" in ask(port, "INFO", "persistence"), "the child")
        ask(port, "SHUTDOWN")
        process.communicate(timeout=30)
        used = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(), re.M))
        self.assertLessEqual({"bind", "listen"}, used)
        self.assertLessEqual(used - {"execve"}, self.calls("@system-service") - self.calls("@privileged"))

    def calls(self, group):
        words = set()
        for line in run("systemd-analyze", "syscall-filter", group).splitlines()[1:]:
            word = line.strip()
            words |= self.calls(word) if word.startswith("@") else set() if word.startswith("#") else {word}
        return words

    def start_unit(self, *before):
        """Runs ExecStart= with options that an administrator may have set."""
        port = free_port()
        state = self.folder / "state"
        state.mkdir()
        line = re.search(r"^ExecStart=(.*)$", self.unit, re.M)[1].replace("/var/lib/respite", str(state))
        line = line.replace("/usr/bin/", f"{self.root}/usr/bin/").replace("$RESPITE_OPTIONS", f"--port {port}")
        conf = re.search(r"^Environment=RESPITE_CONF=(.*)$", self.unit, re.M)[1]
        line = line.replace("$RESPITE_CONF", f"{self.root}{conf}")
        notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(notify.close)
        notify.bind(str(self.folder / "notify"))
        notify.settimeout(30)
        process = self.start([*before, *shlex.split(line)], env={**os.environ, "NOTIFY_SOCKET": str(self.folder / "notify")})
        while notify.recv(1000) != b"READY=1\n":
            pass
        return process, port, notify

    def test_it_says_when_it_is_ready(self):
        self.assertIn("\nType=notify\n", self.unit)
        process, port, notify = self.start_unit()
        self.assertEqual("+PONG\r\n", ask(port, "PING"))
        self.assertEqual("+OK\r\n", ask(port, "SET", "a", "1"))
        process.terminate()
        self.assertEqual(b"STOPPING=1\n", notify.recv(1000))
        process.communicate(timeout=30)
        self.assertEqual(0, process.returncode)
        self.assertTrue((self.folder / "state/dump.rdb").exists())


class RpmTest(RootTest):
    def test_installs(self):
        package = self.package(f"respite-*.{ARCHITECTURE.name}.rpm")
        if not shutil.which("rpm"):
            self.skipTest("rpm is not installed")
        root = self.unpacked("bookworm")
        rpm = ("rpm", "--root", root, "--nosignature")
        run(*rpm, "-i", "--nodeps", package)  # rpm does not know what Debian's packages provide
        self.assertEqual("", run(*rpm, "-V", "--nodeps", "respite").strip())
        port = self.check_serves(root)
        unit = (root / "usr/lib/systemd/system/respite-server.service").read_text()
        self.assertIn("EnvironmentFile=-/etc/sysconfig/respite-server", unit)
        for name in ("bash-completion/completions/respite-cli", "zsh/site-functions/_respite"):
            self.assertTrue((root / "usr/share" / name).exists(), name)
        settings = root / "etc/sysconfig/respite-server"
        settings.write_text('RESPITE_OPTIONS="--port 7000"\n')
        run(*rpm, "-U", "--force", "--nodeps", package)
        self.assertIn("7000", settings.read_text())
        self.assertEqual("+PONG\r\n", ask(port, "PING"))
        run(*rpm, "-e", "respite")
        self.assertFalse((root / "usr/bin/respite-server").exists())


class TarballTest(PackageTest):
    def test_runs_where_it_is_unpacked(self):
        package = self.package(f"respite-*-linux-{ARCHITECTURE.name}.tar.gz")
        run("tar", "-xzf", package, "-C", self.folder)
        top = next(self.folder.iterdir())
        for name in ("bin/respite-server", "redis-names/redis-server"):
            self.assertIn(f"respite={facts.version()}", run(top / name, "--version"))
        for name in ("LICENSE", "NOTICE", "CHANGELOG.md", "share/man/man1/respite-server.1", "redis-names/redis-sentinel",
                     "share/bash-completion/completions/respite-cli", "share/zsh/site-functions/_respite"):
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


if __name__ == "__main__":
    unittest.main()
