"""Starting a server for tests: --test and its parts. Launchers are real processes; most of them are killed."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import unittest

from launcher import SERVER, LaunchTest, ask, call, connect, exists, wait_until
from test_server_page import lines_of_page

HERE = os.path.dirname(os.path.abspath(__file__))

# A launcher: starts the server with the arguments, prints its process id, and waits for its own end.
LAUNCHER = """
import os, subprocess, sys, threading
def start():
    global server
    server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
thread = threading.Thread(target=start)
thread.start()
thread.join()
print(server.pid, flush=True)
sys.stdin.read()
"""
# A launcher that has ended before the server begins.
ORPHANAGE = """
import os, sys
launcher = os.getpid()
if os.fork() == 0:
    while os.getppid() == launcher:
        pass
    os.execv(sys.argv[1], sys.argv[1:])
"""


def end_group(leader):
    """Kills the remaining processes of a test's process group; there may be none."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


class TestProfileTest(LaunchTest):
    def files(self):
        return sorted(os.listdir(self.folder))

    def setting(self, server, name):
        return call(server.port, "CONFIG", "GET", name)[1]


class ProfileTest(TestProfileTest):
    def test_what_it_stands_for(self):
        server = self.start("--test")
        expected = {"bind": "127.0.0.1 -::1", "save": "", "appendonly": "no", "test-commands": "local",
                    "exit-with-parent": "yes", "port": str(server.port)}
        for name, value in expected.items():
            self.assertEqual(value, self.setting(server, name), name)
        self.assertNotEqual(6379, server.port)

    def test_the_lines_of_the_pages_about_clock_and_snapshots(self):
        server = self.start("--test")
        replies = []
        with connect(server.port) as client:
            for section in ("The clock", "Snapshots and reset"):
                lines = lines_of_page(section)
                self.assertEqual(4, len(lines))
                replies.append([ask(client, *line.split()) for line in lines])
        self.assertEqual(":0", replies[0][-1])
        self.assertEqual([["db", ":0", "key", "greeting", "change", "added"]], replies[1][2])
        self.assertEqual({"+OK"}, {*replies[0][:-1], *replies[1][:2], replies[1][3]})

    def test_it_leaves_no_files(self):
        server = self.start("--test")
        self.assertEqual("+OK", call(server.port, "SET", "a", "1"))
        self.assertEqual([], self.files())
        self.assertEqual(0, server.stop())
        self.assertEqual([], self.files())

    def test_it_starts_empty_unless_it_is_told_where_data_is(self):
        first = self.start("--test")
        self.assertEqual("+OK", call(first.port, "SET", "a", "1"))
        self.assertEqual("+OK", call(first.port, "SAVE"))
        first.stop()
        self.assertEqual(["dump.rdb"], self.files())
        self.assertEqual(":0", call(self.start("--test").port, "DBSIZE"))
        self.assertEqual(":1", call(self.start("--test", "--dir", self.folder).port, "DBSIZE"))
        self.assertEqual(":1", call(self.start("--test", "--dbfilename", "dump.rdb").port, "DBSIZE"))

    def test_each_part_can_be_overridden(self):
        for arguments in (["--test", "--port", "0", "--unixsocket", "s"], ["--port", "0", "--unixsocket", "s", "--test"]):
            server = self.start(*arguments)
            self.assertEqual(["port", "0"], call(self.path("s"), "CONFIG", "GET", "port"))
            server.stop()
        overrides = {"bind": "127.0.0.1", "save": "60 1", "appendonly": "yes", "test-commands": "no",
                     "exit-with-parent": "no"}
        server = self.start("--test", *(word for name, value in overrides.items() for word in (f"--{name}", value)))
        for name, value in overrides.items():
            self.assertEqual(value, self.setting(server, name), name)
        self.assertEqual(["appendonlydir"], self.files())

    def test_a_file_and_standard_input_override_it(self):
        conf = self.write("a.conf", "bind 127.0.0.1\ntest-commands yes\n")
        server = self.start(conf, "--test", "-", stdin="exit-with-parent no\n")
        self.assertEqual(["127.0.0.1", "yes", "no"],
                         [self.setting(server, name) for name in ("bind", "test-commands", "exit-with-parent")])

    def test_it_takes_no_value(self):
        for arguments in (["--test", "yes"], ["--test yes"], ["--port", "0", "--test", "a.conf"], ["--TEST", "1", "--port", "0"]):
            said = self.run_once(*arguments)
            self.assertEqual(1, said.returncode)
            self.assertRegex(said.stderr, r"^--test takes no value, but is followed by '(yes|a\.conf|1)'\.\n")

    def test_its_name_can_be_a_value(self):
        server = self.start("--port", "auto", "--requirepass", "--test", "--exit-with-parent", "yes")
        with connect(server.port) as client:
            client.sendall(b"AUTH --test\r\nCONFIG GET test-commands\r\nQUIT\r\n")
            self.assertIn(b"\r\nno\r\n", client.makefile("rb").read())

    def test_a_cluster(self):
        os.mkdir(self.path("tmp"))
        server = self.launch("--test", "--nodes", "3x1", "--port-file", "ports",
                             env=dict(os.environ, TMPDIR=self.path("tmp")))
        wait_until(lambda: os.path.exists(self.path("ports")), "the ports")
        ports = [int(port) for port in self.read("ports").split()]
        self.assertEqual(6, len(ports))
        self.assertIn("cluster_state:ok", call(ports[5], "CLUSTER", "INFO"))
        self.assertEqual("local", call(ports[3], "CONFIG", "GET", "test-commands")[1])
        self.assertEqual(["ports", "tmp"], self.files())
        folder = call(ports[0], "CONFIG", "GET", "dir")[1]
        self.assertTrue(folder.startswith(self.path("tmp/respite-")) and folder.endswith("/node-1"), folder)
        self.assertEqual(0, server.stop())
        self.assertEqual([], os.listdir(self.path("tmp")))

    def test_a_cluster_whose_start_fails(self):
        os.mkdir(self.path("tmp"))
        self.fails("--test", "--nodes", "2", "--load", "any.json", env=dict(os.environ, TMPDIR=self.path("tmp")))
        self.assertEqual([], os.listdir(self.path("tmp")))
        self.fails("--test", "--nodes", "2", env=dict(os.environ, TMPDIR=self.path("nowhere")))

    def test_a_cluster_that_is_told_where_its_data_is(self):
        self.start("--test", "--nodes", "2", "--dir", self.folder)
        self.assertEqual(["node-1", "node-2"], self.files())
        self.start("--test", "--nodes", "2", "--dir", self.path("node-1"), "--unixsocket", "sock")
        self.assertEqual("+PONG", call(self.path("node-1/node-2/sock"), "PING"))

    def test_a_daemon_outlives_who_starts_it(self):
        self.addCleanup(self.end_by_pidfile, "pid")
        started = self.run_once("--test", "--daemonize", "yes", "--pidfile", "pid", "--port-file", "port", "--logfile", "log")
        self.assertEqual(0, started.returncode)
        wait_until(lambda: "Ready" in self.read("log"), "the daemon")
        self.assertEqual("no", call(int(self.read("port")), "CONFIG", "GET", "exit-with-parent")[1])
        said = self.run_once("--daemonize", "yes", "--exit-with-parent", "yes")
        self.assertEqual(1, said.returncode)
        self.assertIn("exit-with-parent and daemonize exclude each other", said.stderr)


