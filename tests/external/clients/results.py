"""Parses the reports of suites: JUnit XML, TAP, or the text of `cargo test`."""
import dataclasses
import re
import xml.etree.ElementTree

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

TAP_LINE = re.compile(r"^(not )?ok\b\s*\d*\s*(?:- )?(.*?)(?:\s*#\s*(skip|todo)\b.*)?$", re.I)
LIBTEST_LINE = re.compile(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED|ignored)")


@dataclasses.dataclass(frozen=True)
class Outcome:
    name: str  # "<class>.<test>", what clients.toml's patterns match
    status: str
    message: str = ""


# Characters that XML forbids, but some reporters write (mostly terminal colours).
NO_XML = re.compile(r"\x1b\[[0-9;]*m|[\x00-\x08\x0b\x0c\x0e-\x1f]")


def from_junit(file):
    root = xml.etree.ElementTree.fromstring(NO_XML.sub("", file.read_text(encoding="utf-8", errors="replace")))
    for case in root.iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        trouble = [child for child in case if child.tag in ("failure", "error")]
        if trouble:
            text = "\n".join(filter(None, (trouble[0].get("message"), trouble[0].text)))
            yield Outcome(name, FAILED, text.strip())
        elif case.find("skipped") is not None:
            yield Outcome(name, SKIPPED)
        else:
            yield Outcome(name, PASSED)


def from_tap(file):
    """The file's name replaces the class; diagnostics after a failed line are its message."""
    found = []
    for line in file.read_text(errors="replace").splitlines():
        match = TAP_LINE.match(line)
        if match:
            failed, name, directive = match.groups()
            status = SKIPPED if directive else FAILED if failed else PASSED
            found.append([f"{file.stem}.{name.strip()}", status, []])
        elif line.startswith("#") and found and found[-1][1] == FAILED:
            found[-1][2].append(line.lstrip("# "))
        elif line.startswith("Bail out!"):
            found.append([f"{file.stem}.(bailed out)", FAILED, [line]])
    return [Outcome(name, status, "\n".join(notes)) for name, status, notes in found]


def from_libtest(file):
    words = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}
    matches = filter(None, map(LIBTEST_LINE.match, file.read_text(errors="replace").splitlines()))
    return [Outcome(f"{file.stem}.{match[1].replace('::', '.')}", words[match[2]]) for match in matches]


READERS = {".xml": from_junit, ".tap": from_tap, ".libtest": from_libtest}


def read_all(folder):
    outcomes = []
    for file in sorted(folder.rglob("*")):
        reader = READERS.get(file.suffix)
        if reader:
            outcomes += read_one(reader, file)
    return outcomes


def read_one(reader, file):
    try:
        return list(reader(file))
    except xml.etree.ElementTree.ParseError as error:
        return [Outcome(f"{file.name}.(unreadable)", FAILED, str(error))]


def count(outcomes, status):
    return sum(outcome.status == status for outcome in outcomes)
