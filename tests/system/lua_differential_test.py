"""Sends every program of lua_programs.txt with EVAL to our server and to a real Redis and compares the replies, byte by
byte.

    python3 tests/system/lua_differential_test.py [--only WORD]

shows all differences at once; WORD selects the programs that contain it. In the file, each program follows a line that
starts with `###`. What stands there marks it:

    ### 7.2: why           older servers answer otherwise, so it is compared only with 7.2 and later
    ### differs: why       our answer is another one on purpose (docs/differences.md); it must differ, or the mark is stale

Programs that call `show` get that function: it makes one text of all its arguments."""
import os
import re
import sys
import unittest

from two_servers import REDIS, RESPITE, Server

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lua_programs.txt")
SHOW = (b"local function show(...) local t={} for i=1,select('#',...) do t[i]=tostring((select(i,...))) end "
        b"return table.concat(t,'|') end ")
MARKS = ("", "7.2", "differs")


class Program:
    def __init__(self, header, source):
        self.mark = header.split(":")[0].strip()
        assert self.mark in MARKS, header
        self.source = (SHOW if b"show(" in source else b"") + source


def read_programs():
    with open(FILE, "rb") as file:
        parts = re.split(rb"^###(.*)\n", file.read(), flags=re.MULTILINE)[1:]
    return [Program(header.decode(), source[:-1]) for header, source in zip(parts[::2], parts[1::2])]


def compare(programs, ours, theirs, version):
    """Descriptions of all programs whose replies are not as their marks say."""
    wrong = []
    for program in programs:
        replies = [client.run("EVAL", program.source, 0) for client in (ours, theirs)]
        if program.mark == "7.2" and version < (7, 2):
            continue
        if (replies[0] == replies[1]) == (program.mark == "differs"):
            wrong.append("%s\n  ours   %r\n  theirs %r" % (program.source.decode(errors="replace"), *replies))
    return wrong


class LuaDifferentialTest(unittest.TestCase):
    only = b""

    def setUp(self):
        self.servers = []
        for path in (RESPITE, REDIS):
            self.servers.append(Server(path))
            self.addCleanup(self.servers[-1].stop)
        self.clients = [server.client() for server in self.servers]
        for client in self.clients:
            self.addCleanup(client.close)

    def test_programs_give_the_same(self):
        programs = [program for program in read_programs() if self.only in program.source]
        wrong = compare(programs, *self.clients, self.servers[1].version)
        self.assertEqual(wrong, [], "%d of %d programs:\n%s" % (len(wrong), len(programs), "\n".join(wrong)))


if __name__ == "__main__":
    if "--only" in sys.argv:
        place = sys.argv.index("--only")
        LuaDifferentialTest.only = sys.argv[place + 1].encode()
        del sys.argv[place:place + 2]
    unittest.main()
