"""Sentinels of real processes: ours alone, and in one quorum with Sentinels of each oracle, over servers of either
kind."""
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import oracles
from certificates import Authority
from launcher import free_port, wait_until
from two_servers import RESPITE, Closed, RawClient, value_of

DOWN_AFTER_MS = 2000  # on a loaded machine a good server may be silent for most of a second
FAILOVER_TIMEOUT_MS = 10000
LIMIT_S = 60
NAME = "mymaster"


class Plain:
    """No authentication."""

    def server_lines(self, port):
        return [f"port {port}"]

    def sentinel_lines(self, port):
        return [f"port {port}"]

    def open(self, connection):
        return RawClient(connection)


class Secured(Plain):
    """Only TLS, a password of the default user, and a user for the Sentinels at the servers."""

    PASSWORD, SENTINELS_PASSWORD = "for-clients", "for \"sentinels\""

    def __init__(self, folder):
        self.authority = Authority(folder, "authority")
        self.pair = self.authority.issue("node")

    def common_lines(self, port):
        return ["port 0", f"tls-port {port}", "tls-replication yes", f"tls-cert-file {self.pair.cert}", f"tls-key-file {self.pair.key}",
                f"tls-ca-cert-file {self.authority.cert}", f"requirepass {self.PASSWORD}"]

    def server_lines(self, port):
        secret = self.SENTINELS_PASSWORD.replace('"', '\\"')
        return [*self.common_lines(port), f"masterauth {self.PASSWORD}", f"user sentinels on \">{secret}\" allchannels -@all +multi +slaveof +ping "
                "+exec +subscribe +config|rewrite +role +publish +info +client|setname +client|kill +script|kill"]

    def sentinel_lines(self, port):
        return self.common_lines(port)

    def open(self, connection):
        context = ssl.create_default_context(cafile=self.authority.cert)
        context.check_hostname = False
        context.load_cert_chain(self.pair.cert, self.pair.key)
        client = RawClient(context.wrap_socket(connection))
        assert client.run("AUTH", self.PASSWORD) == b"+OK\r\n"
        return client


class Process:
    """A server or a Sentinel, with its own directory and configuration file."""

    def __init__(self, program, lines, *arguments, security=Plain()):
        self.program, self.port, self.arguments, self.security = program, free_port(), arguments, security
        self.folder = tempfile.mkdtemp(prefix="respite-sentinel-")
        self.file = os.path.join(self.folder, "server.conf")
        with open(self.file, "w", encoding="ascii") as file:
            ports = security.sentinel_lines(self.port) if arguments else security.server_lines(self.port)
            file.write("\n".join([*ports, "bind 127.0.0.1", f"dir {self.folder}", *lines, ""]))
        self.process = None
        self.start()

    def start(self):
        with open(os.path.join(self.folder, "log"), "ab") as log:
            self.process = subprocess.Popen([self.program, self.file, *self.arguments], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL)
        wait_until(self.answers, f"{self.program} on port {self.port}: {self.log()[-2000:]}")

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def conf(self):
        with open(self.file, encoding="utf-8") as file:
            return file.read()

    def client(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=5)
        connection.settimeout(5)
        try:
            return self.security.open(connection)
        except BaseException:
            connection.close()
            raise

    def ask(self, *words):
        """Repeats the request if a Sentinel has closed all connections of clients meanwhile."""
        for _ in range(3):
            try:
                return self.ask_once(*words)
            except (ConnectionResetError, Closed):
                continue
        return self.ask_once(*words)

    def ask_once(self, *words):
        client = self.client()
        try:
            return value_of(client.run(*words))
        finally:
            client.close()

    def answers(self):
        try:
            return self.ask("PING") == b"+PONG"
        except (OSError, Closed):
            return False

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def remove(self):
        if self.process.poll() is None:
            self.signal(signal.SIGCONT)
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class DataServer(Process):
    def __init__(self, program, primary=None, security=Plain()):
        follow = [f"replicaof 127.0.0.1 {primary.port}"] if primary else []
        super().__init__(program, [*follow, "save \"\"", "repl-diskless-sync-delay 0"], security=security)

    def role(self):
        return self.ask("ROLE")[0]


