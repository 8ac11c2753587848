"""Base of all suites of other people: how each is recognised, prepared, run against a server and parsed; and parsers
for the output of common test runners."""
import collections
import json
import pathlib
import re
import shutil
import sys

ANSI = re.compile(r"\x1b\[[0-9;]*m")


class Result:
    """The result of one part. `failures` are names; there may be fewer than `failed`."""

    def __init__(self, passed=0, failed=0, skipped=0, failures=()):
        self.passed, self.failed, self.skipped, self.failures = passed, failed, skipped, list(failures)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def counts(self):
        return self.passed, self.failed, self.skipped


class Suite:
    """`marks` are files that only this project has. `server_options` are the options of its server; None if the suite
    starts servers itself."""
    name = ""
    marks = ()
    server_options = ("--save", "", "--enable-debug-command", "yes")
    limit_s = 600

    def __init__(self, checkout, work):
        self.checkout, self.work = pathlib.Path(checkout).resolve(), pathlib.Path(work)

    @classmethod
    def recognises(cls, checkout):
        return all((pathlib.Path(checkout) / mark).exists() for mark in cls.marks)

    def prepare(self, run):
        """`run(words, **options)` runs a program, and fails with its output."""

    def parts(self):
        return ["all"]

    def command(self, part, program, port):
        """Returns (command, directory, variables) for this part, against a server on this port."""
        raise NotImplementedError

    def read(self, text):
        """Parses the output into a Result."""
        raise NotImplementedError

    def copy(self, *without):
        target = self.work / "copy"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.checkout, target, symlinks=True, ignore=shutil.ignore_patterns(".git", *without))
        return target


def make_venv(run, folder, packages):
    if not (folder / "bin/python").exists():
        run([sys.executable, "-m", "venv", str(folder)])
    run([str(folder / "bin/python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages])


def redirect_node(work, port):
    """Returns a module that redirects connections from the default port to this one."""
    (work / "port.js").write_text(
        "const net = require('net'); const connect = net.Socket.prototype.connect;\n"
        "const move = o => { if (o && typeof o === 'object' && !Array.isArray(o) && o.port == 6379) o.port = %d; return o; };\n"
        "net.Socket.prototype.connect = function (...a) { "
        "if (Array.isArray(a[0])) move(a[0][0]); else if (a[0] == 6379) a[0] = %d; else move(a[0]); "
        "return connect.apply(this, a); };\n" % (port, port))


def rewrite(path, *replacements):
    """Changes the text of a copy; each pattern must match."""
    text = path.read_text()
    for pattern, new in replacements:
        text, changed = re.subn(pattern, new, text)
        if not changed:
            raise ValueError(f"{path} has no {pattern}")
    path.write_text(text)


def read_pytest(text):
    last = [line for line in ANSI.sub("", text).splitlines() if re.search(r"\d+ (passed|failed|error|skipped)", line)]
    counts = collections.Counter()
    for number, kind in re.findall(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)", last[-1] if last else ""):
        counts[kind.rstrip("s")] += int(number)
    names = re.findall(r"^(?:FAILED|ERROR) (\S+)", ANSI.sub("", text), re.M)
    return Result(counts["passed"] + counts["xfailed"] + counts["xpassed"], counts["failed"] + counts["error"],
                  counts["skipped"], names)


def read_mocha_json(text):
    """There may be other output before or after the report."""
    for start in (match.start() for match in re.finditer(r"^\{\n  \"stats\"", text, re.M)):
        report, _ = json.JSONDecoder().raw_decode(text[start:])
        stats = report["stats"]
        return Result(stats["passes"], stats["failures"], stats["pending"],
                      [failure["fullTitle"] for failure in report["failures"]])
    raise ValueError("no report in: " + text[-300:])


def read_vitest(text):
    """The report is one line among the output of the tests."""
    line = [line for line in text.splitlines() if line.startswith('{"numTotalTestSuites"')][-1]
    report = json.loads(line)
    tests = [test for file in report["testResults"] for test in file["assertionResults"]]
    broken = [pathlib.Path(file["name"]).name for file in report["testResults"]
              if file["status"] == "failed" and not any(test["status"] == "failed" for test in file["assertionResults"])]
    kinds = collections.Counter(test["status"] for test in tests)
    failures = [test["fullName"] for test in tests if test["status"] == "failed"] + broken
    return Result(kinds["passed"], len(failures), len(tests) - kinds["passed"] - kinds["failed"], failures)


def read_go(text):
    """For `go test -v`: the tests themselves, without their subtests."""
    found = re.findall(r"^--- (PASS|FAIL|SKIP): (\S+)", text, re.M)
    kinds = collections.Counter(kind for kind, _ in found)
    crashed = re.findall(r"^panic: .*", text, re.M)[:1]
    return Result(kinds["PASS"], kinds["FAIL"] + len(crashed), kinds["SKIP"], [name for kind, name in found if kind == "FAIL"] + crashed)


def read_ginkgo(text):
    text = ANSI.sub("", text)
    said = re.search(r"^(?:FAIL|SUCCESS|Ran).*? -- (\d+) Passed \| (\d+) Failed \|(?: \d+ Flaked \|)? (\d+) Pending \| (\d+) Skipped",
                     text, re.M)
    if not said:
        raise ValueError("no summary in: " + text[-300:])
    failures = re.findall(r"^\s*\[(?:Fail|FAIL|PANICKED)!?\] (?!in \[)(.*?)\s*$", text, re.M)
    return Result(int(said[1]), int(said[2]), int(said[3]) + int(said[4]), failures)
