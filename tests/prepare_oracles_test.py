"""`./dev oracles` with imitations of apt-get and dpkg-deb: what is fetched, kept and reported, and which servers the tests
and the benchmarks then use."""
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests/system"))
import oracles  # noqa: E402
import prepare_oracles  # noqa: E402

VERSIONS = {"trixie": {"redis-server": "Redis server v=8.0.2", "valkey-server": "Valkey server v=8.1.1"},
            "experimental": {"redis-server": "Redis server v=8.6.3"},
            "sid": {"valkey-server": "Valkey server v=9.1.2"}}

# An imitation of apt-get. FAKE_UNREACHABLE has the sources whose lists cannot be fetched; apt-get does not fail then. A
# package is a file with the versions of its suite, which is the last source.
APT_GET = """
case " $* " in *" update "*) step=update ;; *) step=install ;; esac
for word; do case $word in
  Dir::State=*) lists=${word#*=}/lists ;;
  Dir::Cache=*) archives=${word#*=}/archives ;;
  Dir::Etc::sourcelist=*) sources=${word#*=} ;;
  Dir::Etc::preferences=*) preferences=${word#*=} ;;
esac; done
suite=$(tail -n 1 "$sources" | sed 's/.* \\(.*\\) main/\\1/')
echo "$step $suite" >>"$FAKE_LOG"
if [ $step = update ]; then
  cat "$sources" "$preferences" >"$FAKE_LOG.$suite"
  sed 's/.* \\(.*\\) main/\\1/' "$sources" | while read -r source; do
    case " $FAKE_UNREACHABLE " in *" $source "*) ;; *) touch "$lists/mirror_dists_${source}_main_Packages" ;; esac
  done
else
  case " $FAKE_UNINSTALLABLE " in *" $suite "*) echo "E: Unable to correct problems" >&2; exit 100 ;; esac
  cp "$FAKE_SUITES/$suite" "$archives/servers.deb"
fi
"""

# Unpacks a package: a loader, and a program for each line with a name and what its --version prints.
DPKG_DEB = """
mkdir -p "$3/usr/lib/here" "$3/usr/bin"
printf '#!/bin/sh\\nshift 2\\nexec "$@"\\n' >"$3/usr/lib/here/ld-linux.so.2"
chmod +x "$3/usr/lib/here/ld-linux.so.2"
while read -r name version; do
  printf '#!/bin/sh\\necho "%s sha=0"\\n%s\\n' "$version" "$FAKE_END" >"$3/usr/bin/$name"
  chmod +x "$3/usr/bin/$name"
done <"$2"
"""


