"""`nodes`: a whole cluster in one process."""
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import unittest

import generators
import oracles
from launcher import SERVER, WAIT_S, exists, free_port, wait_until
from nodes_process import ClusterClient, Process, ask
from two_servers import encode


def free_ports(count):
    """Returns the first of this number of consecutive free ports whose bus ports are free as well."""
    for _ in range(100):
        first = free_port()
        try:
            for port in [*range(first, first + count), *range(first + 10000, first + 10000 + count)]:
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no free ports")


class Nodes(unittest.TestCase):
    layout, options = "3x1", ()

    def folder(self):
        folder = tempfile.mkdtemp(prefix="nodes-")
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        return folder

    def start(self, *options, layout=None, folder=None, port="auto"):
        process = Process(folder or self.folder(), layout or self.layout, "--save", "", *self.options, *options, port=port)
        self.addCleanup(process.end, signal.SIGKILL)
        return process

    def client(self, process):
        client = ClusterClient(process.ports)
        self.addCleanup(client.close)
        return client

    def fill(self, process, keys=300):
        client = self.client(process)
        for number in range(keys):
            self.assertEqual(client.run(f"key:{number}", "SET", f"key:{number}", number), b"+OK")

    def check(self, process, ports=None, keys=300):
        client = ClusterClient(ports or process.ports)
        self.addCleanup(client.close)
        for number in range(keys):
            self.assertEqual(client.run(f"key:{number}", "GET", f"key:{number}"), str(number).encode())

    def views(self, ports):
        """Returns each node's view of all nodes: id, address, role without `myself`, primary, epoch, link, slots."""
        views = []
        for port in ports:
            lines = [line.split() for line in ask(port, "CLUSTER", "NODES").decode().splitlines()]
            views.append(sorted((line[0], line[1], line[2].replace("myself,", ""), line[3], *line[6:]) for line in lines))
        return views

    def is_ok(self, port):
        return b"cluster_state:ok" in ask(port, "CLUSTER", "INFO")