class Sentinel(Process):
    def __init__(self, program, primary, quorum=2, lines=(), security=Plain()):
        super().__init__(program, [f"sentinel monitor {NAME} 127.0.0.1 {primary.port} {quorum}",
                                   f"sentinel down-after-milliseconds {NAME} {DOWN_AFTER_MS}",
                                   f"sentinel failover-timeout {NAME} {FAILOVER_TIMEOUT_MS}", *lines], "--sentinel",
                         security=security)

    def address(self):
        return int(self.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)[1])

    def master(self):
        words = self.ask("SENTINEL", "MASTER", NAME)
        return {words[i].decode(): words[i + 1].decode() for i in range(0, len(words), 2)}

    def knows(self, replicas, sentinels):
        master = self.master()
        return (int(master["num-slaves"]), int(master["num-other-sentinels"])) == (replicas, sentinels)


class World:
    """A primary, its replicas, and Sentinels that know each other."""

    def __init__(self, servers, sentinels, quorum=2, lines=(), security=Plain()):
        self.servers, self.sentinels = [], []
        try:
            for program in servers:
                self.servers.append(DataServer(program, self.servers[0] if self.servers else None, security))
            for program in sentinels:
                self.sentinels.append(Sentinel(program, self.servers[0], quorum, lines, security))
            self.settle()
        except BaseException:
            self.remove()
            raise

    def settle(self):
        """Waits until all Sentinels know each other and all replicas, and all replicas are linked."""
        for sentinel in self.sentinels:
            wait_until(lambda s=sentinel: s.knows(len(self.servers) - 1, len(self.sentinels) - 1),
                       f"Sentinel {sentinel.port} to know all", LIMIT_S)
        for server in self.servers:
            wait_until(lambda s=server: re.search(b"role:master|master_link_status:up", s.ask("INFO", "replication")), "a linked replica")

    def server(self, port):
        return next(server for server in self.servers if server.port == port)

    def await_switch(self, former, sentinels=None, limit_s=LIMIT_S):
        """Returns the new primary when all Sentinels name the same one and it reports that role itself."""
        sentinels = self.sentinels if sentinels is None else sentinels

        def agreed():
            ports = {sentinel.address() for sentinel in sentinels}
            if len(ports) != 1 or former in ports:
                return None
            server = self.server(ports.pop())
            return server if server.answers() and server.role() == b"master" else None

        return wait_until(agreed, "a new primary\n" + "\n".join(s.log()[-1500:] for s in sentinels), limit_s)

    def await_followers(self, primary):
        for server in self.servers:
            if server is primary or server.process.poll() is not None:
                continue
            try:
                wait_until(lambda s=server: s.ask("ROLE")[:3] == [b"slave", b"127.0.0.1", primary.port], "", LIMIT_S)
            except AssertionError:
                logs = "\n".join(sentinel.log()[-3000:] for sentinel in self.sentinels)
                raise AssertionError(f"{server.port} is {server.ask('ROLE')[:3]}, not a replica of {primary.port}, "
                                     f"which is {primary.ask('ROLE')[:1]}\n{logs}") from None

    def remove(self):
        for process in self.sentinels + self.servers:
            process.remove()


class Events:
    """Returns what a Sentinel publishes on its channels."""

    def __init__(self, sentinel):
        self.client = sentinel.client()
        self.client.run("PSUBSCRIBE", "*")
        self.heard = []
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.client.socket.settimeout(None)
        self.thread.start()

    def listen(self):
        try:
            while True:
                _, _, channel, text = value_of(self.client.read())
                self.heard.append((channel.decode(), text.decode()))
        except (OSError, Closed):
            pass

    def texts(self, channel):
        return [text for name, text in list(self.heard) if name == channel]

    def await_text(self, channel):
        return wait_until(lambda: self.texts(channel), f"{channel} among {self.heard}", LIMIT_S)[0]

    def close(self):
        self.client.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.client.close()


class WithWorld(unittest.TestCase):
    def world(self, servers, sentinels, quorum=2, **options):
        world = World(servers, sentinels, quorum, **options)
        self.addCleanup(world.remove)
        return world

    def events(self, sentinel):
        events = Events(sentinel)
        self.addCleanup(events.close)
        return events


