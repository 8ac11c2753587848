"""Two runs with the same seed, a clock that stands still until it is moved, and the same requests: the bytes of
replies, append-only file and snapshot are the same, except for one field of the snapshot, the memory in use at that
moment.

    python3 tests/system/reproducible_test.py --seed 7     repeats a failure; the test always prints the seed"""
import os
import random
import sys
import unittest

from generators import Generator
from hostile import Raw
from launcher import LaunchTest
from two_servers import encode

NOON_MS = 1_700_000_000_000
ROUNDS = 20
COMMANDS = 200
BY_CHANCE = [["RANDOMKEY"], ["SRANDMEMBER", "s1", "-5"], ["SPOP", "s2"], ["HRANDFIELD", "h1", "3"], ["ZRANDMEMBER", "z1", "-4"],
             ["KEYS", "*"], ["SCAN", "0", "COUNT", "7"], ["ACL", "GENPASS"], ["TIME"], ["XADD", "log", "*", "f", "v"],
             ["EVAL", "return {math.random(1000), redis.call('RANDOMKEY'), redis.call('TIME')}", "0"]]


def chosen_seed():
    if "--seed" in sys.argv:
        at = sys.argv.index("--seed")
        seed = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
        return seed
    return random.SystemRandom().randrange(10**9)


def without_memory(snapshot):
    """Returns a snapshot without its field used-mem, a number of 32 bits, and its checksum."""
    begin = snapshot.index(b"\x08used-mem\xc2")
    return snapshot[:begin] + snapshot[begin + 14:-8]


SEED = chosen_seed()


class ReproducibleTest(LaunchTest):
    def test_two_runs_are_the_same(self):
        print(f"reproducible_test.py --seed {SEED}", file=sys.stderr)
        one, other = self.story("one"), self.story("two")
        for index, (mine, yours) in enumerate(zip(one["replies"], other["replies"])):
            self.assertEqual(mine, yours, f"reply {index}")
        self.assertEqual(one["files"].keys(), other["files"].keys())
        for name, content in one["files"].items():
            self.assertEqual(content, other["files"][name], name)

    def story(self, name):
        """Returns what a server replies and writes. A separate random generator decides the requests."""
        folder = self.path(name)
        os.mkdir(folder)
        server = self.start("--test", "--seed", SEED % 1000, "--dir", folder, "--appendonly", "yes", "--appendfsync", "always",
                            "--save", "")
        rng = random.Random(SEED)
        client, waits = Raw(server.port), Raw(server.port)
        with client, waits:
            replies = [client.run("TEST", "CLOCK", "FREEZE", NOON_MS)]
            for _ in range(ROUNDS):
                replies += self.round(rng, client, waits)
            replies.append(client.run("TEST", "DUMP"))
            replies.append(client.run("DEBUG", "DIGEST"))
            replies.append(client.run("SAVE"))
        return {"replies": replies, "files": self.files_of(folder)}

    @staticmethod
    def round(rng, client, waits):
        generator = Generator(rng, (7, 2))
        requests = [generator.command() for _ in range(COMMANDS)] + rng.sample(BY_CHANCE, 5)
        rng.shuffle(requests)
        waits.send(encode(["BLPOP", f"list{rng.randrange(3)}", rng.choice(["0.5", "60"])]))
        client.send(b"".join(map(encode, requests)))
        replies = [client.read() for _ in requests]
        replies.append(client.run("TEST", "CLOCK", "ADVANCE", rng.choice(["1", "750ms", "2m", "1d"])))
        replies.append(client.run("TEST", "CLOCK", "ADVANCE", "1m"))
        replies.append(waits.read())
        return replies

    @staticmethod
    def files_of(folder):
        files = {}
        for path, _, names in os.walk(folder):
            for name in names:
                if name.endswith(".base.rdb"):
                    continue  # it is written at the start, before the clock stands still
                with open(os.path.join(path, name), "rb") as file:
                    files[name] = without_memory(file.read()) if name == "dump.rdb" else file.read()
        return files


if __name__ == "__main__":
    unittest.main()
