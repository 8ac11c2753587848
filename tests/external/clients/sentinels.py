"""Primaries with Sentinels for the suites: a primary, two replicas and three Sentinels, all of the server under test.
Tests request the events that a client of Sentinels must survive over a control port. README.md lists the requests."""
import os
import re
import shutil
import subprocess
import tempfile

import launcher
from cluster import ControlServer, quiet_port
from launcher import call, wait_until

NAME = "mymaster"
REPLICAS, SENTINELS, QUORUM = 2, 3, 2
DOWN_AFTER_MS, FAILOVER_TIMEOUT_MS = 1000, 10000
LIMIT_S = 30


class Node:
    """A server or a Sentinel. It keeps its port and its directory when it is killed and restarted."""

    def __init__(self, program, folder, *arguments):
        self.program, self.folder, self.arguments = program, folder, arguments
        self.port = quiet_port()
        os.makedirs(folder)
        self.text = ""

    def start(self):
        self.running = launcher.Launched(*self.words(), program=self.program, cwd=self.folder)
        wait_until(self.answers, f"an answer of {self.port}:\n{self.running.text}", LIMIT_S)
        return self

    def answers(self):
        if not self.lives:
            raise AssertionError(f"{self.port} ended:\n{self.running.text}")
        try:
            return self.ask("PING") == "+PONG"
        except OSError:
            return False

    @property
    def lives(self):
        return self.running.process.poll() is None

    def end(self):
        if hasattr(self, "running"):
            self.running.kill()

    def ask(self, *words):
        return call(self.port, *words)

    def info(self, section, field):
        """Returns None if it does not report it, or if its connection ends: a Sentinel closes all connections of a
        server that it makes a replica."""
        try:
            found = re.search(rf"^{field}:(.*?)\r?$", self.ask("INFO", section), re.M)
        except OSError:
            return None
        return found[1] if found else None


class Server(Node):
    def words(self):
        return ["--port", self.port, "--bind", "127.0.0.1", "--dir", self.folder, "--save", "", "--appendonly", "no",
                "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1", *self.arguments]

    def is_replica_of(self, primary):
        return (self.info("replication", "master_port"), self.info("replication", "master_link_status")) == (str(primary.port), "up")

    def is_level_with(self, primary):
        own, wanted = self.info("replication", "slave_repl_offset"), primary.info("replication", "master_repl_offset")
        return None not in (own, wanted) and int(own) >= int(wanted)


