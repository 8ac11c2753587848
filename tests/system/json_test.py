#!/usr/bin/env python3
"""JSON documents of the real server: reloads, emulated versions, damaged payloads. Random commands are compared with
Redis and its module, if RESPITE_JSON_MODULE names the module (rejson.so) and `./dev oracles` has fetched a Redis that
loads it."""
import json
import os
import pathlib
import random
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import oracles  # noqa: E402
from json_commands import Grammar  # noqa: E402
from two_servers import RESPITE, Closed, Server, value_of  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import prepare_oracles  # noqa: E402

REDIS = prepare_oracles.folder() / "experimental" / "bin" / "redis-server"
MODULE = os.environ.get("RESPITE_JSON_MODULE", "")

KEYS = ["k1", "k2", "k3", "none", "other", "absent"]
NAMES = ["a", "b", "nested", "a longer name", "x1"]
PATHS = ["$", ".", "$.a", ".a", "$..a", "..a", "$.*", "$.nested.b", "nested.a", "$.a[0]", "$.a[-1]", "$..[1]", "$.a[1:3]",
         "$..[0,2]", "$..['a','b']", "$..[?(@>1)]", "$..[?(@.a==1)]", "$.x1", "$.none", ".none", "$['a longer name']"]


def document(chance, depth=3):
    kind = chance.randrange(7 if depth else 5)
    if kind == 5:
        return [document(chance, depth - 1) for _ in range(chance.randrange(4))]
    if kind == 6:
        return {name: document(chance, depth - 1) for name in chance.sample(NAMES, chance.randrange(4))}
    return [None, chance.random() < .5, chance.randrange(-9, 9), chance.randrange(80) / 8, chance.choice(["", "x", "a longer text"])][kind]


def command(chance):
    """One random command of the family."""
    key, path = chance.choice(["k1", "k2", "k3"]), chance.choice(PATHS)
    value = json.dumps(document(chance, 2))
    index = str(chance.randrange(-4, 5))
    return chance.choice([
        ["JSON.SET", key, "$", json.dumps(document(chance))], ["JSON.SET", key, path, value],
        ["JSON.SET", key, path, value, chance.choice(["NX", "XX"])], ["JSON.GET", key, path], ["JSON.GET", key, path, "$.a"],
        ["JSON.MGET", "k1", "k2", "none", path], ["JSON.MERGE", key, path, value], ["JSON.DEL", key, path],
        ["JSON.CLEAR", key, path], ["JSON.TYPE", key, path], ["JSON.NUMINCRBY", key, path, chance.choice(["1", "-2", "1.5"])],
        ["JSON.NUMMULTBY", key, path, chance.choice(["2", ".5"])], ["JSON.STRAPPEND", key, path, '"s"'],
        ["JSON.STRLEN", key, path], ["JSON.ARRAPPEND", key, path, value], ["JSON.ARRINDEX", key, path, value],
        ["JSON.ARRINSERT", key, path, index, value, value], ["JSON.ARRLEN", key, path], ["JSON.ARRPOP", key, path, index],
        ["JSON.ARRTRIM", key, path, index, str(chance.randrange(-4, 5))], ["JSON.OBJKEYS", key, path],
        ["JSON.OBJLEN", key, path], ["JSON.TOGGLE", key, path], ["JSON.RESP", key, path]])


