"""Sends one random stream of commands to our server and to a real Redis and compares every reply, byte by byte, and at
checkpoints all the data.

    python3 tests/system/differential_test.py --seed 7 --rounds 500 [--commands 200]

runs longer or repeats a failure; the seed is always printed. Deadlines lie so far ahead, or so long ago, that time plays
no part; what depends on it (TTL, PTTL) is compared with a tolerance. See KNOWN for what differs on purpose."""
import argparse
import random
import sys
import unittest

from two_servers import REDIS, RESPITE, Server, encode, value_of

COMMANDS_PER_ROUND = 200
TOLERANCE_MS = 3000
FAR_S = 33177117420  # 3021
DATABASES = 3

# Differences we know: (command name, what the replies may be, why). Between a server of version 7.0 and one of 7.2:
KNOWN_OF_7_0 = []
# Between us and any Redis; docs/differences.md lists them.
REFCOUNTS = {b":1\r\n", b":2147483647\r\n"}
KNOWN = [
    (b"OBJECT", lambda ours, theirs: {ours, theirs} == REFCOUNTS,
     "Redis shares small integers, but not with COPY; we say of each small integer that it is shared"),
]

# Replies whose order means nothing.
UNORDERED = {b"KEYS"}
# Replies in seconds or milliseconds from now, or moments that were given relative to now.
TIMED_S = {b"TTL", b"EXPIRETIME"}
TIMED_MS = {b"PTTL", b"PEXPIRETIME"}


