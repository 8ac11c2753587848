"""`./dev setup` on simulated systems (with imitations of dpkg-query and apt-cache): which packages are missing, and
which names are installed. Also what `./dev` prints on systems other than Linux (with an imitation of uname)."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ.get("RESPITE_SOURCE_DIR", "."))
RUN = {"g++", "make", "cmake", "ninja-build", "pkg-config", "libasio-dev", "liblua5.4-dev", "libssl-dev", "zlib1g-dev",
       "libjemalloc-dev", "liblzf-dev", "libxxhash-dev", "nlohmann-json3-dev", "rapidjson-dev", "libedit-dev"}
TEST = {"ccache", "libgtest-dev", "libgmock-dev", "openssl", "redis-server", "redis-tools", "python3"}
CLANG = {"clang-14", "clang", "clang-format", "clang-tidy", "llvm", "llvm-14", "libbenchmark-dev"}
DEBIAN_12 = RUN | TEST | CLANG | {"clang-format-14", "clang-tidy-14", "libclang-rt-14-dev"}
DEBIAN_13 = (RUN | TEST | CLANG | {"libclang-rt-19-dev"}) - {"clang-14", "llvm-14"}
UBUNTU_22 = RUN | TEST | CLANG | {"clang-format-14", "clang-tidy-14"}
UBUNTU_24 = UBUNTU_22 | {"libclang-rt-14-dev", "libclang-rt-18-dev"}


class DevSetupTest(unittest.TestCase):
    def asked_for(self, distribution, kinds, installed=(), openssl="-lcrypto -ldl"):
        """The package names that `./dev setup` prints for a user who is not root."""
        return self.missing_for(f"setup {kinds}", distribution, installed, openssl)

    def missing_for(self, function, distribution, installed, openssl="-lcrypto -ldl"):
        """The package names that a function of `./dev` prints, on a system without a JDK and Maven."""
        with tempfile.TemporaryDirectory() as folder:
            self.program(folder, "dpkg-query", "".join(f"echo 'installed {name}'\n" for name in installed))
            known = "|".join(sorted(distribution))
            # A long table of versions follows. A reader that stops after the second line must not regard the closed
            # pipe as a failure.
            table = "head -c 200000 /dev/zero | tr '\\0' x"
            self.program(folder, "apt-cache",
                         f"case $2 in {known}) echo 'Candidate: 1' ;; *) echo 'Candidate: (none)' ;; esac\n{table}\n")
            self.program(folder, "apt-get", "exit 1\n")
            self.program(folder, "pkg-config", f"echo '{openssl}'\n")
            script = (ROOT / "dev").read_text(encoding="utf-8").split("\ncommand=${1:-help}\n")[0]
            script = script.replace("((EUID != 0))", "true")
            script = script.replace('cd "$(dirname "$(readlink -f "$0")")"', "")
            no_java = 'command() { [[ $* != *javac && $* != *mvn ]] && builtin command "$@"; }'
            run = subprocess.run(["bash", "-c", f"{no_java}\n{script}\n{function}"], capture_output=True, text=True, timeout=60,
                                 env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"), check=False)
        if run.returncode == 0:
            self.assertEqual("", run.stderr)
            return set()
        self.assertIn("Run:  sudo ./dev setup ", run.stderr)
        if function.startswith("setup "):
            self.assertIn(f"Run:  sudo ./dev {function}\n", run.stderr)
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

    def test_a_package_needs_only_what_its_kind_needs(self):
        """Prints each kind of package on a system that has only what ./dev run needs."""
        java = {"default-jdk-headless", "maven"}
        of_all = {"binutils", "python3"}
        distribution = DEBIAN_12 | java | of_all | {"rpm", "g++-aarch64-linux-gnu"}
        for kinds in ("wheel", "npm go", "deb", "tarball", "image", "crate", "program"):
            self.assertEqual(of_all, self.missing_for(f"setup_for_package {kinds}", distribution, RUN), kinds)
        for kinds, more in (("rpm", {"rpm"}), ("wheel maven", java), ("", {"rpm"} | java), ("--jobs 2", {"rpm"} | java),
                            ("wheel --arch aarch64", {"g++-aarch64-linux-gnu"}), ("--arch=aarch64 go", {"g++-aarch64-linux-gnu"})):
            self.assertEqual(of_all | more, self.missing_for(f"setup_for_package {kinds}", distribution, RUN), kinds)
        self.assertLessEqual({"rpm", "mmdebstrap"} | java,
                             self.missing_for("setup_for_package --test", distribution | {"mmdebstrap"}, RUN))

    def test_every_kind_of_package_is_known(self):
        text = (ROOT / "dev").read_text(encoding="utf-8")
        known = re.search(r"rpm \| maven\).*?\n +(.*?)\) kinds=some", text, re.S)[1].split(" | ") + ["rpm", "maven"]
        maker = (ROOT / "packaging/package.py").read_text(encoding="utf-8")
        tables = "".join(re.findall(r"^(?:EACH|WHOLE) = \{(.*?)\}", maker, re.S | re.M))
        self.assertEqual({"program", *re.findall(r'"(\w+)":', tables)}, set(known))

    def test_other_systems_are_told_what_to_use_instead(self):
        for system, words in (("Darwin 23.6.0", "On a Mac, use a Linux container or virtual machine"),
                              ("MINGW64_NT-10.0-22631 3.4.10", "use WSL 2"), ("MSYS_NT-10.0 3.4", "use WSL 2"),
                              ("CYGWIN_NT-10.0 3.5", "use WSL 2"), ("Linux 4.4.0-19041-Microsoft", "WSL 1 has no Linux kernel"),
                              ("FreeBSD 14.1", "Use a Linux container or virtual machine")):
            with self.subTest(system), tempfile.TemporaryDirectory() as folder:
                self.program(folder, "uname", f"echo {system}\n")
                # An old Mac's readlink has no -f.
                self.program(folder, "readlink", "exit 1\n")
                run = subprocess.run([ROOT.resolve() / "dev", "run"], capture_output=True, text=True, timeout=60, check=False,
                                     env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"))
                self.assertEqual((1, ""), (run.returncode, run.stdout))
                self.assertIn("dev: Respite runs on Linux only, so far. ", run.stderr)
                self.assertIn(words, run.stderr)

    def test_linux_is_known(self):
        """Also on WSL 2, whose kernel has Microsoft's name in small letters."""
        with tempfile.TemporaryDirectory() as folder:
            self.program(folder, "uname", "echo Linux 5.15.153.1-microsoft-standard-WSL2\n")
            run = subprocess.run([ROOT.resolve() / "dev", "help"], capture_output=True, text=True, timeout=60, check=False,
                                 env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"))
        self.assertEqual(0, run.returncode, run.stderr)
        self.assertIn("usage: ./dev", run.stdout)

    def test_nothing_before_the_check_is_new(self):
        """A Mac's bash is 3.2: it ends at the check, before it reaches code that it cannot parse."""
        head = (ROOT / "dev").read_text(encoding="utf-8").split("\ncd ", 1)[0]
        self.assertIn("exit 1\nfi", head)
        for new in ("local -n", "mapfile", "^^", "[[", "readlink", "declare -A", "${instead,"):
            self.assertNotIn(new, head)


if __name__ == "__main__":
    unittest.main()
