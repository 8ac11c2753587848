"""Random commands for differential_test.py: for each family a class whose makers return the arguments of one command.

Most commands are valid; some have a bad option, a wrong type, or too few arguments. There are few keys and elements, so
that commands affect each other; each round chooses new thresholds of encodings, so that collections often cross them.
Random commands (SPOP, HRANDFIELD) are used in ways whose outcome is certain, or only the size of the reply is
compared."""

from dump_payload import OLD_VALUES, payload

FAR_S = 33177117420  # 3021
DATABASES = 3

# Maps a directive to values that a round may use. Older servers skip those that came with 7.2.
THRESHOLDS = {
    "hash-max-listpack-entries": [0, 2, 8, 512], "hash-max-listpack-value": [4, 64],
    "list-max-listpack-size": [-2, -1, 1, 4, 128], "set-max-intset-entries": [0, 4, 512],
    "zset-max-listpack-entries": [0, 3, 128], "zset-max-listpack-value": [4, 64],
    "hll-sparse-max-bytes": [0, 100, 3000], "stream-node-max-bytes": [4096, 100, 300, 0],
    "stream-node-max-entries": [100, 1, 3, 10, 0],
}
THRESHOLDS_OF_7_2 = {"set-max-listpack-entries": [0, 4, 128], "set-max-listpack-value": [4, 64]}
# Fewer or reordered arguments would make the result random.
NEVER_SPOILT = {"SPOP", "SCAN", "SSCAN", "HSCAN", "ZSCAN", "COMMAND"}


class Family:
    """The random values that all makers use. `version` is the version of the older of the two servers."""

    pool = "k"
    weights = {}

    def __init__(self, rng, version):
        self.rng, self.version = rng, version

    def key(self, pool=None):
        """Returns mostly a key of this family, sometimes one with another type. Never a HyperLogLog: our server refuses
        PFADD to a damaged one as a whole (docs/differences.md)."""
        if self.rng.random() < 0.04:
            pool = self.rng.choice("khlszbgd")
        return f"{pool or self.pool}{self.rng.randrange(6)}"

    def keys(self, least=1, most=4):
        return [self.key() for _ in range(self.rng.randint(least, most))]

    def maybe(self, chance, *words):
        return list(words) if self.rng.random() < chance else []

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

    def element(self):
        rng = self.rng
        return rng.choices([lambda: f"m{rng.randrange(12)}", lambda: rng.randrange(-10, 10),
                            lambda: rng.choice([300, -300, 70000, -70000, 2**40, 2**63 - 1, -2**63]),
                            lambda: rng.choice(["", "a" * 64, "b" * 65, b"\x00\xff", "01", "1.5"])], [6, 6, 1, 1])[0]()

    def elements(self):
        rng = self.rng
        if rng.random() < 0.02:
            start = rng.randrange(1000)
            return [rng.choice(["e%d", "%d"]) % n for n in range(start, start + rng.choice([130, 600]))]
        return [self.element() for _ in range(rng.randint(1, 5))]

    def integer(self):
        return self.rng.choice([0, 1, -1, 2, 5, 10, -10, 100, 2**31, 2**63 - 1, -2**63, "x", "", "1.5", "01"])

    def offset(self):
        return self.rng.choice([0, 0, 1, 2, 3, 5, 10, 50, -1, -1, -2, -5, -100, 1000, "x"])

    def index(self):
        return self.rng.choice([0, 0, 1, 2, 3, 5, -1, -1, -2, -3, -6, 100, -100])

    def count(self):
        return self.rng.choice([0, 1, 1, 2, 3, 10, 100, -1, -2, "x"])

    def case(self, word):
        return word if self.rng.random() < 0.8 else word.lower()

    def command(self):
        makers = list(self.weights)
        words = getattr(self, self.rng.choices(makers, list(self.weights.values()))[0])()
        return self.spoil(words) if self.rng.random() < 0.03 and len(words) > 1 and words[0] not in NEVER_SPOILT else words

    def spoil(self, words):
        """Removes, adds or reorders arguments."""
        return self.rng.choice([words[:-1], words[:1], words[:2], [*words, "extra"],
                                [words[0], *words[2:], *words[1:2]]])


class Strings(Family):
    weights = {"set": 12, "get": 6, "counter": 10, "ranges": 8, "many": 6, "small": 4, "lcs": 1, "getex": 4, "setex": 4}

    def deadline(self):
        """Returns an option of SET and GETEX with its value."""
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

    def get(self):
        return [self.case(self.rng.choice(["GET", "STRLEN", "GETDEL"])), self.key()]

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

    def getex(self):
        rng = self.rng
        options = rng.choice([[], ["PERSIST"], ["WHAT"], list(self.deadline()), list(self.deadline()), ["PERSIST", "EX", 5]])
        return ["GETEX", self.key(), *options]


