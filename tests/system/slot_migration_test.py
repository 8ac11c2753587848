"""CLUSTER MIGRATESLOTS between real processes: under load, with values of any size, and while processes die."""
import signal
import time
import unittest

from cluster_test import ClusterClient, Counters, Node
from launcher import wait_until
from two_servers import RESPITE, value_of


class Load:
    """Several threads of Counters."""

    def __init__(self, node, threads=3, number=200):
        self.threads = [Counters(node, number) for _ in range(threads)]
        for place, thread in enumerate(self.threads):
            thread.random.seed(place)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        for thread in self.threads:
            thread.__exit__()

    def acknowledged(self):
        return [sum(counts) for counts in zip(*(thread.counts for thread in self.threads))]


class Migrations(unittest.TestCase):
    """Clusters whose nodes send slots to each other."""

    def node(self, program, *options):
        node = Node(program, "--cluster-allow-replica-migration", "no", *options)
        self.addCleanup(node.stop)
        return node

    def cluster(self, programs, *options):
        """Primaries that share the slots evenly."""
        nodes = [self.node(program, *options) for program in programs]
        for place, node in enumerate(nodes):
            first, last = 16384 * place // len(nodes), 16384 * (place + 1) // len(nodes) - 1
            self.assertEqual(node.ask("CLUSTER", "ADDSLOTSRANGE", first, last), b"+OK")
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
        self.meet(nodes)
        return nodes

    def meet(self, nodes):
        for node in nodes[1:]:
            nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", node.port, node.bus_port)
        wait_until(lambda: all(node.is_ok() and len(node.roles()) == len(nodes) for node in nodes), "the cluster", 30)

    def replica(self, nodes, primary, program=RESPITE):
        replica = self.node(program)
        nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", replica.port, replica.bus_port)
        wait_until(lambda: primary.id in replica.roles() and replica.id in primary.roles(), "the nodes to meet", 30)
        wait_until(lambda: replica.ask("CLUSTER", "REPLICATE", primary.id) == b"+OK", "the replica", 30)
        wait_until(lambda: replica.ask("ROLE")[3] == b"connected", "the link", 30)
        return replica

    def check_replicas(self, nodes, keys):
        """`nodes`: the source, the target, two replicas of the source, and those of the target, which has the keys now."""
        for node in nodes[1:2] + nodes[4:]:
            wait_until(lambda: node.ask("DBSIZE") == len(keys), "the keys", 20)
        for node in [nodes[0], *nodes[2:4]]:
            wait_until(lambda: node.ask("DBSIZE") == 0, "no keys", 20)
        for node in nodes[2:]:
            self.assertIn(b"unexpected_error_replies:0\r\n", node.ask("INFO", "stats"))
        for node in nodes[4:]:
            wait_until(node.is_ok, "cluster_state:ok on the replica", 20)
            client = node.client()
            client.run("READONLY")
            self.assertEqual(value_of(client.run("GET", keys[0])), f"value of {keys[0]}".encode())
            client.close()

    def jobs(self, node):
        """Returns dictionaries, the latest migration first."""
        return [dict(zip((key.decode() for key in job[::2]), job[1::2]))
                for job in node.ask("CLUSTER", "GETSLOTMIGRATIONS")]

    def migrate(self, source, target, first, last):
        self.assertEqual(source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", first, last, "NODE", target.id), b"+OK")

    def wait_over(self, node, expected=b"success", limit_s=60):
        over = (b"success", b"failed", b"cancelled")
        wait_until(lambda: self.jobs(node)[0]["state"] in over, "the end of the migration", limit_s)
        job = self.jobs(node)[0]
        self.assertEqual(job["state"], expected, job)

    def client(self, node):
        client = ClusterClient(node)
        self.addCleanup(client.close)
        return client

    def check_counters(self, node, load):
        """No acknowledged write is lost, and none ran twice, except requests that were repeated after a broken connection."""
        client = self.client(node)
        repeated = sum(thread.client.repeated for thread in load.threads)
        extra = 0
        for number, count in enumerate(load.acknowledged()):
            found = int(client.run("GET", f"counter:{number}") or 0)
            self.assertGreaterEqual(found, count, number)
            extra += found - count
        self.assertLessEqual(extra, repeated)


class SlotMigration(Migrations):
    def test_under_load_no_write_is_lost(self):
        first, second = self.cluster([RESPITE] * 2)
        replica = self.replica([first, second], second)
        with Load(first) as load:
            for _ in range(5):
                for source, target, slots in ((first, second, (0, 8191)), (second, first, (0, 8191))):
                    before = sum(load.acknowledged())
                    self.migrate(source, target, *slots)
                    self.wait_over(source)
                    wait_until(lambda: sum(load.acknowledged()) > before + 50, "more writes", 30)
        self.assertEqual([thread.error for thread in load.threads], [None] * 3)
        self.check_counters(first, load)
        self.assertEqual((first.slot_count(), second.slot_count()), (8192, 8192))
        wait_until(lambda: second.ask("DEBUG", "DIGEST") == replica.ask("DEBUG", "DIGEST"), "the replica", 30)

    def tasks(self, node):
        """Returns dictionaries as of CLUSTER MIGRATION STATUS, the latest task first."""
        return [dict(zip((key.decode() for key in task[::2]), task[1::2]))
                for task in node.ask("CLUSTER", "MIGRATION", "STATUS", "ALL")]

    def test_the_target_asks_for_slots(self):
        first, second = self.cluster([RESPITE] * 2)
        with Load(first) as load:
            for source, target in ((first, second), (second, first)):
                before = sum(load.acknowledged())
                task = target.ask("CLUSTER", "MIGRATION", "IMPORT", 0, 4000, 4002, 8191)
                self.assertEqual(len(task), 40)
                wait_until(lambda: self.tasks(target)[0]["state"] == b"completed", "the end of the task", 60)
                mine, theirs = self.tasks(target)[0], self.tasks(source)[0]
                self.assertEqual((mine["id"], theirs["id"]), (task, task))
                self.assertEqual((mine["operation"], theirs["operation"]), (b"import", b"migrate"))
                self.assertEqual(mine["slots"], b"0-4000 4002-8191")
                wait_until(lambda: sum(load.acknowledged()) > before + 50, "more writes", 30)
        self.assertEqual([thread.error for thread in load.threads], [None] * 3)
        self.check_counters(first, load)
        self.assertEqual((first.slot_count(), second.slot_count()), (8192, 8192))

    def test_values_of_any_size(self):
        first, second = self.cluster([RESPITE] * 2, "--enable-debug-command", "yes", "--proto-max-bulk-len", "1gb")
        client = self.client(first)
        client.run("EVAL", "for i = 1, 300000 do redis.call('RPUSH', KEYS[1], i .. string.rep('x', 20)) end", 1, "{b}list")
        client.run("EVAL", "for i = 1, 100000 do redis.call('ZADD', KEYS[1], i, 'member' .. i) end", 1, "{b}zset")
        client.run("SETRANGE", "{b}text", 64 << 20, "end")
        slot = first.ask("CLUSTER", "KEYSLOT", "{b}list")
        number = int(slot) if not isinstance(slot, int) else slot
        source, target = (first, second) if number < 8192 else (second, first)
        keys = ("{b}list", "{b}zset", "{b}text")
        digests = source.ask("DEBUG", "DIGEST-VALUE", *keys)
        # Other clients are served meanwhile.
        self.migrate(source, target, number, number)
        worst = 0.0
        while self.jobs(source)[0]["state"] not in (b"success", b"failed"):
            began = time.monotonic()
            source.ask("PING")
            target.ask("PING")
            worst = max(worst, time.monotonic() - began)
        self.wait_over(source)
        self.assertEqual(target.ask("DEBUG", "DIGEST-VALUE", *keys), digests)
        self.assertLess(worst, 5)

    def interrupted(self):
        """Two nodes of a cluster. One of them sends slots to the other, which is stopped and does not take them."""
        first, second, _ = self.cluster([RESPITE] * 3, "--cluster-require-full-coverage", "no")
        client = self.client(first)
        self.mine = [f"key:{number}" for number in range(6000)
                     if int(first.ask("CLUSTER", "KEYSLOT", f"key:{number}")) <= 5460]
        for key in self.mine:
            self.assertEqual(client.run("SET", key, "x" * 5000), b"+OK")
        second.server.process.send_signal(signal.SIGSTOP)
        self.migrate(first, second, 0, 5460)
        return first, second

    def test_target_dies(self):
        first, second = self.interrupted()
        second.kill()
        self.wait_over(first, b"failed")
        self.assertEqual(first.slot_count(), 5461)
        client = self.client(first)
        for key in self.mine:
            self.assertEqual(client.run("APPEND", key, "y"), 5001)

    def test_source_dies(self):
        first, second = self.interrupted()
        second.server.process.send_signal(signal.SIGCONT)
        wait_until(lambda: self.jobs(second) != [], "the target to hear of it", 30)
        first.kill()
        wait_until(lambda: self.jobs(second)[0]["state"] in (b"failed", b"success"), "the target to notice", 60)
        if self.jobs(second)[0]["state"] == b"success":
            return self.assertEqual(second.ask("DBSIZE"), len(self.mine))
        wait_until(lambda: all(second.ask("CLUSTER", "COUNTKEYSINSLOT", slot) == 0 for slot in range(0, 5461, 7)),
                   "the target to clean up", 30)
        return self.assertEqual(second.ask("DBSIZE"), 0)

    def test_works_with_a_user(self):
        first, second = self.cluster([RESPITE] * 2, "--requirepass", "", "--masterauth", "")
        for node in (first, second):
            node.ask("ACL", "SETUSER", "mover", "on", ">secret", "+@all", "~*", "&*")
            node.ask("CONFIG", "SET", "masteruser", "mover")
            node.ask("CONFIG", "SET", "masterauth", "secret")
        self.migrate(first, second, 0, 10)
        self.wait_over(first)
        first.ask("CONFIG", "SET", "masterauth", "wrong")
        self.migrate(first, second, 11, 20)
        self.wait_over(first, b"failed")
        self.assertIn(b"WRONGPASS", self.jobs(first)[0]["message"])


if __name__ == "__main__":
    unittest.main()
