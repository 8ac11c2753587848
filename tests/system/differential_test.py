"""Sends one random stream of commands to our server and to an oracle and compares every reply, byte by byte, the keyspace
events of every command, and at checkpoints all the data.

    python3 tests/system/differential_test.py --seed 7 --rounds 500 [--commands 200] [--families Hashes Keys]

runs longer or repeats a failure; the test always prints the seed. The commands come from generators.py. Deadlines are
so far in the future or past that time does not matter; replies that depend on it (TTL, PTTL) are compared with a
tolerance. known_differences.py lists known differences."""
import argparse
import os
import random
import sys
import unittest

import known_differences
import oracles
from generators import DATABASES, FAMILIES, Generator
from newer_generators import CLEANING, NEWER_FAMILIES
from two_servers import RESPITE, Closed, Server, encode, value_of

COMMANDS_PER_ROUND = 200
TOLERANCE_MS = 3000

# Events in arbitrary order: those of the elements of a set whose weights are looked up, and those of expired keys that
# a scan finds.
EVENTS_IN_NO_ORDER = {b"SORT", b"SORT_RO", b"SCAN", b"KEYS"}

# Replies in arbitrary order.
UNORDERED = {b"KEYS", b"SMEMBERS", b"SINTER", b"SUNION", b"SDIFF", b"HKEYS", b"HVALS", b"SPOP"}
UNORDERED_PAIRS = {b"HGETALL"}
# A cursor and elements in arbitrary order; in pairs for a hash or sorted set.
SCANS = {b"SCAN": 1, b"SSCAN": 1, b"HSCAN": 2, b"ZSCAN": 2}
# Random replies of which only the size is compared.
BY_CHANCE = {b"SRANDMEMBER", b"HRANDFIELD", b"ZRANDMEMBER"}
# Replies that contain times or durations.
WITH_MOMENTS = {b"XPENDING", b"XINFO", b"XREADGROUP"}
NAMED_MOMENTS = {b"idle", b"inactive", b"seen-time", b"active-time"}
# Replies in seconds or milliseconds from now, or times that were given relative to now.
TIMED_S = {b"TTL", b"EXPIRETIME"}
TIMED_MS = {b"PTTL", b"PEXPIRETIME"}
TIMED_FIELDS_S = {b"HTTL", b"HEXPIRETIME"}
TIMED_FIELDS_MS = {b"HPTTL", b"HPEXPIRETIME"}


def groups(values, size):
    return sorted(repr(values[at:at + size]) for at in range(0, len(values), size))


