"""A cluster for the suites: three primaries and three replicas of the server under test, each a process on loopback.
Tests request the events that a cluster client must survive over a control port. README.md lists the requests."""
import os
import random
import re
import shutil
import socket
import socketserver
import subprocess
import tempfile
import threading
import time

import launcher
from launcher import call, wait_until

PRIMARIES = 3
SLOTS = 16384
NODE_TIMEOUT_MS = 2000
LIMIT_S = 40
MANUAL_FAILOVER_S = 6  # a node aborts it after 5 s
# A primary does not vote again for replicas of the same primary before this time has passed.
VOTES_REST_S = 2 * NODE_TIMEOUT_MS / 1000
KEYS_AT_ONCE = 100
# Outside the range that the kernel gives to outgoing connections, since a killed node needs its port again.
PORTS = range(11000, 32000)


def quiet_port():
    for _ in range(100):
        port = random.choice(PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise AssertionError("there is no free port")


class Node:
    """A server in cluster mode. It keeps its ports and its directory when it is killed and restarted."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.port, self.bus_port = quiet_port(), quiet_port()
        self.text = ""
        self.start()
        self.id = self.ask("CLUSTER", "MYID")

    def start(self):
        self.running = launcher.Launched(
            "--port", self.port, "--bind", "127.0.0.1", "--dir", self.folder, "--save", "", "--appendonly", "no",
            "--cluster-enabled", "yes", "--cluster-port", self.bus_port, "--cluster-node-timeout", NODE_TIMEOUT_MS,
            "--cluster-allow-replica-migration", "no", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1",
            program=self.program, cwd=self.folder).ready()

    def restart(self):
        self.text += self.running.text + "== restarted\n"
        self.start()

    @property
    def lives(self):
        return self.running.process.poll() is None

    def ask(self, *words):
        return call(self.port, *words)

    def order(self, *words):
        """Runs commands that reply OK."""
        reply = self.ask(*words)
        if reply != "+OK":
            raise AssertionError(f"{' '.join(map(str, words))} at {self.port}: {reply}")

    def info(self, section, field):
        found = re.search(rf"^{field}:(.*?)\r?$", self.ask("INFO", section), re.M)
        return found[1] if found else None

    def is_primary(self):
        return self.info("replication", "role") == "master"

    def is_ok(self):
        return "cluster_state:ok" in self.ask("CLUSTER", "INFO")

    def lines(self):
        return [line.split() for line in self.ask("CLUSTER", "NODES").splitlines()]

    def view(self):
        """Returns what the nodes must agree about: the owner of each slot, and the primary of each replica."""
        return sorted((line[0], line[3], tuple(part for part in line[8:] if part[0] != "[")) for line in self.lines())


class Cluster:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="clients-cluster-")
        self.nodes, self.opened, self.voted = [], set(), 0
        try:
            self._create(program)
        except BaseException:
            self.remove()
            raise

    def _create(self, program):
        for number in range(2 * PRIMARIES):
            folder = os.path.join(self.folder, str(number))
            os.mkdir(folder)
            self.nodes.append(Node(program, folder))
        first, primaries = self.nodes[0], self.nodes[:PRIMARIES]
        for number, node in enumerate(self.nodes):
            node.order("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            if node in primaries:
                begin, end = (SLOTS * step // PRIMARIES for step in (number, number + 1))
                node.order("CLUSTER", "ADDSLOTSRANGE", begin, end - 1)
            node.order("CLUSTER", "MEET", "127.0.0.1", first.port, first.bus_port)
        wait_until(lambda: all(self._knows_all(node) for node in self.nodes), "the nodes know each other", LIMIT_S)
        for primary, replica in zip(primaries, self.nodes[PRIMARIES:]):
            replica.order("CLUSTER", "REPLICATE", primary.id)
        self.settle()

    def _knows_all(self, node):
        lines = node.lines()
        return len(lines) == len(self.nodes) and not any("handshake" in line[2] for line in lines)

    def remove(self):
        for node in self.nodes:
            node.running.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- Looking.

    def text(self):
        """Returns the log lines of the nodes."""
        return "".join(f"== {node.port}\n{node.text}{node.running.text}" for node in self.nodes)

    def alive(self):
        return [node for node in self.nodes if node.lives]

    def primaries(self):
        return [node for node in self.alive() if node.is_primary()]

    def by_port(self, port):
        return next(node for node in self.nodes if node.port == port)

    def slot(self, key):
        return int(self.alive()[0].ask("CLUSTER", "KEYSLOT", key)[1:])

    def owner(self, slot):
        """Returns the living primary that reports the slot as its own."""
        def find():
            return next((node for node in self.primaries() if has(own_slots(node), slot)), None)
        return wait_until(find, f"an owner of slot {slot}", LIMIT_S)

    def replica(self, primary):
        """Returns a replica of this primary that has all its data at this moment."""
        def find():
            for node in self.alive():
                if node.info("replication", "master_port") == str(primary.port) and is_level(node, primary):
                    return node
            return None
        return wait_until(find, f"a replica of {primary.port}", LIMIT_S)

    def next_primary(self, node):
        """Returns the next primary, to which this one's slots move."""
        primaries = sorted(self.primaries(), key=lambda one: one.port)
        return primaries[(primaries.index(node) + 1) % len(primaries)]

    def agrees(self):
        alive = self.alive()
        views = [node.view() for node in alive]
        return all(node.is_ok() for node in alive) and all(view == views[0] for view in views)

    def settle(self):
        """Waits until all nodes agree, and every primary has a replica with all its data."""
        wait_until(self.agrees, "the nodes agree", LIMIT_S)
        if len(self.alive()) == len(self.nodes):
            wait_until(lambda: len(self.primaries()) == PRIMARIES, "three primaries", LIMIT_S)
            for primary in self.primaries():
                self.replica(primary)
            wait_until(self.agrees, "the nodes agree", LIMIT_S)

    # --- The requests of tests. Each `do_` method is a word of the control port, and takes and returns words.

    def do_fresh(self):
        """Waits until everything runs and agrees, and deletes keys, scripts and functions."""
        self.do_heal()
        for node in self.primaries():
            node.order("FLUSHALL")
            node.order("FUNCTION", "FLUSH")
        for node in self.nodes:
            node.order("SCRIPT", "FLUSH")
        self.settle()

    def do_heal(self):
        for slot in list(self.opened):
            self._close(slot)
        dead = [node for node in self.nodes if not node.lives]
        if dead:  # a primary that restarted before the election would be the primary again, without its keys
            wait_until(lambda: all(node.is_ok() for node in self.alive()), "the failover", LIMIT_S)
        for node in dead:
            node.restart()
            self.voted = time.monotonic()
        self.settle()

    def do_settle(self):
        self.settle()

    def do_owner(self, key):
        return self.owner(self.slot(key)).port

    def do_replica(self, key):
        return self.replica(self.owner(self.slot(key))).port

    def do_open(self, key):
        """Begins to move the key's slot, without its keys. Returns the port of the target."""
        slot = self.slot(key)
        source = self.owner(slot)
        target = self.next_primary(source)
        self._open(slot, source, target)
        return target.port

    def do_carry(self, key, target, count="1000000"):
        """Moves this number of keys of an opened slot to the target."""
        slot = self.slot(key)
        return self._carry(slot, self.owner(slot), self.by_port(int(target)), int(count))

    def do_close(self, key, target):
        """Moves the remaining keys, and gives the slot to the target."""
        slot = self.slot(key)
        source, target = self.owner(slot), self.by_port(int(target))
        self._carry(slot, source, target)
        self._give(slot, source, target)
        wait_until(self.agrees, "the nodes agree", LIMIT_S)

    def do_move(self, key, slots):
        """Moves this number of slots, starting at the key's, with their keys to the next primary. Returns the number of
        keys."""
        first, moved = self.slot(key), 0
        source = self.owner(first)
        target = self.next_primary(source)
        mine = own_slots(source)
        for slot in [slot for slot in range(first, SLOTS) if has(mine, slot)][:int(slots)]:
            self._open(slot, source, target)
            moved += self._carry(slot, source, target)
            self._give(slot, source, target)
        wait_until(self.agrees, "the nodes agree", LIMIT_S)
        return moved

    def do_kill(self, key):
        """Kills the primary of the key with SIGKILL. Returns its port."""
        node = self.owner(self.slot(key))
        node.running.kill()
        return node.port

    def do_failover(self, key):
        """Makes a replica take over without a loss. Returns its port."""
        wait_until(lambda: time.monotonic() > self.voted + VOTES_REST_S, "the nodes vote again", LIMIT_S)
        replica = self.replica(self.owner(self.slot(key)))
        asked = float("-inf")

        def has_taken_over():
            nonlocal asked
            if replica.is_primary():
                return True
            if time.monotonic() - asked > MANUAL_FAILOVER_S:  # it may fail, which an operator would notice as well
                asked = time.monotonic()
                replica.order("CLUSTER", "FAILOVER")
            return False

        wait_until(has_taken_over, "the manual failover", LIMIT_S)
        self.voted = time.monotonic()
        wait_until(self.agrees, "the nodes agree", LIMIT_S)
        return replica.port

    # --- Slots.

    def _open(self, slot, source, target):
        self.opened.add(slot)
        target.order("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
        source.order("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)

    def _carry(self, slot, source, target, limit=1 << 30):
        moved = 0
        while moved < limit:
            keys = source.ask("CLUSTER", "GETKEYSINSLOT", slot, min(limit - moved, KEYS_AT_ONCE))
            if not keys:
                break
            source.order("MIGRATE", "127.0.0.1", target.port, "", "0", "5000", "KEYS", *keys)
            moved += len(keys)
        return moved

    def _give(self, slot, source, target):
        for node in [target, source] + [node for node in self.primaries() if node not in (source, target)]:
            node.order("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        self.opened.discard(slot)

    def _close(self, slot):
        """Called after a test that failed: the slot stays where it is."""
        for node in self.primaries():
            node.order("CLUSTER", "SETSLOT", slot, "STABLE")
        self.opened.discard(slot)


def own_slots(node):
    """Returns the slot ranges that the node reports for itself."""
    mine = next((line for line in node.lines() if "myself" in line[2]), [])
    ends = [part.split("-") for part in mine[8:] if part[0] != "["]
    return [(int(end[0]), int(end[-1])) for end in ends]


def has(ranges, slot):
    return any(first <= slot <= last for first, last in ranges)


def is_level(replica, primary):
    if replica.info("replication", "master_link_status") != "up":
        return False
    return int(replica.info("replication", "slave_repl_offset")) >= int(primary.info("replication", "master_repl_offset"))


class Control(socketserver.StreamRequestHandler):
    """Each line is a request. The answer is a line: "ok" with the result, or "error" with the reason."""

    def handle(self):
        for line in self.rfile:
            self.wfile.write((self.answer(line.decode().split()) + "\n").encode())

    def answer(self, words):
        server = self.server
        try:
            with server.lock:
                result = getattr(server.asked, f"do_{words[0]}")(*words[1:])
            return "ok" if result is None else f"ok {result}"
        except Exception as error:  # the test must be told
            return f"error {' '.join(words)}: {error!r}"


class ControlServer(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, asked):
        super().__init__(("127.0.0.1", 0), Control)
        self.asked, self.lock = asked, threading.Lock()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def end(self):
        self.shutdown()
        self.server_close()


class Served:
    """Provides a cluster for a `with`, and the environment that tells a suite about it."""

    def __init__(self, program, log=None):
        self.program, self.log = program, log

    def __enter__(self):
        self.cluster = Cluster(self.program)
        self.control = ControlServer(self.cluster)
        return {"REDIS_CLUSTER": ",".join(f"127.0.0.1:{node.port}" for node in self.cluster.nodes),
                "REDIS_CLUSTER_CONTROL": str(self.control.server_address[1])}

    def __exit__(self, *_):
        self.control.end()
        if self.log:
            self.log.write_text(self.cluster.text(), encoding="utf-8")
        self.cluster.remove()


if __name__ == "__main__":  # for tests by hand: python3 cluster.py PROGRAM COMMAND...
    import sys
    with Served(os.path.abspath(sys.argv[1])) as variables:
        sys.exit(subprocess.run(sys.argv[2:], env={**os.environ, **variables}, check=False).returncode)