class Generator:
    """A stream of commands, most of them valid, over few keys so that they meet."""

    def __init__(self, rng):
        self.rng = rng
        self.makers = [(weight, getattr(self, name)) for name, weight in {
            "set": 12, "get": 6, "counter": 10, "ranges": 8, "many": 6, "small": 8, "lcs": 1, "delete": 6,
            "rename": 4, "copy": 5, "expire": 10, "ttl": 8, "getex": 4, "names": 2, "database": 2, "odd": 4,
            "setex": 4, "object": 3, "bits": 8, "field": 6,
            "hyperloglog": 8}.items()]

    def command(self):
        makers = [maker for _, maker in self.makers]
        words = self.rng.choices(makers, [weight for weight, _ in self.makers])[0]()
        return [word if isinstance(word, bytes) else str(word).encode() for word in words]

    def key(self):
        return b"k%d" % self.rng.randrange(12)

    def value(self):
        rng = self.rng
        return rng.choice([
            lambda: rng.randrange(-20, 20),
            lambda: rng.choice([2**63 - 1, -2**63, 2**63, 2**31, 10**19]),
            lambda: rng.choice(["0.1", "3.0", "1e5", "-0", "007", "+5", " 1", "1 ", "nan", "inf", "", "-"]),
            lambda: "v" * rng.choice([1, 5, 43, 44, 45, 100]),
            lambda: bytes(rng.randrange(256) for _ in range(rng.randrange(20))),
            lambda: rng.choice(["x", "y"]) * rng.choice([4096, 4097, 20000, 33000]) if rng.random() < 0.1 else "word",
        ])()

    def integer(self):
        return self.rng.choice([0, 1, -1, 2, 5, 10, -10, 100, 2**31, 2**63 - 1, -2**63, "x", "", "1.5", "01"])

    def offset(self):
        return self.rng.choice([0, 1, 2, 3, 5, 10, 50, -1, -2, -5, -100, 1000, "x"])

    def bit(self):
        return self.rng.choice([0, 1, 7, 8, 63, 64, 100, 1000, 40000, -1, -8, -100, "x"])

    def case(self, word):
        return word if self.rng.random() < 0.8 else word.lower()

    def deadline(self):
        """Option and value of SET and GETEX."""
        rng = self.rng
        return rng.choice([("EX", rng.randrange(1000, 2000)), ("PX", rng.randrange(10**6, 2 * 10**6)),
                           ("EXAT", FAR_S + rng.randrange(1000)), ("PXAT", FAR_S * 1000 + rng.randrange(10**6)),
                           ("EXAT", 1), ("PXAT", 1000), ("EX", rng.choice([0, -1, "x", 2**63 - 1, 2**62]))])

    def set(self):
        rng = self.rng
        options = []
        if rng.random() < 0.3:
            options.append(rng.choice(["NX", "XX", "GET", "KEEPTTL", "PERSIST", "WHAT"]))
        if rng.random() < 0.2:
            options.append(rng.choice(["GET", "NX", "XX"]))
        if rng.random() < 0.3:
            options += self.deadline()
        return ["SET", self.key(), self.value(), *options]

    def setex(self):
        rng = self.rng
        return rng.choice([["SETEX", self.key(), rng.choice([1000, 0, -1, "x"]), self.value()],
                           ["PSETEX", self.key(), rng.choice([10**6, 0, -1, "x"]), self.value()],
                           ["SETNX", self.key(), self.value()], ["GETSET", self.key(), self.value()]])

    def bits(self):
        rng = self.rng
        span = rng.choice([[], [self.bit()], [self.bit(), self.bit()], [self.bit(), self.bit(), "BIT"],
                           [self.bit(), self.bit(), rng.choice(["byte", "WORD"])]])
        return rng.choice([["SETBIT", self.key(), self.bit(), rng.choice([0, 1, 1, 2])],
                           ["GETBIT", self.key(), self.bit()], ["BITCOUNT", self.key(), *span],
                           ["BITPOS", self.key(), rng.choice([0, 1, "x"]), *span],
                           ["BITOP", rng.choice(["AND", "or", "XOR", "NOT"]), self.key(), self.key()],
                           ["BITOP", rng.choice(["AND", "OR", "XOR"]), self.key(), self.key(), self.key(), self.key()]])

    def field(self):
        rng = self.rng
        words = [rng.choice(["BITFIELD", "BITFIELD", "BITFIELD_RO"]), self.key()]
        for _ in range(rng.randrange(4)):
            where = [rng.choice(["u1", "i1", "u8", "i8", "u63", "i64", "i5", "u64", "x"]),
                     rng.choice([0, 1, 7, 8, 100, "#3", "#0", -1])]
            words += rng.choice([["GET", *where], ["SET", *where, self.integer()], ["INCRBY", *where, self.integer()],
                                 ["OVERFLOW", rng.choice(["WRAP", "SAT", "sat", "FAIL"])]])
        return words

    def hyperloglog(self):
        rng = self.rng
        names = ["h0", "h1", "h2", "h3", self.key()]
        key = lambda: rng.choices(names, [8, 8, 8, 8, 1])[0]
        count = rng.choice([0, 1, 1, 2, 5, 50])
        return rng.choice([["PFADD", key(), *(rng.randrange(10**6) for _ in range(count))],
                           ["PFADD", key(), *(rng.randrange(10**6) for _ in range(count))],
                           ["PFCOUNT", key()], ["PFCOUNT", key(), key()], ["PFMERGE", key(), key(), key()],
                           ["PFDEBUG", rng.choice(["DECODE", "ENCODING", "TODENSE"]), key()], ["DEL", key()],
                           ["GET", key()]])

    def get(self):
        return [self.case(self.rng.choice(["GET", "STRLEN", "EXISTS", "TYPE"])), self.key()]

    def counter(self):
        rng = self.rng
        return rng.choice([["INCR", self.key()], ["DECR", self.key()], ["INCRBY", self.key(), self.integer()],
                           ["DECRBY", self.key(), self.integer()],
                           ["INCRBYFLOAT", self.key(), rng.choice(["0.1", "1", "-2.5", "1e3", "x", "inf", "3.0"])]])

    def ranges(self):
        rng = self.rng
        return rng.choice([["GETRANGE", self.key(), self.offset(), self.offset()],
                           ["SUBSTR", self.key(), self.offset(), self.offset()],
                           ["SETRANGE", self.key(), self.offset(), self.value()],
                           ["APPEND", self.key(), self.value()]])

    def many(self):
        rng = self.rng
        pairs = [word for _ in range(rng.randrange(1, 4)) for word in (self.key(), self.value())]
        return rng.choice([["MSET", *pairs], ["MSETNX", *pairs], ["MGET", self.key(), self.key(), self.key()],
                           ["MSET", *pairs[:-1]]])

    def small(self):
        return [self.rng.choice(["TOUCH", "EXISTS", "MGET"]), self.key(), self.key()]

    def lcs(self):
        rng = self.rng
        texts = [b"".join(rng.choices([b"a", b"b", b"c"], k=rng.randrange(12))) for _ in range(2)]
        return rng.choice([["MSET", "k0", texts[0], "k1", texts[1]], ["LCS", "k0", "k1"], ["LCS", "k0", "k1", "LEN"],
                           ["LCS", "k0", "k1", "IDX"], ["LCS", "k0", "k1", "IDX", "WITHMATCHLEN"],
                           ["LCS", "k0", "k1", "IDX", "MINMATCHLEN", 2]])

    def delete(self):
        return [self.rng.choice(["DEL", "UNLINK", "GETDEL"]), self.key()]

    def rename(self):
        return [self.rng.choice(["RENAME", "RENAMENX"]), self.key(), self.key()]

    def copy(self):
        rng = self.rng
        return rng.choice([["COPY", self.key(), self.key()], ["COPY", self.key(), self.key(), "REPLACE"],
                           ["COPY", self.key(), self.key(), "DB", rng.randrange(DATABASES)],
                           ["COPY", self.key(), self.key(), "DB", rng.choice([99, -1, "x"])],
                           ["MOVE", self.key(), rng.choice([0, 1, 2, 99, "x"])]])

    def expire(self):
        rng = self.rng
        name, moment = rng.choice([("EXPIRE", rng.choice([1000, 2000, 0, -5, "x", 2**63 - 1, -2**63])),
                                   ("PEXPIRE", rng.choice([10**6, 2 * 10**6, 0, -5, 2**63 - 1])),
                                   ("EXPIREAT", rng.choice([FAR_S, FAR_S + 5, 1, 0, -1, 2**63 - 1])),
                                   ("PEXPIREAT", rng.choice([FAR_S * 1000, FAR_S * 1000 + 7, 1, "x"]))])
        options = rng.choices([[], ["NX"], ["XX"], ["XX", "GT"], ["NX", "XX"], ["GT", "LT"], ["WHAT"], ["GT"], ["LT"]],
                              [10, 2, 2, 1, 1, 1, 1, 2, 2])[0]
        if "AT" not in name and ("GT" in options or "LT" in options):
            options = []  # the servers' clocks are read at different moments, and a millisecond would decide
        return [name, self.key(), moment, *options] if rng.random() < 0.9 else ["PERSIST", self.key()]

    def ttl(self):
        return [self.rng.choice(["TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"]), self.key()]

    def getex(self):
        rng = self.rng
        options = rng.choice([[], ["PERSIST"], ["WHAT"], list(self.deadline()), list(self.deadline()), ["PERSIST", "EX", 5]])
        return ["GETEX", self.key(), *options]

    def names(self):
        return self.rng.choice([["KEYS", "*"], ["KEYS", "k[0-4]"], ["KEYS", "?1*"], ["DBSIZE"], ["KEYS", "[^k]*"]])

    def database(self):
        rng = self.rng
        return rng.choices([["SELECT", rng.randrange(DATABASES)], ["SWAPDB", rng.randrange(DATABASES), rng.randrange(DATABASES)],
                            ["SELECT", rng.choice([-1, 99, "x"])], ["FLUSHDB"], ["FLUSHALL"]], [10, 4, 2, 1, 0.3])[0]

    def object(self):
        return ["OBJECT", self.rng.choice(["ENCODING", "ENCODING", "ENCODING", "REFCOUNT", "FREQ", "what"]), self.key()]

    def odd(self):
        """Too few or too many words, or none that is known."""
        words = self.rng.choice([self.set, self.get, self.counter, self.ranges, self.expire, self.copy])()
        return self.rng.choice([words[:-1], words[:1], [*words, "extra"], ["NOSUCH", *words[1:]], words[::-1]])