class PrintedLines(Nodes):
    """The lines of docs/cluster.md, with other ports and directories."""

    def setUp(self):
        found, missing = oracles.all_oracles()
        if not found:
            self.skipTest("; ".join(missing))
        self.cli = found[0].tool("cli")
        page = os.path.join(os.environ.get("RESPITE_SOURCE_DIR", "."), "docs", "cluster.md")
        with open(page, encoding="utf-8") as file:
            self.page = file.read()

    def printed(self, begin):
        return next(line.strip() for line in self.page.splitlines() if line.startswith(f"    {begin}"))

    def shell(self, line):
        """Starts it with our program and redis-cli in place of theirs."""
        for old, new in {"respite-server ": f"exec {SERVER} --bind 127.0.0.1 ", "redis-cli ": f"exec {self.cli} "}.items():
            line = line.replace(old, new, 1)
        process = subprocess.Popen(["bash", "-c", line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def answers(self, port):
        try:
            return ask(port, "PING") == b"+PONG"
        except OSError:
            return False

    def test_nodes_one_by_one(self):
        first, folder = free_ports(6), self.folder()
        template = self.printed("respite-server --port 7001")
        for port in range(first, first + 6):
            os.mkdir(os.path.join(folder, str(port)))
            self.shell(template.replace("7001", str(port)).replace("/var/lib/respite", folder))
            wait_until(lambda: self.answers(port), "the server")  # pylint: disable=cell-var-from-loop
        create = self.printed("redis-cli --cluster create")
        addresses = " ".join(f"127.0.0.1:{port}" for port in range(first, first + 6))
        said, _ = self.shell(re.sub(r"127\S+ … \S+", addresses, create)).communicate("yes\n", timeout=60)
        self.assertIn("[OK] All 16384 slots covered.", said)
        check = re.search(r"`(redis-cli --cluster check \S+)`", self.page)[1].replace("7001", str(first))
        wait_until(lambda: "[OK] All nodes agree" in self.shell(check).communicate(timeout=60)[0], "the nodes to agree")

    def test_a_whole_cluster(self):
        first = free_ports(6)
        line = self.printed("respite-server --nodes")
        self.shell(line.replace("7001", str(first)).replace("/var/lib/respite", self.folder()))
        wait_until(lambda: self.answers(first) and self.is_ok(first), "the cluster")
        self.assertEqual(len(self.views([first])[0]), 6)


class Start(Nodes):
    def test_the_cluster_is_whole_when_it_is_announced(self):
        process = self.start()
        self.assertEqual(len(process.ports), 6)
        for port in process.ports:
            self.assertTrue(self.is_ok(port))
        views = self.views(process.ports)
        self.assertEqual(len(views[0]), 6)
        for view in views:
            self.assertEqual(view, views[0])
        self.assertEqual(sorted(line[6] for line in views[0] if line[2] == "master"), ["0-5460", "10923-16383", "5461-10922"])
        self.assertEqual({line[5] for line in views[0]}, {"connected"})
        for number in range(3):
            role = ask(process.ports[3 + number], "ROLE")
            self.assertEqual(role[:4], [b"slave", b"127.0.0.1", process.ports[number], b"connected"])
            self.assertEqual(len(ask(process.ports[number], "ROLE")[2]), 1)
        slots = [ask(port, "CLUSTER", "SLOTS") for port in process.ports]
        self.assertEqual(len(slots[0]), 3)
        self.assertEqual(process.end(), 0)
        self.assertFalse(os.path.exists(process.port_file))

    def test_redis_cli_finds_nothing_wrong(self):
        found, missing = oracles.all_oracles()
        if not found:
            self.skipTest("; ".join(missing))
        process = self.start()
        cli = found[0].tool("cli")
        checked = subprocess.run([cli, "--cluster", "check", f"127.0.0.1:{process.ports[2]}"], capture_output=True, text=True)
        self.assertIn("[OK] All nodes agree about slots configuration.", checked.stdout)
        self.assertIn("[OK] All 16384 slots covered.", checked.stdout)
        self.assertEqual(checked.returncode, 0)
        for number in range(20):
            done = subprocess.run([cli, "-c", "-p", str(process.ports[0]), "SET", f"k{number}", "v"], capture_output=True, text=True)
            self.assertIn("OK", done.stdout)
        sizes = [ask(port, "DBSIZE") for port in process.ports[:3]]
        self.assertEqual(sum(sizes), 20)
        self.assertTrue(all(sizes))

    def test_writes_reach_the_replicas(self):
        process = self.start()
        self.fill(process)
        for number in range(3):
            replica, primary = process.ports[3 + number], process.ports[number]
            wait_until(lambda: ask(replica, "DBSIZE") == ask(primary, "DBSIZE"), "the replica has everything")
            self.assertIn(b"sync_full:0", ask(primary, "INFO", "stats"))

    def test_log_names_the_node(self):
        process = self.start(layout="2x0")
        for node in ("node-1", "node-2"):
            wait_until(lambda: f"[{node}] Ready to accept" in process.log(), "its line")
        log = process.log()
        for node in ("node-1", "node-2"):
            self.assertRegex(log, rf"\d+:M \d+ \w+ \d+ [\d:.]+ \* \[{node}\] Ready to accept connections tcp")
        self.assertRegex(log, r"\d+:M \d+ \w+ \d+ [\d:.]+ \* Server initialized")

    def test_ports_follow_each_other(self):
        first = free_ports(3)
        process = self.start(layout="3", port=first)
        self.assertEqual(process.ports, [first, first + 1, first + 2])
        lines = ask(first, "CLUSTER", "NODES").decode().splitlines()
        self.assertEqual(sorted(line.split()[1] for line in lines),
                         [f"127.0.0.1:{port}@{port + 10000}" for port in process.ports])

    def test_settings_of_a_node_are_its_own(self):
        process = self.start("--maxmemory", "300mb", layout="2x0")
        self.assertEqual(ask(process.ports[0], "CONFIG", "SET", "maxmemory", "100mb", "hz", "50"), b"+OK")
        self.assertEqual(ask(process.ports[0], "CONFIG", "GET", "maxmemory")[1], b"104857600")
        self.assertEqual(ask(process.ports[1], "CONFIG", "GET", "maxmemory")[1], b"314572800")
        folders = [ask(port, "CONFIG", "GET", "dir")[1].decode() for port in process.ports]
        self.assertEqual(folders, [os.path.join(os.path.realpath(process.folder), name) for name in ("node-1", "node-2")])
        self.assertIn(b"without a config file", ask(process.ports[0], "CONFIG", "REWRITE"))

    def test_one_node_is_a_cluster_too(self):
        process = self.start(layout="1")
        self.assertTrue(self.is_ok(process.ports[0]))
        self.assertEqual(ask(process.ports[0], "SET", "k", "v"), b"+OK")


class Ends(Nodes):
    def test_shutdown_ends_one_node_and_its_replica_takes_over(self):
        process = self.start("--cluster-node-timeout", "1000")
        self.fill(process)
        victim, replica = process.ports[0], process.ports[3]
        wait_until(lambda: ask(replica, "DBSIZE") == ask(victim, "DBSIZE"), "the replica has everything")
        with socket.create_connection(("127.0.0.1", victim)) as connection:
            connection.sendall(b"SHUTDOWN NOSAVE\r\n")
            self.assertEqual(connection.recv(100), b"")
        self.assertIsNone(process.process.poll())
        with self.assertRaises(OSError):
            ask(victim, "PING")
        wait_until(lambda: ask(replica, "ROLE")[0] == b"master", "the failover")
        alive = process.ports[1:]
        wait_until(lambda: all(self.is_ok(port) for port in alive), "the state is ok")
        self.check(process, alive)
        self.assertIn("[node-1] This node has stopped. The process goes on with the others.", process.log())
        self.assertEqual(process.end(), 0)
        self.assertIn("bye bye", process.log())

    def test_slow_scripts_do_not_delay_the_end(self):
        for busy in ([0], [1], [0, 2]):
            with self.subTest(busy):
                process = self.start("--busy-reply-threshold", "50", layout="3x0")
                for number in busy:
                    connection = socket.create_connection(("127.0.0.1", process.ports[number]))
                    self.addCleanup(connection.close)
                    connection.sendall(b"EVAL 'while true do end' 0\r\n")
                    wait_until(lambda: self.is_busy(process.ports[number]), "the script is slow")
                self.assertEqual(process.end(), 0)

    def is_busy(self, port):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(100).startswith(b"-BUSY")

    def test_the_process_ends_with_its_last_node(self):
        process = self.start("--pidfile", "pid", layout="2x0")
        pidfile = os.path.join(process.folder, "pid")
        for number, port in enumerate(process.ports):
            self.assertTrue(os.path.exists(pidfile))
            self.assertIsNone(process.process.poll())
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"SHUTDOWN\r\n")
                self.assertEqual(connection.recv(100), b"")
        self.assertEqual(process.process.wait(WAIT_S), 0)
        self.assertFalse(os.path.exists(pidfile) or os.path.exists(process.port_file))

    def restart(self, *options):
        folder = self.folder()
        process = self.start(*options, folder=folder)
        self.fill(process)
        for number in range(3):
            replica, primary = process.ports[3 + number], process.ports[number]
            wait_until(lambda: ask(replica, "DBSIZE") == ask(primary, "DBSIZE"), "the replica has everything")
        ids = [ask(port, "CLUSTER", "MYID") for port in process.ports]
        self.assertEqual(process.end(), 0)
        again = self.start(*options, folder=folder)
        self.assertEqual([ask(port, "CLUSTER", "MYID") for port in again.ports], ids)
        self.assertTrue(all(self.is_ok(port) for port in again.ports))
        self.check(again)
        views = self.views(again.ports)
        for view in views:
            self.assertEqual(view, views[0])
        return again

    def test_snapshots_come_back(self):
        again = self.restart("--save", "3600 1")
        for port in again.ports[:3]:
            self.assertIn(b"sync_full:0", ask(port, "INFO", "stats"))

    def test_journals_come_back(self):
        self.restart("--appendonly", "yes")

    def test_snapshots_in_the_background(self):
        process = self.start(layout="2x0")
        self.fill(process)
        for port in process.ports:
            self.assertEqual(ask(port, "BGSAVE"), b"+Background saving started")
        for number, port in enumerate(process.ports):
            wait_until(lambda: b"rdb_bgsave_in_progress:0" in ask(port, "INFO", "persistence"), "the snapshot")
            self.assertTrue(os.path.exists(os.path.join(process.folder, f"node-{number + 1}", "dump.rdb")))


class Load(Nodes):
    def writer(self, process, number, rounds, errors):
        client = ClusterClient(process.ports)
        try:
            for value in range(rounds):
                for key in range(20):
                    name = f"writer:{number}:{key}"
                    if client.run(name, "INCR", name) != value + 1:
                        errors.append(f"{name} at {value}")
        except Exception as error:  # reported by the test's own thread
            errors.append(repr(error))
        finally:
            client.close()

    def test_clients_of_all_nodes_at_once(self):
        process, errors = self.start(), []
        threads = [threading.Thread(target=self.writer, args=(process, number, 30, errors)) for number in range(4)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for port in process.ports:
                ask(port, "INFO")
                ask(port, "CONFIG", "SET", "hz", "20")
                ask(port, "CLIENT", "LIST")
            ask(process.ports[0], "BGSAVE")
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    # Requests that an operator may send to one node while clients use all of them.
    ADMIN = [
        ["INFO", "everything"], ["CONFIG", "SET", "maxmemory", "200mb"], ["CONFIG", "SET", "appendonly", "yes"],
        ["CONFIG", "SET", "appendonly", "no"], ["CONFIG", "GET", "*"], ["CONFIG", "RESETSTAT"], ["BGSAVE"], ["BGREWRITEAOF"],
        ["CLUSTER", "FAILOVER"], ["CLUSTER", "SHARDS"], ["CLUSTER", "NODES"], ["MEMORY", "STATS"], ["MEMORY", "DOCTOR"],
        ["MEMORY", "PURGE"], ["LATENCY", "LATEST"], ["SLOWLOG", "GET", "128"], ["CLIENT", "LIST"], ["CLIENT", "KILL", "TYPE", "normal"],
        ["SCRIPT", "FLUSH", "ASYNC"], ["FLUSHALL", "ASYNC"], ["FLUSHALL"], ["COMMAND", "DOCS", "GET"], ["ACL", "LIST"],
        ["ACL", "SETUSER", "someone", "on", "nopass", "+@all", "~*", "&*"], ["ACL", "DELUSER", "someone"], ["PUBLISH", "channel", "message"],
        ["SPUBLISH", "channel", "message"], ["LOLWUT"], ["DEBUG", "RELOAD"], ["DEBUG", "DIGEST"],
        ["EVAL", "local t = {} for i = 1, 1000 do t[i] = i end return #t", "0"], ["FUNCTION", "FLUSH"],
        ["FUNCTION", "LOAD", "REPLACE", "#!lua name=lib\nredis.register_function('f', function() return 1 end)"], ["FCALL", "f", "0"],
    ]

    def sender(self, port, seed, errors):
        """Sends random commands to one node, and reconnects when an administrator has closed the connection."""
        rng = random.Random(seed)
        generator = generators.Generator(rng, (7, 2, 4), ())
        for _ in range(20):
            try:
                with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
                    connection.sendall(b"".join(encode(list(generator.command())) for _ in range(50)) + encode(["QUIT"]))
                    while connection.recv(64 * 1024):
                        pass
            except ConnectionError:
                continue
            except OSError as error:  # reported by the test's own thread
                errors.append(repr(error))

    def test_commands_of_all_kinds_at_all_nodes(self):
        seed = int(os.environ.get("RESPITE_SEED", random.randrange(2**32)))
        print(f"seed {seed}")
        process, errors, rng = self.start("--enable-debug-command", "yes"), [], random.Random(seed)
        threads = [threading.Thread(target=self.sender, args=(port, rng.random(), errors)) for port in process.ports]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            try:
                ask(rng.choice(process.ports), *rng.choice(self.ADMIN))
            except ConnectionError:  # an earlier CLIENT KILL closed this connection
                self.assertIsNone(process.process.poll(), process.errors())
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        for port in process.ports:
            self.assertEqual(ask(port, "PING"), b"+PONG")
        self.assertEqual(process.end(), 0, process.errors())
        self.assertEqual(process.errors(), "")


class StartThreads(Start):
    options = ("--node-threads", "yes")

    def test_each_node_has_a_thread(self):
        process = self.start(layout="2x1")
        tasks = f"/proc/{process.process.pid}/task"
        names = [pathlib.Path(tasks, task, "comm").read_text(encoding="ascii").strip() for task in os.listdir(tasks)]
        self.assertLessEqual({"node-1", "node-2", "node-3", "node-4"}, set(names))


class EndsThreads(Ends):
    options = ("--node-threads", "yes")


class LoadThreads(Load):
    options = ("--node-threads", "yes")


class Refusals(Nodes):
    def refused(self, *options):
        folder = self.folder()
        done = subprocess.run([SERVER, "--dir", folder, "--bind", "127.0.0.1", "--save", "", *map(str, options)],
                              capture_output=True, text=True, timeout=WAIT_S)
        self.assertEqual(done.returncode, 1, done.stdout)
        left = [os.path.join(place, name) for place, folders, files in os.walk(folder) for name in folders + files]
        return done.stdout + done.stderr, left

    def test_arguments(self):
        for text in ("3y1", "x", "0", "257", "3x1x1"):
            said, left = self.refused("--nodes", text)
            self.assertIn("FATAL CONFIG FILE ERROR", said)
            self.assertIn(f">>> 'nodes \"{text}\"'", said)
            self.assertEqual(left, [])
        said, _ = self.refused("--nodes", "2", "--cluster-enabled", "no")
        self.assertIn("nodes makes a cluster, but cluster-enabled is no", said)
        said, left = self.refused("--nodes", "10", "--port", 65530)
        self.assertIn("There are not 10 ports from 65530 on", said)
        self.assertEqual(left, [])
        said, _ = self.refused("--nodes", "2", "--port", "auto", "--unixsocket", "/tmp/socket")
        self.assertIn("unixsocket must be a relative path", said)

    def test_a_port_that_is_taken(self):
        first = free_ports(3)
        for taken, words in ((first + 1, f"Failed listening on port {first + 1} (tcp)"),
                             (first + 10002, "Failed listening on the cluster bus")):
            for threads in ("no", "yes"):
                with socket.socket() as other:
                    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    other.bind(("127.0.0.1", taken))
                    other.listen()
                    said, left = self.refused("--nodes", "3", "--port", first, "--pidfile", "pid", "--port-file", "ports",
                                              "--node-threads", threads)
                self.assertIn(words, said)
                self.assertEqual(left, [])

    # The other nodes succeed at the same moment on their own threads, and must not hide the failure.
    def test_the_bus_port_of_one_of_many_threads_is_taken(self):
        first = free_ports(16)
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind(("127.0.0.1", first + 10012))
            other.listen()
            for _ in range(10):
                said, left = self.refused("--nodes", "16", "--port", first, "--node-threads", "yes")
                self.assertIn("Failed listening on the cluster bus", said)
                self.assertEqual(left, [])

    def test_another_number_of_nodes(self):
        folder = self.folder()
        process = self.start(layout="2x0", folder=folder)
        process.end()
        for layout, words in (("1x0", "belongs to a cluster of more than 1 nodes"),
                              ("3x0", "node-3 has no nodes.conf, but others")):
            done = subprocess.run([SERVER, "--nodes", layout, "--port", "auto", "--bind", "127.0.0.1", "--dir", folder],
                                  capture_output=True, text=True, timeout=WAIT_S)
            self.assertEqual(done.returncode, 1)
            self.assertIn(words, done.stdout)

    def test_a_directory_in_use(self):
        process = self.start(layout="2x0")
        done = subprocess.run([SERVER, "--nodes", "2x0", "--port", "auto", "--bind", "127.0.0.1", "--dir", process.folder],
                              capture_output=True, text=True, timeout=WAIT_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("already used by a different Redis Cluster node", done.stdout)
        self.assertTrue(self.is_ok(process.ports[0]))

    def test_a_data_set_that_cannot_be_loaded(self):
        for threads in ("no", "yes"):
            folder = self.folder()
            os.mkdir(os.path.join(folder, "node-2"))
            with open(os.path.join(folder, "node-2", "dump.rdb"), "wb") as dump:
                dump.write(b"REDIS0011nonsense")
            done = subprocess.run([SERVER, "--nodes", "3x0", "--port", "auto", "--bind", "127.0.0.1", "--dir", folder,
                                   "--node-threads", threads], capture_output=True, text=True, timeout=WAIT_S)
            self.assertEqual(done.returncode, 1)
            self.assertIn("[node-2] Fatal error loading the DB", done.stdout)
            self.assertNotIn("Ready to accept", done.stdout)


if __name__ == "__main__":
    unittest.main()
