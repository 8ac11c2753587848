"""CLUSTER MIGRATION IMPORT between our server and a real Redis of version 8.6 or later, in both directions."""
import os
import random
import re
import signal
import socket
import threading
import time
import unittest

import oracles
from launcher import free_port, wait_until
from slot_migration_test import Load, Migrations
from slot_migration_valkey_test import COMMANDS, contents
from two_servers import RESPITE, value_of

LIBRARY = "#!lua name=lib\nredis.register_function{function_name='f', callback=function() return 7 end, flags={'no-writes'}}"
# The points of a migration where a test can stop it: the direction, and a text that is not passed on.
STAGES = {"login": (">", b"internal connection"), "request": (">", b"SYNC\r\n$40"), "snapshot": (">", b"RDBCHANNEL\r\n"),
          "end of snapshot": ("<", b"SNAPSHOT-EOF"), "applied": (">", b"wait-stream-eof"), "handover": ("<", b"STREAM-EOF")}


class Proxy:
    """Passes on what comes to a port. `hold` stops connections between nodes at a stage, until `release`."""

    def __init__(self, port, target):
        self.target, self.stage, self.sockets = target, None, []
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            self.sockets += [near, far]
            for ends in ((">", near, far), ("<", far, near)):
                threading.Thread(target=self.pass_on, args=ends, daemon=True).start()

    def pass_on(self, direction, source, target):
        last = b""
        try:
            while data := source.recv(1 << 16):
                stage = self.stage
                if stage and stage[0] == direction and stage[1] in last + data:
                    self.reached.set()
                    self.go_on.wait(60)
                last = data[-40:]
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            self.end(end)

    @staticmethod
    def end(one):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def hold(self, stage):
        self.reached.clear()
        self.go_on.clear()
        self.stage = STAGES[stage]

    def release(self):
        self.stage = None
        self.go_on.set()

    def cut(self):
        """Ends all connections."""
        sockets, self.sockets = self.sockets, []
        for one in sockets:
            self.end(one)
            one.close()

    def close(self):
        self.release()
        self.listener.close()
        self.cut()