class JsonTest(unittest.TestCase):
    def serve(self, *options, program=RESPITE):
        server = Server(program, *options)
        self.addCleanup(server.stop)
        client = server.client()
        self.addCleanup(client.close)
        return client

    def test_documents_survive_reloads(self):
        client = self.serve("--appendonly", "yes")
        chance = random.Random(44)
        for _ in range(3000):
            client.run(*command(chance))
        for i in range(200):
            client.run("JSON.SET", f"doc:{i}", "$", json.dumps(document(chance, 5)))
        before = client.run("DEBUG", "DIGEST")
        self.assertIn(b"OK", client.run("DEBUG", "RELOAD"))
        self.assertEqual(before, client.run("DEBUG", "DIGEST"))
        self.assertIn(b"OK", client.run("DEBUG", "LOADAOF"))
        self.assertEqual(before, client.run("DEBUG", "DIGEST"))

    def test_values_are_those_of_a_model(self):
        client = self.serve()
        chance = random.Random(45)
        for _ in range(300):
            value = document(chance, 6)
            client.run("JSON.SET", "k", "$", json.dumps(value))
            self.assertEqual(value, json.loads(value_of(client.run("JSON.GET", "k"))))

    def test_older_versions_have_no_json(self):
        client = self.serve("--emulate", "redis:7.2")
        self.assertIn(b"ERR unknown command", client.run("JSON.SET", "k", "$", "1"))
        self.assertIn(b"OK", self.serve("--emulate", "redis:8.6").run("JSON.SET", "k", "$", "1"))

    def test_damaged_payloads_are_refused_or_good(self):
        client = self.serve()
        client.run("JSON.SET", "k", "$", '{"a":[1,2.5,"text",null],"b":{"c":true}}')
        client.run("CONFIG", "SET", "sanitize-dump-payload", "no")
        payload = value_of(client.run("DUMP", "k"))
        for at in range(len(payload) - 10):
            damaged = bytearray(payload)
            damaged[at] ^= 0x11
            client.run("RESTORE", "copy", "0", bytes(damaged), "REPLACE")
            client.run("JSON.GET", "copy", "$..*")
        self.assertEqual(b"+PONG\r\n", client.run("PING"))

    def test_random_commands_of_the_grammar(self):
        """Without a module to compare with: the server must stay alive, and a document must stay readable."""
        client = self.serve("--emulate", "redis:8.6")
        grammar = Grammar(random.Random(47), True)
        for _ in range(5000):
            client.run(*grammar.command())
        for key in KEYS:
            reply = client.run("JSON.GET", key)
            self.assertIn(reply[:1], b"$-")
        self.assertEqual(b"+PONG\r\n", client.run("PING"))

    @unittest.skipUnless(MODULE and REDIS.exists(), "RESPITE_JSON_MODULE names no module of Redis")
    def test_random_commands_as_redis_with_its_module(self):
        ours = self.serve("--emulate", "redis:8.6")
        for protocol in ("2", "3"):
            for has_number_arrays in (False, True):
                theirs = None
                grammar = Grammar(random.Random(int(os.environ.get("RESPITE_SEED", "46"))), has_number_arrays)
                for _ in range(5000):
                    theirs = theirs or self.begin(ours, protocol)
                    words = grammar.command()
                    with self.subTest(words=words):
                        if not self.compare(ours, theirs, words):
                            theirs = None

    def begin(self, ours, protocol):
        """Starts Redis with its module, and empties our server. Redis crashes after some changes of arrays of numbers."""
        theirs = self.serve("--loadmodule", MODULE, program=str(REDIS))
        for client in (ours, theirs):
            client.run("HELLO", protocol)
            client.run("FLUSHALL")
            client.run("SET", "text", "x")
        return theirs

    def compare(self, ours, theirs, words):
        """Returns whether Redis is still alive."""
        try:
            expected = theirs.run(*words)
        except (Closed, OSError):
            return False
        reply = ours.run(*words)
        if words[0] == "JSON.GET" and expected[:1] == reply[:1] == b"$" and reply[-3:] == b"}\r\n":
            expected, reply = sorted(expected), sorted(reply)  # several paths have a random order
        self.assertEqual(expected, reply)
        oracles.COUNTS["Redis with its JSON module"] += 1
        for key in KEYS:
            self.assertEqual(theirs.run("JSON.GET", key), ours.run("JSON.GET", key))
        return True

    @unittest.skipUnless(MODULE and REDIS.exists(), "RESPITE_JSON_MODULE names no module of Redis")
    def test_payloads_of_redis_with_its_module(self):
        clients = self.serve("--emulate", "redis:8.6"), self.serve("--loadmodule", MODULE, program=str(REDIS))
        grammar = Grammar(random.Random(48), True)
        for _ in range(300):
            text = json.dumps(grammar.document(5))
            for client in clients:
                client.run("JSON.SET", "k", "$", text)
            for source, target in (clients, clients[::-1]):
                self.assertEqual(b"+OK\r\n", target.run("RESTORE", "copy", "0", value_of(source.run("DUMP", "k")), "REPLACE"))
                self.assertEqual(source.run("JSON.GET", "k"), target.run("JSON.GET", "copy"))


if __name__ == "__main__":
    unittest.main()