class PrepareOraclesTest(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.place = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.folder = self.place / "oracles"
        self.program("apt-get", APT_GET)
        self.program("dpkg-deb", DPKG_DEB)
        (self.place / "suites").mkdir()
        for suite, versions in VERSIONS.items():
            text = "".join(f"{name} {version}\n" for name, version in versions.items())
            (self.place / "suites" / suite).write_text(text, encoding="utf-8")
        stack.enter_context(mock.patch.dict(os.environ, {
            "PATH": f"{self.place / 'bin'}:{os.environ['PATH']}", "RESPITE_ORACLES": str(self.folder), "RESPITE_ORACLE": "",
            "REDIS_SERVER": str(self.program("redis-server", "echo 'Redis server v=7.0.15 sha=0'\n")),
            "FAKE_LOG": str(self.place / "log"), "FAKE_SUITES": str(self.place / "suites"), "FAKE_UNREACHABLE": "",
            "FAKE_UNINSTALLABLE": "", "FAKE_END": ""}))
        keys = self.place / "keys.gpg"
        keys.touch()
        stack.enter_context(mock.patch.object(prepare_oracles, "KEYS", keys))
        self.forget_oracles()
        self.addCleanup(self.forget_oracles)

    @staticmethod
    def forget_oracles():
        oracles.all_oracles.cache_clear()
        oracles.newest_oracles.cache_clear()

    def program(self, name, text):
        path = self.place / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        path.chmod(0o755)
        return path

    def fetch(self, *arguments):
        """Returns the exit status of `./dev oracles`, and what it printed to stdout and to stderr."""
        out, errors = io.StringIO(), io.StringIO()
        with mock.patch.object(sys, "argv", ["oracles", *arguments]), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(errors):
            status = prepare_oracles.main()
        self.forget_oracles()
        return status, out.getvalue().splitlines(), errors.getvalue().splitlines()

    def steps(self):
        """Returns the steps of apt-get."""
        log = self.place / "log"
        return log.read_text(encoding="utf-8").splitlines() if log.exists() else []

    @staticmethod
    def labels(found_and_missing):
        return [oracle.label for oracle in found_and_missing[0]]

    def old_layout(self):
        """Creates the directory that an older version fetched."""
        for name, version in VERSIONS["trixie"].items():
            path = self.folder / "bin" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#!/bin/sh\necho '{version} sha=0'\n", encoding="utf-8")
            path.chmod(0o755)

    def test_every_suite_is_fetched(self):
        status, lines, errors = self.fetch()
        self.assertEqual((0, []), (status, errors))
        self.assertEqual([f"{self.folder}/trixie/bin/redis-server  Redis server v=8.0.2",
                          f"{self.folder}/trixie/bin/valkey-server  Valkey server v=8.1.1",
                          f"{self.folder}/experimental/bin/redis-server  Redis server v=8.6.3",
                          f"{self.folder}/sid/bin/valkey-server  Valkey server v=9.1.2"], lines)
        self.assertEqual(["experimental", "sid", "trixie"], sorted(os.listdir(self.folder)))
        self.assertEqual(["bin", "root"], sorted(os.listdir(self.folder / "sid")))

    def test_existing_suites_are_kept(self):
        first = self.fetch()
        count = len(self.steps())
        self.assertEqual(first, self.fetch())
        self.assertEqual(count, len(self.steps()))

    def test_wrappers_work_in_a_folder_with_blanks(self):
        with mock.patch.dict(os.environ, {"RESPITE_ORACLES": str(self.place / "a 'b' c")}):
            _, lines, errors = self.fetch()
        self.assertEqual([], errors)
        self.assertIn("v=8.0.2", lines[0])

    def test_sources_of_suites(self):
        self.fetch()
        keys = prepare_oracles.KEYS
        newest = f"deb [signed-by={keys} target=Packages check-valid-until=no] {prepare_oracles.MIRROR} %s main\n"
        self.assertTrue((self.place / "log.trixie").read_text(encoding="utf-8").startswith(
            f"deb [signed-by={keys} target=Packages] {prepare_oracles.MIRROR} trixie main\n"))
        self.assertTrue((self.place / "log.sid").read_text(encoding="utf-8").startswith(newest % "sid"))
        experimental = (self.place / "log.experimental").read_text(encoding="utf-8")
        self.assertTrue(experimental.startswith(newest % "sid" + newest % "experimental"))
        self.assertIn("Package: redis-*\nPin: release a=experimental\nPin-Priority: 500\n", experimental)

    def test_a_suite_that_cannot_be_reached_does_not_hinder_the_others(self):
        with mock.patch.dict(os.environ, {"FAKE_UNREACHABLE": "experimental"}):
            status, lines, errors = self.fetch()
        self.assertEqual((0, 3), (status, len(lines)))
        self.assertEqual([f"oracles: there is no comparison with Debian experimental's redis-server: {prepare_oracles.MIRROR} "
                          "cannot be reached, or has no such suite"], errors)
        self.assertFalse((self.folder / "experimental").exists())
        status, lines, errors = self.fetch()
        self.assertEqual((0, 4, []), (status, len(lines), errors))

    def test_a_suite_that_cannot_be_installed_does_not_hinder_the_others(self):
        with mock.patch.dict(os.environ, {"FAKE_UNINSTALLABLE": "trixie"}):
            status, lines, errors = self.fetch()
        self.assertEqual((0, 2), (status, len(lines)))
        self.assertEqual(["oracles: there is no comparison with Debian 13's redis-server and valkey-server: apt-get: E: Unable "
                          "to correct problems"], errors)

    def test_failures_with_one_reason_are_one_line(self):
        with mock.patch.dict(os.environ, {"FAKE_UNREACHABLE": "trixie experimental sid"}):
            status, lines, errors = self.fetch()
        self.assertEqual((2, []), (status, lines))
        self.assertEqual(1, len(errors))
        self.assertIn("Debian 13's redis-server and valkey-server, Debian experimental's redis-server, Debian sid's "
                      "valkey-server: ", errors[0])
        self.assertEqual([], os.listdir(self.folder))

    def test_a_server_that_does_not_start_is_not_kept(self):
        with mock.patch.dict(os.environ, {"FAKE_END": "echo kernel too old >&2; exit 1"}):
            status, _, errors = self.fetch()
        self.assertEqual(2, status)
        self.assertTrue(errors[0].endswith("kernel too old"), errors)
        self.assertEqual([], os.listdir(self.folder))

    def test_a_system_that_is_no_debian(self):
        prepare_oracles.KEYS.unlink()
        status, _, errors = self.fetch()
        self.assertEqual((2, 1), (status, len(errors)))
        self.assertTrue(errors[0].endswith(": this is no Debian: keys is missing"), errors)

    def test_a_limit_that_is_too_short(self):
        self.program("apt-get", "sleep 10\n")
        status, _, errors = self.fetch("--limit", "0.1")
        self.assertEqual((2, 1), (status, len(errors)))
        self.assertTrue(errors[0].endswith("apt-get took too long"), errors)

    def test_the_old_layout_is_used(self):
        self.old_layout()
        status, lines, errors = self.fetch()
        self.assertEqual((0, []), (status, errors))
        self.assertEqual(f"{self.folder}/bin/redis-server  Redis server v=8.0.2", lines[0])
        self.assertNotIn("update trixie", self.steps())
        self.assertEqual(["Redis 7.0.15", "Redis 8.0.2", "Valkey 8.1.1", "Redis 8.6.3", "Valkey 9.1.2"],
                         self.labels(oracles.all_oracles()))

    def test_the_suites_and_benchmarks_use_what_was_fetched(self):
        self.fetch()
        self.assertEqual(["Redis 7.0.15", "Redis 8.0.2", "Valkey 8.1.1", "Redis 8.6.3", "Valkey 9.1.2"],
                         self.labels(oracles.all_oracles()))
        self.assertEqual([], oracles.all_oracles()[1])
        self.assertEqual(["Redis 8.6.3", "Valkey 9.1.2"], self.labels(oracles.newest_oracles()))
        self.assertEqual(["Redis 7.0.15", "Redis 8.6.3", "Valkey 9.1.2"], self.labels(oracles.bench_oracles()))

    def test_the_suites_skip_a_newest_version_that_they_do_not_know(self):
        (self.place / "suites/experimental").write_text("redis-server Redis server v=99.0.1\n", encoding="utf-8")
        self.fetch()
        labels = ["Redis 7.0.15", "Redis 8.0.2", "Valkey 8.1.1", "Valkey 9.1.2"]
        self.assertEqual(labels, self.labels(oracles.all_oracles()))
        self.assertEqual(["the suites do not know the differences of Redis 99.0.1"], oracles.all_oracles()[1])
        self.assertEqual(["Redis 7.0.15", "Redis 99.0.1", "Valkey 9.1.2"], self.labels(oracles.bench_oracles()))
        self.forget_oracles()
        with mock.patch.dict(os.environ, {"RESPITE_ORACLE": str(self.folder / "experimental/bin/redis-server")}):
            self.assertEqual(([*labels, "Redis 99.0.1"], []), (self.labels(oracles.all_oracles()), oracles.all_oracles()[1]))

    def test_ours_emulates_oracles_that_are_newer(self):
        self.fetch()
        self.assertEqual([[], ["--emulate", "redis:8.0"], ["--emulate", "valkey:8.1"], ["--emulate", "redis:8.6"],
                          ["--emulate", "valkey:9.1"]], [oracle.our_options for oracle in oracles.all_oracles()[0]])

    def test_benchmarks_use_an_older_server_if_a_newest_is_missing(self):
        with mock.patch.dict(os.environ, {"FAKE_UNREACHABLE": "experimental"}):
            self.fetch()
        found = oracles.bench_oracles()
        self.assertEqual(["Redis 7.0.15", "Redis 8.0.2", "Valkey 9.1.2"], self.labels(found))
        self.assertEqual([f"there is no {self.folder}/experimental/bin/redis-server (see ./dev oracles)"], found[1])

    def test_benchmarks_use_added_servers(self):
        self.fetch()
        added = self.program("my-server", "echo 'Redis server v=7.2.6 sha=0'\n")
        with mock.patch.dict(os.environ, {"RESPITE_ORACLE": str(added)}):
            self.assertEqual(["Redis 7.0.15", "Redis 8.6.3", "Valkey 9.1.2", "Redis 7.2.6"], self.labels(oracles.bench_oracles()))

    def test_without_prepared_servers(self):
        found, missing = oracles.all_oracles()
        self.assertEqual(["Redis 7.0.15"], [oracle.label for oracle in found])
        self.assertEqual([f"there is no {self.folder}/{suite}/bin/{name} (see ./dev oracles)"
                          for suite, versions in VERSIONS.items() for name in versions], missing)
        self.assertEqual(["Redis 7.0.15"], self.labels(oracles.bench_oracles()))

    def test_dev_passes_the_exit_status_on(self):
        run = subprocess.run([ROOT / "dev", "oracles"], capture_output=True, text=True, timeout=60, check=False,
                             env={**os.environ, "FAKE_UNREACHABLE": "trixie experimental sid"})
        self.assertEqual((2, ""), (run.returncode, run.stdout))
        self.assertTrue(run.stderr.startswith("oracles: there is no comparison with "), run.stderr)


if __name__ == "__main__":
    unittest.main()