class ExitWithParentTest(TestProfileTest):
    """A server is never the child of the test itself here."""

    def launcher(self, *arguments):
        process = subprocess.Popen([sys.executable, "-c", LAUNCHER, os.path.abspath(SERVER), *arguments, "--port-file",
                                    self.path("port"), "--logfile", self.path("log")], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait, 20)
        self.addCleanup(process.kill)
        pid = int(process.stdout.readline())
        self.addCleanup(lambda: exists(pid) and os.kill(pid, signal.SIGKILL))
        wait_until(lambda: os.path.exists(self.path("log")) and "Ready to accept" in self.read("log"), "readiness")
        return process, pid

    def test_the_end_of_the_launcher_is_its_own(self):
        for end in (signal.SIGKILL, signal.SIGTERM, None):
            process, pid = self.launcher("--bind", "127.0.0.1", "--port", "auto", "--exit-with-parent", "yes", "--save", "60 1")
            self.assertEqual("+OK", call(int(self.read("port")), "SET", "a", "1"))
            if end is None:
                process.stdin.close()
            else:
                process.send_signal(end)
            process.wait(20)
            wait_until(lambda: not exists(pid), "the end of the server")
            self.assertIn("the process that started this server has ended. Shutting down.", self.read("log"))
            self.assertIn("ready to exit, bye bye", self.read("log"))
            self.assertFalse(os.path.exists(self.path("port")))
            self.assertTrue(os.path.exists(self.path("dump.rdb")), "it ends as by SIGTERM")
            os.remove(self.path("dump.rdb"))
            os.remove(self.path("log"))

    def test_the_end_of_a_thread_is_not(self):
        """The thread that starts the server ends immediately, before the server is ready."""
        _, pid = self.launcher("--test")
        self.assertEqual("+PONG", call(int(self.read("port")), "PING"))
        self.assertTrue(exists(pid))

    def test_without_it_the_server_goes_on(self):
        process, pid = self.launcher("--test", "--exit-with-parent", "no")
        process.kill()
        process.wait(20)
        self.assertEqual("+PONG", call(int(self.read("port")), "PING"))
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not exists(pid), "the end of the server")

    def test_a_cluster_ends_with_it(self):
        for threads in ("no", "yes"):
            process, pid = self.launcher("--test", "--nodes", "3x1", "--node-threads", threads)
            process.kill()
            process.wait(20)
            wait_until(lambda pid=pid: not exists(pid), "the end of the cluster")
            self.assertIn("ready to exit, bye bye", self.read("log"))
            os.remove(self.path("log"))

    def test_a_launcher_that_ended_before(self):
        """Runs in its own session, so that the process that adopts the server can be distinguished from its
        launcher."""
        launcher = subprocess.Popen([sys.executable, "-c", ORPHANAGE, SERVER, "--test", "--logfile", self.path("log")],
                                    cwd=self.folder, start_new_session=True)
        self.addCleanup(end_group, launcher.pid)
        self.assertEqual(0, launcher.wait(20))
        wait_until(lambda: os.path.exists(self.path("log")) and "has ended already" in self.read("log"), "the log")
        self.assertNotIn("Ready to accept", self.read("log"))

    def test_an_end_that_fails_is_tried_again(self):
        """A folder exists at the path of the snapshot."""
        os.mkdir(self.path("dump.rdb"))
        self.write("dump.rdb/file", "")
        process, pid = self.launcher("--test", "--save", "60 1")
        self.assertEqual("+OK", call(int(self.read("port")), "SET", "a", "1"))
        process.kill()
        process.wait(20)
        wait_until(lambda: self.read("log").count("Errors trying to shut down") == 2, "a second failure")
        self.assertTrue(exists(pid))
        os.rename(self.path("dump.rdb"), self.path("aside"))
        wait_until(lambda: not exists(pid), "the end of the server")
        self.assertTrue(os.path.isfile(self.path("dump.rdb")))


