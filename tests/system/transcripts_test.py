"""Runs tests/transcripts/*.resp against our server and against each oracle (oracles.py), and compares raw bytes.

A transcript is a text file:

    # a comment
    == A title begins a scenario: empty databases, new connections
    > SET k "two words"              a request; words are split and quoted as in redis.conf
    +OK                              the raw reply, a line for each CR LF; octets as \\xhh, \\r, \\n, \\\\
    > GET k
    $9
    two words
    >> *1\\r\\n$x\\r\\n                 bytes sent as they are (same escapes)
    -ERR Protocol error: invalid bulk length
    !closed                          the server closes this connection
    other> BLPOP k 0
    !waits                           no reply comes yet; `other<` reads it later
    other> PING                      a request over another connection, named `other`
    +PONG
    other<                           what that connection receives: for example a message of a channel
    *3
    …
    > TIME
    ?                                any one reply
    monitor<
    +<time> [0 <client>] "GET" "k"   variable parts of a line of MONITOR are replaced
    > CLIENT NO-TOUCH on
    +OK
    [7.0] -ERR unknown subcommand 'no-touch'. Try CLIENT HELP.
    > OBJECT FREQ k
    -ERR An LFU maxmemory policy is not selected, access frequency not tracked. …
    [8.0, valkey 8.1] -ERR …         the replies of these versions, line by line; all others as above

    python3 tests/system/transcripts_test.py --fill PROGRAM FILE...

writes the replies of PROGRAM into the files, keeping `?`, without marks;

    python3 tests/system/transcripts_test.py --mark FILE...

writes the differing replies of each oracle as marks, which replace the existing marks of these versions except `?`."""
import contextlib
import glob
import os
import re
import select
import sys
import unittest

import oracles
from two_servers import RESPITE, Closed, Server, encode

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "transcripts")
REQUEST = re.compile(r"^(\w*)(>>?|<(?=$))(?: (.*))?$")
TEXT_HEAD = re.compile(r"[$!=]\d+")
ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "a": b"\a", "b": b"\b", "\\": b"\\", '"': b'"', " ": b" "}
OTHERWISE = re.compile(r"\[((?:(?:valkey )?\d+\.\d+(?:, )?)+)\](?: (.*))?")
MONITORED = re.compile(r"^\+\d+\.\d{6} \[(\d+) (lua|[^\]]*)\] ")


def unescape(text):
    out = b""
    at = 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1] == "x":
            out += bytes([int(text[at + 2:at + 4], 16)])
            at += 4
        elif text[at] == "\\":
            out += ESCAPES[text[at + 1]]
            at += 2
        else:
            out += text[at].encode()
            at += 1
    return out


def escape(data):
    named = {0x5c: "\\\\", 0x0a: "\\n", 0x0d: "\\r"}
    return "".join(named.get(c) or (chr(c) if 0x20 <= c < 0x7f else f"\\x{c:02x}") for c in data)


def words_of(line):
    """Splits as redis.conf does: at blanks, with "double quotes" with escapes and 'single quotes' without."""
    words = []
    for plain, double, single in re.findall(r"""((?:[^\s"'])+)|"((?:[^"\\]|\\.)*)"|'([^']*)'""", line):
        words.append(plain.encode() if plain else unescape(double) if double else single.encode())
    return words


def lines_of(raw):
    """The reply as written in a transcript: split at each CR LF of the protocol, but not inside bulk strings."""
    lines = []
    at = 0
    while at < len(raw):
        end = raw.index(b"\r\n", at)
        head = raw[at:end]
        lines.append(MONITORED.sub(timeless, escape(head)))
        at = end + 2
        if head[:1] in (b"$", b"!", b"=") and int(head[1:]) >= 0:
            size = int(head[1:])
            lines.append(escape(raw[at:at + size]))
            at += size + 2
    return lines


def timeless(monitored):
    return f"+<time> [{monitored[1]} {'lua' if monitored[2] == 'lua' else '<client>'}] "