class OursTest(WithWorld):
    """Three of our Sentinels over our servers."""

    def setUp(self):
        self.all = self.world([RESPITE] * 3, [RESPITE] * 3)

    def test_a_killed_primary_is_replaced(self):
        events = self.events(self.all.sentinels[0])
        primary = self.all.servers[0]
        primary.ask("SET", "key", "value")
        wait_until(lambda: all(s.ask("GET", "key") == b"value" for s in self.all.servers), "the replicas")
        primary.kill()
        chosen = self.all.await_switch(primary.port)
        self.all.await_followers(chosen)
        self.assertEqual(b"value", chosen.ask("GET", "key"))
        self.assertEqual(f"{NAME} 127.0.0.1 {primary.port} 127.0.0.1 {chosen.port}", events.await_text("+switch-master"))
        self.assertEqual(f"master {NAME} 127.0.0.1 {primary.port}", events.texts("+sdown")[0])
        primary.start()
        self.all.await_followers(chosen)
        self.all.settle()

    def test_a_stopped_primary_is_replaced_and_comes_back_as_a_replica(self):
        primary = self.all.servers[0]
        primary.signal(signal.SIGSTOP)
        chosen = self.all.await_switch(primary.port)
        primary.signal(signal.SIGCONT)
        self.all.await_followers(chosen)

    def test_an_operator_asks_for_a_failover(self):
        primary = self.all.servers[0]
        self.assertEqual(b"+OK", self.all.sentinels[0].ask("SENTINEL", "FAILOVER", NAME))
        self.assertTrue(self.all.sentinels[0].ask("SENTINEL", "FAILOVER", NAME).startswith(b"-INPROG "))
        chosen = self.all.await_switch(primary.port)
        self.all.await_followers(chosen)

    def test_a_minority_does_nothing(self):
        primary = self.all.servers[0]
        for sentinel in self.all.sentinels[1:]:
            sentinel.kill()
        last = self.all.sentinels[0]
        wait_until(lambda: last.ask("SENTINEL", "CKQUORUM", NAME).startswith(b"-NOQUORUM 1 "), "missing Sentinels")
        primary.kill()
        wait_until(lambda: "s_down" in last.master()["flags"], "a primary that is down")
        self.assertNotIn("o_down", last.master()["flags"])
        for sentinel in self.all.sentinels[1:]:
            sentinel.start()
        self.all.await_switch(primary.port)

    def test_a_leader_that_crashes_before_the_promotion_changes_nothing(self):
        primary, leader = self.all.servers[0], self.all.sentinels[0]
        self.assertEqual(b"+OK", leader.ask("SENTINEL", "SIMULATE-FAILURE", "crash-after-election"))
        self.assertEqual(b"+OK", leader.ask("SENTINEL", "FAILOVER", NAME))
        self.assertEqual(99, leader.process.wait(LIMIT_S))
        self.assertEqual(b"master", primary.role())
        primary.kill()
        self.all.await_followers(self.all.await_switch(primary.port, self.all.sentinels[1:]))

    def test_a_leader_that_crashes_after_the_promotion_goes_on(self):
        primary, leader = self.all.servers[0], self.all.sentinels[0]
        self.assertEqual(b"+OK", leader.ask("SENTINEL", "SIMULATE-FAILURE", "crash-after-promotion"))
        self.assertEqual(b"+OK", leader.ask("SENTINEL", "FAILOVER", NAME))
        self.assertEqual(99, leader.process.wait(LIMIT_S))
        leader.start()
        self.assertNotEqual(primary.port, leader.address())
        self.all.await_followers(self.all.await_switch(primary.port))

    def test_restarts_at_random(self):
        seed = int(os.environ.get("RESPITE_SEED") or random.SystemRandom().randrange(10**9))
        print(f"seed {seed}")
        chance = random.Random(seed)
        for _ in range(3):
            former = self.all.sentinels[0].address()
            victims = [self.all.server(former), chance.choice(self.all.sentinels)]
            chance.shuffle(victims)
            number = chance.choice([signal.SIGKILL, signal.SIGSTOP])
            for victim in victims:
                victim.signal(number)
            rest = [sentinel for sentinel in self.all.sentinels if sentinel not in victims]
            chosen = self.all.await_switch(former, rest)
            for victim in victims:
                if number == signal.SIGSTOP:
                    victim.signal(signal.SIGCONT)
                else:
                    victim.process.wait()
                    victim.start()
            self.all.await_switch(former)
            self.all.await_followers(chosen)
            self.all.settle()


