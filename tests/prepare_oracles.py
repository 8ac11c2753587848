#!/usr/bin/env python3
"""`./dev oracles`: fetches servers to compare with and their libraries from suites of Debian, unpacks them into a directory
of the user and writes a wrapper for each program, which starts it with its own loader and libraries. The tests compare
with all of these servers. Installs nothing, so it does not need root; servers started this way see the same files as any
other process.

    trixie          Debian 13's redis-server and valkey-server
    experimental    the newest redis-server, with the libraries of sid; benchmarks also compare with it
    sid             the newest valkey-server; benchmarks also compare with it

The directory is $RESPITE_ORACLES, else ~/.cache/respite/oracles; each suite has a folder there, with `root` and `bin`.
Existing folders are kept: remove one to fetch the suite again. One line says which suites could not be fetched and why.
The exit status is 2 if there are no servers at all."""
import argparse
import collections
import dataclasses
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

MIRROR = os.environ.get("RESPITE_DEBIAN_MIRROR", "http://deb.debian.org/debian")
KEYS = pathlib.Path("/usr/share/keyrings/debian-archive-keyring.gpg")
TOOLS = ("server", "check-rdb", "check-aof", "cli", "benchmark")
PROGRAMS = [f"{name}-{tool}" for name in ("redis", "valkey") for tool in TOOLS]


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    title: str  # as in "Debian 13's redis-server"
    packages: tuple  # also the names of the servers' programs
    # Another suite that has the libraries. The packages of both suites are then equally acceptable, so apt takes the
    # newest version.
    libraries: str | None = None
    is_stable: bool = False

    def sources(self):
        return [self.libraries, self.name] if self.libraries else [self.name]

    def servers(self):
        return f"{self.title}'s {' and '.join(self.packages)}"


TRIXIE = Suite("trixie", "Debian 13", ("redis-server", "valkey-server"), is_stable=True)
NEWEST = (Suite("experimental", "Debian experimental", ("redis-server",), libraries="sid"),
          Suite("sid", "Debian sid", ("valkey-server",)))


class Failure(Exception):
    """The reason why there are no oracles; shown to the user."""


def folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("RESPITE_ORACLES") or os.path.join(cache, "respite", "oracles"))


def folder_of(suite):
    """Returns where the suite is or will be. Until 2026 only trixie was fetched, directly into folder(): a trixie that is
    there is used."""
    has_old_layout = suite is TRIXIE and (folder() / "bin").is_dir()
    return folder() if has_old_layout else folder() / suite.name


def servers_of(*suites):
    """Returns the paths of the servers, which may not exist."""
    return [folder_of(suite) / "bin" / name for suite in suites for name in suite.packages]


class Steps:
    """Runs programs, with a common time limit `limit_s`."""

    def __init__(self, limit_s):
        self.end = time.monotonic() + limit_s

    def run(self, *words):
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                  timeout=max(self.end - time.monotonic(), 0.1), check=False)
        except subprocess.TimeoutExpired:
            raise Failure(f"{words[0]} took too long") from None
        if done.returncode:
            raise Failure(f"{words[0]}: " + (done.stderr or done.stdout).strip().split("\n")[0])
        return done.stdout


