"""CLUSTER SLOT-STATS: the same requests to Respite and to Valkey give the same answers."""
import unittest

import oracles
from cluster_test import Node
from launcher import wait_until
from two_servers import RESPITE, value_of

SUBCOMMAND = ("CLUSTER", "SLOT-STATS")
REQUESTS = [
    (*SUBCOMMAND, "SLOTSRANGE", 12180, 12183),
    ("SET", "foo", "value"), ("GET", "foo"), ("SET", "bar", "x" * 100), ("INFO", "server"),
    (*SUBCOMMAND, "ORDERBY", "KEY-COUNT", "LIMIT", 3), (*SUBCOMMAND, "ORDERBY", "cpu-usec"),
    ("CONFIG", "SET", "cluster-slot-stats-enabled", "yes"),
    ("SET", "foo", "value"), ("GET", "foo"), ("GET", "none"), ("MGET", "{foo}1", "{foo}2"), ("LPUSH", "foo", "x"),
    ("SPUBLISH", "foo", "message"), ("PUBLISH", "foo", "message"), ("PING",), ("DEL", "bar"),
    ("EVAL", "return 1", 0), ("SET", "foo"), ("OBJECT", "ENCODING", "foo"), ("GETRANGE", "bar", 0, "x"),
]
# Valkey counts part of the reply to EXEC twice, so only the incoming bytes are compared.
TRANSACTION = [("MULTI",), ("SET", "bar", 1), ("INCR", "bar"), ("EXEC",)]
REFUSED = [("SLOTSRANGE",), ("SLOTSRANGE", 0), ("SLOTSRANGE", 0, 1, 2), ("SLOTSRANGE", 2, 1), ("SLOTSRANGE", 0, 16384),
           ("SLOTSRANGE", "a", 1), ("ORDERBY",), ("ORDERBY", "nothing"), ("ORDERBY", "memory-bytes"),
           ("ORDERBY", "key-count", "WHY"), ("ORDERBY", "key-count", "LIMIT"), ("ORDERBY", "key-count", "LIMIT", 0),
           ("ORDERBY", "key-count", "LIMIT", "x"), ("ORDERBY", "key-count", "LIMIT", 16385),
           ("ORDERBY", "key-count", "LIMIT", 1, "LIMIT", 1), ("ORDERBY", "key-count", "ASC", "DESC"), ("WHAT", 1),
           ("WHAT", 1, 2)]


def figures(client):
    """Returns {slot: {metric: value}} of the slots with the most traffic, without times and zeros."""
    found = {}
    for metric in ("key-count", "network-bytes-in", "network-bytes-out"):
        reply = value_of(client.run(*SUBCOMMAND, "ORDERBY", metric, "LIMIT", 5))
        for slot, flat in reply if isinstance(reply, list) else []:
            metrics = dict(zip(flat[::2], flat[1::2]))
            found[slot] = {name: value for name, value in metrics.items() if value and name != b"cpu-usec"}
    return {slot: rest for slot, rest in found.items() if rest}


def time_of(client, slot):
    (_, flat), = value_of(client.run(*SUBCOMMAND, "SLOTSRANGE", slot, slot))
    return flat[flat.index(b"cpu-usec") + 1]


class SlotStats(unittest.TestCase):
    def client(self, program):
        node = Node(program)
        self.addCleanup(node.stop)
        client = node.client()
        self.addCleanup(client.close)
        client.run("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
        wait_until(node.is_ok, "the node serves requests")
        return client

    def test_answers_are_those_of_valkey(self):
        if "Valkey" not in self.oracle.label:
            self.skipTest("has no CLUSTER SLOT-STATS")
        ours, theirs = self.client(RESPITE), self.client(self.oracle.program)
        for request in REQUESTS:
            got, expected = ours.run(*request), theirs.run(*request)
            if request[0] != "INFO":
                self.assertEqual(got, expected, request)
            self.assertEqual(figures(ours), figures(theirs), request)
            self.oracle.count()
        for request in TRANSACTION:
            self.assertEqual(ours.run(*request), theirs.run(*request), request)
        came_in = [{slot: one.get(b"network-bytes-in") for slot, one in figures(client).items()} for client in (ours, theirs)]
        self.assertEqual(came_in[0], came_in[1])
        for words in REFUSED:
            self.assertEqual(ours.run(*SUBCOMMAND, *words), theirs.run(*SUBCOMMAND, *words), words)
            self.oracle.count()
        for client in (ours, theirs):
            self.assertGreater(time_of(client, 12182), 0)
            client.run("CONFIG", "RESETSTAT")
        self.assertEqual(figures(ours), figures(theirs))


oracles.multiply(globals(), SlotStats)

if __name__ == "__main__":
    unittest.main()