class ExitOnIdleTest(TestProfileTest):
    def test_nobody_ever_comes(self):
        server = self.start("--test", "--exit-on-idle", "300ms")
        self.assertEqual(0, server.exit_code())
        self.assertIn("exit-on-idle: no client for 300ms. Shutting down.", server.text)

    def test_a_client_keeps_it_alive(self):
        server = self.start("--test", "--exit-on-idle", "200ms")
        with connect(server.port) as client:
            # Blocks for a real second, after which an idle server would have ended long ago.
            client.sendall(b"BLPOP nothing 1\r\n")
            self.assertEqual(b"*-1\r\n", client.recv(100))
        self.assertEqual(0, server.exit_code())

    def test_clients_of_worlds_count(self):
        server = self.start("--test", "--exit-on-idle", "300ms")
        with connect(server.port) as client:
            client.sendall(b"TEST WORLD CREATE w\r\nTEST WORLD ENTER w\r\nBLPOP nothing 1\r\n")
            text = b""
            while not text.endswith(b"*-1\r\n"):
                text += client.recv(100) or self.fail(f"closed after {text}")
        self.assertEqual(0, server.exit_code())

    def test_short_visits_count(self):
        server = self.start("--test", "--exit-on-idle", "400ms", "--hz", "1")
        first = int(call(server.port, "TIME")[0])
        while int(call(server.port, "TIME")[0]) < first + 3:
            pass
        self.assertIsNone(server.process.poll())
        self.assertEqual(0, server.exit_code())

    def test_all_nodes_must_be_idle(self):
        for threads in ("no", "yes"):
            server = self.launch("--test", "--nodes", "2x1", "--node-threads", threads, "--exit-on-idle", "300ms",
                                 "--port-file", "ports")
            wait_until(lambda: os.path.exists(self.path("ports")), "the ports")
            with connect(int(self.read("ports").split()[1])) as client:
                client.sendall(b"BLPOP {b}nothing 1\r\n")
                self.assertTrue(client.recv(100))
                self.assertIsNone(server.process.poll())
            self.assertEqual(0, server.exit_code(), server.text)

    def test_values(self):
        self.assertEqual("5m", self.setting(self.start("--test", "--exit-on-idle", "300s"), "exit-on-idle"))
        said = self.run_once("--test", "--exit-on-idle", "soon")
        self.assertIn("argument must be a duration", said.stderr)
        self.assertEqual(1, said.returncode)