def apt_options(suite, place):
    """Creates an apt configuration that uses only the keys and the proxy of this system."""
    for part in ("state/lists/partial", "cache/archives/partial"):
        (place / part).mkdir(parents=True)
    (place / "status").touch()
    # The release files of a suite that changes daily expire, and mirrors may be late.
    options = f"signed-by={KEYS} target=Packages" + ("" if suite.is_stable else " check-valid-until=no")
    (place / "sources.list").write_text("".join(f"deb [{options}] {MIRROR} {source} main\n" for source in suite.sources()))
    # Without this line apt never chooses a package of experimental.
    names = " ".join(name.replace("-server", "-*") for name in suite.packages)
    (place / "preferences").write_text(f"Package: {names}\nPin: release a={suite.name}\nPin-Priority: 500\n")
    settings = {"Dir::State": place / "state", "Dir::State::status": place / "status", "Dir::Cache": place / "cache",
                "Dir::Etc::sourcelist": place / "sources.list", "Dir::Etc::sourceparts": "-",
                "Dir::Etc::preferences": place / "preferences", "Dir::Etc::preferencesparts": "-",
                "APT::Sandbox::User": "root", "Acquire::Retries": 1, "Acquire::http::Timeout": 10}
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def download(suite, steps, place):
    """Returns all packages that the servers need on an empty system."""
    options = apt_options(suite, place)
    steps.run("apt-get", "-qq", *options, "update")
    # apt-get succeeds also without a list that it could not fetch.
    if not all(any((place / "state/lists").glob(f"*_dists_{source}_*Packages*")) for source in suite.sources()):
        raise Failure(f"{MIRROR} cannot be reached, or has no such suite")
    steps.run("apt-get", "-qq", "-y", "--no-install-recommends", "--download-only", *options, "-o", "Debug::NoLocking=1",
              "install", *suite.packages)
    return sorted((place / "cache/archives").glob("*.deb"))


def unpack(steps, packages, root):
    root.mkdir(parents=True)
    for package in packages:
        steps.run("dpkg-deb", "-x", str(package), str(root))


def loader_of(root):
    """Returns the path of the dynamic loader, relative to `root`."""
    found = sorted(root.glob("usr/lib/*/ld-linux*.so.*")) + sorted(root.glob("lib/*/ld-linux*.so.*"))
    if not found:
        raise Failure("the packages have no loader")
    return found[0].relative_to(root)


def command(root, loader, name):
    """Returns the words that start a program of `root`. The loader passes its path as argv[0], so a program that looks at
    its own name finds it."""
    return [str(root / loader), "--library-path", str((root / loader).parent), str(root / "usr/bin" / name)]


def write_wrappers(root, bin_folder, final_root):
    loader = loader_of(root)
    bin_folder.mkdir()
    for name in PROGRAMS:
        if (root / "usr/bin" / name).exists():
            wrapper = bin_folder / name
            wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(command(final_root, loader, name))} "$@"\n')
            wrapper.chmod(0o755)


def prepare(suite, steps):
    """Installs everything by one rename, so that the directory is always complete."""
    missing = [tool for tool in ("apt-get", "dpkg-deb") if not shutil.which(tool)]
    if missing or not KEYS.exists():
        raise Failure("this is no Debian: " + (missing[0] if missing else KEYS.stem) + " is missing")
    target = folder_of(suite)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".oracles-", dir=target.parent) as place:
            place = pathlib.Path(place)
            root = place / "whole/root"
            unpack(steps, download(suite, steps, place), root)
            for name in suite.packages:
                steps.run(*command(root, loader_of(root), name), "--version")
            write_wrappers(root, place / "whole/bin", target / "root")
            put_in_place(place / "whole", target)
    except OSError as error:
        raise Failure(str(error)) from error


def put_in_place(whole, target):
    try:
        os.rename(whole, target)
    except OSError:
        if not (target / "bin").is_dir():  # otherwise another process was faster
            raise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=180, help="seconds that all of it may take")
    options = parser.parse_args()
    steps = Steps(options.limit)
    prepared, failed = [], collections.defaultdict(list)  # failed: suites by reason
    for suite in (TRIXIE, *NEWEST):
        try:
            if not (folder_of(suite) / "bin").is_dir():
                prepare(suite, steps)
            prepared.append(suite)
        except Failure as failure:
            failed[str(failure)].append(suite.servers())
    for reason, servers in failed.items():
        print(f"oracles: there is no comparison with {', '.join(servers)}: {reason}", file=sys.stderr)
    for program in servers_of(*prepared):
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
        print(f"{program}  {' '.join(version.split()[:3])}")
    return 0 if prepared else 2


if __name__ == "__main__":
    sys.exit(main())