class Tasks(Migrations):
    @classmethod
    def setUpClass(cls):
        found, missing = oracles.newest_oracles()
        fitting = [oracle for oracle in found if oracle.software == "redis" and oracle.numbers >= (8, 6)]
        if not fitting:
            raise unittest.SkipTest("; ".join(["there is no Redis 8.6 or later", *missing]))
        cls.oracle = fitting[0]

    def node(self, program, *options):
        ours = ["--emulate", "redis:8.6"] if program == RESPITE else []
        port = free_port()
        node = super().node(program, *ours, "--cluster-announce-port", str(port), "--enable-debug-command", "yes", *options)
        node.proxy = Proxy(port, node.port)
        node.announced = port
        self.addCleanup(node.proxy.close)
        return node

    def trio(self, *programs, options=()):
        """Returns a source and a target; a third node has slots too, so that a majority may survive one node."""
        self.oracle.count()
        return self.cluster([*programs, RESPITE], "--cluster-require-full-coverage", "no", *options)

    def meet(self, nodes):
        super().meet(nodes)
        # A PING or PONG after the handshake tells Respite the secret of Redis.
        before = [self.pongs(node) for node in nodes]
        wait_until(lambda: all(self.pongs(node) >= old + len(nodes) for node, old in zip(nodes, before)), "pongs", 30)

    def pongs(self, node):
        return int(re.search(rb"messages_pong_received:(\d+)", node.ask("CLUSTER", "INFO"))[1])

    def tasks(self, node):
        """Returns dictionaries as of CLUSTER MIGRATION STATUS, the latest task first."""
        return [dict(zip((key.decode() for key in task[::2]), task[1::2]))
                for task in node.ask("CLUSTER", "MIGRATION", "STATUS", "ALL")]

    def start(self, target, first=0, last=5460):
        task = target.ask("CLUSTER", "MIGRATION", "IMPORT", first, last)
        self.assertEqual(len(task), 40, task)
        return task

    def start_held(self, source, target, stage):
        """Starts a migration that stops at this stage."""
        source.proxy.hold(stage)
        task = self.start(target)
        self.assertTrue(source.proxy.reached.wait(20))
        return task

    def wait_task(self, node, state=b"completed", limit_s=30):
        try:
            wait_until(lambda: self.tasks(node)[0]["state"] == state, state.decode(), limit_s)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.tasks(node)[0]}") from error

    def is_busy(self, node):
        tasks = self.tasks(node)
        return bool(tasks) and tasks[0]["state"] not in (b"completed", b"canceled", b"failed")

    def move(self, source, target, first=0, last=5460):
        self.start(target, first, last)
        self.wait_task(target)
        self.wait_task(source)

    def tag(self, node):
        return next(tag for tag in (f"{{t{i}}}" for i in range(100)) if int(node.ask("CLUSTER", "KEYSLOT", tag)) < 5461)

    def fill(self, node, keys=200):
        client = self.client(node)
        mine = [f"key:{i}" for i in range(3 * keys) if int(node.ask("CLUSTER", "KEYSLOT", f"key:{i}")) < 5461]
        for key in mine:
            self.assertEqual(client.run("SET", key, f"value of {key}"), b"+OK")
        return mine

    def check_all(self, node, keys):
        client = self.client(node)
        for key in keys:
            self.assertEqual(client.run("GET", key), f"value of {key}".encode())

    def count_keys(self, node):
        client = node.client()
        try:
            return sum(value_of(client.run("CLUSTER", "COUNTKEYSINSLOT", slot)) for slot in range(5461))
        finally:
            client.close()

    def check_moved(self, source, target, keys):
        """Each key is at the target, once."""
        self.assertEqual((source.slot_count(), target.slot_count()), (0, 5461 + 5461))
        self.check_all(target, keys)
        wait_until(lambda: (self.count_keys(source), self.count_keys(target)) == (0, len(keys)), "each key once", 20)

    def check_stayed(self, source, target, keys):
        """Each key is at the source, once. `target` is None if it is dead."""
        self.assertEqual(source.slot_count(), 5461)
        self.check_all(source, keys)
        self.assertEqual(self.count_keys(source), len(keys))
        if target is not None:
            wait_until(lambda: self.count_keys(target) == 0, "the keys to be deleted", 20)


