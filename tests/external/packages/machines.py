#!/usr/bin/env python3
"""`./dev machines`: README's first command on machines with few packages, in roots made by mmdebstrap; the tests of
scripts with the Lua of each release; and a syntax check of all sources by compilers that no row builds with (Debian 12
builds with g++ 12, 13 with g++ 14, sid with its newest). Prints a line with the time for each; the last line says how
many failed.

    tests/external/packages/machines.py               every row
    tests/external/packages/machines.py sid clang     the rows with one of these texts in their names
    tests/external/packages/machines.py --list        the names

A row copies the checkout into its root as an archive has it, without .git, installs what it says, and runs README's lines.
The first row of a root takes as long as a user waits; then ccache is installed, so that rows with the same path are quick. A
row fails if a line fails, prints a warning, or takes longer than LIMIT_S. Needs root and mmdebstrap."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import places

LIMIT_S = 900
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
HOME = "/home/user"
# The lines of a user, and a check that the server answers. `sh -e` runs them.
RUN = """
./dev setup run
./dev run --port 7399 --daemonize yes --pidfile /tmp/pid
until build/release/respite-cli -p 7399 ping | grep -x PONG; do sleep 0.1; done
kill $(cat /tmp/pid)
"""
RUN_AS_BEFORE = RUN.replace("./dev setup run\n", "")
# The release has its own Lua, whose internals the scripts depend on (docs/design/scripting.md).
SCRIPTS = """
./dev setup run test
cmake --preset test
cmake --build build/test --target respite_lua_seam_check respite_scripting_tests
build/test/tests/respite_scripting_tests --gtest_brief=1
"""
# Compiles all sources of a room as one translation unit (the build uses groups of sixteen), with the warnings of the
# build.
SYNTAX = """
./dev setup run
for room in base protocol datatypes persistence scripting server/*; do
  test -d $room || continue
  find $room -name '*.cc' ! -name main.cc | sort | sed 's/.*/#include "&"/' >/tmp/${room##*/}.cc