class MixedTest(WithWorld):
    """Sentinels of both kinds in one quorum."""

    def mixed(self, servers, ours, theirs):
        return self.world(servers, [RESPITE] * ours + [self.oracle.program] * theirs)

    def fail_over_by(self, leader, servers):
        """Makes the Sentinel with this index the leader."""
        world = self.mixed(servers, 2, 2)
        primary = world.servers[0]
        chosen_sentinel = world.sentinels[leader]
        self.assertEqual(b"+OK", chosen_sentinel.ask("SENTINEL", "FAILOVER", NAME))
        chosen = world.await_switch(primary.port)
        world.await_followers(chosen)
        self.oracle.count()

    def test_ours_leads(self):
        self.fail_over_by(0, [RESPITE] * 3)

    def test_theirs_leads(self):
        self.fail_over_by(2, [RESPITE] * 3)

    def test_ours_leads_over_servers_of_both_kinds(self):
        self.fail_over_by(1, [RESPITE, RESPITE, self.oracle.program])

    def test_a_killed_primary_is_replaced_whoever_leads(self):
        for ours, theirs in ((1, 2), (2, 1)):
            world = self.mixed([RESPITE] * 3, ours, theirs)
            primary = world.servers[0]
            primary.kill()
            chosen = world.await_switch(primary.port)
            world.await_followers(chosen)
            epochs = {sentinel.master()["config-epoch"] for sentinel in world.sentinels}
            self.assertEqual(1, len(epochs), epochs)
            self.oracle.count()

    def test_a_file_goes_from_one_to_the_other_and_back(self):
        world = self.mixed([RESPITE] * 3, 1, 2)
        primary = world.servers[0]
        primary.kill()
        chosen = world.await_switch(primary.port)
        sentinel = world.sentinels[0]
        before = sentinel.ask("SENTINEL", "MYID")
        for program in (self.oracle.program, RESPITE, self.oracle.program):
            sentinel.process.terminate()
            sentinel.process.wait()
            sentinel.program = program
            sentinel.start()
            self.assertEqual(before, sentinel.ask("SENTINEL", "MYID"))
            self.assertEqual(chosen.port, sentinel.address())
            self.assertTrue(sentinel.knows(2, 2), sentinel.conf())
            self.assertEqual(b"+OK", sentinel.ask("SENTINEL", "FLUSHCONFIG"))
            self.oracle.count()


oracles.multiply(globals(), MixedTest, among=oracles.few_oracles)