class Step:
    def __init__(self, number, name, mark, text):
        self.number, self.name, self.raw, self.text = number, name, mark == ">>", text
        self.silent = mark == "<"  # sends nothing
        self.lines = []
        self.otherwise = {}  # maps the mark of a version to its lines
        self.end = number  # last line of all these
        self.expected = self.lines  # lines for the server under test

    def request(self):
        return unescape(self.text) if self.raw else encode(words_of(self.text))


class Scenario:
    def __init__(self, title):
        self.title = title
        self.steps = []


def parse(path):
    scenarios = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            steps = scenarios[-1].steps if scenarios else []
            request = REQUEST.match(line)
            if awaits_text(steps) or line and not line.startswith(("# ", "== ")) and not request:
                add_answer(steps[-1], line, number, not awaits_text(steps) and OTHERWISE.fullmatch(line))
            elif line.startswith("== "):
                scenarios.append(Scenario(line[3:]))
            elif request and not line.startswith("# "):
                steps.append(Step(number, request[1], request[2], request[3] or ""))
    return scenarios


def add_answer(step, line, number, otherwise):
    step.end = number
    if not otherwise:
        step.lines.append(line)
        return
    for mark in otherwise[1].split(", "):
        step.otherwise.setdefault(mark, []).append(otherwise[2] or "")


def steps_for(path, mark):
    """Returns the scenarios with the replies expected from the version with this mark."""
    scenarios = parse(path)
    for step in (step for scenario in scenarios for step in scenario.steps):
        step.expected = step.otherwise.get(mark, step.lines)
    return scenarios


def awaits_text(steps):
    """Returns whether the next line is the content of a bulk string."""
    awaits = False
    for line in steps[-1].lines if steps else []:
        awaits = not awaits and TEXT_HEAD.fullmatch(line) is not None
    return awaits


class Player:
    """Runs one scenario on one server."""

    def __init__(self, server):
        self.server = server
        self.clients = {"": server.client()}
        assert self.clients[""].run("FLUSHALL") == b"+OK\r\n"

    def close(self):
        for client in self.clients.values():
            client.close()

    def client(self, name):
        if name not in self.clients:
            self.clients[name] = self.server.client()
        return self.clients[name]

    def waits(self, client):
        """Returns whether nothing came although the server has replied to another client since."""
        with contextlib.closing(self.server.client()) as onlooker:
            onlooker.run("PING")
        return not client.buffer and not select.select([client.socket], [], [], 0)[0]

    def lines(self, step):
        """Sends the request and reads as many replies as are expected: at least one, unless no reply is expected."""
        client = self.client(step.name)
        if not step.silent:
            client.send(step.request())
        if step.expected == ["!waits"] and self.waits(client):
            return step.expected
        lines = []
        try:
            while len(lines) < len(step.expected) and lines == step.expected[:len(lines)]:
                any_reply = step.expected[len(lines)] == "?"
                reply = client.read()
                lines += ["?"] if any_reply else lines_of(reply)
        except Closed as closed:
            lines += lines_of(closed.rest) + ["!closed"]
        return lines

    def fill(self, step):
        client = self.client(step.name)
        if not step.silent:
            client.send(step.request())
        try:
            if step.expected == ["!waits"]:
                return step.expected if self.waits(client) else lines_of(client.read())
            if step.expected in (["?"], ["!closed"]):
                return step.expected if step.expected == ["!closed"] else [client.read() and "?"]
            lines = lines_of(client.read())
            while client.buffer and not step.silent:
                lines += lines_of(client.read())
            return lines + (["!closed"] if step.raw and lines[-1].startswith("-ERR Protocol") else [])
        except Closed as closed:
            return lines_of(closed.rest) + ["!closed"]
        except TimeoutError:
            raise SystemExit(f"line {step.number}: nothing came") from None