done
ls /tmp/*.cc | xargs -P $(nproc) -I{} sh -c '%s -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion \\
  -Wno-maybe-uninitialized -I. -isystem /usr/include/lua5.4 -DASIO_STANDALONE -DASIO_NO_DEPRECATED -DRESPITE_JEMALLOC {} || echo FAILED {}' \\
  >/tmp/syntax 2>&1
cat /tmp/syntax
! grep FAILED /tmp/syntax
"""


@dataclasses.dataclass
class Machine:
    name: str
    release: str
    script: str
    packages: tuple = ()
    folder: str = "/src"
    fails_with: str = ""  # the sentence that is expected instead of success


TOO_OLD = """
mkdir -p /old
printf '#!/bin/sh\\necho cmake version 3.18.4\\n' >/old/cmake
chmod +x /old/cmake
PATH=/old:$PATH ./dev run --version
"""
# A file instead of the folder: nothing can be written below it, also not by root.
NO_HOME = "rm -rf /home/user\ntouch /home/user\n" + RUN_AS_BEFORE
RENAMED = RUN_AS_BEFORE + """
mv /src '/src moved'
cd '/src moved'
""" + RUN_AS_BEFORE
CLANG = "./dev setup run\nif command -v g++; then exit 1; fi\n" + RUN_AS_BEFORE
NO_PYTHON = "rm -f /usr/bin/python3*\n" + RUN_AS_BEFORE
HALF_OF_TESTS = "test -e /usr/include/gtest\ntest ! -e /usr/include/gmock\n" + RUN_AS_BEFORE

MACHINES = (
    Machine("Debian 12", "bookworm", RUN),
    Machine("Debian 12, gtest without gmock", "bookworm", HALF_OF_TESTS, ("libgtest-dev",)),
    Machine("Debian 12, no python3", "bookworm", NO_PYTHON),
    Machine("Debian 12, CMake too old", "bookworm", TOO_OLD, fails_with="CMake 3.18.4 is too old"),
    Machine("Debian 12, a path with blanks", "bookworm", RUN_AS_BEFORE, folder="/my sources/respite of today"),
    Machine("Debian 12, a HOME that cannot be written to", "bookworm", NO_HOME),
    Machine("Debian 12, a checkout that was renamed", "bookworm", RENAMED),
    Machine("Debian 12, scripts", "bookworm", SCRIPTS),
    Machine("Debian 12, g++ 11", "bookworm", SYNTAX % "g++-11", ("g++-11",)),
    Machine("Debian 12, g++ 12", "bookworm", SYNTAX % "g++-12", ("g++-12",)),
    Machine("Debian 13", "trixie", RUN),
    Machine("Debian 13, clang and no g++", "trixie-clang", CLANG, ("clang",)),
    Machine("Debian 13, scripts", "trixie", SCRIPTS),
    Machine("Debian 13, g++ 13", "trixie", SYNTAX % "g++-13", ("g++-13",)),
    Machine("Debian sid", "sid", RUN),
    Machine("Debian sid, scripts", "sid", SCRIPTS),
    Machine("Debian sid, g++ 15", "sid", SYNTAX % "g++-15", ("g++-15",)),
)


def base(release):
    """Returns a minimal root; an archive that is no longer updated suffices."""
    suite = release.split("-")[0]
    return places.kept(f"machine-{suite}.tar", lambda part: places.run(
        "mmdebstrap", "--variant=minbase", "--mode=root", "--format=tar", "--keyring=/usr/share/keyrings",
        "--aptopt=Acquire::Check-Valid-Until \"false\"", "--include=ca-certificates", suite, part, places.archive()))


class Root:
    """A root for the rows of one release. /proc is mounted there until it is closed; the devices are its own."""

    def __init__(self, folder, release):
        self.root = folder / release
        self.root.mkdir()
        places.run("tar", "-xf", base(release), "-C", self.root)
        places.run("mount", "-t", "proc", "proc", self.root / "proc")
        shutil.copy("/etc/resolv.conf", self.root / "etc/resolv.conf")
        self.inside("apt-get -qq update")
        self.has_run = False

    def close(self):
        subprocess.run(["umount", "-l", str(self.root / "proc")], check=False)

    def inside(self, script, folder="/"):
        """Runs `sh -e`; returns what was printed and whether it succeeded."""
        done = subprocess.run(["chroot", str(self.root), "/bin/sh", "-ec", f"cd '{folder}'\n{script}"], text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=LIMIT_S, env={"PATH": PATH, "HOME": HOME, "LANG": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        return done.stdout, done.returncode == 0

    def put_sources(self, folder):
        target = self.root / folder.lstrip("/")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        names = subprocess.run(["git", "-C", str(places.ROOT), "ls-files", "-z"], capture_output=True, check=True).stdout
        subprocess.run(["tar", "-C", str(places.ROOT), "--null", "--files-from=-", "-cf", str(self.root / "sources.tar")],
                       input=names, check=True)
        places.run("tar", "-xf", self.root / "sources.tar", "-C", target)

    def run(self, machine):
        """Returns what is wrong; nothing if all is well."""
        home = self.root / HOME.lstrip("/")
        if home.is_file():  # the row before was NO_HOME
            home.unlink()
        home.mkdir(parents=True, exist_ok=True)
        packages = [*machine.packages, *(["ccache"] if self.has_run else [])]
        self.has_run = True
        if packages:
            self.inside(f"apt-get -qq -y --no-install-recommends install {' '.join(packages)}")
        self.put_sources(machine.folder)
        self.since = time.monotonic()
        output, succeeded = self.inside(machine.script, machine.folder)
        if machine.fails_with:
            return "" if not succeeded and machine.fails_with in output else f"expected {machine.fails_with!r}:\n{output[-2000:]}"
        if not succeeded:
            return output[-4000:]
        warning = re.search(r"^.*\bwarning: .*$", output, re.M | re.I)
        return warning[0] if warning else ""


def main():
    names = sys.argv[1:]
    if names == ["--list"]:
        print("\n".join(machine.name for machine in MACHINES))
        return 0
    chosen = [machine for machine in MACHINES if not names or any(name in machine.name for name in names)]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="machines-") as folder:
        roots = {}
        try:
            for machine in chosen:
                if machine.release not in roots:
                    roots[machine.release] = Root(pathlib.Path(folder), machine.release)
                root = roots[machine.release]
                trouble = root.run(machine)
                failed += bool(trouble)
                print(f"{machine.name}: {'FAILED' if trouble else 'good'}, {time.monotonic() - root.since:.0f} s", flush=True)
                if trouble:
                    print(trouble, flush=True)
        finally:
            for root in roots.values():
                root.close()
    print(f"{len(chosen) - failed} good, {failed} failed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except unittest.SkipTest as reason:
        sys.exit(f"machines: {reason}")