class SecuredTest(WithWorld):
    """With TLS, passwords, and a user whose permissions suffice for a Sentinel."""

    def fail_over(self, programs):
        folder = tempfile.mkdtemp(prefix="respite-sentinel-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        security = Secured(folder)
        secret = security.SENTINELS_PASSWORD.replace('"', '\\"')
        lines = [f"sentinel auth-user {NAME} sentinels", f"sentinel auth-pass {NAME} \"{secret}\""]
        world = self.world([RESPITE] * 3, programs, lines=lines, security=security)
        primary = world.servers[0]
        primary.kill()
        chosen = world.await_switch(primary.port)
        world.await_followers(chosen)
        ours = world.sentinels[0]
        ours.kill()
        ours.start()  # its file still has the old password
        wait_until(lambda: "disconnected" not in ours.master()["flags"], "a connection to the new primary")

    def test_ours(self):
        self.fail_over([RESPITE] * 3)


# Writes its arguments, unless it has inherited more than the standard streams.
RECONFIGURE = """import os, sys
links = [os.path.realpath(f"/proc/self/fd/{{number}}") for number in range(3, 100) if os.path.exists(f"/proc/self/fd/{{number}}")]
with open("{}", "a") as file:
    file.write(" ".join(["moved", *(links or sys.argv[1:])]) + chr(10))
"""


class ScriptsTest(WithWorld):
    """Notification and reconfiguration scripts of the operator."""

    def script(self, folder, name, interpreter, body):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!{interpreter}\n{body}\n")
        os.chmod(path, 0o755)
        return path

    def test_scripts_hear_of_a_failover(self):
        folder = tempfile.mkdtemp(prefix="respite-sentinel-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        heard = os.path.join(folder, "heard")
        notify = self.script(folder, "notify", "/bin/sh", f'echo "$@" >> {heard}')
        reconfigure = self.script(folder, "reconfigure", sys.executable, RECONFIGURE.format(heard))
        world = self.world([RESPITE] * 2, [RESPITE] * 3,
                           lines=[f"sentinel notification-script {NAME} {notify}", f"sentinel client-reconfig-script {NAME} {reconfigure}"])
        first, second = world.servers
        first.kill()
        world.await_switch(first.port)

        def lines():
            with open(heard, encoding="ascii") as file:
                return file.read().splitlines()

        moved = f"{NAME} %s start 127.0.0.1 {first.port} 127.0.0.1 {second.port}"
        wait_until(lambda: f"moved {moved % 'leader'}" in lines() and lines().count(f"moved {moved % 'observer'}") == 2, "the scripts")
        self.assertTrue(any(line.startswith(f"+switch-master {NAME} 127.0.0.1 {first.port} 127.0.0.1 {second.port}") for line in lines()))
        for sentinel in world.sentinels:
            wait_until(lambda s=sentinel: s.ask("SENTINEL", "PENDING-SCRIPTS") == [], "the end of the scripts")

    def test_scripts_may_not_be_changed_unless_the_file_says_so(self):
        for allowed in (False, True):
            world = self.world([RESPITE], [RESPITE], 1, lines=["sentinel deny-scripts-reconfig no"] if allowed else [])
            said = world.sentinels[0].ask("SENTINEL", "SET", NAME, "notification-script", "/bin/true")
            self.assertEqual(allowed, said == b"+OK", said)
            if allowed:
                said = world.sentinels[0].ask("SENTINEL", "SET", NAME, "notification-script", "/no/such/script")
                self.assertEqual(b"-ERR Notification script seems non existing or non executable", said)


class RepliesTest(unittest.TestCase):
    """Sends each request to one of our Sentinels and one of theirs: the replies have the same bytes."""

    ID = "0123456789abcdef0123456789abcdef01234567"
    OTHER = "f" * 40
    MASTER = ["SENTINEL", "MASTER", NAME]
    REQUESTS = [
        MASTER, ["SENTINEL", "MASTERS"], ["SENTINEL", "REPLICAS", NAME], ["SENTINEL", "SLAVES", NAME], ["SENTINEL", "SENTINELS", NAME],
        ["SENTINEL", "MASTER", "nobody"], ["SENTINEL", "REPLICAS", "nobody"], ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME],
        ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "nobody"], ["SENTINEL", "MYID"], ["SENTINEL", "PENDING-SCRIPTS"],
        ["SENTINEL", "CKQUORUM", NAME], ["SENTINEL", "CKQUORUM", "nobody"], ["SENTINEL", "FAILOVER", NAME], ["SENTINEL", "FAILOVER", "nobody"],
        ["SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", "1", "0", "*"], ["SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", "x", "0", "*"],
        ["SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "10.0.0.1", "1", "0", "*"],
        ["SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", "1", "5", OTHER], ["SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", "1", "5", "e" * 40],
        ["SENTINEL", "IS-MASTER-DOWN-BY-ADDR", "127.0.0.1", "1", "4", "e" * 40],
        ["SENTINEL", "MONITOR", NAME, "127.0.0.1", "2", "2"], ["SENTINEL", "MONITOR", "b", "127.0.0.1", "2", "0"],
        ["SENTINEL", "MONITOR", "b", "127.0.0.1", "x", "1"], ["SENTINEL", "MONITOR", "b", "127.0.0.1", "2", "x"],
        ["SENTINEL", "MONITOR", "b", "no.such.host.invalid", "2", "1"], ["SENTINEL", "MONITOR", "b", "127.0.0.1", "70000", "1"],
        ["SENTINEL", "MONITOR", "b", "127.0.0.1", "2", "1"], ["SENTINEL", "REMOVE", "b"], ["SENTINEL", "REMOVE", "b"],
        ["SENTINEL", "SET", "nobody", "quorum", "1"], ["SENTINEL", "SET", NAME, "quorum", "0"], ["SENTINEL", "SET", NAME, "quorum", "x"],
        ["SENTINEL", "SET", NAME, "quorum", "3"], ["SENTINEL", "SET", NAME, "quorum"], ["SENTINEL", "SET", NAME, "nothing", "1"],
        ["SENTINEL", "SET", NAME, "down-after-milliseconds", "-1"], ["SENTINEL", "SET", NAME, "failover-timeout", "7000", "parallel-syncs", "3"],
        ["SENTINEL", "SET", NAME, "parallel-syncs", "4", "nothing", "1"], ["SENTINEL", "SET", NAME, "quorum", "2", "quorum"],
        ["SENTINEL", "SET", NAME, "notification-script", "/bin/sh"], ["SENTINEL", "SET", NAME, "client-reconfig-script", "/bin/sh"],
        ["SENTINEL", "SET", NAME, "auth-pass", "secret"], ["SENTINEL", "SET", NAME, "auth-user", "somebody"],
        ["SENTINEL", "SET", NAME, "rename-command", "CONFIG", "GUESSME"], ["SENTINEL", "SET", NAME, "rename-command", "CONFIG", ""],
        ["SENTINEL", "SET", NAME, "rename-command", "", "x"], ["SENTINEL", "SET", NAME, "rename-command", "x"],
        ["SENTINEL", "SET", NAME, "rename-command", "CONFIG", "config"],
        ["SENTINEL", "SET", NAME, "master-reboot-down-after-period", "-1"], ["SENTINEL", "SET", NAME, "master-reboot-down-after-period", "5000"],
        MASTER,
        ["SENTINEL", "CONFIG", "GET", "*"], ["SENTINEL", "CONFIG", "GET", "announce-*", "loglevel"], ["SENTINEL", "CONFIG", "GET", "nothing"],
        ["SENTINEL", "CONFIG", "GET"], ["SENTINEL", "CONFIG", "SET", "announce-ip"], ["SENTINEL", "CONFIG", "PUT", "a", "b"],
        ["SENTINEL", "CONFIG", "SET", "announce-ip", "10.0.0.7", "announce-port", "7"], ["SENTINEL", "CONFIG", "GET", "announce-*"],
        ["SENTINEL", "CONFIG", "SET", "announce-port", "70000"], ["SENTINEL", "CONFIG", "SET", "nothing", "1"],
        ["SENTINEL", "CONFIG", "SET", "announce-port", "1", "announce-port", "2"], ["SENTINEL", "CONFIG", "SET", "announce-port", "1", "announce-ip"],
        ["SENTINEL", "CONFIG", "SET", "resolve-hostnames", "maybe"], ["SENTINEL", "CONFIG", "SET", "loglevel", "loud"],
        ["SENTINEL", "CONFIG", "SET", "loglevel", "WARNING"], ["SENTINEL", "CONFIG", "GET", "loglevel"], ["SENTINEL", "CONFIG", "SET", "loglevel", "notice"],
        ["SENTINEL", "CONFIG", "SET", "sentinel-user", "u", "sentinel-pass", "p"], ["SENTINEL", "CONFIG", "GET", "sentinel-*"],
        ["SENTINEL", "DEBUG"], ["SENTINEL", "DEBUG", "info-period"], ["SENTINEL", "DEBUG", "info-period", "0"], ["SENTINEL", "DEBUG", "nothing", "1"],
        ["SENTINEL", "DEBUG", "info-period", "5000", "PING-period", "700"], ["SENTINEL", "DEBUG"],
        ["SENTINEL", "SIMULATE-FAILURE"], ["SENTINEL", "SIMULATE-FAILURE", "help"], ["SENTINEL", "SIMULATE-FAILURE", "x"],
        ["SENTINEL", "SIMULATE-FAILURE", "crash-after-election", "crash-after-promotion"], ["INFO", "sentinel"],
        ["SENTINEL", "INFO-CACHE"], ["SENTINEL", "INFO-CACHE", "nobody"], ["SENTINEL", "INFO-CACHE", NAME, NAME],
        ["SENTINEL", "FLUSHCONFIG"], ["SENTINEL", "FLUSHCONFIG", "x"], ["SENTINEL"], ["SENTINEL", "NOTHING"], ["SENTINEL", "MASTER"],
        ["SENTINEL", "RESET", "nothing*"], ["SENTINEL", "RESET", "my*"],
        ["PUBLISH", "__sentinel__:hello", "a,b"], ["PUBLISH", "other", "a"],
        ["PUBLISH", "__sentinel__:hello", f"127.0.0.1,9,{OTHER},9,{NAME},127.0.0.1,1,0"], ["SENTINEL", "SENTINELS", NAME], ["SENTINEL", "CKQUORUM", NAME],
        ["PUBLISH", "__sentinel__:hello", f"127.0.0.1,10,{OTHER},9,{NAME},127.0.0.1,1,0"], ["SENTINEL", "SENTINELS", NAME],
        ["PUBLISH", "__sentinel__:hello", f"127.0.0.1,10,{OTHER},9,{NAME},127.0.0.1,3,9"], ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME], MASTER,
        ["SENTINEL", "REPLICAS", NAME], ["INFO", "sentinel"],
        ["GET", "k"], ["SELECT", "1"], ["MULTI"], ["CONFIG", "GET", "port"], ["QUIT"], ["RESET"], ["DEBUG", "SLEEP", "0"], ["CLIENT", "NO-TOUCH", "ON"],
        ["PING"], ["ROLE"], ["ACL", "WHOAMI"], ["CLIENT", "GETNAME"], ["COMMAND", "COUNT"], ["INFO", "replication"], ["INFO", "memory"], ["INFO", "keyspace"],
    ]
    # Values that depend on time and chance.
    VOLATILE = re.compile(rb"\$(\d+)\r\n(last-ping-sent|last-ok-ping-reply|last-ping-reply|info-refresh|role-reported-time|link-pending-commands|"
                          rb"last-hello-message|s-down-time)\r\n\$\d+\r\n\d+\r\n")

    def start(self, program):
        server = Process(program, [f"sentinel myid {self.ID}", f"sentinel monitor {NAME} 127.0.0.1 1 2",
                                   f"sentinel down-after-milliseconds {NAME} 3600000"], "--sentinel")
        self.addCleanup(server.remove)
        return server

    def stable(self, reply):
        text = self.VOLATILE.sub(rb"\2\r\n", reply)
        return re.sub(rb"flags\r\n\$\d+\r\n([a-z_,]*?)(,disconnected)?(,[a-z_,]*)?\r\n", rb"flags \1\3\r\n", text)

    def test_requests(self):
        for oracle in oracles.all_oracles()[0]:
            if oracle.mark != "7.2":
                continue
            with self.subTest(oracle=oracle.label):
                self.compare(oracle)

    def compare(self, oracle):
        ours, theirs = self.start(RESPITE), self.start(oracle.program)
        for words in self.REQUESTS:
            mine, other = (self.stable(self.raw(server, words)) for server in (ours, theirs))
            oracle.count()
            with self.subTest(words=words):
                self.assertEqual(other, mine)
        for server in (ours, theirs):
            self.assertEqual(b"+OK", server.ask("SENTINEL", "FLUSHCONFIG"))
        lines = [sorted(line for line in server.conf().splitlines() if line.startswith("sentinel ")) for server in (ours, theirs)]
        self.assertEqual(lines[1], lines[0])

    @staticmethod
    def raw(server, words):
        client = server.client()
        try:
            return client.run(*words)
        except Closed as closed:
            return b"closed " + closed.rest
        finally:
            client.close()


