#!/usr/bin/env python3
"""`./dev oracles`: fetches Debian 13's redis-server and valkey-server with their libraries, unpacks them into a directory
of the user and writes a wrapper for each program, which starts it with its own loader and libraries. Installs nothing, so
it does not need root; servers started this way see the same files as any other process.

The directory is $RESPITE_ORACLES, else ~/.cache/respite/oracles. Existing files are kept: remove the directory to fetch
them again. After a failure one line says why, and the exit status is 2."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SUITE = "trixie"
PACKAGES = ("redis-server", "valkey-server")
MIRROR = os.environ.get("RESPITE_DEBIAN_MIRROR", "http://deb.debian.org/debian")
TOOLS = ("server", "check-rdb", "check-aof", "cli", "benchmark")
PROGRAMS = [f"{name}-{tool}" for name in ("redis", "valkey") for tool in TOOLS]
WRAPPER = '#!/bin/sh\nexec "{loader}" --library-path "{libraries}" "{program}" "$@"\n'


class Failure(Exception):
    """The reason why there are no oracles; shown to the user."""


def folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("RESPITE_ORACLES") or os.path.join(cache, "respite", "oracles"))


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


def apt_options(place):
    """Creates an apt configuration that uses only the keys and the proxy of this system."""
    for part in ("state/lists/partial", "cache/archives/partial"):
        (place / part).mkdir(parents=True)
    (place / "status").touch()
    keys = "/usr/share/keyrings/debian-archive-keyring.gpg"
    (place / "sources.list").write_text(f"deb [signed-by={keys}] {MIRROR} {SUITE} main\n")
    settings = {"Dir::State": place / "state", "Dir::State::status": place / "status", "Dir::Cache": place / "cache",
                "Dir::Etc::sourcelist": place / "sources.list", "Dir::Etc::sourceparts": "-", "Dir::Etc::preferencesparts": "-",
                "APT::Sandbox::User": "root", "Acquire::Retries": 1, "Acquire::http::Timeout": 10}
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def download(steps, place):
    """Returns all packages that the servers need on an empty system."""
    options = apt_options(place)
    steps.run("apt-get", "-qq", *options, "update")
    if not any((place / "state/lists").glob("*Packages*")):
        raise Failure(f"{MIRROR} cannot be reached")
    steps.run("apt-get", "-qq", "-y", "--no-install-recommends", "--download-only", *options, "-o", "Debug::NoLocking=1",
              "install", *PACKAGES)
    return sorted((place / "cache/archives").glob("*.deb"))


def unpack(steps, packages, root):
    root.mkdir(parents=True)
    for package in packages:
        steps.run("dpkg-deb", "-x", str(package), str(root))


def write_wrappers(root, bin_folder, final_root):
    loader = next(iter(sorted(root.glob("usr/lib/*/ld-linux*.so.*")) + sorted(root.glob("lib/*/ld-linux*.so.*"))), None)
    if loader is None:
        raise Failure("the packages have no loader")
    bin_folder.mkdir()
    for name in PROGRAMS:
        if (root / "usr/bin" / name).exists():
            wrapper = bin_folder / name
            loader_there = final_root / loader.relative_to(root)
            wrapper.write_text(WRAPPER.format(loader=loader_there, libraries=loader_there.parent,
                                              program=final_root / "usr/bin" / name))
            wrapper.chmod(0o755)


def prepare(target, limit_s):
    """Installs everything by one rename, so that the directory is always complete."""
    missing = [tool for tool in ("apt-get", "dpkg-deb") if not shutil.which(tool)]
    if missing or not os.path.exists("/usr/share/keyrings/debian-archive-keyring.gpg"):
        raise Failure("this is no Debian: " + (missing[0] if missing else "debian-archive-keyring") + " is missing")
    steps = Steps(limit_s)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".oracles-", dir=target.parent) as place:
            place = pathlib.Path(place)
            unpack(steps, download(steps, place), place / "whole/root")
            write_wrappers(place / "whole/root", place / "whole/bin", target / "root")
            put_in_place(place / "whole", target)
        check(steps, target)
    except OSError as error:
        raise Failure(str(error)) from error


def put_in_place(whole, target):
    try:
        os.rename(whole, target)
    except OSError:
        if not (target / "bin").is_dir():  # otherwise another process was faster
            raise


def check(steps, target):
    for name in PACKAGES:
        steps.run(str(target / "bin" / name), "--version")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=180, help="seconds that all of it may take")
    options = parser.parse_args()
    target = folder()
    try:
        if not (target / "bin").is_dir():
            prepare(target, options.limit)
    except Failure as failure:
        print(f"oracles: Debian 13's redis-server and valkey-server are not compared with: {failure}", file=sys.stderr)
        return 2
    for name in PACKAGES:
        program = target / "bin" / name
        version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
        print(f"{program}  {' '.join(version.split()[:3])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