class BothWays:
    """The tests of both directions."""

    def pair(self, *options):
        programs = [RESPITE, self.oracle.program]
        return self.trio(*(programs if self.source_is_ours else programs[::-1]), options=options)[:2]

    def test_empty_slots(self):
        source, target = self.pair()
        self.move(source, target)
        self.check_moved(source, target, [])

    def test_values_of_all_types(self):
        source, target = self.pair()
        client, tag = self.client(source), self.tag(source)
        for command in COMMANDS:
            reply = client.run(*(word.format(tag).encode("latin-1") for word in command.split(" ")))
            self.assertFalse(isinstance(reply, bytes) and reply.startswith(b"-"), (command, reply))
        client.run("VADD", f"{tag}vectors", "VALUES", 3, 1, 2, 3, "a", "SETATTR", '{"a": 1}')
        first = client.run("XADD", f"{tag}once", "IDMP", "producer", "request", "*", "a", "b")
        keys = [f"{tag}{name}" for name in ("vectors", "once")]
        expected, digests = contents(client, tag), source.ask("DEBUG", "DIGEST-VALUE", *keys)
        vectors = client.run("VEMB", keys[0], "a"), client.run("VGETATTR", keys[0], "a")
        self.move(source, target)
        client = self.client(target)
        self.assertEqual(contents(client, tag), expected)
        self.assertEqual((client.run("VEMB", keys[0], "a"), client.run("VGETATTR", keys[0], "a")), vectors)
        self.assertEqual(client.run("XADD", keys[1], "IDMP", "producer", "request", "*", "a", "b"), first)
        self.assertEqual(target.ask("DEBUG", "DIGEST-VALUE", keys[1])[0], digests[1])
        wait_until(lambda: self.count_keys(source) == 0, "no keys at the source", 20)

    def test_big_values(self):
        source, target = self.pair()
        client, tag = self.client(source), self.tag(source)
        client.run("EVAL", "for i = 1, 90000 do redis.call('RPUSH', KEYS[1], i .. string.rep('x', 20)) end", 1, f"{tag}l")
        client.run("EVAL", "for i = 1, 50000 do redis.call('ZADD', KEYS[1], i, 'member' .. i) end", 1, f"{tag}z")
        client.run("EVAL", "for i = 1, 50000 do redis.call('HSET', KEYS[1], i, 'value' .. i) end", 1, f"{tag}h")
        client.run("HPEXPIREAT", f"{tag}h", int(time.time() * 1000) + 900000, "FIELDS", 2, 1, 2)
        client.run("SETRANGE", f"{tag}s", 64 << 20, "end")
        keys = [f"{tag}l", f"{tag}z", f"{tag}s", f"{tag}h"]
        digests = source.ask("DEBUG", "DIGEST-VALUE", *keys)
        self.move(source, target)
        self.assertEqual(target.ask("DEBUG", "DIGEST-VALUE", *keys)[:3], digests[:3])
        self.assertEqual(self.client(target).run("HLEN", f"{tag}h"), 50000)

    def test_functions_come_too(self):
        source, target = self.pair()
        self.assertEqual(source.ask("FUNCTION", "LOAD", LIBRARY), b"lib")
        self.move(source, target)
        self.assertEqual(target.ask("FCALL", "f", 0), 7)

    def test_both_sides_tell_the_same(self):
        source, target = self.pair()
        task = self.start(target, 0, 100)
        self.wait_task(target)
        self.wait_task(source)
        mine, theirs = self.tasks(source)[0], self.tasks(target)[0]
        self.assertEqual(list(mine), list(theirs))
        for name in ("id", "slots", "source", "dest", "state", "last_error"):
            self.assertEqual(mine[name], theirs[name])
        self.assertEqual((mine["id"], mine["operation"], theirs["operation"]), (task, b"migrate", b"import"))
        self.assertEqual((mine["source"].decode(), mine["dest"].decode()), (source.id, target.id))

    def test_many_ranges(self):
        source, target = self.pair()
        keys = self.fill(source)
        ranges = [slot for first in range(0, 5460, 4) for slot in (first, first + 1)]
        target.ask("CLUSTER", "MIGRATION", "IMPORT", *ranges)
        self.wait_task(target)
        self.wait_task(source)
        self.assertEqual(source.slot_count() + target.slot_count(), 5461 + 5461)
        self.assertEqual(target.slot_count(), 5461 + len(ranges))
        self.check_all(target, keys)
        wait_until(lambda: self.count_keys(source) + self.count_keys(target) == len(keys), "each key once", 20)

    def test_keys_expire_meanwhile(self):
        source, target = self.pair()
        keys = self.fill(source)
        client = self.client(source)
        for key in keys[::2]:
            self.assertEqual(client.run("PEXPIRE", key, 1500), 1)
        self.start_held(source, target, "end of snapshot")
        time.sleep(2)
        source.proxy.release()
        self.wait_task(target)
        for key in keys[::2]:
            self.assertEqual(self.client(target).run("GET", key), None)
        wait_until(lambda: target.ask("DBSIZE") == len(keys[1::2]), "keys to expire", 20)
        self.check_all(target, keys[1::2])

    def test_writes_during_the_snapshot(self):
        source, target = self.pair()
        keys = self.fill(source)
        self.start_held(source, target, "end of snapshot")
        client = self.client(source)
        for number in range(500):
            self.assertEqual(client.run("SET", keys[0], f"{number}" * 3000), b"+OK")
            client.run("RPUSH", f"{{{keys[0]}}}list", number)
        client.run("DEL", keys[1])
        self.assertEqual((target.ask("DBSIZE"), target.ask("KEYS", "*")), (0, []))
        source.proxy.release()
        self.wait_task(target)
        client = self.client(target)
        self.assertEqual(client.run("GET", keys[0]), b"499" * 3000)
        self.assertEqual([int(number) for number in client.run("LRANGE", f"{{{keys[0]}}}list", 0, -1)], list(range(500)))
        self.assertEqual(client.run("GET", keys[1]), None)
        self.check_all(target, keys[2:])

    def test_is_cancelled_and_repeated(self):
        source, target = self.pair()
        keys = self.fill(source)
        for stage in ("login", "snapshot", "end of snapshot", "applied"):
            with self.subTest(stage):
                task = self.start_held(source, target, stage)
                self.assertEqual(target.ask("CLUSTER", "MIGRATION", "CANCEL", "ID", task), 1)
                self.wait_task(target, b"canceled")
                source.proxy.release()
                source.proxy.cut()
                self.check_stayed(source, target, keys)
                wait_until(lambda: not self.tasks(source) or self.tasks(source)[0]["state"] == b"failed", "the source", 20)
        self.move(source, target)
        self.check_moved(source, target, keys)

    def test_the_source_cancels(self):
        source, target = self.pair()
        keys = self.fill(source)
        self.start_held(source, target, "end of snapshot")
        self.assertEqual(source.ask("CLUSTER", "MIGRATION", "CANCEL", "ALL"), 1)
        source.proxy.release()
        self.wait_task(target)  # the target tries again
        self.assertGreater(self.tasks(target)[0]["retries"], 0)
        self.check_moved(source, target, keys)

    def test_connections_break_at_each_stage(self):
        for stage in STAGES:
            with self.subTest(stage):
                source, target = self.pair()
                keys = self.fill(source, 60)
                self.start_held(source, target, stage)
                source.proxy.cut()
                source.proxy.release()
                self.wait_task(target)  # at the second attempt
                self.check_moved(source, target, keys)
                for node in (source, target):
                    node.stop()

    def test_flushing_the_target(self):
        source, target = self.pair()
        keys = self.fill(source)
        self.start_held(source, target, "applied")
        target.ask("FLUSHALL")
        source.proxy.release()
        if target.program == RESPITE:  # tries again
            self.wait_task(target)
            self.check_moved(source, target, keys)
        else:
            self.wait_task(target, b"canceled")
            self.check_stayed(source, target, keys)

    def test_source_dies_at_each_stage(self):
        for stage in STAGES:
            with self.subTest(stage):
                source, target = self.pair()
                self.fill(source, 60)
                self.start_held(source, target, stage)
                source.kill()
                source.proxy.cut()
                source.proxy.release()
                wait_until(lambda: self.tasks(target)[0]["last_error"] != b"", "an error", 20)
                wait_until(lambda: self.count_keys(target) == 0, "the keys to be deleted", 20)
                self.assertEqual(target.slot_count(), 5461)
                target.stop()

    def test_target_dies_at_each_stage(self):
        for stage in STAGES:
            with self.subTest(stage):
                source, target = self.pair()
                keys = self.fill(source, 60)
                self.start_held(source, target, stage)
                target.kill()
                source.proxy.cut()
                source.proxy.release()
                self.check_stayed(source, None, keys)
                client = source.client()
                client.socket.settimeout(30)  # after STREAM-EOF, the source pauses writes for up to ten seconds
                self.assertEqual(value_of(client.run("APPEND", keys[0], "!")), len(f"value of {keys[0]}!"))
                client.close()
                wait_until(lambda: not self.tasks(source) or self.tasks(source)[0]["state"] == b"failed", "the source", 20)
                source.stop()

    def test_replicas_of_both_programs(self):
        source, target = self.pair()
        keys = self.fill(source)
        nodes = [source, target]
        for primary in (source, target):
            for program in (RESPITE, self.oracle.program):
                nodes.append(self.replica(nodes[:2], primary, program))
        self.start_held(source, target, "applied")
        for replica in nodes[4:]:
            wait_until(lambda: replica.ask("ROLE")[4] == target.ask("ROLE")[1], "the keys, which are hidden", 20)
            self.assertEqual((replica.ask("DBSIZE"), replica.ask("KEYS", "*")), (0, []), replica.program)
        source.proxy.release()
        self.wait_task(target)
        self.check_replicas(nodes, keys)


