"""Sends every program of lua_programs.txt with EVAL to our server and to each oracle and compares the replies, byte by
byte. Our server emulates oracles that are newer than 7.2.

    python3 tests/system/lua_differential_test.py [--only WORD]

shows all differences together; WORD selects the programs that contain it. In the file, each program follows a line that
starts with `###`. The rest of that line may mark it:

    ### differs: why             our reply differs on purpose (docs/differences.md)
    ### differs 7.0: why         this version differs from 7.2, and we do not

If there is no difference, the mark is stale.

Programs that call `show` get that function, which formats all its arguments."""
import os
import re
import sys
import unittest

import oracles
from two_servers import RESPITE, Server

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lua_programs.txt")
SHOW = (b"local function show(...) local t={} for i=1,select('#',...) do t[i]=tostring((select(i,...))) end "
        b"return table.concat(t,'|') end ")
ONLY = b""
MARK = re.compile(r"(differs)?((?: ?,? (?:valkey )?\d+\.\d+)*)")


class Program:
    def __init__(self, header, source):
        mark = MARK.fullmatch(header.split(":")[0].strip())
        assert mark, header
        self.versions = mark[2].strip().split(", ") if mark[2] else None
        self.is_marked = bool(mark[1])
        self.source = (SHOW if b"show(" in source else b"") + source

    def differs_from(self, mark):
        return self.is_marked and (self.versions is None or mark in self.versions)


def read_programs():
    with open(FILE, "rb") as file:
        parts = re.split(rb"^###(.*)\n", file.read(), flags=re.MULTILINE)[1:]
    return [Program(header.decode(), source[:-1]) for header, source in zip(parts[::2], parts[1::2])]


def compare(programs, ours, theirs, mark):
    """Returns descriptions of all programs whose replies do not match their marks."""
    wrong = []
    for program in programs:
        replies = [client.run("EVAL", program.source, 0) for client in (ours, theirs)]
        if (replies[0] == replies[1]) == program.differs_from(mark):
            wrong.append("%s\n  ours   %r\n  theirs %r" % (program.source.decode(errors="replace"), *replies))
    return wrong


class LuaDifferential(unittest.TestCase):
    def setUp(self):
        self.servers = []
        for words in ((RESPITE, *self.oracle.our_options), (self.oracle.program,)):
            self.servers.append(Server(*words))
            self.addCleanup(self.servers[-1].stop)
        self.clients = [server.client() for server in self.servers]
        for client in self.clients:
            self.addCleanup(client.close)

    def test_programs_give_the_same(self):
        programs = [program for program in read_programs() if ONLY in program.source]
        wrong = compare(programs, *self.clients, self.oracle.mark)
        self.oracle.count(len(programs))
        self.assertEqual(wrong, [], "%d of %d programs:\n%s" % (len(wrong), len(programs), "\n".join(wrong)))


oracles.multiply(globals(), LuaDifferential)

if __name__ == "__main__":
    if "--only" in sys.argv:
        place = sys.argv.index("--only")
        ONLY = sys.argv[place + 1].encode()
        del sys.argv[place:place + 2]
    unittest.main()