class ReadyFdTest(TestProfileTest):
    def launch_with_pipe(self, *arguments, **options):
        reader, writer = os.pipe()
        server = self.launch("--test", "--ready-fd", writer, *arguments, pass_fds=[writer], **options)
        os.close(writer)
        pipe = os.fdopen(reader)
        self.addCleanup(pipe.close)
        return server, pipe

    def test_the_port_and_the_end_of_the_file(self):
        _, pipe = self.launch_with_pipe()
        port = int(pipe.read())
        self.assertEqual("+PONG", call(port, "PING"))

    def test_ready_means_loaded(self):
        values = "".join(f"*3\r\n$3\r\nSET\r\n${len(str(i))}\r\n{i}\r\n$1\r\nx\r\n" for i in range(20000))
        os.mkdir(self.path("appendonlydir"))
        self.write("appendonlydir/appendonly.aof.manifest", "file appendonly.aof.1.incr.aof seq 1 type i\n")
        self.write("appendonlydir/appendonly.aof.1.incr.aof", values)
        _, pipe = self.launch_with_pipe("--appendonly", "yes")
        self.assertEqual(":20000", call(int(pipe.read()), "DBSIZE"))

    def test_one_line_for_each_node(self):
        for threads in ("no", "yes"):
            server, pipe = self.launch_with_pipe("--nodes", "3x1", "--node-threads", threads)
            ports = [int(port) for port in pipe.read().splitlines()]
            self.assertEqual(6, len(set(ports)))
            self.assertIn("cluster_state:ok", call(ports[0], "CLUSTER", "INFO"))
            server.stop()

    def test_a_daemon(self):
        self.addCleanup(self.end_by_pidfile, "pid")
        _, pipe = self.launch_with_pipe("--daemonize", "yes", "--pidfile", "pid")
        self.assertEqual("+PONG", call(int(pipe.read()), "PING"))

    def test_children_do_not_inherit_it(self):
        """Only the server holds the pipe while it loads: neither children nor programs do."""
        server, pipe = self.launch_with_pipe("--save", "60 1", "--rdb-key-save-delay", "100000")
        port = int(pipe.read())
        self.assertEqual("+Background saving started", call(port, "BGSAVE"))
        for pid in [server.pid, *self.children(server.pid)]:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(FileNotFoundError):  # the child has closed it meanwhile
                    self.assertNotEqual(os.readlink(f"/proc/self/fd/{pipe.fileno()}"), os.readlink(f"/proc/{pid}/fd/{fd}"))

    @staticmethod
    def children(pid):
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]

    def test_descriptors_that_are_of_no_use(self):
        self.assertIn("ready-fd 77: the launcher has not passed an open file descriptor of this number",
                      self.fails("--test", "--ready-fd", "77"))
        with open("/dev/null", "rb") as reader:
            self.assertIn("is not open for writing",
                          self.fails("--test", "--ready-fd", reader.fileno(), pass_fds=[reader.fileno()]))
        for number in ("2", "-1", "3000000000"):
            said = self.run_once("--ready-fd", number)
            self.assertIn("argument must be 1, or a file descriptor from 3 on, or 0 for none", said.stderr)

    def test_standard_output(self):
        """For launchers that pass no other descriptor, such as those in Java. The log goes to standard error then."""
        for daemonize in ("no", "yes"):
            self.addCleanup(self.end_by_pidfile, "pid")
            log = self.path("log")
            with open(log, "wb") as errors:
                server = subprocess.Popen([SERVER, "--test", "--ready-fd", "1", "--daemonize", daemonize, "--pidfile", "pid"],
                                          cwd=self.folder, stdout=subprocess.PIPE, stderr=errors)
            port = int(server.stdout.read())
            server.stdout.close()
            self.assertEqual("+PONG", call(port, "PING"))
            self.assertEqual("+OK", call(port, "CONFIG", "SET", "loglevel", "debug"))
            self.assertEqual("+PONG", call(port, "PING"))
            call(port, "SHUTDOWN")
            self.assertEqual(0, server.wait(timeout=20))
            if daemonize == "no":
                self.assertIn("bye bye", self.read("log"))

    def test_nobody_reads(self):
        """With exit-with-parent, this means that the launcher ended before the server could watch it."""
        for with_parent in ("yes", "no"):
            reader, writer = os.pipe()
            os.close(reader)
            server = self.launch("--test", "--exit-with-parent", with_parent, "--ready-fd", writer, pass_fds=[writer])
            os.close(writer)
            server.wait_for("Failed to write the ports to ready-fd")
            if with_parent == "yes":
                self.assertEqual(0, server.exit_code())
            else:
                self.assertEqual("+PONG", call(server.port, "PING"))


