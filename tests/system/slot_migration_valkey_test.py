"""CLUSTER MIGRATESLOTS between our server and a real Valkey of version 9.1 or later, in both directions."""
import subprocess
import time
import unittest

import oracles
from launcher import wait_until
from slot_migration_test import Load, Migrations
from two_servers import RESPITE, value_of

COMMANDS = [
    "SET {}string text", "SET {}number 42 PX 500000", "APPEND {}binary \0\xff\r\n*1\r\n", "SETBIT {}bits 1000 1",
    "RPUSH {}list " + " ".join(f"element{i}" for i in range(200)), "PEXPIRE {}list 600000",
    "SADD {}integers 1 2 3", "SADD {}set " + " ".join(f"member{i}" for i in range(200)),
    "ZADD {}zset 1 one -0.5 half inf most -inf least 3.0000000000000004 pi", "GEOADD {}geo 13.4 52.5 Berlin",
    "HSET {}hash " + " ".join(f"field{i} value" for i in range(200)),
    "HSET {}timed a 1 b 2 c 3", "HPEXPIRE {}timed 700000 FIELDS 2 a b", "PFADD {}log a b c",
    "XADD {}stream 1-1 a b", "XADD {}stream 1-2 c d e f", "XADD {}stream 2-0 g h", "XDEL {}stream 2-0",
    "XGROUP CREATE {}stream group 0", "XREADGROUP GROUP group me COUNT 1 STREAMS {}stream >",
    "XGROUP CREATECONSUMER {}stream group idle", "XADD {}empty 5-5 a b", "XDEL {}empty 5-5",
]
READS = {
    b"string": ["GET"], b"list": ["LRANGE", 0, -1], b"set": ["SMEMBERS"], b"zset": ["ZRANGE", 0, -1, "WITHSCORES"],
    b"hash": ["HGETALL"], b"stream": ["XRANGE", "-", "+"],
}


def contents(client, tag):
    """Returns what the keys with this tag contain."""
    found = {}
    for key in sorted({command.split()[2 if command.startswith("XGROUP") else 1] for command in COMMANDS
                       if not command.startswith("XREADGROUP")}):
        key = key.format(tag)
        kind = client.run("TYPE", key)[1:]
        command, *rest = READS.get(kind, ["GET"])
        value = client.run(command, key, *rest)
        if kind == b"set":
            value.sort()
        elif kind == b"hash":
            value = dict(zip(value[::2], value[1::2]))
        found[key] = (kind, value, client.run("PEXPIRETIME", key))
    found["fields"] = client.run("HPEXPIRETIME", f"{tag}timed", "FIELDS", 3, "a", "b", "c")
    found["groups"] = client.run("XINFO", "GROUPS", f"{tag}stream")
    found["pending"] = client.run("XPENDING", f"{tag}stream", "group")
    for key in (f"{tag}stream", f"{tag}empty"):
        info = client.run("XINFO", "STREAM", key)
        info = dict(zip(info[::2], info[1::2]))
        names = (b"last-generated-id", b"max-deleted-entry-id", b"entries-added")
        found[f"info {key}"] = [info[name] for name in names]
    return found


class Mixed(Migrations):
    source_is_ours = True

    @classmethod
    def setUpClass(cls):
        found, missing = oracles.newest_oracles()
        fitting = [oracle for oracle in found if oracle.software == "valkey" and oracle.numbers >= (9, 1)]
        if not fitting:
            raise unittest.SkipTest("; ".join(["there is no Valkey 9.1 or later", *missing]))
        cls.oracle = fitting[0]

    def node(self, program, *options):
        ours = ["--emulate", "valkey:9.1"] if program == RESPITE else []
        return super().node(program, *ours, *options)

    def pair(self, *options):
        """Returns a source and a target; one of them is ours, the other is Valkey."""
        self.oracle.count()
        programs = [RESPITE, self.oracle.program]
        return self.cluster(programs if self.source_is_ours else programs[::-1], *options)

    def tag(self, node):
        """Returns a hash tag of which the first node of a cluster owns the slot."""
        return next(tag for tag in (f"{{t{i}}}" for i in range(100)) if int(node.ask("CLUSTER", "KEYSLOT", tag)) < 8192)

    def fill(self, node, keys=300):
        """Sets keys of the first half of the slots. Returns them."""
        client = self.client(node)
        mine = [f"key:{i}" for i in range(2 * keys) if int(node.ask("CLUSTER", "KEYSLOT", f"key:{i}")) < 8192]
        for key in mine:
            self.assertEqual(client.run("SET", key, f"value of {key}"), b"+OK")
        return mine

    def hold(self, source, holds=True):
        """Makes the source of a migration not pause its writes, or allows it to do so again."""
        if source.program == RESPITE:
            answer = source.ask("CLIENT", "PAUSE", 60000, "WRITE") if holds else source.ask("CLIENT", "UNPAUSE")
        else:
            answer = source.ask("DEBUG", "SLOTMIGRATION", "PREVENT-PAUSE", int(holds))
        self.assertEqual(answer, b"+OK")

    def begin(self, source, target):
        """Begins a migration that waits before its last step."""
        self.hold(source)
        self.migrate(source, target, 0, 8191)
        self.wait_state(source, b"waiting-to-pause")
        self.wait_state(target, b"waiting-for-paused")

    def wait_state(self, node, state):
        wait_until(lambda: [job["state"] for job in self.jobs(node)[:1]] == [state], state.decode(), 30)

    def check_all(self, node, keys):
        client = self.client(node)
        for key in keys:
            self.assertEqual(client.run("GET", key), f"value of {key}".encode())

    def check_failed(self, source, target, keys, state):
        """The migration has ended, and nothing has moved."""
        self.wait_over(source, state)
        self.wait_over(target, b"failed")
        wait_until(lambda: self.count_keys(target) == 0, "the keys to be deleted", 20)
        self.hold(source, False)
        self.assertEqual((source.slot_count(), target.slot_count()), (8192, 8192))
        self.check_all(source, keys)

    def count_keys(self, node):
        """Returns the number of keys of moving slots at this node, also of hidden ones."""
        client = node.client()
        try:
            return sum(value_of(client.run("CLUSTER", "COUNTKEYSINSLOT", slot)) for slot in range(0, 8192, 4))
        finally:
            client.close()


