"""Passes numbers at and beyond all limits, and texts that are not numbers, to every numeric argument of every command,
as COMMAND DOCS describes them. The server must survive, reply immediately, change nothing when it refuses, and reply as
the oracle does where both have the command."""
import re
import time
import unittest

import known_differences
import oracles
from two_servers import RESPITE, Closed, Server, encode, value_of

VALUES = ["-9223372036854775809", "-9223372036854775808", "-9223372036854775807", "-4611686018427387904", "-2147483649", "-2147483648",
          "-1", "-0", "0", "1", "2147483647", "2147483648", "4294967295", "4294967296", "4611686018427387904", "9223372036854775806",
          "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999",
          "1e400", "-1e400", "1e308", "1e-400", "nan", "-nan", "inf", "-inf", "+inf", "infinity", "0x7fffffffffffffff", "1.5", "", "abc",
          " 1", "+1", "01", "(1", "(inf", "9" * 400, "-" + "9" * 20, "1\0"]
NUMERIC_TYPES = ("integer", "double", "unix-time")
# Arguments documented as texts that are numbers or contain numbers.
NUMERIC_NAMES = ("min", "max", "start", "stop", "end", "threshold", "id", "minid", "lastid", "maxid", "last-id", "cursor", "min-idle-time",
                 "encoding", "start-id", "new-id", "timeout", "max-deleted-id", "increment", "decrement", "ttl")
# These affect the process, block on purpose, or concern missing features.
LEFT_OUT = ("shutdown", "debug", "cluster", "failover", "replicaof", "slaveof", "psync", "sync", "replconf", "restore-asking", "migrate",
            "client|pause", "module", "monitor", "lolwut", "pfselftest", "pfdebug", "reset", "quit", "readonly", "asking")
# Their replies contain times, random values or the state of the process: only the kind of reply is compared.
VAGUE = ("acl|genpass", "acl|log", "slowlog|get", "memory|usage", "client|list", "client|kill", "hello", "scan", "sscan", "hscan", "zscan",
         "srandmember", "hrandfield", "zrandmember", "spop", "xinfo|stream", "xpending", "xadd", "latency", "georadius", "client|tracking")
GROUP_KEYS = {"list": "list", "hash": "hash", "set": "set", "sorted-set": "zset", "stream": "stream", "geo": "geo", "hyperloglog": "hll",
              "array": "array"}
DATA = [["SET", "str", "some text"], ["SET", "str2", "more text"], ["SET", "int", "100"], ["RPUSH", "list", "3", "1", "2", "1"],
        ["HSET", "hash", "n", "5", "f", "v", "g", "w"], ["SADD", "set", "a", "b", "c"], ["ZADD", "zset", "1", "a", "2", "b", "3", "c"],
        ["GEOADD", "geo", "13.361389", "38.115556", "a", "15.087269", "37.502669", "b"], ["PFADD", "hll", "a", "b"],
        ["XADD", "stream", "5-1", "f", "v"], ["XADD", "stream", "6-1", "f", "w"], ["XGROUP", "CREATE", "stream", "g", "0"],
        ["XREADGROUP", "GROUP", "g", "c", "COUNT", "1", "STREAMS", "stream", ">"], ["SET", "timed", "v", "PXAT", "33177117420000"],
        ["ARSET", "array", "0", "5", "6"]]