class FromOursToRedis(BothWays, Tasks):
    source_is_ours = True

    def secret(self, source, target):
        """Returns the secret with which the nodes log in."""
        seen = []
        original = source.proxy.pass_on

        def spy(direction, near, far):
            data = near.recv(1 << 16)
            if b"internal connection" in data:
                seen.append(data.split(b"\r\n")[6])
            far.sendall(data)
            original(direction, near, far)
        source.proxy.pass_on = spy
        self.move(source, target, 0, 0)
        source.proxy.pass_on = original
        return seen[0]

    def test_what_a_node_may_do(self):
        source, target = self.pair()
        self.fill(source)
        secret = self.secret(source, target)
        client = source.client()
        for wrong in (b"", secret[:-1], b"0" * 40, secret.upper() + b" ", secret[:20] * 2):
            self.assertEqual(client.run("AUTH", "internal connection", wrong), b"-WRONGPASS invalid internal password\r\n")
        self.assertEqual(client.run("CLUSTER", "SYNCSLOTS", "SYNC", "a" * 40, 1, 2)[:1], b"-")
        self.assertEqual(client.run("AUTH", "internal connection", secret), b"+OK\r\n")
        self.assertEqual(client.run("PING"), b"+PONG\r\n")
        for words in (("GET", "a"), ("SET", "a", 1), ("KEYS", "*"), ("CONFIG", "GET", "*"), ("CLUSTER", "NODES"), ("MULTI",),
                      ("CLUSTER", "MIGRATION", "STATUS", "ALL"), ("FLUSHALL",), ("SHUTDOWN",), ("EVAL", "return 1", 0)):
            self.assertTrue(client.run(*words).startswith(b"-NOPERM"), words)
        for words, error in (
                (("CONF", "NODE-ID", "b" * 40), b"-ERR Node " + b"b" * 40 + b" not found in cluster"),
                (("CONF", "OTHER", "x"), b"-ERR Unknown option OTHER"), (("CONF", "NODE-ID"), b"-ERR syntax error"),
                (("CONF", "NODE-ID", target.id), b"+OK"), (("OTHER",), b"-ERR syntax error"),
                (("SYNC", "a" * 40), b"-ERR syntax error"), (("SYNC", "a" * 40, 1), b"-ERR syntax error"),
                (("SYNC", "a" * 40, 5, 1), b"-ERR start slot number 5 is greater than end slot number 1"),
                (("SYNC", "a" * 40, 0, 0), b"-ERR This node is not the owner of the slots"),
                (("SYNC", "a" * 40, 1, 6000), b"-ERR slots belong to different source nodes"),
                (("SYNC", "a" * 40, 1, 20000), b"-ERR Invalid or out of range slot"),
                (("SYNC", "a" * 40, 1, 2, 2, 3), b"-ERR Slot 2 specified multiple times"),
                (("SYNC", "short", 1, 2), b"-ERR Invalid name of a slot migration"),
                (("RDBCHANNEL", "c" * 40), b"-ERR Another migration task is already in progress"),
                (("ESTABLISH", "SOURCE", target.id, "NAME", "a" * 40, "SLOTSRANGE", 0, 0), b"-ERR syntax error"),
                (("SNAPSHOT-EOF",), b"-ERR syntax error"), (("STREAM-EOF",), b"-ERR syntax error"),
                (("SYNC", "a" * 40, 1, 2), b"+RDBCHANNELSYNCSLOTS")):
            self.assertEqual(client.run("CLUSTER", "SYNCSLOTS", *words), error + b"\r\n", words)
        other = source.client()
        self.assertEqual(other.run("AUTH", "internal connection", secret), b"+OK\r\n")
        other.run("CLUSTER", "SYNCSLOTS", "CONF", "NODE-ID", target.id)
        self.assertEqual(other.run("CLUSTER", "SYNCSLOTS", "SYNC", "d" * 40, 5, 6),
                         b"-ERR Another ASM task is already in progress\r\n")
        client.close()
        wait_until(lambda: self.tasks(source)[0]["state"] == b"failed", "the end of the export", 20)
        other.close()
        # Without the secret the node refuses; other clients may not use the command.
        plain = source.client()
        self.assertTrue(plain.run("CLUSTER", "SYNCSLOTS", "RDBCHANNEL", "a" * 40).startswith(b"-ERR"))
        plain.close()


