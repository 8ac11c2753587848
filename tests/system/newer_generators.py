"""Random commands and options that came after Redis 7.2 and Valkey 7.2, for differential_test.py with --emulate. They are
sent to every version: one that lacks them must refuse them like its server."""

from generators import FAR_S, Family, Hashes, Places, Streams, Strings

# Scripts that run the command in ARGV.
SCRIPTS = ["return redis.pcall(unpack(ARGV))", "redis.setresp(3) return redis.pcall(unpack(ARGV))"]


class ConditionalStrings(Strings):
    weights = {"set": 8, "conditional": 10, "delete": 6, "digest": 3, "many": 6, "operation": 3}
    # The digest of "Hello world", and others.
    DIGESTS = ["b6acb9d84a38ff74", "0000000000000000", "B6ACB9D84A38FF74", "x", "", "b6acb9d84a38ff7", "b6acb9d84a38ff744",
               "g6acb9d84a38ff74"]

    def plain(self):
        return self.rng.choice(["Hello world", "a", "b", "1", ""])

    def set(self):
        return ["SET", self.key(), self.plain()]

    def condition(self):
        rng = self.rng
        name = self.case(rng.choice(["IFEQ", "IFNE", "IFDEQ", "IFDNE"]))
        return [name, rng.choice(self.DIGESTS) if "D" in name.upper() and rng.random() < 0.9 else self.plain()]

    def conditional(self):
        rng = self.rng
        options = [self.condition()]
        options += [[word] for word in ("GET", "NX", "XX", "KEEPTTL", "WHAT") if rng.random() < (0.3 if word == "GET" else 0.05)]
        options += [self.deadline()] if rng.random() < 0.2 else []
        options += [self.condition()] if rng.random() < 0.05 else []
        rng.shuffle(options)
        return ["SET", self.key(), self.value() if rng.random() < 0.1 else self.plain(), *[word for option in options for word in option]]

    def delete(self):
        rng = self.rng
        return rng.choice([["DELEX", self.key(), *self.maybe(0.9, *self.condition()), *self.maybe(0.05, *self.condition())],
                           ["DELIFEQ", self.key(), self.plain()]])

    def digest(self):
        return ["DIGEST", self.key()]

    def many(self):
        rng = self.rng
        pairs = [word for _ in range(rng.randrange(1, 4)) for word in (self.key(), self.plain())]
        count = rng.choices([len(pairs) // 2, rng.choice([0, -1, 9, "x", 2**31, 2**63 - 1, 2**63, 1, 2])], [9, 1])[0]
        options = [option for option, chance in ((["NX"], 0.2), (["XX"], 0.2), (["KEEPTTL"], 0.1), (["WHAT"], 0.03),
                                                 (self.deadline(), 0.3), (self.deadline(), 0.03)) if rng.random() < chance]
        rng.shuffle(options)
        return ["MSETEX", count, *pairs, *[word for option in options for word in option]]

    def operation(self):
        return ["BITOP", self.case(self.rng.choice(["DIFF", "DIFF1", "ANDOR", "ONE"])), self.key(), *self.keys()]


class HashDeadlines(Hashes):
    """Deadlines are absolute where they are compared, because the servers read their clocks at different times."""

    weights = {"write": 6, "expire": 10, "ttl": 8, "persist": 3, "setex": 8, "getex": 6, "getdel": 5, "many": 3, "delete": 2,
               "chance": 1, "scan": 1, "whole": 2}

    def fields(self):
        rng = self.rng
        names = [self.element() for _ in range(rng.randint(1, 4))]
        count = rng.choices([len(names), rng.choice([0, -1, 9, "x", 1, 2, 7])], [14, 1])[0]
        return [self.rng.choices(["FIELDS", "fields", "FIELD"], [14, 2, 0.3])[0], count, *names]

    def condition(self):
        return self.rng.choices([[], ["NX"], ["XX"], ["GT"], ["LT"], ["WHAT"], ["NX", "XX"]], [8, 2, 2, 2, 2, 0.3, 0.3])[0]

    def expire(self):
        rng = self.rng
        name, moment = rng.choice([
            ("HEXPIRE", rng.choice([1000, 2000, 0, -5, "x", 2**63 - 1, -2**63, 2**46, 10**13])),
            ("HPEXPIRE", rng.choice([10**6, 2 * 10**6, 0, -5, "x", 2**63 - 1, 2**46])),
            ("HEXPIREAT", rng.choice([FAR_S, FAR_S + 5, 1, 0, -1, 2**63 - 1, 2**46 // 1000, 2**46 // 1000 + 1])),
            ("HPEXPIREAT", rng.choice([FAR_S * 1000, FAR_S * 1000 + 7, 1, 0, "x", 2**46, 2**46 - 1])),
            ("HPEXPIREAT", FAR_S * 1000 + rng.randrange(5)), ("HEXPIREAT", FAR_S + rng.randrange(5))])
        condition = self.condition()
        if "AT" not in name and condition in (["GT"], ["LT"]):
            condition = []
        words = [name, self.key(), moment, *condition, *self.fields()]
        if rng.random() < 0.03:  # options after the fields
            words = [name, self.key(), moment, *self.fields(), *condition]
        return words

    def ttl(self):
        return [self.rng.choice(["HTTL", "HPTTL", "HEXPIRETIME", "HPEXPIRETIME"]), self.key(), *self.fields()]

    def persist(self):
        return ["HPERSIST", self.key(), *self.fields()]

    def deadline(self, keep):
        rng = self.rng
        return rng.choice([("EX", rng.choice([1000, 2000, 0, -1, "x", 2**63 - 1, 2**62])), ("PX", rng.choice([10**6, 2 * 10**6, 0, -1])),
                           ("EXAT", rng.choice([FAR_S, FAR_S + 1, 1, 0, 2**46])), ("PXAT", rng.choice([FAR_S * 1000, 1000, 2**46, 2**46 - 1])),
                           (keep,), (keep,), ("PX", 10**6, keep)])

    def setex(self):
        """Names no field two times, with which Redis 8.6 crashes."""
        rng = self.rng
        fields = {str(field): field for field in (self.element() for _ in range(rng.randint(1, 4)))}.values()
        pairs = [word for field in fields for word in (field, self.value())]
        count = rng.choices([len(fields), rng.choice([0, -1, 9, "x", 1, 2, 7])], [14, 1])[0]
        options = [option for option, chance in ((["FNX"], 0.15), (["FXX"], 0.15), (["NX"], 0.1), (["XX"], 0.1), (["WHAT"], 0.02),
                                                 (self.deadline("KEEPTTL"), 0.6), (self.deadline("KEEPTTL"), 0.02)) if rng.random() < chance]
        options.append(["FIELDS", count, *pairs])
        if rng.random() < 0.1:
            rng.shuffle(options)
        return ["HSETEX", self.key(), *[word for option in options for word in option], *self.maybe(0.02, "odd")]

    def getex(self):
        rng = self.rng
        options = [self.deadline("PERSIST") if rng.random() < 0.7 else [], self.fields()]
        if rng.random() < 0.05:
            rng.shuffle(options)
        return ["HGETEX", self.key(), *[word for option in options for word in option]]

    def getdel(self):
        return ["HGETDEL", self.key(), *self.fields()]

    def whole(self):
        rng = self.rng
        return rng.choice([["COPY", self.key(), self.key(), *self.maybe(0.5, "REPLACE")], ["RENAME", self.key(), self.key()],
                           ["OBJECT", "ENCODING", self.key()], ["DEL", self.key()], ["HINCRBY", self.key(), self.element(), 1],
                           ["HINCRBYFLOAT", self.key(), self.element(), "0.5"], ["HSETNX", self.key(), self.element(), "v"],
                           ["HSTRLEN", self.key(), self.element()], ["HEXISTS", self.key(), self.element()]])


class NewerStreams(Streams):
    weights = Streams.weights | {"policy_add": 10, "delete_policy": 10, "ack_delete": 8, "policy_trim": 4, "idempotent": 10,
                                 "configure": 3, "claim_read": 8, "record": 1}

    def policy(self):
        return self.rng.choices([[], ["KEEPREF"], ["DELREF"], ["ACKED"], ["KEEPREF", "ACKED"], ["keepref"]], [3, 2, 4, 4, 0.2, 0.2])[0]

    def trimming_with_policy(self):
        words = self.trimming()
        policy = self.policy()
        return [*words, *policy] if self.rng.random() < 0.5 else [*policy, *words]

    def policy_add(self):
        rng = self.rng
        return ["XADD", self.key(), *self.maybe(0.05, "NOMKSTREAM"), *(self.trimming_with_policy() if rng.random() < 0.5 else self.policy()),
                self.new_id(), *self.fields()]

    def ids(self):
        rng = self.rng
        ids = [self.id() for _ in range(rng.randint(1, 4))]
        count = rng.choices([len(ids), rng.choice([0, -1, 9, "x", 1, 2, 7])], [14, 1])[0]
        return [rng.choices(["IDS", "ids", "ID"], [14, 2, 0.3])[0], count, *ids]

    def delete_policy(self):
        options = [self.policy(), self.ids()]
        if self.rng.random() < 0.05:
            options.reverse()
        return ["XDELEX", self.key(), *[word for option in options for word in option]]

    def ack_delete(self):
        return ["XACKDEL", self.key(), self.group_name(), *self.policy(), *self.ids()]

    def policy_trim(self):
        return ["XTRIM", self.key(), *self.trimming_with_policy()]

    def idempotent(self):
        """IDs are explicit, as everywhere here, which idempotent IDs do not allow: most of these commands are refused."""
        rng = self.rng
        producer = rng.choice([["IDMP", f"p{rng.randrange(3)}", f"i{rng.randrange(6)}"], ["IDMPAUTO", f"p{rng.randrange(3)}"],
                               ["IDMP", f"p{rng.randrange(3)}", f"i{rng.randrange(6)}"], ["IDMP", "", "i"], ["IDMP", "p", ""], ["IDMPAUTO", ""],
                               ["IDMP", "p", "i", "IDMPAUTO", "p"]])
        trim = self.trimming() if rng.random() < 0.1 else []
        options = [producer, trim, *([["NOMKSTREAM"]] if rng.random() < 0.05 else []), *([self.policy()] if rng.random() < 0.1 else [])]
        rng.shuffle(options)
        return ["XADD", self.key(), *[word for option in options for word in option], f"{self.last}-*" if rng.random() < 0.2 else self.new_id(),
                *rng.choice([["f", rng.randrange(3)], ["g", "v", "f", "v"], ["f", "v", "g", "v"]])]

    def configure(self):
        rng = self.rng
        options = [(["IDMP-DURATION", rng.choice([1000, 3600, 86400, 0, -1, "x", 86401, 2**31])], 0.7),
                   (["IDMP-MAXSIZE", rng.choice([1, 2, 3, 10, 10000, 0, -1, "x", 10001, 2**31])], 0.7), (["WHAT", 1], 0.03)]
        return ["XCFGSET", self.key(), *[word for option, chance in options if rng.random() < chance for word in option]]

    def record(self):
        return ["XIDMPRECORD", self.key(), f"p{self.rng.randrange(3)}", f"i{self.rng.randrange(6)}", self.id()]

    def claim_read(self):
        rng = self.rng
        keys = [self.key() for _ in range(rng.choice([1, 1, 1, 2]))]
        options = [["COUNT", self.limit()] if rng.random() < 0.7 else [], ["NOACK"] if rng.random() < 0.1 else [],
                   ["CLAIM", rng.choice([self.LONG_MS, self.LONG_MS, 0, -1, "x", 2**63 - 1])]]
        rng.shuffle(options)
        return ["XREADGROUP", "GROUP", self.group_name(), self.consumer(), *[word for option in options for word in option],
                "STREAMS", *keys, *[rng.choice([">", ">", ">", "0", self.id()]) for _ in keys]]


class Polygons(Places):
    weights = {"add": 8, "search": 10, "store": 3}

    def search_options(self):
        rng = self.rng
        lon, lat = rng.uniform(12, 16), rng.uniform(36, 39)
        corners = [(round(lon + rng.uniform(-2, 2), 4), round(lat + rng.uniform(-2, 2), 4)) for _ in range(rng.choice([3, 4, 5, 8, 2, 1]))]
        count = rng.choices([len(corners), rng.choice([0, -1, 2, "x", 2**31, 2**63 - 1])], [14, 1])[0]
        around = rng.choices([[], ["FROMMEMBER", self.member()], ["FROMLONLAT", *self.coordinates()]], [10, 1, 1])[0]
        shape = ["BYPOLYGON", count, *[number for corner in corners for number in corner], *self.maybe(0.03, "x")]
        also = self.maybe(0.03, "BYRADIUS", self.size(), self.unit())
        return [*around, *shape, *also, rng.choice(["ASC", "DESC"]), *self.maybe(0.4, "COUNT", rng.choice([1, 2, 5, 0, "x"]))]


    def store(self):
        """Without STOREDIST: the last digits of distances from the middle of a polygon differ."""
        return ["GEOSEARCHSTORE", self.key(), self.key(), *self.search_options()]


class Users(Family):
    """Users and their rules. The round begins without them; nothing but ACL DRYRUN uses them."""

    weights = {"rules": 12, "show": 6, "try_out": 12, "delete": 1}
    RULES = ["on", "off", "nopass", ">pw", "<pw", ">pw2", "resetpass", "~*", "allkeys", "~k*", "%R~h*", "%W~s*", "%RW~z*", "resetkeys", "&*",
             "allchannels", "&c*", "resetchannels", "+@all", "allcommands", "-@all", "nocommands", "+get", "+@read", "-@write", "+config|get",
             "-config|set", "+client", "-client|kill", "+@hash", "-hset", "+set", "reset", "clearselectors", "(+get ~k1)", "(+@read %R~*)",
             "(-@all +set ~k* &c)", "sanitize-payload", "skip-sanitize-payload", "+select", "+swapdb", "+move", "+copy", "+flushall", "+digest",
             "+xdelex", "+hgetex", "+@scripting"]
    OF_DATABASES = ["db=0", "db=0,1", "db=1", "db=2,1,2", "alldbs", "resetdbs", "db=", "db=x", "db=99", "db=-1", "db=0,", "db=1000000", "(db=1 +get ~*)"]
    WRONG = ["+nosuch", "+@nosuch", "-get|x", "~", "what", "#12", "(+get", "+get)", "%X~k", "%~k", ">", "()", "(+nosuch)", "-config|nosuch", ""]

    def name(self):
        return f"u{self.rng.randrange(3)}"

    def rules(self):
        rng = self.rng
        pools = rng.choices([self.RULES, self.OF_DATABASES, self.WRONG], [14, 4, 1], k=rng.randint(0, 5))
        return ["ACL", "SETUSER", self.name(), *[rng.choice(pool) for pool in pools]]

    def show(self):
        return ["ACL", *self.rng.choice([["GETUSER", self.name()], ["GETUSER", self.name()], ["LIST"], ["USERS"], ["WHOAMI"], ["CAT", "what"],
                                         ["GETUSER", "default"]])]

    def try_out(self):
        rng = self.rng
        words = rng.choice([["GET", self.key()], ["SET", self.key(), 1], ["HGETALL", self.key("h")], ["HSET", self.key("h"), "f", 1],
                            ["SMOVE", self.key("s"), self.key("k"), 1], ["CONFIG", "GET", "x"], ["CONFIG", "SET", "x", 1], ["CLIENT", "KILL", "x"],
                            ["CLIENT", "ID"], ["SELECT", rng.choice([0, 1, 2, 99, "x"])], ["SWAPDB", 0, 1], ["MOVE", "k1", rng.choice([0, 1, 99])],
                            ["COPY", "k1", "k2", "DB", rng.choice([0, 1])], ["COPY", "k1", "k2"], ["FLUSHALL"], ["FLUSHDB"],
                            ["PUBLISH", rng.choice(["c", "cc", "x"]), 1], ["SUBSCRIBE", "c1", "d"], ["PING"], ["NOSUCH"], ["GET"],
                            ["EVAL", "return 1", 1, self.key()], ["DIGEST", self.key()], ["XDELEX", self.key(), "IDS", 1, 1],
                            ["MSETEX", 2, self.key(), 1, self.key(), 2], ["DELEX", self.key()], ["HGETEX", "h1", "FIELDS", 1, "f"],
                            ["HSETEX", "h1", "FIELDS", 1, "f", "v"], ["SORT", "k1", "BY", "w_*"], ["SORT", "k1"], ["SORT_RO", "k1"],
                            ["BITFIELD", "k1", "GET", "u8", 0], ["BITFIELD", "k1", "SET", "u8", 0, 1], ["GETRANGE", "k0", 0, 1],
                            ["SET", "k1", "v", "GET"], ["SET", "k1", "v", "IFEQ", "x"], ["MIGRATE", "h", 1, "", 0, 5, "KEYS", "k1", "h1"],
                            ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "x1", ">"], ["SCAN", 0], ["KEYS", "*"], ["DBSIZE"], ["RANDOMKEY"],
                            ["SINTERSTORE", "s1", "s2", "k1"], ["ACL", "WHOAMI"], ["ACL", "LIST"], ["DEBUG", "SLEEP", 0], ["HOTKEYS", "GET"]])
        return ["ACL", "DRYRUN", self.rng.choices([self.name(), "default", "nobody"], [20, 1, 1])[0], *words]

    def delete(self):
        return ["ACL", "DELUSER", self.name()]


class HotKeys(Family):
    weights = {"start": 4, "end": 3, "get": 2}

    def start(self):
        rng = self.rng
        metrics = rng.choice([["CPU"], ["NET"], ["CPU", "NET"], ["NET", "CPU"], ["NET", "NET"], ["RAM"], []])
        count = rng.choices([len(metrics), rng.choice([0, 3, -1, "x", 2**31])], [9, 1])[0]
        options = [(["COUNT", rng.choice([1, 10, 64, 65, 0, -1, "x"])], 0.4), (["DURATION", rng.choice([1000, 0, -1, "x", 10**6, 2**63 - 1])], 0.4),
                   (["SAMPLE", rng.choice([1, 2, 100, 0, -1, "x"])], 0.3), (["SLOTS", 1, 5], 0.1), (["SLOTS", 0], 0.02), (["WHAT"], 0.03)]
        return ["HOTKEYS", "START", *rng.choices([["METRICS", count, *metrics], []], [14, 1])[0],
                *[word for option, chance in options if rng.random() < chance for word in option]]

    def end(self):
        return ["HOTKEYS", self.rng.choice(["STOP", "STOP", "RESET", "WHAT"])]

    def get(self):
        return ["HOTKEYS", "GET"]


class Wrapped(Family):
    """Commands of the other families in a script, and what COMMAND says about their keys."""

    weights = {"script": 3, "keys_of": 3}
    # Of these the reply cannot be compared in a script, or they do something to the script's connection only.
    NOT_IN_SCRIPTS = {b"SELECT", b"HOTKEYS", b"SCAN", b"KEYS", b"XINFO", b"XPENDING"}
    others = ()  # set by Generator

    def other(self):
        family = self.rng.choice([family for family in self.others if not isinstance(family, Wrapped)])
        return [word if isinstance(word, bytes) else str(word).encode() for word in family.command()]

    def script(self):
        words = self.other()
        if words[0] in self.NOT_IN_SCRIPTS or len(words) > 200:
            return words
        return ["EVAL", self.rng.choice(SCRIPTS), 0, *words]

    def keys_of(self):
        return ["COMMAND", self.rng.choice(["GETKEYS", "GETKEYSANDFLAGS"]), *self.other()]


# Maps a family to its relative frequency.
NEWER_FAMILIES = {ConditionalStrings: 5, HashDeadlines: 8, NewerStreams: 10, Polygons: 2, Users: 4, HotKeys: 1, Wrapped: 6}
# Sent before each round.
CLEANING = [[b"ACL", b"DELUSER", b"u0", b"u1", b"u2"], [b"HOTKEYS", b"STOP"], [b"HOTKEYS", b"RESET"]]