class Keys(Family):
    """Commands on keys of any type."""

    weights = {"delete": 6, "rename": 4, "copy": 6, "expire": 10, "ttl": 8, "names": 2, "database": 1, "object": 3,
               "unknown": 1}

    def key(self, pool=None):
        return super().key(pool or self.rng.choice("khlszbpgdx"))

    def delete(self):
        return [self.rng.choice(["DEL", "UNLINK"]), *self.keys()]

    def movable(self):
        """Never a HyperLogLog, which might return damaged under another name."""
        return self.key(self.rng.choice("khlszbgdx"))

    def rename(self):
        return [self.rng.choice(["RENAME", "RENAMENX"]), self.movable(), self.movable()]

    def copy(self):
        rng = self.rng
        return rng.choice([["COPY", self.movable(), self.movable()], ["COPY", self.movable(), self.movable(), "REPLACE"],
                           ["COPY", self.movable(), self.movable(), "DB", rng.randrange(DATABASES)],
                           ["COPY", self.movable(), self.movable(), "DB", rng.choice([99, -1, "x"])],
                           ["MOVE", self.movable(), rng.choice([0, 1, 2, 99, "x"])]])

    def expire(self):
        rng = self.rng
        name, moment = rng.choice([("EXPIRE", rng.choice([1000, 2000, 0, -5, "x", 2**63 - 1, -2**63])),
                                   ("PEXPIRE", rng.choice([10**6, 2 * 10**6, 0, -5, 2**63 - 1])),
                                   ("EXPIREAT", rng.choice([FAR_S, FAR_S + 5, 1, 0, -1, 2**63 - 1])),
                                   ("PEXPIREAT", rng.choice([FAR_S * 1000, FAR_S * 1000 + 7, 1, "x"]))])
        options = rng.choices([[], ["NX"], ["XX"], ["XX", "GT"], ["NX", "XX"], ["GT", "LT"], ["WHAT"], ["GT"], ["LT"]],
                              [10, 2, 2, 1, 1, 1, 1, 2, 2])[0]
        if "AT" not in name and ("GT" in options or "LT" in options):
            options = []  # the servers read their clocks at different times, and a millisecond would matter
        return [name, self.key(), moment, *options] if rng.random() < 0.9 else ["PERSIST", self.key()]

    def ttl(self):
        return [self.rng.choice(["TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "TYPE"]), self.key()]

    def names(self):
        return self.rng.choice([["KEYS", "*"], ["KEYS", "k[0-4]"], ["KEYS", "?1*"], ["DBSIZE"], ["KEYS", "[^k]*"],
                                ["SCAN", 0, "COUNT", 100000, "TYPE", self.rng.choice(["hash", "list", "zset", "string"])]])

    def database(self):
        rng = self.rng
        return rng.choices([["SELECT", rng.randrange(DATABASES)], ["SWAPDB", rng.randrange(DATABASES), rng.randrange(DATABASES)],
                            ["SELECT", rng.choice([-1, 99, "x"])], ["FLUSHDB"], ["FLUSHALL"]], [10, 4, 2, 1, 0.3])[0]

    def object(self):
        return ["OBJECT", self.rng.choice(["ENCODING", "ENCODING", "ENCODING", "REFCOUNT", "FREQ", "what"]), self.key()]

    def unknown(self):
        return ["NOSUCH", self.key(), self.value()]


class Hashes(Family):
    pool = "h"
    weights = {"write": 12, "read": 10, "count": 5, "delete": 5, "many": 5, "chance": 2, "scan": 2}

    def write(self):
        rng = self.rng
        pairs = [word for element in self.elements() for word in (element, self.value())]
        return rng.choice([["HSET", self.key(), *pairs], ["HMSET", self.key(), *pairs],
                           ["HSET", self.key(), *pairs[:-1]], ["HSETNX", self.key(), *pairs[:2]]])

    def read(self):
        return [self.rng.choice(["HGET", "HEXISTS", "HSTRLEN"]), self.key(), self.element()]

    def many(self):
        return self.rng.choice([["HGETALL", self.key()], ["HKEYS", self.key()], ["HVALS", self.key()], ["HLEN", self.key()],
                                ["HMGET", self.key(), *self.elements()]])

    def count(self):
        rng = self.rng
        return rng.choice([["HINCRBY", self.key(), self.element(), self.integer()],
                           ["HINCRBYFLOAT", self.key(), self.element(),
                            rng.choice(["0.1", "1", "-2.5", "1e3", "x", "inf", "nan", "3.0"])]])

    def delete(self):
        return ["HDEL", self.key(), *self.elements()]

    def chance(self):
        return ["HRANDFIELD", self.key(), *self.maybe(0.8, self.count()), *self.maybe(0.3, "WITHVALUES")]

    def scan(self):
        return ["HSCAN", self.key(), 0, "COUNT", 100000, *self.maybe(0.5, "MATCH", self.rng.choice(["m*", "*1*", "x"]))]


class Lists(Family):
    pool = "l"
    weights = {"push": 14, "pop": 8, "read": 10, "change": 8, "search": 4, "move": 5}

    def push(self):
        return [self.rng.choice(["LPUSH", "RPUSH", "LPUSH", "RPUSH", "LPUSHX", "RPUSHX"]), self.key(), *self.elements()]

    def pop(self):
        rng = self.rng
        return rng.choice([[rng.choice(["LPOP", "RPOP"]), self.key(), *self.maybe(0.4, self.count())],
                           ["LMPOP", rng.choice([1, 2, 2, 3, 0, "x"]), self.key(), self.key(), rng.choice(["LEFT", "RIGHT", "UP"]),
                            *self.maybe(0.5, "COUNT", self.count())]])

    def read(self):
        return self.rng.choice([["LRANGE", self.key(), self.offset(), self.offset()], ["LINDEX", self.key(), self.offset()],
                                ["LLEN", self.key()], ["LRANGE", self.key(), 0, -1]])

    def change(self):
        rng = self.rng
        return rng.choice([["LSET", self.key(), self.offset(), self.element()],
                           ["LINSERT", self.key(), rng.choice(["BEFORE", "AFTER", "before", "X"]), self.element(), self.element()],
                           ["LREM", self.key(), self.count(), self.element()],
                           ["LTRIM", self.key(), self.offset(), self.offset()]])

    def search(self):
        return ["LPOS", self.key(), self.element(), *self.maybe(0.4, "RANK", self.rng.choice([1, 2, -1, -2, 0, "x"])),
                *self.maybe(0.4, "COUNT", self.count()), *self.maybe(0.3, "MAXLEN", self.count())]

    def move(self):
        rng = self.rng
        return rng.choice([["LMOVE", self.key(), self.key(), rng.choice(["LEFT", "RIGHT", "UP"]), rng.choice(["LEFT", "RIGHT"])],
                           ["RPOPLPUSH", self.key(), self.key()]])


class Sets(Family):
    pool = "s"
    weights = {"write": 12, "read": 8, "algebra": 8, "store": 6, "move": 3, "chance": 3, "scan": 2}

    def write(self):
        return [self.rng.choice(["SADD", "SADD", "SREM"]), self.key(), *self.elements()]

    def read(self):
        return self.rng.choice([["SISMEMBER", self.key(), self.element()], ["SMISMEMBER", self.key(), *self.elements()],
                                ["SMEMBERS", self.key()], ["SCARD", self.key()]])

    def algebra(self):
        rng = self.rng
        keys = self.keys()
        return rng.choice([[rng.choice(["SINTER", "SUNION", "SDIFF"]), *keys],
                           ["SINTERCARD", rng.choice([len(keys), len(keys), 0, 9, "x"]), *keys,
                            *self.maybe(0.4, "LIMIT", self.count())]])

    def store(self):
        """Stores into its own keys: the encoding of the result depends on the order of the elements."""
        target = f"u{self.rng.randrange(3)}"
        return [self.rng.choice(["SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"]), target, *self.keys(), *self.maybe(0.2, target)]

    def move(self):
        return ["SMOVE", self.key(), self.key(), self.element()]

    def chance(self):
        return self.rng.choice([["SPOP", self.key(), self.rng.choice([0, 10**6, -1, "x"])],
                                ["SRANDMEMBER", self.key(), *self.maybe(0.8, self.count())]])

    def scan(self):
        return ["SSCAN", self.key(), 0, "COUNT", 100000, *self.maybe(0.5, "MATCH", self.rng.choice(["m*", "*1*", "x"]))]


class SortedSets(Family):
    pool = "z"
    weights = {"add": 14, "read": 8, "ranges": 12, "ranked": 5, "remove": 5, "pop": 3, "algebra": 6, "chance": 2, "scan": 1}

    def score(self):
        """Fractions of few binary digits print alike in all versions. No number is out of range: after such a number,
        SORT of Redis accepts invalid numbers as 0 (it checks an old errno)."""
        rng = self.rng
        scores = [lambda: rng.randrange(-8, 8), lambda: rng.randrange(-20, 20) / 4,
                  lambda: rng.choice(["inf", "-inf", "+inf", "0"]),
                  lambda: rng.choice(["nan", "x", ""])]
        weights = [10, 5, 1, 0.3]
        if self.version >= (7, 2):
            scores.append(lambda: rng.choice([rng.random() * 10**rng.randrange(-20, 20), 0.1, 1e21, 123456789.125,
                                              2**53, -2**53, 1e10, "-0"]))
            weights.append(2)
        return rng.choices(scores, weights)[0]()

    def bound(self):
        return self.rng.choice([lambda: self.score(), lambda: f"({self.score()}", lambda: "-inf", lambda: "+inf"])()

    def lex_key(self):
        """All its members have the same score; otherwise a range by texts is undefined."""
        return f"y{self.rng.randrange(3)}"

    def lex(self):
        rng = self.rng
        return rng.choice([lambda: "-", lambda: "+", lambda: f"[{self.text()}", lambda: f"({self.text()}", lambda: "m1"])()

    def text(self):
        return self.rng.choice(["m", "m1", "m5", "e2", "", "zz"])

    def add(self):
        rng = self.rng
        options = [option for option, chance in [("NX", .08), ("XX", .08), ("GT", .08), ("LT", .08), ("CH", .1), ("INCR", .1)]
                   if rng.random() < chance]
        pairs = [word for element in self.elements() for word in (self.score(), element)]
        if "INCR" in options and rng.random() < 0.8:
            pairs = pairs[:2]
        return rng.choices([["ZADD", self.key(), *options, *pairs], ["ZINCRBY", self.key(), self.score(), self.element()],
                            ["ZADD", self.lex_key(), *[w for e in self.elements() for w in (0, e)]]], [6, 2, 2])[0]

    def read(self):
        rng = self.rng
        return rng.choice([["ZSCORE", self.key(), self.element()], ["ZMSCORE", self.key(), *self.elements()], ["ZCARD", self.key()],
                           ["ZCOUNT", self.key(), self.bound(), self.bound()], ["ZLEXCOUNT", self.lex_key(), self.lex(), self.lex()]])

    def limit(self):
        return self.maybe(0.3, "LIMIT", self.rng.choice([0, 1, 2, -1]), self.rng.choice([0, 1, 5, -1]))

    def ranges(self):
        rng = self.rng
        with_scores = self.maybe(0.5, "WITHSCORES")
        rev = self.maybe(0.4, "REV")
        forms = [
            ["ZRANGE", self.key(), self.offset(), self.offset(), *rev, *with_scores],
            ["ZRANGE", self.key(), self.bound(), self.bound(), "BYSCORE", *rev, *self.limit(), *with_scores],
            ["ZRANGE", self.lex_key(), self.lex(), self.lex(), "BYLEX", *rev, *self.limit()],
            ["ZREVRANGE", self.key(), self.offset(), self.offset(), *with_scores],
            ["ZRANGEBYSCORE", self.key(), self.bound(), self.bound(), *with_scores, *self.limit()],
            ["ZREVRANGEBYSCORE", self.key(), self.bound(), self.bound(), *with_scores, *self.limit()],
            ["ZRANGEBYLEX", self.lex_key(), self.lex(), self.lex(), *self.limit()],
            ["ZREVRANGEBYLEX", self.lex_key(), self.lex(), self.lex(), *self.limit()],
            ["ZRANGESTORE", self.key(), self.key(), self.offset(), self.offset(), *rev],
            ["ZRANGESTORE", self.key(), self.key(), self.bound(), self.bound(), "BYSCORE", *rev, *self.limit()],
            ["ZRANGESTORE", self.lex_key(), self.lex_key(), self.lex(), self.lex(), "BYLEX", *rev, *self.limit()],
        ]
        return rng.choice(forms)

    def ranked(self):
        with_score = self.maybe(0.3, "WITHSCORE") if self.version >= (7, 2) else []
        return [self.rng.choice(["ZRANK", "ZREVRANK"]), self.key(), self.element(), *with_score]

    def remove(self):
        rng = self.rng
        return rng.choices([["ZREM", rng.choice([self.key(), self.lex_key()]), *self.elements()],
                            ["ZREMRANGEBYRANK", self.key(), self.index(), self.index()],
                            ["ZREMRANGEBYSCORE", self.key(), self.bound(), self.bound()],
                            ["ZREMRANGEBYLEX", self.lex_key(), self.lex(), self.lex()]], [4, 1, 1, 1])[0]

    def pop(self):
        rng = self.rng
        return rng.choice([[rng.choice(["ZPOPMIN", "ZPOPMAX"]), self.key(), *self.maybe(0.5, self.count())],
                           ["ZMPOP", rng.choice([2, 2, 1, 0, "x"]), self.key(), self.key(), rng.choice(["MIN", "MAX", "MID"]),
                            *self.maybe(0.5, "COUNT", self.count())]])

    def algebra(self):
        rng = self.rng
        keys = [self.key(rng.choice("zzzs")) for _ in range(rng.randint(1, 3))]
        name = rng.choice(["ZUNION", "ZINTER", "ZDIFF"])
        options = []
        if name != "ZDIFF":
            options += self.maybe(0.4, "WEIGHTS", *[rng.choice([1, 2, 0.5, "inf", "x", -1 if self.version >= (7, 2) else 1]) for _ in keys])
            options += self.maybe(0.4, "AGGREGATE", rng.choice(["SUM", "MIN", "MAX", "AVG"]))
        number = rng.choice([len(keys)] * 6 + [0, 9, "x"])
        return rng.choice([[name, number, *keys, *options, *self.maybe(0.5, "WITHSCORES")],
                           [name + "STORE", self.key(), number, *keys, *options],
                           ["ZINTERCARD", number, *keys, *self.maybe(0.4, "LIMIT", self.count())]])

    def chance(self):
        return ["ZRANDMEMBER", self.key(), *self.maybe(0.8, self.count()), *self.maybe(0.3, "WITHSCORES")]

    def scan(self):
        return ["ZSCAN", self.key(), 0, "COUNT", 100000, *self.maybe(0.5, "MATCH", self.rng.choice(["m*", "*1*", "x"]))]


class Bitmaps(Family):
    pool = "b"
    weights = {"bits": 10, "text": 3, "count": 6, "operation": 4, "field": 8}

    def bit_offset(self):
        return self.rng.choice([0, 1, 7, 8, 9, 31, 63, 64, 100, 1000, 5000, -1, 2**32, "x"])

    def text(self):
        rng = self.rng
        return ["SET", self.key(), rng.choice([bytes(rng.choice([0, 255, rng.randrange(256)]) for _ in range(rng.randrange(40))),
                                               b"\xff" * rng.randrange(20), b"\x00" * rng.randrange(20), "foobar", 12345])]

    def bits(self):
        return self.rng.choice([["SETBIT", self.key(), self.bit_offset(), self.rng.choice([0, 1, 1, 1, 2, "x"])],
                                ["GETBIT", self.key(), self.bit_offset()]])

    def count(self):
        rng = self.rng
        unit = self.maybe(0.5, rng.choice(["BIT", "BYTE", "bit", "WORD"]))
        return rng.choice([["BITCOUNT", self.key()], ["BITCOUNT", self.key(), self.offset(), self.offset(), *unit],
                           ["BITPOS", self.key(), rng.choice([0, 1, 2])], ["BITPOS", self.key(), rng.choice([0, 1]), self.offset()],
                           ["BITPOS", self.key(), rng.choice([0, 1]), self.offset(), self.offset(), *unit]])

    def operation(self):
        rng = self.rng
        name = rng.choice(["AND", "OR", "XOR", "NOT", "and", "NAND"])
        return ["BITOP", name, self.key(), *([self.key()] if name == "NOT" and rng.random() < 0.8 else self.keys())]

    def field(self):
        rng = self.rng
        words = []
        for _ in range(rng.randint(1, 4)):
            kind = rng.choice(["u8", "i8", "u1", "i5", "u16", "i32", "u63", "i64", "u64", "x9", "i0"])
            at = rng.choice([0, 1, 7, 8, 50, 100, "#0", "#1", "#5", "x", -1])
            value = rng.choice([0, 1, -1, 5, 127, 255, 256, -200, 2**62, -2**63, 2**63 - 1, "x"])
            words += rng.choice([["GET", kind, at], ["SET", kind, at, value], ["INCRBY", kind, at, value],
                                 ["OVERFLOW", rng.choice(["WRAP", "SAT", "FAIL", "NO"])]])
        return [rng.choice(["BITFIELD", "BITFIELD", "BITFIELD_RO"]), self.key(), *words]


class HyperLogLogs(Family):
    pool = "p"
    weights = {"add": 10, "count": 6, "merge": 3, "look": 2}

    def key(self, pool=None):
        """Never a string, which might later hold a damaged HyperLogLog."""
        if self.rng.random() < 0.04:
            pool = self.rng.choice("hlszgd")
        return f"{pool or self.pool}{self.rng.randrange(6)}"

    def add(self):
        rng = self.rng
        start = rng.randrange(5000)
        many = range(start, start + rng.choice([0, 1, 2, 5, 50, 500]))
        return ["PFADD", self.key(), *[f"e{n}" for n in many]]

    def count(self):
        return ["PFCOUNT", *self.keys(1, 3)]

    def merge(self):
        return ["PFMERGE", self.key(), *self.keys(0, 3)]

    def look(self):
        return self.rng.choice([["PFDEBUG", "ENCODING", self.key()], ["GET", self.key()], ["PFDEBUG", "DECODE", self.key()]])


class Places(Family):
    pool = "g"
    weights = {"add": 10, "read": 8, "search": 12, "store": 3, "radius": 6}

    def coordinates(self):
        rng = self.rng
        return rng.choices([(round(rng.uniform(12, 16), 6), round(rng.uniform(36, 39), 6)),
                            (round(rng.uniform(-180, 180), 6), round(rng.uniform(-85, 85), 6)),
                            (rng.choice([180, -180, 181, "x"]), rng.choice([85, -86, 0]))], [10, 3, 0.5])[0]

    def unit(self):
        return self.rng.choice(["m", "km", "km", "mi", "ft", "KM", "x"] if self.rng.random() < 0.1 else ["m", "km", "mi", "ft"])

    def size(self):
        return self.rng.choice([1, 50, 200, 1000, 5000.5, 100000, 0, -1, "x"] if self.rng.random() < 0.1 else [10, 200, 1000])

    def add(self):
        places = [word for _ in range(self.rng.randint(1, 5)) for word in (*self.coordinates(), f"m{self.rng.randrange(30)}")]
        return ["GEOADD", self.key(), *self.maybe(0.1, self.rng.choice(["NX", "XX", "WHAT"])), *self.maybe(0.1, "CH"), *places]

    def member(self):
        return f"m{self.rng.randrange(30)}"

    def read(self):
        return self.rng.choice([["GEODIST", self.key(), self.member(), self.member(), *self.maybe(0.7, self.unit())],
                                ["GEOHASH", self.key(), self.member(), self.member()],
                                ["GEOPOS", self.key(), self.member(), self.member()], ["ZRANGE", self.key(), 0, -1, "WITHSCORES"]])

    def search_options(self):
        rng = self.rng
        around = rng.choice([["FROMMEMBER", self.member()], ["FROMLONLAT", *self.coordinates()]])
        shape = rng.choice([["BYRADIUS", self.size(), self.unit()], ["BYBOX", self.size(), self.size(), self.unit()]])
        return [*around, *shape, rng.choice(["ASC", "DESC"]), *self.maybe(0.4, "COUNT", rng.choice([1, 2, 5, 0, "x"]))]

    def search(self):
        return ["GEOSEARCH", self.key(), *self.search_options(), *self.maybe(0.4, "WITHCOORD"), *self.maybe(0.4, "WITHDIST"),
                *self.maybe(0.4, "WITHHASH")]

    def store(self):
        return ["GEOSEARCHSTORE", self.key(), self.key(), *self.search_options(), *self.maybe(0.3 if self.version >= (7, 2) else 0, "STOREDIST")]

    def radius(self):
        rng = self.rng
        options = [*self.maybe(0.3, "WITHDIST"), *self.maybe(0.3, "WITHCOORD"), *self.maybe(0.3, "COUNT", 3), rng.choice(["ASC", "DESC"]),
                   *self.maybe(0.1, "STORE", self.key())]
        return rng.choice([[rng.choice(["GEORADIUS", "GEORADIUS_RO"]), self.key(), *self.coordinates(), self.size(), self.unit(), *options],
                           [rng.choice(["GEORADIUSBYMEMBER", "GEORADIUSBYMEMBER_RO"]), self.key(), self.member(), self.size(),
                            self.unit(), *options]])


class Streams(Family):
    """IDs are explicit and mostly increase. Delivery times are long ago, or now: entries idle for a hundred days were
    given an old time."""

    pool = "x"
    weights = {"add": 16, "range": 8, "delete": 5, "trim": 4, "setid": 2, "read": 4, "group": 4, "readgroup": 12, "ack": 6,
               "pending": 6, "claim": 6, "autoclaim": 5, "info": 5}
    LONG_MS = 10**10

    def __init__(self, rng, version):
        super().__init__(rng, version)
        self.last = 1
        if version < (7, 2):  # which creates consumers and checks IDs at other times
            newer = {"readgroup", "claim", "autoclaim", "setid"}
            self.weights = {name: weight for name, weight in self.weights.items() if name not in newer}

    def key(self, pool=None):
        if self.rng.random() < 0.03:
            return super().key(pool)
        return f"{self.pool}{self.rng.randrange(3)}"

    def new_id(self):
        rng = self.rng
        self.last += rng.choice([0, 1, 1, 1, 2, 300])
        return rng.choices([f"{self.last}-*", self.last, f"{self.last}-{rng.randrange(5)}", self.id(), "0-0", "0-*", "1-a",
                            "18446744073709551615-*"], [10, 10, 5, 2, 0.2, 0.2, 0.2, 0.05])[0]

    def id(self):
        rng = self.rng
        ms = max(0, self.last - rng.choice([0, 1, 2, 3, 5, 10, 30, 100, 1000]))
        return rng.choices([ms, f"{ms}-0", f"{ms}-{rng.randrange(4)}", "0", rng.choice(["x", "-", "+", "", "1-", "-1", "$", ">", "5-*"])],
                           [6, 10, 10, 2, 0.5])[0]

    def bound(self):
        rng = self.rng
        return rng.choices([lambda: "-", lambda: "+", self.id, lambda: f"({self.id()}"], [4, 4, 6, 2])[0]()

    def limit(self):
        return self.rng.choice([0, 1, 2, 3, 7, 50, 100, -1, "x"] if self.rng.random() < 0.1 else [1, 2, 3, 7, 50, 0])

    def trimming(self):
        rng = self.rng
        strategy = rng.choice([["MAXLEN"], ["MINID"]])
        words = strategy + rng.choice([[], ["~"], ["="], ["~"]])
        words += [rng.choice([0, 1, 5, 20, 50, 100, 100]) if strategy == ["MAXLEN"] else self.id()]
        return words + self.maybe(0.2, "LIMIT", self.limit())

    def fields(self):
        rng = self.rng
        if rng.random() < 0.7:
            return ["item", self.element(), "n", rng.randrange(10000)]
        return [self.element() for _ in range(2 * rng.randint(1, 3))]

    def add(self):
        rng = self.rng
        words = ["XADD", self.key(), *self.maybe(0.05, "NOMKSTREAM"), *(self.trimming() if rng.random() < 0.25 else [])]
        return [*words, self.new_id(), *self.fields(), *self.maybe(0.02, "odd")]

    def range(self):
        first, second = self.bound(), self.bound()
        return [*self.rng.choice([["XRANGE", self.key()], ["XREVRANGE", self.key()]]), first, second,
                *self.maybe(0.5, "COUNT", self.limit())]

    def delete(self):
        return ["XDEL", self.key(), *[self.id() for _ in range(self.rng.randint(1, 4))]]

    def trim(self):
        return ["XTRIM", self.key(), *self.trimming()]

    def setid(self):
        rng = self.rng
        return ["XSETID", self.key(), self.id(), *self.maybe(0.3, "ENTRIESADDED", rng.choice([0, 5, 100, -1])),
                *self.maybe(0.3, "MAXDELETEDID", self.id())]

    def read(self):
        rng = self.rng
        keys = [self.key() for _ in range(rng.randint(1, 2))]
        ids = [rng.choice([self.id(), "$", "0", self.id()]) for _ in keys]
        return ["XREAD", *self.maybe(0.6, "COUNT", self.limit()), "STREAMS", *keys, *ids]

    def group_name(self):
        return f"g{self.rng.randrange(3)}"

    def consumer(self):
        return f"c{self.rng.randrange(4)}"

    def group(self):
        rng = self.rng
        entries_read = self.maybe(0.2, "ENTRIESREAD", rng.choice([0, 3, -1, -2, "x"]))
        place = rng.choice(["$", "0", "0", self.id()])
        return rng.choices([["XGROUP", "CREATE", self.key(), self.group_name(), place, *self.maybe(0.6, "MKSTREAM"), *entries_read],
                            ["XGROUP", "SETID", self.key(), self.group_name(), place, *entries_read],
                            ["XGROUP", "CREATECONSUMER", self.key(), self.group_name(), self.consumer()],
                            ["XGROUP", "DELCONSUMER", self.key(), self.group_name(), self.consumer()],
                            ["XGROUP", "DESTROY", self.key(), self.group_name()]], [8, 3, 1, 1, 0.3])[0]

    def readgroup(self):
        rng = self.rng
        keys = [self.key() for _ in range(rng.choice([1, 1, 1, 2]))]
        return ["XREADGROUP", "GROUP", self.group_name(), self.consumer(), *self.maybe(0.7, "COUNT", self.limit()),
                *self.maybe(0.1, "NOACK"), "STREAMS", *keys, *[rng.choice([">", ">", ">", "0", self.id()]) for _ in keys]]

    def ack(self):
        return ["XACK", self.key(), self.group_name(), *[self.id() for _ in range(self.rng.randint(1, 5))]]

    def pending(self):
        rng = self.rng
        if rng.random() < 0.3:
            return ["XPENDING", self.key(), self.group_name()]
        return ["XPENDING", self.key(), self.group_name(), *self.maybe(0.3, "IDLE", rng.choice([0, self.LONG_MS])), self.bound(),
                self.bound(), rng.choice([10, 100, 1, 0, -1]), *self.maybe(0.3, self.consumer())]

    def claim(self):
        rng = self.rng
        options = [*self.maybe(0.4, "TIME", rng.choice([1000, 10**12, -5])), *self.maybe(0.2, "IDLE", 10**11),
                   *self.maybe(0.3, "RETRYCOUNT", rng.choice([0, 3, 7])), *self.maybe(0.3, "FORCE"), *self.maybe(0.3, "JUSTID"),
                   *self.maybe(0.1, "LASTID", self.id()), *self.maybe(0.02, "WHAT")]
        return ["XCLAIM", self.key(), self.group_name(), self.consumer(), rng.choice([0, 0, self.LONG_MS, -1]),
                *[self.id() for _ in range(rng.randint(1, 4))], *options]

    def autoclaim(self):
        rng = self.rng
        return ["XAUTOCLAIM", self.key(), self.group_name(), self.consumer(), rng.choice([0, 0, self.LONG_MS]), self.bound(),
                *self.maybe(0.7, "COUNT", rng.choice([1, 2, 3, 10, 0])), *self.maybe(0.3, "JUSTID")]

    def info(self):
        return self.rng.choice([["XINFO", "STREAM", self.key()], ["XINFO", "GROUPS", self.key()],
                                ["XINFO", "CONSUMERS", self.key(), self.group_name()], ["XLEN", self.key()],
                                ["XINFO", "STREAM", self.key(), "FULL", *self.maybe(0.6, "COUNT", self.limit())]])


class Sorting(Family):
    """Uses its own keys: Redis converts a small sorted set when it sorts it (docs/differences.md)."""

    weights = {"sort": 6, "fill": 4, "weights_of": 2}

    def source(self):
        return f"{self.rng.choice('oqv')}{self.rng.randrange(2)}"

    def element(self):
        """Never with a NUL: Redis compares texts only up to it, so the order of equal texts is undefined."""
        element = super().element()
        return "m0" if element == b"\x00\xff" else element

    def fill(self):
        return self.rng.choice([["RPUSH", f"o{self.rng.randrange(2)}", *self.elements()],
                                ["SADD", f"q{self.rng.randrange(2)}", *self.elements()],
                                ["ZADD", f"v{self.rng.randrange(2)}", self.rng.randrange(-9, 9), self.element()],
                                ["DEL", self.source()]])

    def weights_of(self):
        """The keys that BY and GET look up."""
        number = self.rng.randrange(-10, 10)
        return self.rng.choice([["SET", f"w_{number}", self.rng.randrange(100)], ["HSET", f"wh_{number}", "f", self.value()]])

    def sort(self):
        rng = self.rng
        words = [rng.choice(["SORT", "SORT", "SORT_RO"]), self.source()]
        words += self.maybe(0.3, "BY", rng.choice(["w_*", "wh_*->f", "*"]))
        words += self.maybe(0.3, "LIMIT", rng.choice([0, 1, 2, -1]), rng.choice([0, 1, 5, -1]))
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            words += ["GET", rng.choice(["#", "w_*", "wh_*->f", "none"])]
        words += self.maybe(0.4, rng.choice(["ASC", "DESC"]))
        if "BY" not in words:  # equal or missing weights of BY leave the order undefined
            words += self.maybe(0.6, "ALPHA")
        return words + (self.maybe(0.2, "STORE", self.key("l")))


class Dumps(Family):
    """RESTORE of payloads that every version reads."""

    pool = "d"
    weights = {"restore": 6, "payload": 1}
    payloads = [payload(value, 9) for value in OLD_VALUES.values()]

    def restore(self):
        rng = self.rng
        ttl = rng.choices([0, 10**6, FAR_S * 1000, 10**9, -1, "x"], [10, 3, 3, 2, 1, 1])[0]
        words = ["RESTORE", self.key(rng.choice("dkhlz")), ttl, rng.choice(self.payloads)]
        words += self.maybe(0.6, "REPLACE")
        words += ["ABSTTL"] if ttl in (10**9, FAR_S * 1000) else []  # in the past and in the future
        words += rng.choices([[], ["IDLETIME", 1000], ["FREQ", 5], ["IDLETIME", -1], ["FREQ", 256], ["WHAT"]],
                             [12, 2, 2, 1, 1, 1])[0]
        return words

    def payload(self):
        """A truncated payload."""
        value = self.rng.choice(self.payloads)
        return ["RESTORE", self.key(), 0, value[:self.rng.randrange(len(value))]]


# Maps a family to its relative frequency.
FAMILIES = {Strings: 4, Keys: 5, Hashes: 5, Lists: 5, Sets: 5, SortedSets: 7, Bitmaps: 3, HyperLogLogs: 2, Places: 3, Streams: 7,
            Sorting: 2, Dumps: 2}


class Generator:
    """A stream of commands. `names` selects some of the families, `more` has further ones."""

    def __init__(self, rng, version, names=(), more=None):
        self.rng, self.version = rng, version
        chosen = {family: weight for family, weight in (FAMILIES | (more or {})).items() if not names or family.__name__ in names}
        self.families = [family(rng, version) for family in chosen]
        self.weights = list(chosen.values())
        for family in self.families:
            family.others = self.families

    def command(self):
        words = self.rng.choices(self.families, self.weights)[0].command()
        return [word if isinstance(word, bytes) else str(word).encode() for word in words]

    def thresholds(self):
        """Returns CONFIG SET commands for a round."""
        directives = THRESHOLDS | (THRESHOLDS_OF_7_2 if self.version >= (7, 2) else {})
        return [[b"CONFIG", b"SET", name.encode(), str(self.rng.choice(values)).encode()] for name, values in directives.items()]