class FromRedisToOurs(BothWays, Tasks):
    source_is_ours = False


class Histories(Tasks):
    def test_under_load_no_write_is_lost(self):
        nodes = self.trio(RESPITE, self.oracle.program)
        with Load(nodes[0]) as load:
            for source, target in ((0, 1), (1, 0), (0, 1), (1, 0)):
                before = sum(load.acknowledged())
                self.move(nodes[source], nodes[target])
                wait_until(lambda: sum(load.acknowledged()) > before + 50, "more writes", 30)
        self.assertEqual([thread.error for thread in load.threads], [None] * 3)
        self.check_counters(nodes[0], load)

    def test_random_story(self):
        """Slots move under load, while connections break, tasks are cancelled, and nodes stand still."""
        seed = int(os.environ.get("RESPITE_SLOT_SEED", random.SystemRandom().randrange(10**6)))
        print(f"seed of the story: RESPITE_SLOT_SEED={seed}")
        dice = random.Random(seed)
        nodes = self.cluster([RESPITE, self.oracle.program, RESPITE, self.oracle.program],
                             "--cluster-require-full-coverage", "no")
        with Load(nodes[0]) as load:
            for _ in range(int(os.environ.get("RESPITE_SLOT_STEPS", "12"))):
                source, target = dice.sample(nodes, 2)
                owned = [part.split("-") for part in source.slots().get(source.id, "").split() if part[0] != "["]
                if not owned:
                    continue
                ends = dice.choice(owned)
                first = dice.randint(int(ends[0]), int(ends[-1]))
                last = dice.randint(first, int(ends[-1]))
                event = dice.choice(["nothing", "cut", "cancel", "source stands still", "target stands still"])
                stage = dice.choice(list(STAGES))
                if event != "nothing":
                    source.proxy.hold(stage)
                reply = target.ask("CLUSTER", "MIGRATION", "IMPORT", first, last)
                self.assertEqual(len(reply), 40, (seed, reply))
                reached = event != "nothing" and source.proxy.reached.wait(5)
                if event == "cut":
                    source.proxy.cut()
                elif event == "cancel":
                    target.ask("CLUSTER", "MIGRATION", "CANCEL", "ALL")
                elif event != "nothing":
                    process = (source if event.startswith("source") else target).server.process
                    process.send_signal(signal.SIGSTOP)
                    source.proxy.release()
                    time.sleep(dice.choice([0.1, 1.0]))
                    process.send_signal(signal.SIGCONT)
                source.proxy.release()
                over = (b"completed", b"canceled")
                wait_until(lambda: self.tasks(target)[0]["state"] in over,
                           f"the task of seed {seed}: {event} {stage} {reached} {self.tasks(target)[0]}", 60)
                wait_until(lambda: not self.is_busy(source), f"the end at the source, seed {seed}", 60)
        self.assertEqual([thread.error for thread in load.threads], [None] * 3, seed)
        self.assertEqual(sum(node.slot_count() for node in nodes), 16384, seed)
        self.check_counters(nodes[0], load)
        wait_until(lambda: sum(node.ask("DBSIZE") for node in nodes) == 200, f"each key once, seed {seed}", 20)


if __name__ == "__main__":
    unittest.main()