class Difference(AssertionError):
    pass


class Pair:
    """Both servers, each behind one connection."""

    def __init__(self, programs):
        self.servers = []
        try:
            for program in programs:
                self.servers.append(Server(program))
            self.clients = [server.client() for server in self.servers]
        except BaseException:
            self.stop()
            raise
        self.known = KNOWN + (KNOWN_OF_7_0 if min(server.version for server in self.servers) < (7, 2) else [])

    def stop(self):
        for client in getattr(self, "clients", []):
            client.close()
        for server in self.servers:
            server.stop()

    def run(self, commands):
        """One pipeline; the replies of both, in pairs."""
        request = b"".join(encode(words) for words in commands)
        for client in self.clients:
            client.send(request)
        replies = [[client.read() for _ in commands] for client in self.clients]
        return list(zip(*replies))

    def compare(self, commands, where):
        for index, (words, (ours, theirs)) in enumerate(zip(commands, self.run(commands))):
            if not self.same(words, ours, theirs):
                history = "\n".join(f"    {c}" for c in commands[max(0, index - 10):index])
                raise Difference(f"{where}, command {index}: {words}\n  ours   {ours[:500]}\n  theirs {theirs[:500]}\n"
                                 f"  after\n{history}")

    def same(self, words, ours, theirs):
        if ours == theirs:
            return True
        name = words[0].upper()
        if name in UNORDERED and ours[:1] == b"*" == theirs[:1]:
            return sorted(value_of(ours)) == sorted(value_of(theirs))
        if name in TIMED_S | TIMED_MS and ours[:1] == b":" == theirs[:1]:
            return self.close_enough(name, value_of(ours), value_of(theirs))
        return any(name == known and allows(ours, theirs) for known, allows, _ in self.known)

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

    def checkpoint(self, rng, where):
        """All data of all databases, key by key."""
        for db in range(DATABASES):
            self.run([[b"SELECT", b"%d" % db]])
            count = rng.choice([1, 3, 10, 100])
            ours, theirs = (sorted(self.scan(client, count)) for client in self.clients)
            listed = [sorted(value_of(reply)) for reply in self.run([[b"KEYS", b"*"]])[0]]
            if not ours == theirs == listed[0] == listed[1]:
                raise Difference(f"{where}, database {db}: keys\n  ours   {ours}\n  theirs {theirs}\n  KEYS   {listed}")
            commands = [[*ask, key] for key in ours for ask in
                        ([b"TYPE"], [b"GET"], [b"PTTL"], [b"PEXPIRETIME"], [b"OBJECT", b"ENCODING"], [b"STRLEN"])]
            if commands:
                self.compare(commands, f"{where}, data of database {db}")
        self.run([[b"SELECT", b"0"]])


