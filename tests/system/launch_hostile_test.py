"""Starts under supervision, starts that must fail cleanly, and starts that launchers disturb."""
import os
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import unittest

from launcher import SERVER, LaunchTest, ask, call, connect, few_descriptors, free_port, wait_until


class Supervised(LaunchTest):
    def test_systemd(self):
        for name in (self.path("notify"), "\0launch-contract-%d" % os.getpid()):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
                notify.bind(name)
                notify.settimeout(20)
                server = self.start("--port", "auto", "--supervised", "auto", "--daemonize", "yes",
                                    env={"NOTIFY_SOCKET": name.replace("\0", "@")})
                states = [notify.recv(1000) for _ in range(3)]
                self.assertEqual([b"STATUS=Redis is loading...\n", b"STATUS=Ready to accept connections\n",
                                  b"READY=1\n"], states)
                self.assertEqual(0, server.stop())
                self.assertEqual(b"STOPPING=1\n", notify.recv(1000))
                server = self.start("--port", "auto", "--supervised", "auto", "--save", "3600 1",
                                    "--dbfilename", f"dump{len(name)}.rdb",
                                    env={"NOTIFY_SOCKET": name.replace("\0", "@")})
                for _ in states:
                    notify.recv(1000)
                self.assertEqual(0, server.stop())
                self.assertEqual([b"STOPPING=1\n", b"STATUS=Saving the final RDB snapshot\n"],
                                 [notify.recv(1000) for _ in range(2)])

    def test_upstart(self):
        server = self.launch("--port", "auto", "--supervised", "upstart", env={"UPSTART_JOB": "x"})
        os.waitid(os.P_PID, server.pid, os.WSTOPPED)
        self.assertNotIn("Ready", server.text)
        server.process.send_signal(signal.SIGCONT)
        server.ready()

    def test_out_of_memory_score(self):
        with open("/proc/self/oom_score_adj", encoding="ascii") as file:
            before = int(file.read())
        server = self.start("--port", "auto", "--oom-score-adj", "relative", "--oom-score-adj-values", "7", "8", "9")
        server.port
        def score():
            with open(f"/proc/{server.pid}/oom_score_adj", encoding="ascii") as file:
                return int(file.read())
        wait_until(lambda: score() == min(before + 7, 1000), "the score")


class HostileStarts(LaunchTest):
    def test_nowhere_to_listen(self):
        self.assertIn("Configured to not listen anywhere, exiting.", self.fails("--port", "0"))

    def test_missing_file(self):
        self.assertIn("Fatal error, can't open config file", self.fails("/no/such.conf"))

    def test_log_file_out_of_reach(self):
        said = self.fails("--logfile", "/no/such/folder/log", "--port", "0")
        self.assertIn("Can't open the log file: No such file or directory", said)

    def test_folder_out_of_reach(self):
        self.assertIn("No such file or directory", self.fails("--dir", "/no/such/folder", "--port", "0"))

    def test_a_file_in_the_place_of_the_socket_is_kept(self):
        self.write("precious", "data")
        said = self.fails("--port", "0", "--unixsocket", "precious")
        self.assertIn("Failed opening Unix socket: bind: Address already in use", said)
        self.assertEqual("data", self.read("precious"))

    def test_path_of_the_socket_is_too_long(self):
        self.assertIn("Failed opening Unix socket: ", self.fails("--port", "0", "--unixsocket", "x" * 200))

    def test_no_such_address(self):
        port = free_port()
        said = self.fails("--bind", "192.0.2.7", "--port", port)
        self.assertIn(f"Failed listening on port {port} (tcp), aborting.", said)

    def test_second_server_leaves_the_files_of_the_first_alone(self):
        first = self.start("--port", "auto", "--bind", "127.0.0.1", "--pidfile", "pid", "--port-file", "port")
        self.fails("--port", first.port, "--bind", "127.0.0.1", "--pidfile", "pid", "--port-file", "port")
        self.assertEqual((first.pid, first.port), (int(self.read("pid")), int(self.read("port"))))

    def test_a_socket_taken_over_is_not_removed(self):
        first = self.start("--port", "auto", "--unixsocket", "s")
        self.start("--port", "auto", "--unixsocket", "s")
        self.assertEqual(0, first.stop())
        self.assertEqual("+PONG", call(self.path("s"), "PING"))

    def test_closed_standard_descriptors(self):
        server = subprocess.Popen(f"exec {SERVER} --port auto --port-file port <&- >&- 2>&-", shell=True,
                                  cwd=self.folder)
        self.addCleanup(server.kill)
        wait_until(lambda: os.path.exists(self.path("port")), "the port file")
        with connect(int(self.read("port"))) as client:
            self.assertEqual("+PONG", ask(client, "PING"))
            server.terminate()
            self.assertEqual(0, server.wait(20))
            self.assertEqual(b"", client.recv(100))  # no line of the log

    def test_no_environment_and_an_empty_name(self):
        self.start("--port", "auto", program="", executable=SERVER, env={})

    def test_too_few_descriptors(self):
        said = self.fails("--port", "0", "--unixsocket", "s", preexec_fn=few_descriptors(20))
        self.assertIn("Your current 'ulimit -n' of 20 is not enough for the server to start.", said)

    def test_wrong_values(self):
        for wrong in (["--port", "65536"], ["--port", "x"], ["--maxclients", "0"], ["--unixsocketperm", "1777"],
                      ["--loglevel", "loud"], ["--proc-title-template", "{nothing}"], ["--supervised", "maybe"]):
            self.assertIn("*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\nReading the configuration file, at line 2\n",
                          self.fails(*wrong))


@unittest.skipUnless(os.geteuid() == 0, "only root can become a user without processes")
class NoThreads(LaunchTest):
    """The server runs as a user that may have no second process, so the system refuses every thread."""
    USER = 65531

    def setUp(self):
        # The usual temporary folder and the program may be out of the user's reach.
        self.folder = tempfile.mkdtemp(prefix="launch", dir="/tmp")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o777)
        self.program = shutil.copy(SERVER, self.path("server"))
        os.chmod(self.program, 0o755)

    def become_user(self):
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        os.setgid(self.USER)
        os.setuid(self.USER)

    def options(self):
        return {"program": self.program, "executable": self.program, "preexec_fn": self.become_user}

    def test_host_names_are_not_found(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "--save", "", **self.options())
        port = str(free_port())
        with connect(server.port) as client:
            self.assertEqual("+OK", ask(client, "SET", "k", "v"))
            self.assertTrue(ask(client, "MIGRATE", "localhost", port, "k", "0", "200").startswith("-IOERR"))
            self.assertEqual("+OK", ask(client, "REPLICAOF", "localhost", port))
            server.wait_for("Resource temporarily unavailable")
            self.assertEqual("+OK", ask(client, "REPLICAOF", "NO", "ONE"))
            self.assertEqual("+OK", ask(client, "SET", "k", "w"))
        self.assertEqual(0, server.stop())

    def test_nodes_with_threads_do_not_start(self):
        said = self.fails("--nodes", "3x0", "--node-threads", "yes", "--port", str(free_port()), **self.options())
        self.assertIn("Cannot start a thread for each node: Resource temporarily unavailable", said)


if __name__ == "__main__":
    unittest.main()