class Sentinel(Node):
    def __init__(self, program, folder, primary):
        super().__init__(program, folder)
        self.file = os.path.join(folder, "sentinel.conf")
        with open(self.file, "w", encoding="ascii") as file:
            file.write(f"port {self.port}\nbind 127.0.0.1\ndir {folder}\nsentinel monitor {NAME} 127.0.0.1 {primary} {QUORUM}\n"
                       f"sentinel down-after-milliseconds {NAME} {DOWN_AFTER_MS}\n"
                       f"sentinel failover-timeout {NAME} {FAILOVER_TIMEOUT_MS}\n")

    def words(self):
        return [self.file, "--sentinel"]

    def address(self):
        return int(self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def knows(self, replicas, others):
        line = re.search(r"status=ok,.*slaves=(\d+),sentinels=(\d+)", self.ask("INFO", "sentinel"))
        return line is not None and (int(line[1]), int(line[2])) == (replicas, others)


class Set:
    """One primary with its replicas and Sentinels. A second failover is not possible for a while, so a test that needs
    one takes a fresh set."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="clients-sentinels-")
        self.servers, self.sentinels = [], []
        try:
            self._create(program)
        except BaseException:
            self.remove()
            raise

    def _create(self, program):
        for number in range(1 + REPLICAS):
            follow = ("--replicaof", "127.0.0.1", self.servers[0].port) if self.servers else ()
            self.servers.append(Server(program, os.path.join(self.folder, f"server{number}"), *follow))
            self.servers[-1].start()
        for number in range(SENTINELS):
            self.sentinels.append(Sentinel(program, os.path.join(self.folder, f"sentinel{number}"), self.servers[0].port))
            self.sentinels[-1].start()
        self.settle()

    def remove(self):
        for node in self.sentinels + self.servers:
            node.end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def text(self):
        """Returns the log lines of all of them."""
        return "".join(f"== {node.port}\n{node.running.text}" for node in self.servers + self.sentinels)

    def primary(self):
        """Returns the server that all Sentinels name, when it reports that role itself."""
        def find():
            ports = {node.address() for node in self.sentinels}
            named = next((node for node in self.servers if {node.port} == ports and node.lives), None)
            return named if named and named.info("replication", "role") == "master" else None
        return wait_until(find, "a primary", LIMIT_S)

    def settle(self):
        """Waits until all living servers follow the primary and have its data, and all Sentinels see that."""
        def is_settled():
            primary = self.primary()
            others = [node for node in self.servers if node.lives and node is not primary]
            return all(node.is_replica_of(primary) and node.is_level_with(primary) for node in others)
        wait_until(is_settled, "the replicas follow", LIMIT_S)
        wait_until(lambda: all(node.knows(REPLICAS, SENTINELS) for node in self.sentinels), "the Sentinels know all", LIMIT_S)


class Sets:
    """The requests of tests. Each `do_` method is a word of the control port, and takes and returns words."""

    def __init__(self, program):
        self.program, self.set, self.log = program, None, ""

    def remove(self):
        if self.set:
            self.log += self.set.text()
            self.set.remove()

    def do_fresh(self):
        """Starts a new set. Returns the addresses of its Sentinels."""
        self.remove()
        self.set = None
        self.set = Set(self.program)
        return ",".join(f"127.0.0.1:{node.port}" for node in self.set.sentinels)

    def do_primary(self):
        return self.set.primary().port

    def do_replicas(self):
        """Returns the ports of the living servers that are not the primary."""
        primary = self.set.primary()
        return " ".join(str(node.port) for node in self.set.servers if node.lives and node is not primary)

    def do_get(self, key):
        """Returns the text that the key has at the primary which the Sentinels name."""
        return self.set.primary().ask("GET", key)

    def do_settle(self):
        self.set.settle()

    def do_failover(self):
        """Runs SENTINEL FAILOVER. Returns the port of the new primary when all Sentinels name it. The old one may
        follow ten seconds later: until then it accepts writes, as with Redis."""
        before = self.set.primary()
        said = self.set.sentinels[0].ask("SENTINEL", "FAILOVER", NAME)
        if said != "+OK":
            raise AssertionError(said)
        wait_until(lambda: self.set.primary() is not before, "the failover", LIMIT_S)
        return self.set.primary().port

    def do_kill(self):
        """Kills the primary with SIGKILL, and does not wait for the failover. Returns its port."""
        primary = self.set.primary()
        primary.end()
        return primary.port

    def do_heal(self):
        """Restarts the killed processes, as replicas."""
        primary = self.set.primary()
        for node in self.set.servers:
            if not node.lives:
                node.start()
        wait_until(lambda: all(node is primary or node.is_replica_of(primary) for node in self.set.servers), "replicas", LIMIT_S)
        self.set.settle()


class Served:
    """Provides the control port for a `with`, and the environment that tells a suite about it. The first `fresh` starts
    a set."""

    def __init__(self, program, log=None):
        self.program, self.log = program, log

    def __enter__(self):
        self.sets = Sets(self.program)
        self.control = ControlServer(self.sets)
        return {"REDIS_SENTINELS_CONTROL": str(self.control.server_address[1])}

    def __exit__(self, *_):
        self.control.end()
        self.sets.remove()
        if self.log:
            self.log.write_text(self.sets.log, encoding="utf-8")


if __name__ == "__main__":  # for tests by hand: python3 sentinels.py PROGRAM COMMAND...
    import sys
    with Served(os.path.abspath(sys.argv[1])) as variables:
        sys.exit(subprocess.run(sys.argv[2:], env={**os.environ, **variables}, check=False).returncode)