class SeedTest(TestProfileTest):
    REQUESTS = [
        *(f"SET key:{i} {i}" for i in range(300)), *(f"SADD set member:{i}" for i in range(400)),
        *(f"HSET hash field:{i} {i}" for i in range(200)), *(f"ZADD zset {i} member:{i}" for i in range(300)),
        "CLIENT ID", "ACL GENPASS", "ACL GENPASS 5", "RANDOMKEY", "RANDOMKEY", "SRANDMEMBER set 10", "SRANDMEMBER set -10",
        "SPOP set 7", "HRANDFIELD hash 5 WITHVALUES", "ZRANDMEMBER zset -5 WITHSCORES", "KEYS key:1*", "SCAN 0 COUNT 50",
        "SSCAN set 0 COUNT 40", "HSCAN hash 0 COUNT 40", "SMEMBERS set", "HKEYS hash", "SDIFF set other",
        "EVAL \"return {tostring(math.random()), tostring(math.random(100))}\" 0", "EVAL \"return redis.call('RANDOMKEY')\" 0",
        "CONFIG SET maxmemory-policy allkeys-random", "CONFIG SET maxmemory 1", "SET one more", "CONFIG SET maxmemory 0",
        "SCAN 0 COUNT 1000", "DBSIZE", "FLUSHALL", *(f"SET next:{i} {i}" for i in range(100)), "RANDOMKEY", "KEYS *",
        "DEBUG CHANGE-REPL-ID", "INFO replication",
    ]

    def answers(self, *arguments, requests=None):
        server = self.start("--test", "--enable-debug-command", "yes", *arguments)
        with connect(server.port) as client:
            client.sendall("".join(f"{request}\r\n" for request in [*(requests or self.REQUESTS), "INFO server", "QUIT"]).encode())
            text = client.makefile("rb").read().decode()
        server.stop()
        return re.sub(r"(?m)^(uptime_in_\w+|process_id|tcp_port|server_time_usec|lru_clock|executable|monotonic_clock"
                      r"|listener0):.*\r\n|^\$\d+\r\n(?=# Server)", "", text)  # the length of INFO depends on these numbers

    def test_the_same_seed_gives_the_same_replies(self):
        first = self.answers("--seed", "7")
        self.assertIn("run_id:", first)
        self.assertIn("master_replid:", first)
        self.assertNotIn("-ERR", first)
        self.assertEqual(first, self.answers("--seed", "7"))
        self.assertNotEqual(first, self.answers("--seed", "8"))

    def test_without_a_seed_they_differ(self):
        self.assertNotEqual(self.answers(), self.answers())

    def test_each_choice_follows_the_seed(self):
        fill = [*(f"SET key:{i} {i}" for i in range(100)), *(f"SADD set {i}x" for i in range(200))]
        for request in ("RANDOMKEY", "SCAN 0 COUNT 10", "SPOP set", "SRANDMEMBER set", "ACL GENPASS", "INFO server", "KEYS *",
                        "INFO replication"):
            with self.subTest(request):
                replies = {self.answers("--seed", str(seed), requests=[*fill, request]).split("run_id")[0 if request != "INFO server" else 1]
                           for seed in range(3)}
                self.assertGreater(len(replies), 1)

    def cluster(self, seed):
        server = self.launch("--test", "--nodes", "2x1", "--seed", seed, "--port-file", "ports")
        wait_until(lambda: os.path.exists(self.path("ports")), "the ports")
        ports = [int(port) for port in self.read("ports").split()]
        names = [call(port, "CLUSTER", "MYID") for port in ports]
        runs = [re.search(r"run_id:(\w+)", call(port, "INFO", "server"))[1] for port in ports]
        passwords = [call(port, "ACL", "GENPASS") for port in ports]
        server.stop()
        for name in os.listdir(self.folder):
            subprocess.run(["rm", "-r", self.path(name)], check=True)
        return names, runs, passwords

    def test_nodes_differ_from_each_other(self):
        first = self.cluster(5)
        for values in first:
            self.assertEqual(4, len(set(values)))
        self.assertEqual(first, self.cluster(5))
        self.assertNotEqual(first, self.cluster(6))

    def test_worlds_have_choices_of_their_own(self):
        fill = [f"SADD set {i}" for i in range(200)]

        def world(name):
            requests = [f"TEST WORLD CREATE {name}", f"TEST WORLD ENTER {name}", *fill, "SPOP set 9", "ACL GENPASS"]
            return self.answers("--seed", "3", requests=requests)

        first = world("a")
        self.assertIn("run_id:", first)
        self.assertNotIn("-ERR", first)
        self.assertEqual(first, world("a"))
        self.assertNotEqual(first, world("b"))

    def test_values(self):
        for seed in ("0", "18446744073709551615"):
            self.assertEqual(seed, self.setting(self.start("--test", "--seed", seed), "seed"))
        for seed in ("x", "-1", "18446744073709551616"):
            self.assertIn("argument must be a number from 0 to", self.run_once("--seed", seed).stderr)


if __name__ == "__main__":
    unittest.main()