class BothWays:
    """The tests of both directions."""

    def test_under_load_no_write_is_lost(self):
        first, second = self.pair()
        with Load(first) as load:
            for source, target in ((first, second), (second, first), (first, second)):
                before = sum(load.acknowledged())
                self.migrate(source, target, 0, 8191)
                self.wait_over(source)
                self.wait_over(target)
                wait_until(lambda: sum(load.acknowledged()) > before + 50, "more writes", 30)
        self.assertEqual([thread.error for thread in load.threads], [None] * 3)
        self.check_counters(first, load)
        self.assertEqual((first.slot_count(), second.slot_count()), (0, 16384))

    def test_values_of_all_types(self):
        source, target = self.pair()
        client, tag = self.client(source), self.tag(source)
        for command in COMMANDS:
            reply = client.run(*(word.format(tag).encode("latin-1") for word in command.split(" ")))
            self.assertFalse(isinstance(reply, bytes) and reply.startswith(b"-"), (command, reply))
        expected = contents(client, tag)
        self.migrate(source, target, 0, 8191)
        self.wait_over(source)
        self.wait_over(target)
        self.assertEqual(target.slot_count(), 16384)
        self.assertEqual(contents(self.client(target), tag), expected)
        self.assertEqual(source.ask("DBSIZE"), 0)

    def test_big_values(self):
        source, target = self.pair()
        client, tag = self.client(source), self.tag(source)
        client.run("EVAL", "for i = 1, 90000 do redis.call('RPUSH', KEYS[1], i .. string.rep('x', 20)) end", 1, f"{tag}l")
        client.run("EVAL", "for i = 1, 50000 do redis.call('ZADD', KEYS[1], i, 'member' .. i) end", 1, f"{tag}z")
        client.run("SETRANGE", f"{tag}s", 64 << 20, "end")
        keys = [f"{tag}l", f"{tag}z", f"{tag}s"]
        digests = source.ask("DEBUG", "DIGEST-VALUE", *keys)
        self.migrate(source, target, 0, 8191)
        self.wait_over(source)
        self.assertEqual(target.ask("DEBUG", "DIGEST-VALUE", *keys), digests)

    def test_both_sides_tell_the_same(self):
        source, target = self.pair()
        self.migrate(source, target, 0, 100)
        self.wait_over(source)
        self.wait_over(target)
        mine, theirs = self.jobs(source)[0], self.jobs(target)[0]
        self.assertEqual(list(mine), list(theirs))
        for name in ("name", "slot_ranges", "source_node", "target_node", "state"):
            self.assertEqual(mine[name], theirs[name])
        self.assertEqual((mine["operation"], theirs["operation"]), (b"EXPORT", b"IMPORT"))

    def test_is_cancelled_and_repeated(self):
        source, target = self.pair()
        keys = self.fill(source)
        self.begin(source, target)
        time.sleep(2.5)  # both send ACKs
        self.assertGreater(self.count_keys(target), 0)
        self.assertEqual((target.ask("DBSIZE"), target.ask("KEYS", "*")), (0, []))
        self.assertEqual(source.ask("CLUSTER", "CANCELSLOTMIGRATIONS"), b"+OK")
        self.check_failed(source, target, keys, b"cancelled")
        self.migrate(source, target, 0, 8191)
        self.wait_over(source)
        self.assertEqual((target.ask("DBSIZE"), source.ask("DBSIZE")), (len(keys), 0))
        self.check_all(target, keys)

    def test_valkey_cli_moves_slots(self):
        source, target = self.pair()
        keys = self.fill(source)
        done = subprocess.run(
            [self.oracle.tool("cli"), "--cluster", "reshard", f"127.0.0.1:{target.port}", "--cluster-from", source.id,
             "--cluster-to", target.id, "--cluster-slots", "4000", "--cluster-yes", "--cluster-use-atomic-slot-migration"],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("failed", done.stdout)
        self.assertEqual((source.slot_count(), target.slot_count()), (4192, 12192))
        self.assertEqual([len(self.jobs(node)) for node in (source, target)], [1, 1])
        self.check_all(target, keys)

    def test_keys_expire_meanwhile(self):
        source, target = self.pair()
        keys = self.fill(source)
        client = self.client(source)
        for key in keys[::2]:
            self.assertEqual(client.run("PEXPIRE", key, 1500), 1)
        self.begin(source, target)
        time.sleep(2)
        self.hold(source, False)
        self.wait_over(source)
        for node in (source, target):
            left = len(keys[1::2]) if node is target else 0
            wait_until(lambda: node.ask("DBSIZE") == left, "keys to expire", 20)
        self.check_all(target, keys[1::2])
        for key in keys[::2]:
            self.assertEqual(self.client(target).run("GET", key), None)

    def test_the_connection_breaks(self):
        source, target = self.pair()
        keys = self.fill(source)
        self.begin(source, target)
        clients = [dict(word.split("=", 1) for word in line.split())
                   for line in target.ask("CLIENT", "LIST").decode().splitlines()]
        killed = [client["id"] for client in clients if client["cmd"] == "cluster|syncslots"]
        self.assertEqual(len(killed), 1, clients)
        self.assertEqual(target.ask("CLIENT", "KILL", "ID", killed[0]), 1)
        self.check_failed(source, target, keys, b"failed")

    def test_flushing_the_target_ends_it(self):
        source, target = self.pair()
        keys = self.fill(source)
        self.begin(source, target)
        self.assertEqual(target.ask("FLUSHALL"), b"+OK")
        self.check_failed(source, target, keys, b"failed")

    def test_source_dies(self):
        source, target = self.pair("--cluster-require-full-coverage", "no")
        self.fill(source)
        self.begin(source, target)
        source.kill()
        self.wait_over(target, b"failed")
        wait_until(lambda: self.count_keys(target) == 0, "the keys to be deleted", 20)

    def test_target_dies(self):
        source, target = self.pair("--cluster-require-full-coverage", "no")
        keys = self.fill(source)
        self.begin(source, target)
        target.kill()
        self.wait_over(source, b"failed")
        self.hold(source, False)
        self.check_all(source, keys)
        self.assertEqual(source.ask("APPEND", keys[0], "!"), len(f"value of {keys[0]}!"))

    def test_works_with_a_user(self):
        source, target = self.pair()
        for node in (source, target):
            node.ask("ACL", "SETUSER", "mover", "on", ">secret", "+@all", "~*", "&*")
            node.ask("CONFIG", "SET", "masteruser", "mover")
            node.ask("CONFIG", "SET", "masterauth", "secret")
        self.migrate(source, target, 0, 10)
        self.wait_over(source)
        source.ask("CONFIG", "SET", "masterauth", "wrong")
        self.migrate(source, target, 11, 20)
        self.wait_over(source, b"failed")
        self.assertIn(b"WRONGPASS", self.jobs(source)[0]["message"])

    def test_replicas_of_both_programs(self):
        source, target = self.pair()
        keys = self.fill(source)
        nodes = [source, target]
        for primary in (source, target):
            for program in (RESPITE, self.oracle.program):
                nodes.append(self.replica(nodes[:2], primary, program))
        self.begin(source, target)
        for replica in nodes[4:]:
            wait_until(lambda: self.count_keys(replica) == self.count_keys(target), "the keys", 20)
            self.assertEqual((replica.ask("DBSIZE"), replica.ask("KEYS", "*")), (0, []))
            self.assertEqual(self.jobs(replica)[0]["state"], b"occurring-on-primary")
        # A replica that gets a snapshot now hides the keys too. Our files do not tell Valkey's replicas of it.
        late = self.replica(nodes[:2], target)
        self.assertEqual(self.count_keys(late), self.count_keys(target))
        self.assertEqual((late.ask("DBSIZE"), late.ask("KEYS", "*")), (0, []))
        nodes.append(late)
        self.hold(source, False)
        self.wait_over(source)
        self.check_replicas(nodes, keys)


class FromOursToValkey(BothWays, Mixed):
    def test_valkey_never_takes_the_slots(self):
        source, target = self.pair()
        keys = self.fill(source)
        target.ask("DEBUG", "SLOTMIGRATION", "PREVENT-FAILOVER", 1)
        self.migrate(source, target, 0, 8191)
        self.wait_state(source, b"failover-granted")
        self.wait_over(source, b"failed")
        self.wait_over(target, b"failed")
        self.check_all(source, keys)
        self.assertEqual(source.ask("APPEND", keys[0], "!"), len(f"value of {keys[0]}!"))


class FromValkeyToOurs(BothWays, Mixed):
    source_is_ours = False


if __name__ == "__main__":
    unittest.main()