class StartTest(unittest.TestCase):
    """Starts a Sentinel as launchers do."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="respite-sentinel-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.port = free_port()

    def conf(self, *lines):
        path = os.path.join(self.folder, "sentinel.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join([f"port {self.port}", f"dir {self.folder}", *lines, ""]))
        return path

    def failed(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(1, done.returncode, done)
        return done.stdout + done.stderr

    def run_until(self, command, words):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   stdin=subprocess.DEVNULL)
        try:
            seen = []
            for line in process.stdout:
                seen.append(line)
                if words in line:
                    return "".join(seen)
            return self.fail("".join(seen))
        finally:
            process.terminate()
            self.assertEqual(0, process.wait())
            process.stdout.close()

    def test_forms_of_launchers(self):
        conf = self.conf(f"sentinel monitor {NAME} 127.0.0.1 6399 2")
        for arguments in ([conf, "--sentinel"], [conf, "--sentinel", "--port", str(self.port)], [conf, "--port", str(self.port), "--sentinel"]):
            text = self.run_until([RESPITE, *arguments], f"+monitor master {NAME} 127.0.0.1 6399 quorum 2")
            self.assertIn("Sentinel ID is ", text)
            self.assertIn("Sentinel runid is ", text)
            self.assertIn("Running mode=sentinel, port=%d." % self.port, text)

    def test_by_its_name(self):
        for name in ("redis-sentinel", "valkey-sentinel"):
            link = os.path.join(self.folder, name)
            os.symlink(os.path.abspath(RESPITE), link)
            self.run_until([link, self.conf()], "Sentinel ID is ")

    def test_the_id_is_kept(self):
        conf = self.conf()
        texts = [self.run_until([RESPITE, conf, "--sentinel"], "Sentinel ID is ") for _ in range(2)]
        ids = {text.split("Sentinel ID is ")[1].split()[0] for text in texts}
        self.assertEqual(1, len(ids))

    def test_bad_lines(self):
        for line, reason in ((f"sentinel monitor {NAME} 127.0.0.1 6399 0", "Quorum must be 1 or greater."),
                             (f"sentinel monitor {NAME} no.such.host.invalid 6399 2", "Can't resolve instance hostname."),
                             (f"sentinel monitor {NAME} 127.0.0.1 70000 2", "Invalid port number."),
                             ("sentinel parallel-syncs nobody 1", "No such master with specified name."),
                             ("sentinel myid 123", "Malformed Sentinel id in myid option."),
                             ("sentinel no-such-thing x", "Unrecognized sentinel configuration statement.")):
            text = self.failed(RESPITE, self.conf(line), "--sentinel")
            self.assertIn("*** FATAL CONFIG FILE ERROR", text)
            self.assertIn(f">>> '{line}'\n{reason}\n", text)

    def test_without_a_file(self):
        self.assertIn("Sentinel needs config file on disk to save state. Exiting...", self.failed(RESPITE, "--sentinel"))
        if os.geteuid() != 0:
            conf = self.conf()
            os.chmod(conf, 0o400)
            self.assertIn(f"Sentinel config file {conf} is not writable", self.failed(RESPITE, conf, "--sentinel"))


class PrintedLines(unittest.TestCase):
    """The file and the line of docs/sentinel.md, with other ports, directories and addresses."""

    def test_a_sentinel_as_printed(self):
        page = os.path.join(os.environ.get("RESPITE_SOURCE_DIR", "."), "docs", "sentinel.md")
        with open(page, encoding="utf-8") as file:
            printed, line = re.findall(r"```\n(.*?)```", file.read(), re.S)[:2]
        primary = Process(RESPITE, [])
        self.addCleanup(primary.remove)
        port, folder = free_port(), tempfile.mkdtemp(prefix="respite-sentinel-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        path = os.path.join(folder, "sentinel.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write(printed.replace("26379", str(port)).replace("/var/lib/respite", folder)
                       .replace("192.168.1.10 6379", f"127.0.0.1 {primary.port}"))
        words = line.replace("/etc/respite/sentinel.conf", path).split()
        self.assertEqual(words[0], "respite-server")
        sentinel = subprocess.Popen([RESPITE, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.addCleanup(sentinel.wait)
        self.addCleanup(sentinel.kill)

        def place():
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                    return value_of(RawClient(connection).run("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME))
            except OSError:
                return None

        wait_until(lambda: place() == [b"127.0.0.1", str(primary.port).encode()], "the Sentinel")


if __name__ == "__main__":
    unittest.main()