def excerpt(reply, other, size=500):
    """Returns the part of a long reply where the difference begins."""
    common = len(os.path.commonprefix([reply, other]))
    start = max(0, common - size // 2) if len(reply) > size else 0
    return reply[start:start + size]


def inner(words):
    """Returns the command that a script of newer_generators runs, or the command itself."""
    return words[3:] if words[0] == b"EVAL" and len(words) > 3 else words


def without_misses(events):
    return [(channel, message) for channel, message in events if b"keymiss" not in channel + message]


# Versions to which the commands of newer_generators are sent.
WITH_NEWER = {"8.6", "valkey 9.1"}


class Difference(AssertionError):
    pass


class Listener:
    """Receives all keyspace events of a server. A message on MARK ends the events of one command."""
    MARK = b"__keys-mark"

    def __init__(self, server):
        self.client, self.control = server.client(), server.client()
        events = "AKEmnoc" if server.version >= (8, 2) else "AKEmn" if server.version >= (7, 0) else "AKEm"
        assert self.control.run("CONFIG", "SET", "notify-keyspace-events", events) == b"+OK\r\n"
        self.client.run("PSUBSCRIBE", b"__key*")

    def close(self):
        self.client.close()
        self.control.close()

    def events(self):
        """Returns the events since the last call, a list for each command. Requires that the replies of the commands
        have arrived."""
        self.control.run("PUBLISH", self.MARK, "end")
        heard = [[]]
        while True:
            _, _, channel, message = value_of(self.client.read())
            if channel != self.MARK:
                heard[-1].append((channel, message))
            elif message == b"end":
                return heard
            else:
                heard.append([])


class Pair:
    """Both servers, with one connection to each."""

    def __init__(self, oracle, ours=RESPITE, emulated=False):
        self.oracle = oracle
        self.servers = []
        try:
            for program, options in ((ours, ["--emulate", oracle.emulation] if emulated else []), (oracle.program, [])):
                self.servers.append(Server(program, *options, needs_debug=oracle.numbers >= (7,)))
            self.clients = [server.client() for server in self.servers]
            self.listeners = [Listener(server) for server in self.servers]
        except BaseException:
            self.stop()
            raise
        self.version = min(server.version for server in self.servers)
        self.emulated = emulated
        self.known = known_differences.replies(oracle.mark, emulated)
        self.known_events = known_differences.events(oracle.mark, emulated)

    def stop(self):
        for client in getattr(self, "clients", []) + getattr(self, "listeners", []):
            client.close()
        for server in self.servers:
            server.stop()

    def run(self, commands):
        """Runs one pipeline; returns the replies of both in pairs."""
        request = b"".join(encode(words) for words in commands)
        for client in self.clients:
            client.send(request)
        replies = [self.replies_to(commands, client) for client in self.clients]
        self.oracle.count(len(commands))
        return list(zip(*replies))

    @staticmethod
    def replies_to(commands, client):
        replies = []
        for words in commands:
            try:
                replies.append(client.read())
            except (OSError, Closed) as error:
                raise Difference(f"no reply to {words}: {error!r}\n  after {commands[:len(replies)][-10:]}") from error
        return replies

    def compare(self, commands, where):
        replies = self.run_marked(commands)
        self.compare_replies(commands, replies, where)
        self.compare_events(commands, replies, where)

    def compare_replies(self, commands, replies, where):
        for index, (words, (ours, theirs)) in enumerate(zip(commands, replies)):
            if not self.same(words, ours, theirs):
                raise Difference(f"{where}, command {index}: {words}\n  ours   {excerpt(ours, theirs)}\n  theirs {excerpt(theirs, ours)}\n"
                                 f"  after\n{self.history(commands, index)}")

    def compare_events(self, commands, replies, where):
        """Compares the events of commands that run_marked ran."""
        events = zip(*(listener.events() for listener in self.listeners))
        for index, (words, (ours, theirs), (told, heard)) in enumerate(zip(commands, replies, events)):
            if ours.startswith(b"-") or theirs.startswith(b"-"):  # the order of checks differs between versions
                heard, told = without_misses(heard), without_misses(told)
            words = inner(words)
            if words[0].upper() in EVENTS_IN_NO_ORDER:
                heard, told = sorted(heard), sorted(told)
            if told != heard and not self.known_event(words, told, heard):
                raise Difference(f"{where}, command {index}: {words}\n  our events   {told}\n  their events {heard}\n"
                                 f"  after\n{self.history(commands, index)}")

    @staticmethod
    def history(commands, index):
        return "\n".join(f"    {c}" for c in commands[max(0, index - 10):index])

    def run_marked(self, commands):
        """Like run, but sends the listeners a mark after each command."""
        for listener in self.listeners:
            listener.events()
        return self.run([each for words in commands for each in (words, [b"PUBLISH", Listener.MARK, b""])])[::2]

    def known_event(self, words, ours, theirs):
        return any(words[0].upper() == known and allows(words, ours, theirs) for known, allows in self.known_events)

    def same(self, words, ours, theirs):
        if ours == theirs:
            return True
        if words is not inner(words) and known_differences.same_in_any_order(words, ours, theirs):
            return True  # a map that a script returns: the order of its pairs is not certain
        words = inner(words)
        name = words[0].upper()
        if ours[:1] == theirs[:1] and ours[:1] in b"*~%" and self.same_elements(name, ours, theirs):
            return True
        if name in BY_CHANCE and ours[:1] == b"$" == theirs[:1]:
            return (ours == b"$-1\r\n") == (theirs == b"$-1\r\n")
        if name in TIMED_S | TIMED_MS and ours[:1] == b":" == theirs[:1]:
            return self.close_enough(name, value_of(ours), value_of(theirs))
        return any(name == known and allows(words, ours, theirs) for known, allows in self.known)

    def same_elements(self, name, ours, theirs):
        """Compares two aggregates of one kind."""
        mine, yours = value_of(ours), value_of(theirs)
        if name in UNORDERED:
            return groups(mine, 1) == groups(yours, 1)
        if name in UNORDERED_PAIRS:
            return groups(mine, 2) == groups(yours, 2)
        if name in WITH_MOMENTS and self.same_but_moments(mine, yours):
            return True
        if name in TIMED_FIELDS_S | TIMED_FIELDS_MS:
            tolerance = TOLERANCE_MS if name in TIMED_FIELDS_MS else TOLERANCE_MS // 1000
            return len(mine) == len(yours) and all(one == other or min(one, other) >= 0 and abs(one - other) <= tolerance
                                                   for one, other in zip(mine, yours))
        if name == b"HOTKEYS":
            return self.names_of_hot_keys(mine) == self.names_of_hot_keys(yours)
        if name in SCANS:
            if name == b"SCAN" and mine[0] != yours[0]:  # at the default COUNT of 10, one may need a second call for the rest
                return set(mine[1]) <= set(yours[1]) or set(yours[1]) <= set(mine[1])
            return mine[0] == yours[0] and groups(mine[1], SCANS[name]) == groups(yours[1], SCANS[name])
        return name in BY_CHANCE and len(mine) == len(yours)

    def same_but_moments(self, mine, yours):
        """Ignores times: values after certain names, the third of four in a row, and numbers so large that they can
        only be times."""
        if isinstance(mine, int) and isinstance(yours, int):
            return mine == yours or min(mine, yours) > 10**9 and abs(mine - yours) <= TOLERANCE_MS
        if not isinstance(mine, list) or not isinstance(yours, list):
            return mine == yours
        if len(mine) != len(yours):
            return False
        for index, (one, other) in enumerate(zip(mine, yours)):
            before = mine[index - 1] if index > 0 else None
            is_moment = isinstance(before, bytes) and before in NAMED_MOMENTS or len(mine) == 4 and index == 2
            if is_moment and isinstance(one, int) and isinstance(other, int) and min(one, other) >= 0:
                if abs(one - other) > TOLERANCE_MS:
                    return False
            elif not self.same_but_moments(one, other):
                return False
        return True

    @staticmethod
    def names_of_hot_keys(report):
        """Returns the names of the fields: which keys are hot, and how hot, depends on time."""
        fields = report[0] if len(report) == 1 else report
        return fields[::2]

    @staticmethod
    def close_enough(name, ours, theirs):
        if ours < 0 or theirs < 0:
            return False
        return abs(ours - theirs) <= (TOLERANCE_MS if name in TIMED_MS else TOLERANCE_MS // 1000)

    def scan(self, client, count):
        keys = set()
        cursor = b"0"
        while True:
            cursor, found = value_of(client.run("SCAN", cursor, "COUNT", count))
            keys.update(found)
            if cursor == b"0":
                return keys

    def digest(self, key, scored, deadlines, same_digests):
        """Returns the command that compares a whole value. Valkey's digest of a hash ignores deadlines."""
        if key in scored and not same_digests:
            return [b"ZCARD"]
        timed = self.oracle.software == "valkey" and any(words[1] == key for words in deadlines)
        return [b"HGETALL"] if timed else [b"DEBUG", b"DIGEST-VALUE"]

    def checkpoint(self, rng, where):
        """Compares all data of all databases, key by key."""
        same_digests = not known_differences.digests_of_scores(self.oracle.mark)
        for db in range(DATABASES):
            self.run([[b"SELECT", b"%d" % db]])
            count = rng.choice([1, 3, 10, 100])
            ours, theirs = (sorted(self.scan(client, count)) for client in self.clients)
            listed = [sorted(value_of(reply)) for reply in self.run([[b"KEYS", b"*"]])[0]]
            if not ours == theirs == listed[0] == listed[1]:
                raise Difference(f"{where}, database {db}: keys\n  ours   {ours}\n  theirs {theirs}\n  KEYS   {listed}")
            types = [reply for reply, _ in self.run([[b"TYPE", key] for key in ours])] if ours else []
            hashes = [key for key, kind in zip(ours, types) if kind == b"+hash\r\n"] if self.emulated else []
            deadlines = []
            for key, (fields, _) in zip(hashes, self.run([[b"HKEYS", key] for key in hashes]) if hashes else []):
                fields = value_of(fields)
                deadlines.append([b"HPEXPIRETIME", key, b"FIELDS", b"%d" % len(fields), *fields])
            scored = {key for key, kind in zip(ours, types) if kind == b"+zset\r\n"}
            commands = [[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"] for key in sorted(scored)]
            commands += [[b"XINFO", b"STREAM", key, b"FULL", b"COUNT", b"0"] for key, kind in zip(ours, types) if kind == b"+stream\r\n"]
            commands += deadlines
            commands += [[*ask, key] for key in ours for ask in
                         ([b"TYPE"], [b"GET"], [b"PTTL"], [b"PEXPIRETIME"], [b"OBJECT", b"ENCODING"], [b"STRLEN"],
                          self.digest(key, scored, deadlines, same_digests))]
            if commands:
                self.compare(commands, f"{where}, data of database {db}")
        self.compare([[b"DEBUG", b"DIGEST"], [b"SELECT", b"0"]] if same_digests else [[b"SELECT", b"0"]], f"{where}, all data")


def run(seed, rounds, commands, oracle, ours=RESPITE, families=(), emulated=False):
    """Raises Difference; its message has everything that is needed to repeat it."""
    pair = Pair(oracle, ours, emulated)
    try:
        newer = emulated and oracle.mark in WITH_NEWER
        pair.run([[b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0"]])  # else each timer removes keys at its own times
        for index in range(rounds):
            rng = random.Random(f"{seed}/{index}")
            where = f"--seed {seed}, round {index}"
            generator = Generator(rng, pair.version, families, NEWER_FAMILIES if newer else {})
            pair.run([[b"FLUSHALL"], [b"SELECT", b"0"], [b"HELLO", b"3" if index % 2 else b"2"], *generator.thresholds(),
                      *(CLEANING if newer else [])])
            for _ in range(4):
                chosen = [generator.command() for _ in range(commands // 4)]
                pair.compare([words for words in chosen if not known_differences.avoided(oracle.mark, inner(words), emulated)], where)
                pair.checkpoint(rng, where)
    finally:
        pair.stop()


class Differential(unittest.TestCase):
    def test_random_commands(self):
        seed = self.oracle.seed()
        print(f"differential_test.py --oracle {self.oracle.program} --seed {seed}", file=sys.stderr)
        run(seed, rounds=30, commands=COMMANDS_PER_ROUND, oracle=self.oracle)


class EmulatedDifferential(unittest.TestCase):
    """Our server emulates the oracle."""

    def test_random_commands(self):
        if not self.oracle.is_emulated:
            self.skipTest(f"{self.oracle.label} is not emulated")
        seed = self.oracle.seed()
        print(f"differential_test.py --oracle {self.oracle.program} --emulate --seed {seed}", file=sys.stderr)
        run(seed, rounds=10, commands=COMMANDS_PER_ROUND, oracle=self.oracle, emulated=True)


oracles.multiply(globals(), Differential, EmulatedDifferential)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--commands", type=int, default=COMMANDS_PER_ROUND, help="in each round")
    parser.add_argument("--families", nargs="*", default=(), help="some of " + " ".join(f.__name__ for f in FAMILIES | NEWER_FAMILIES))
    parser.add_argument("--ours", default=RESPITE)
    parser.add_argument("--emulate", action="store_true", help="our server speaks as the oracle")
    parser.add_argument("--oracle", type=oracles.oracle_at, default=os.environ.get("REDIS_SERVER", "redis-server"))
    options = parser.parse_args()
    print(f"--seed {options.seed} --rounds {options.rounds} --commands {options.commands}")
    try:
        run(options.seed, options.rounds, options.commands, options.oracle, options.ours, options.families,
            options.emulate)
    except Difference as difference:
        print(difference)
        return 1
    print("no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
