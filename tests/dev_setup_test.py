"""`./dev setup` on simulated systems (our own dpkg-query and apt-cache): which packages are missing, and which names
are installed."""
import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("RESPITE_SOURCE_DIR", "."))
RUN = {"g++", "cmake", "ninja-build", "pkg-config", "libasio-dev", "liblua5.4-dev", "libssl-dev", "zlib1g-dev",
       "libjemalloc-dev", "liblzf-dev", "nlohmann-json3-dev"}
TEST = {"ccache", "libgtest-dev", "libgmock-dev", "openssl", "redis-server", "redis-tools", "python3"}
CLANG = {"clang-14", "clang", "clang-format", "clang-tidy", "llvm", "llvm-14", "libbenchmark-dev"}
DEBIAN_12 = RUN | TEST | CLANG | {"clang-format-14", "clang-tidy-14", "libclang-rt-14-dev"}
DEBIAN_13 = (RUN | TEST | CLANG | {"libclang-rt-19-dev"}) - {"clang-14", "llvm-14"}
UBUNTU_22 = RUN | TEST | CLANG | {"clang-format-14", "clang-tidy-14"}
UBUNTU_24 = UBUNTU_22 | {"libclang-rt-14-dev", "libclang-rt-18-dev"}


class DevSetupTest(unittest.TestCase):
    def asked_for(self, distribution, kinds, installed=(), openssl="-lcrypto -ldl"):
        """The package names that `./dev setup` prints for a user who is not root."""
        with tempfile.TemporaryDirectory() as folder:
            self.program(folder, "dpkg-query", "".join(f"echo 'installed {name}'\n" for name in installed))
            known = "|".join(sorted(distribution))
            # A long table of versions follows: who stops to read after the second line must not take that for a failure.
            table = "head -c 200000 /dev/zero | tr '\\0' x"
            self.program(folder, "apt-cache",
                         f"case $2 in {known}) echo 'Candidate: 1' ;; *) echo 'Candidate: (none)' ;; esac\n{table}\n")
            self.program(folder, "apt-get", "exit 1\n")
            self.program(folder, "pkg-config", f"echo '{openssl}'\n")
            script = (ROOT / "dev").read_text(encoding="utf-8").split("\ncommand=${1:-help}\n")[0]
            script = script.replace("((EUID != 0))", "true")
            script = script.replace('cd "$(dirname "$(readlink -f "$0")")"', "")
            run = subprocess.run(["bash", "-c", f"{script}\nsetup {kinds}"], capture_output=True, text=True, timeout=60,
                                 env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), check=False)
        if run.returncode == 0:
            self.assertEqual("", run.stderr)
            return set()
        self.assertIn(f"Run:  sudo ./dev setup {kinds}", run.stderr)
        return set(run.stderr.splitlines()[0].removeprefix("Missing packages: ").split())

    @staticmethod
    def program(folder, name, text):
        path = pathlib.Path(folder, name)
        path.write_text(f"#!/bin/sh\n{text}", encoding="utf-8")
        path.chmod(0o755)

    def test_who_runs_the_server_needs_no_more(self):
        for distribution in (DEBIAN_12, DEBIAN_13, UBUNTU_22, UBUNTU_24):
            self.assertEqual(RUN, self.asked_for(distribution, "run"))
        self.assertEqual(set(), self.asked_for(DEBIAN_13, "run", installed=RUN))
        self.assertEqual({"liblzf-dev"}, self.asked_for(DEBIAN_13, "run", installed=RUN - {"liblzf-dev"}))

    def test_what_openssl_needs(self):
        self.assertEqual({"libzstd-dev"}, self.asked_for(DEBIAN_13 | {"libzstd-dev"}, "run", installed=RUN,
                                                         openssl="-lcrypto -lz -lzstd -ldl"))

    def test_tests_need_no_clang(self):
        for distribution in (DEBIAN_12, DEBIAN_13, UBUNTU_22, UBUNTU_24):
            self.assertEqual(RUN | TEST, self.asked_for(distribution, "run test"))

    def test_clang_has_the_name_of_the_distribution(self):
        self.assertEqual({"clang-14", "libclang-rt-14-dev", "llvm-14"}, self.asked_for(DEBIAN_12, "clang"))
        self.assertEqual({"clang", "libclang-rt-19-dev", "llvm"}, self.asked_for(DEBIAN_13, "clang"))
        self.assertEqual({"clang-14", "llvm-14"}, self.asked_for(UBUNTU_22, "clang"))
        self.assertEqual({"clang-14", "libclang-rt-14-dev", "llvm-14"}, self.asked_for(UBUNTU_24, "clang"))
        self.assertEqual({"clang", "clang-format", "clang-tidy"}, self.asked_for(DEBIAN_13, "lint"))

    def test_what_is_installed_is_not_asked_for_under_another_name(self):
        self.assertEqual(set(), self.asked_for(DEBIAN_12, "clang", {"clang", "libclang-rt-19-dev", "llvm"}))
        self.assertEqual(set(), self.asked_for(UBUNTU_22, "clang", {"clang-14", "llvm-14"}))


if __name__ == "__main__":
    unittest.main()