def run(seed, rounds, commands, programs=(RESPITE, REDIS)):
    """Raises Difference; the message has all that is needed to repeat it."""
    pair = Pair(programs)
    try:
        for index in range(rounds):
            rng = random.Random(f"{seed}/{index}")
            where = f"--seed {seed}, round {index}"
            pair.run([[b"FLUSHALL"], [b"SELECT", b"0"], [b"HELLO", b"3" if index % 2 else b"2"]])
            generator = Generator(rng)
            for _ in range(4):
                pair.compare([generator.command() for _ in range(commands // 4)], where)
                pair.checkpoint(rng, where)
    finally:
        pair.stop()


class Differential(unittest.TestCase):
    def test_random_commands(self):
        seed = random.SystemRandom().randrange(10**9)
        print(f"differential_test.py --seed {seed}", file=sys.stderr)
        run(seed, rounds=25, commands=COMMANDS_PER_ROUND)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--commands", type=int, default=COMMANDS_PER_ROUND, help="in each round")
    parser.add_argument("--ours", default=RESPITE)
    parser.add_argument("--redis", default=REDIS)
    options = parser.parse_args()
    print(f"--seed {options.seed} --rounds {options.rounds} --commands {options.commands}")
    try:
        run(options.seed, options.rounds, options.commands, (options.ours, options.redis))
    except Difference as difference:
        print(difference)
        return 1
    print("no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
