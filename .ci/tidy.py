#!/usr/bin/env python3
"""clang-tidy over the project's sources, bounded in time.

A file is checked again only when it, a header, or .clang-tidy changed. Files changed against the main branch come
first; when the budget ends, the number of unchecked files is printed and only findings so far count.
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

TIDY = os.environ.get("CLANG_TIDY", "clang-tidy-14")
ROOMS = ("base", "protocol", "datatypes", "persistence", "scripting", "server", "bench", "tests")


def git_lines(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split("\n") if done.returncode == 0 else []


def recently_changed():
    names = set(git_lines("diff", "--name-only", "HEAD"))
    for main in ("origin/main", "main"):
        base = git_lines("merge-base", main, "HEAD")
        if base:
            names |= set(git_lines("diff", "--name-only", base[0]))
            break
    return names


def project_sources(build_dir, root):
    commands = build_dir / "compile_commands.json"
    entries = json.loads(commands.read_text()) if commands.exists() else []
    files = {pathlib.Path(entry["file"]).resolve() for entry in entries}
    return sorted(f for f in files if f.is_relative_to(root) and f.relative_to(root).parts[0] in ROOMS)


def headers_digest(root):
    digest = hashlib.sha256((root / ".clang-tidy").read_bytes())
    for room in ROOMS:
        for header in sorted((root / room).rglob("*.h")):
            digest.update(header.read_bytes())
    return digest.hexdigest()


class Checker:
    def __init__(self, build_dir, root, deadline):
        self.build_dir, self.root, self.deadline = build_dir, root, deadline
        self.headers = headers_digest(root)
        self.cache = build_dir / "tidy-cache"
        self.cache.mkdir(parents=True, exist_ok=True)

    def check(self, source):
        """Returns "clean", "late" or the findings."""
        key = hashlib.sha256((self.headers + str(source)).encode() + source.read_bytes()).hexdigest()
        marker = self.cache / key
        if marker.exists():
            return "clean"
        left = self.deadline - time.monotonic()
        if left <= 0:
            return "late"
        try:
            done = subprocess.run([TIDY, "-p", str(self.build_dir), "--quiet", str(source)], capture_output=True,
                                  text=True, timeout=None if left == float("inf") else left, check=False)
        except subprocess.TimeoutExpired:
            return "late"
        if done.returncode != 0:
            return done.stdout + done.stderr
        marker.touch()
        return "clean"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build-dir", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--budget-s", type=float, default=float(os.environ.get("RESPITE_LINT_SECONDS", "240")))
    arguments = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    changed = recently_changed()
    sources = project_sources(arguments.build_dir.resolve(), root)
    sources.sort(key=lambda f: str(f.relative_to(root)) not in changed)
    checker = Checker(arguments.build_dir.resolve(), root, time.monotonic() + arguments.budget_s)
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(checker.check, sources))
    findings = [text for text in results if text not in ("clean", "late")]
    for text in findings:
        print(text)
    late = results.count("late")
    if late:
        by_room = collections.Counter(source.relative_to(root).parent.as_posix()
                                      for source, result in zip(sources, results) if result == "late")
        print("not checked in time: " + ", ".join(f"{count} in {room}" for room, count in sorted(by_room.items())))
    print(f"clang-tidy: {results.count('clean')} files clean, {len(findings)} with findings"
          + (f", {late} not checked within {arguments.budget_s:.0f} s" if late else ""))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
