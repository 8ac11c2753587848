#!/usr/bin/env python3
"""Adds up gcov's line counts of a coverage build, per room; usage: coverage.py BUILD_DIR."""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOMS = ("base", "protocol", "datatypes", "persistence", "scripting", "server")


def gcov_reports(build_dir):
    counters = [str(path.resolve()) for path in build_dir.rglob("*.gcda")]
    with tempfile.TemporaryDirectory() as scratch:
        for start in range(0, len(counters), 32):
            subprocess.run(["gcov", "--json-format", "--hash-filenames", *counters[start:start + 32]], cwd=scratch,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        for report in pathlib.Path(scratch).glob("*.gcov.json.gz"):
            yield json.loads(gzip.decompress(report.read_bytes()))


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    hits = collections.defaultdict(int)
    for report in gcov_reports(pathlib.Path(sys.argv[1])):
        for unit in report["files"]:
            path = (pathlib.Path(report["current_working_directory"]) / unit["file"]).resolve()
            if path.is_relative_to(root) and path.relative_to(root).parts[0] in ROOMS:
                for line in unit["lines"]:
                    hits[path.relative_to(root), line["line_number"]] += line["count"]
    for room in ROOMS:
        lines = [count for (path, _), count in hits.items() if path.parts[0] == room]
        if lines:
            covered = sum(1 for count in lines if count)
            print(f"{room:12} {covered:6} of {len(lines):6} lines, {100 * covered / len(lines):5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
