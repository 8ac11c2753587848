"""The commands that each write command propagates to the append-only file, here and in each oracle.

Runs the lines of key_events_test.py; both files must have the same commands, except for the case of names and for times
of day."""
import glob
import os
import re
import unittest

import known_differences
import oracles
from key_events_test import LINES, commands_of
from two_servers import RESPITE, Server

# Lines whose propagated commands differ in words but not in their result: random members; conditions and times that
# Redis resolves when it loads the file; consumers, which Redis drops unless entries were delivered to them.
EQUIVALENT = ("BITFIELD k OVERFLOW FAIL INCRBY u2 0 5", "BITOP AND d a b <- SET d x", "SPOP k ", "GEOADD g",
              "EXPIRE k 100 NX", "PEXPIRE k 100000 GT", "RESTORE k 0", "XADD s MAXLEN", "XADD s MINID", "XTRIM s MAXLEN",
              "XREADGROUP GROUP g c STREAMS s", "XCLAIM s g d", "XAUTOCLAIM s g d")


class Journaling:
    """A server with an append-only file; returns what was appended since the last call."""

    def __init__(self, program, *options):
        self.server = Server(program, *options, "--appendonly", "yes", "--appendfsync", "no", "--lazyfree-lazy-expire", "no",
                             "--lazyfree-lazy-server-del", "no")
        self.client = self.server.client()
        self.offset = 0

    def stop(self):
        self.client.close()
        self.server.stop()

    def run(self, commands):
        for words in commands:
            self.client.run(*words)

    def journaled(self):
        path, = glob.glob(os.path.join(self.server.folder, "appendonlydir", "*.incr.aof"))
        with open(path, "rb") as file:
            file.seek(self.offset)
            text = file.read()
        self.offset += len(text)
        return records_of(text)


def records_of(text):
    """Returns commands as lists of arguments."""
    records = []
    while text:
        head, text = text.split(b"\r\n", 1)
        words = []
        for _ in range(int(head[1:])):
            size, text = text.split(b"\r\n", 1)
            words.append(text[:int(size[1:])])
            text = text[int(size[1:]) + 2:]
        records.append(words)
    return records


def normal(records):
    """Removes differences of the clock and of the case of names, and gives databases the same names."""
    lines = []
    for words in records:
        name, *rest = words
        rest = [re.sub(rb"^(\d{13})(-\d+)?$", rb"<ms>\2", word) for word in rest]
        if name.upper() == b"SELECT":
            continue
        lines.append(b" ".join([name.upper()] + [word.upper() if word.upper() in KEYWORDS else word for word in rest]))
    return lines


FAR_MS = 33177117420000  # 3021
KEYWORDS = {b"PXAT", b"PX", b"EX", b"EXAT", b"NX", b"XX", b"GET", b"KEEPTTL", b"MKSTREAM", b"LEFT", b"RIGHT", b"ASYNC", b"SYNC"}


class AofEffects(unittest.TestCase):
    def test_each_command_leaves_the_same(self):
        servers = [Journaling(RESPITE, *self.oracle.our_options), Journaling(self.oracle.program)]
        for server in servers:
            self.addCleanup(server.stop)
        for line in LINES.strip().split("\n"):
            if line.startswith(EQUIVALENT):
                continue
            known = known_differences.effects_line(self.oracle.mark, line)
            what, _, before = line.partition(" <- ")
            for server in servers:
                server.run([[b"SELECT", b"0"], [b"FLUSHALL"], [b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0"]])
                server.run(commands_of(before) if before else [])
                server.journaled()
                server.run(commands_of(what))
            with self.subTest(line):
                ours, theirs = (normal(server.journaled()) for server in servers)
                self.assertEqual(known, ours != theirs, (ours, theirs))
                self.oracle.count()

    def test_the_words_of_a_set_with_a_deadline(self):
        """A deadline in milliseconds is recorded as the client wrote it; other forms of deadlines become one, in
        capitals."""
        for line in (f"set k v pxat {FAR_MS}", f"Set k v xx get PxAt {FAR_MS}", f"set k v exat {FAR_MS // 1000}",
                     "set k v keepttl"):
            with self.subTest(line):
                records = []
                for words in ((RESPITE, *self.oracle.our_options), (self.oracle.program,)):
                    server = Journaling(*words)
                    self.addCleanup(server.stop)
                    server.run([["SET", "k", "old"], line.split()])
                    records.append(server.journaled())
                ours, theirs = records
                self.assertEqual(known_differences.effects_line(self.oracle.mark, line), ours != theirs, records)
                self.oracle.count()


oracles.multiply(globals(), AofEffects)

if __name__ == "__main__":
    unittest.main()