class PlayedFiles(unittest.TestCase):
    """Runs files on a server; `add_tests` makes a test of each."""
    oracle = None  # otherwise our server

    def setUp(self):
        self.server = Server(self.oracle.program if self.oracle else RESPITE)
        self.addCleanup(self.server.stop)

    def play(self, path):
        for scenario in steps_for(path, self.oracle and self.oracle.mark):
            player = Player(self.server)
            try:
                for step in scenario.steps:
                    self.check(path, scenario, step, player.lines(step))
            finally:
                player.close()

    def check(self, path, scenario, step, lines):
        where = f"{os.path.relpath(path)}:{step.number} ({scenario.title}) {step.text!r}"
        self.assertEqual(step.expected, lines, where)
        if self.oracle:
            self.oracle.count()


    @classmethod
    def add_tests(cls, folder):
        def test_of(path):
            return lambda self: self.play(path)
        for path in sorted(glob.glob(os.path.join(folder, "*.resp"))):
            setattr(cls, "test_" + os.path.basename(path).removesuffix(".resp"), test_of(path))


class Transcripts(PlayedFiles):
    pass


class OnRespite(Transcripts):
    pass


Transcripts.add_tests(FOLDER)
oracles.multiply(globals(), Transcripts)


def fill(program, paths):
    server = Server(program)
    try:
        for path in paths:
            answers = {}
            for scenario in parse(path):
                player = Player(server)
                for step in scenario.steps:
                    answers[step.number] = player.fill(step)
                player.close()
            rewrite(path, answers)
    finally:
        server.stop()


def all_lines(player, step):
    """Reads all replies, whatever was expected: until nothing more comes, or for `name<` as many as expected."""
    client = player.client(step.name)
    if not step.silent:
        client.send(step.request())
    if step.expected == ["!waits"] and player.waits(client):
        return step.expected
    lines = []
    try:
        while lines != step.expected:
            as_expected = lines == step.expected[:len(lines)]
            if step.silent and len(lines) >= len(step.expected):
                return lines
            if not client.buffer and not select.select([client.socket], [], [], 8.0 if as_expected else 0.05)[0]:
                return lines or ["!waits"]
            lines += ["?"] if as_expected and step.expected[len(lines)] == "?" and client.read() else lines_of(client.read())
    except Closed as closed:
        lines += lines_of(closed.rest) + ["!closed"]
    return lines


def answers_otherwise(oracle, path):
    """Maps the number of a step to lines."""
    found = {}
    server = Server(oracle.program)
    try:
        for scenario in steps_for(path, None):
            with contextlib.closing(Player(server)) as player:
                for step in scenario.steps:
                    lines = all_lines(player, step)
                    if step.otherwise.get(oracle.mark) == ["?"]:
                        lines = ["?"]
                    if lines != step.expected:
                        found[step.number] = lines
    finally:
        server.stop()
    return found


def marks_of_other_versions(path, versions):
    """Maps the number of a step to its lines by mark, without the marks of these versions."""
    return {step.number: {name: lines for name, lines in step.otherwise.items() if name not in versions}
            for scenario in parse(path) for step in scenario.steps}


def mark(paths):
    """Adds a mark where an oracle's reply differs from the unmarked one."""
    found = oracles.all_oracles()[0]
    for path in paths:
        marks = marks_of_other_versions(path, {oracle.mark for oracle in found})
        for oracle in found:
            for number, lines in answers_otherwise(oracle, path).items():
                marks.setdefault(number, {})[oracle.mark] = lines
        write_marks(path, marks)


def write_marks(path, marks):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    steps = [step for scenario in parse(path) for step in scenario.steps]
    for step in reversed(steps):
        first = step.end - sum(1 for line in lines[step.number:step.end] if OTHERWISE.fullmatch(line))
        lines[first:step.end] = marked_lines(marks.get(step.number, {}))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def marked_lines(by_mark):
    together = {}
    for name, lines in by_mark.items():
        together.setdefault(tuple(lines), []).append(name)
    return ["[" + ", ".join(names) + "]" + (" " + line if line else "") for lines, names in together.items() for line in lines]


def rewrite(path, answers):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    out = []
    skipping = False
    for number, line in enumerate(lines, 1):
        if number in answers:
            out += [line, *answers[number]]
            skipping = True
        elif line.startswith(("# ", "== ")) or not skipping:
            if line.startswith("== ") and out and out[-1]:
                out.append("")
            out.append(line)
            skipping = False
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out).rstrip("\n") + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fill"]:
        fill(sys.argv[2], sys.argv[3:])
    elif sys.argv[1:2] == ["--mark"]:
        mark(sys.argv[2:])
    else:
        unittest.main()