DEFAULTS = {"numkeys": "1", "count": "2", "offset": "1", "start": "0", "stop": "-1", "end": "-1", "index": "0", "db": "0", "destination-db": "0",
            "index1": "0", "index2": "1", "timeout": "0.01", "cursor": "0", "bit": "1", "radius": "100", "longitude": "13.5", "latitude": "38.5",
            "width": "100", "height": "100", "min": "0", "max": "10", "score": "1", "weight": "1", "field": "n", "member": "a", "group": "g",
            "consumer": "c", "id": "5-1", "lastid": "5-1", "last-id": "5-1", "pattern": "*", "encoding": "u8", "value": "7", "increment": "2",
            "decrement": "2", "element": "1", "pivot": "1", "username": "default", "protover": "2", "script": "return ARGV[1]", "len": "1",
            "min-idle-time": "0", "unix-time-seconds": "33177117420", "unix-time-milliseconds": "33177117420000", "numreplicas": "0",
            "numlocal": "0", "min-slave": "0", "threshold": "5", "maxlen": "5", "numfields": "1", "nodeid": "x", "client-id": "1",
            "newkey": "dst", "sha1": "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "function": "f", "start-id": "0", "max-deleted-id": "1-1"}
COMMAND_KEYS = {"sort": "list", "sort_ro": "list", "incrby": "int", "decrby": "int", "incrbyfloat": "int", "bitfield": "str", "smove": "set",
                "restore": "dst", "sintercard": "set"}
# (command, argument): values that make even a correct server work for seconds or fill gigabytes; hostile_data_test.py has them.
HEAVY = {("setrange", "offset"), ("setbit", "offset"), ("bitfield", "offset")}
REPEATING = {("srandmember", "count"), ("hrandfield", "count"), ("zrandmember", "count")}


def heavy(command, argument, value):
    if not re.fullmatch(r"-?\d{1,19}", value):
        return False
    number = int(value)
    return ((command, argument) in HEAVY and 2**24 < number < 2**33) or ((command, argument) in REPEATING and -2**63 < number < -1000)


def table(flat):
    """A RESP2 reply of names and values as a table."""
    return {flat[i].decode(): flat[i + 1] for i in range(0, len(flat), 2)}


class Card:
    """A command from COMMAND DOCS, with its arguments as a tree."""

    def __init__(self, name, docs):
        self.name, self.group = name, docs["group"].decode()
        self.arguments = [self._argument(a) for a in docs.get("arguments", [])]

    def _argument(self, flat):
        docs = table(flat)
        flags = {f.decode().lstrip("+") for f in docs.get("flags", [])}
        return {"name": docs["name"].decode(), "type": docs["type"].decode(), "token": docs.get("token", b"").decode(), "flags": flags,
                "arguments": [self._argument(a) for a in docs.get("arguments", [])]}

    def targets(self, arguments=None, path=()):
        """Returns paths of all numeric arguments."""
        for i, argument in enumerate(self.arguments if arguments is None else arguments):
            if argument["arguments"]:
                yield from self.targets(argument["arguments"], (*path, i))
            elif argument["type"] in NUMERIC_TYPES or argument["name"].lower() in NUMERIC_NAMES and argument["type"] == "string":
                yield (*path, i)

    def at(self, path):
        arguments = self.arguments
        for i in path:
            argument = arguments[i]
            arguments = argument["arguments"]
        return argument

    def words(self, path, value):
        return [w if isinstance(w, bytes) else w.encode() for w in [*self.name.split("|"), *self._words(self.arguments, path, value)]]

    def _words(self, arguments, path, value):
        words = []
        for i, argument in enumerate(arguments):
            on_path = bool(path) and path[0] == i
            if on_path or "optional" not in argument["flags"]:
                words += self._argument_words(argument, path[1:] if on_path else (), value if on_path else None)
        return words

    def _argument_words(self, argument, path, value):
        token = [argument["token"]] if argument["token"] else []
        if argument["type"] == "pure-token":
            return token
        if argument["type"] == "oneof":
            chosen = argument["arguments"][path[0] if path else 0]
            return token + self._argument_words(chosen, path[1:], value)
        if argument["type"] == "block":
            return token + self._words(argument["arguments"], path, value)
        return token + [value if value is not None and not path else self._default(argument)]

    def _default(self, argument):
        name = argument["name"].lower()
        if argument["type"] == "key":
            if name.startswith("dest") or name in ("newkey", "storekey"):
                return "dst"
            return COMMAND_KEYS.get(self.name, GROUP_KEYS.get(self.group, "str2" if name == "key2" else "str"))
        if self.name == "restore" and name == "serialized-value":
            return bytes.fromhex("00c00a0b00") + b"12345678"
        if argument["type"] in NUMERIC_TYPES:
            return DEFAULTS.get(name, "1")
        return DEFAULTS.get(name, "x")


def cards(client):
    found = []

    def add(flat):
        for name, docs in table(flat).items():
            docs = table(docs)
            if "subcommands" in docs:
                add(docs["subcommands"])
            elif not any(name == left or name.startswith(left + "|") for left in LEFT_OUT):
                found.append(Card(name, docs))
    add(value_of(client.run("COMMAND", "DOCS")))
    return sorted(found, key=lambda card: card.name)


class Side:
    """One of the two servers: runs a request on fresh data, and describes the result."""

    def __init__(self, server):
        self.server = server
        self.client = server.client()
        self.names = {name.decode() for name in value_of(self.client.run("COMMAND", "LIST"))}
        self.data = b"".join(map(encode, [["SELECT", "0"], ["FLUSHALL"], ["CONFIG", "RESETSTAT"], ["SCRIPT", "LOAD", "return 1"], *DATA]))
        self.fill()
        self.before = self.digest()

    def fill(self):
        self.client.send(self.data)
        for _ in range(4 + len(DATA)):
            self.client.read()

    def digest(self):
        """Valkey's digest of a hash ignores the deadlines of its fields."""
        return [self.client.run(*words) for words in (["DEBUG", "DIGEST"], ["HPEXPIRETIME", "hash", "FIELDS", "1", "n"])]

    def renew(self):
        self.client.close()
        self.client = self.server.client()

    def run(self, words):
        """Returns the reply, or what happened instead."""
        self.client.socket.settimeout(0.4)
        try:
            reply = self.client.run(*words)
        except TimeoutError:
            reply = b"waits"
        except (Closed, ConnectionError):
            reply = b"closed"
        if reply in (b"waits", b"closed") or words[0] in (b"hello", b"client", b"select"):
            self.renew()
        self.client.socket.settimeout(20)
        return reply

    def refused_without_trace(self, reply):
        """Returns whether the data is unchanged after an error; restores it if not."""
        clean = self.digest() == self.before
        if not clean:
            self.fill()
        return clean or not reply.startswith(b"-")


def kind(reply):
    return reply if reply in (b"waits", b"closed") else reply[:1]


def is_known(mark, card, argument, value, reply):
    """Returns whether the replies differ on purpose (docs/differences.md), or in this version."""
    if "\0" in value and reply.startswith(b"-ERR"):
        return True  # Redis reads IDs and cursors up to a NUL
    if (card, argument) in (("lset", "index"), ("xautoclaim", "count")):
        return True  # an index is cut to 32 bits in small lists; memory is reserved in advance
    if argument == "min-idle-time" and value in ("1", "1.5"):
        return True  # a millisecond may have passed
    return known_differences.number(mark, card, argument)


def same(card, reply, other):
    vague = card.name.partition("|")[0] in VAGUE or card.name in VAGUE
    return kind(reply) == kind(other) if vague and reply[:1] != b"-" else reply == other


class Numbers(unittest.TestCase):
    oracle = None

    def side(self, *words):
        server = Server(*words)
        self.addCleanup(server.stop)
        return Side(server)

    def setUp(self):
        self.ours = self.side(RESPITE, *(self.oracle.our_options if self.oracle else []))
        self.theirs = self.side(self.oracle.program) if self.oracle else None
        self.wrong, self.slow, self.fired = [], [], 0

    def fire(self, card, argument, value, words):
        started = time.monotonic()
        reply = self.ours.run(words)
        took_s = time.monotonic() - started
        self.fired += 1
        if reply != b"waits" and took_s > 0.2:
            self.slow.append((words, took_s))
        if not self.ours.refused_without_trace(reply):
            self.wrong.append((words, "refused, but data changed", reply))
        if self.theirs and card.name in self.theirs.names:
            if not known_differences.crashes(self.oracle.mark, card.name, argument, value):
                self.compare(card, argument, value, words, reply)

    def compare(self, card, argument, value, words, reply):
        other = self.theirs.run(words)
        self.theirs.refused_without_trace(other)
        self.oracle.count()
        if same(card, reply, other):
            return
        for each in (self.ours, self.theirs):  # one of them may have changed data, and the other not
            each.fill()
        if not is_known(self.oracle.mark, card.name, argument, value, reply):
            self.wrong.append((words, reply[:100], other[:100]))

    def test_every_numeric_argument(self):
        for card in cards(self.ours.client):
            for path in card.targets():
                argument = card.at(path)["name"]
                for value in VALUES:
                    if not heavy(card.name, argument, value):
                        self.fire(card, argument, value, card.words(path, value))
        self.assertIsNone(self.ours.server.process.poll(), "the server ended")
        self.assertEqual(b"+PONG\r\n", self.ours.client.run("PING"))
        self.assertGreater(self.fired, 6_000)
        self.assertLess(len(self.slow), 5, self.slow[:20])
        self.assertEqual([], self.wrong, f"{len(self.wrong)} of {self.fired} differ:\n" + "\n".join(map(str, self.wrong[:400])))


class NumbersAlone(Numbers):
    """Our server, without --emulate and without an oracle."""


oracles.multiply(globals(), Numbers)


if __name__ == "__main__":
    unittest.main()
