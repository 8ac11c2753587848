#!/usr/bin/env python3
"""The container image, unpacked and started as `docker run` would: what docs/install.md says about it, and what the
images `redis` and `redislabs/client-libs-test` do with the same arguments and environment. There is no network of
containers here."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tarfile
import unittest

from places import ARCHITECTURE, PlaceTest, ask, free_port, run, wait_until

USER = 999


class ImageTest(PlaceTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("chroot needs root")
        self.image = self.package(f"respite-*-linux-{ARCHITECTURE.name}.oci.tar")
        self.layout = self.folder / "layout"
        with tarfile.open(self.image) as archive:
            archive.extractall(self.layout)
        manifest = self.blob(json.loads((self.layout / "index.json").read_text())["manifests"][0])
        self.config = self.blob(manifest["config"])["config"]
        self.root = self.folder / "root"
        self.root.mkdir()
        run("tar", "-xzf", self.path(manifest["layers"][0]), "-C", self.root)
        self.certificates = self.root / "redis/work/tls"

    def path(self, descriptor):
        return self.layout / "blobs" / descriptor["digest"].replace(":", "/")

    def blob(self, descriptor):
        return json.loads(self.path(descriptor).read_text())

    def docker_run(self, *words, user=None, **variables):
        """Starts the program that `docker run IMAGE words…` would; the arguments are those of the image if there are
        none."""
        def enter():
            os.chroot(self.root)
            os.chdir(self.config["WorkingDir"])
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
        return self.start(self.entry(*words), env=self.environment(**variables), cwd=self.root, preexec_fn=enter)

    def entry(self, *words):
        return [f"/usr/local/bin/{self.config['Entrypoint'][0]}", *map(str, words or self.config["Cmd"])]

    def environment(self, **variables):
        return {**dict(each.split("=", 1) for each in self.config["Env"]), **variables}

    def alone(self, *words, **variables):
        """Starts it in its own name spaces, as process 1. The test connects to a socket, so the ports are those of the
        image."""
        probe = subprocess.run(["unshare", "--net", "--pid", "--fork", "true"], capture_output=True, check=False)
        if probe.returncode:
            self.skipTest("name spaces are not permitted")
        entry = self.entry(*words, "--unixsocket", "/data/socket")
        process = self.start([shutil.which("unshare"), "--net", "--pid", "--fork", "--kill-child", f"--root={self.root}", "--wd=/data", *entry],
                             env={**os.environ, **self.environment(**variables)})
        self.addCleanup(end_both, process)
        path = self.root / "data/socket"

        def setting(name):
            with socket.socket(socket.AF_UNIX) as sock:
                sock.connect(str(path))
                sock.sendall(f"CONFIG GET {name}\r\n".encode())
                return sock.recv(1000).decode().split("\r\n")[4]

        def is_there():
            try:
                return setting("port")
            except OSError:
                return None
        wait_until(is_there, "the socket")
        return process, setting

    def answers(self, port, *words):
        def answer():
            try:
                return ask(port, *words)
            except OSError:
                return None
        return wait_until(answer, f"port {port}")

    def tls(self, name=None):
        context = ssl.create_default_context(cafile=self.certificates / "ca.crt")
        if name:
            context.load_cert_chain(self.certificates / f"{name}.crt", self.certificates / f"{name}.key")
        return lambda sock: context.wrap_socket(sock, server_hostname="localhost")

    def empty_data(self):
        """The server sees what a newly created container sees."""
        shutil.rmtree(self.root / "data")
        (self.root / "data").mkdir()

    def stop(self, process):
        process.terminate()
        text = process.communicate(timeout=30)[0].decode()
        self.assertEqual(0, process.returncode, text)
        return text


class RedisTest(ImageTest):
    """Behaves like the image `redis`."""

    def test_tools_read_it(self):
        if not (shutil.which("skopeo") and shutil.which("umoci")):
            self.skipTest("skopeo or umoci is not installed")
        shown = json.loads(run("skopeo", "inspect", f"oci-archive:{self.image}"))
        self.assertEqual(("linux", ARCHITECTURE.deb), (shown["Os"], shown["Architecture"]))
        run("skopeo", "copy", f"oci-archive:{self.image}", f"oci:{self.folder}/copy:latest")
        run("umoci", "unpack", "--image", f"{self.folder}/copy:latest", self.folder / "bundle")
        same = subprocess.run(["diff", "-r", "--no-dereference", self.folder / "bundle/rootfs", self.root], capture_output=True,
                              text=True, check=False)
        self.assertEqual((0, ""), (same.returncode, same.stdout))

    def test_has_the_program_and_nothing_else(self):
        programs = [path.name for path in self.root.rglob("*") if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)
                    and path.stat().st_mode & 0o111]
        self.assertEqual(["respite-server"], programs)
        for name in ("redis-server", "redis-sentinel", "redis-check-aof", "redis-check-rdb", "redis-cli", "valkey-server",
                     "valkey-sentinel", "valkey-cli"):
            self.assertEqual("respite-server", os.readlink(self.root / "usr/local/bin" / name))
        self.assertEqual(({"/data": {}}, {"6379/tcp": {}}, "/data"),
                         (self.config["Volumes"], self.config["ExposedPorts"], self.config["WorkingDir"]))

    def test_arguments(self):
        port = str(free_port())
        for words in (("redis-server", "--port", port), ("--port", port), (f"--port {port} ",), ("redis-server", "/etc/redis.conf"),
                      ("/etc/redis.conf",)):
            with self.subTest(words):
                (self.root / "etc/redis.conf").write_text(f"port {port}\n")
                process = self.docker_run(*words)
                self.assertEqual("+PONG\r\n", self.answers(int(port), "PING"))
                self.assertIn("$2\r\nno\r\n", ask(int(port), "CONFIG", "GET", "protected-mode"))
                self.assertIn("$5\r\n/data\r\n", ask(int(port), "CONFIG", "GET", "dir"))
                self.stop(process)

    def test_arguments_of_test_containers(self):
        """One word with an option and its value, followed by blanks."""
        port = free_port()
        process = self.docker_run(f"--port {port}", "--save 1 1 ", "--appendonly yes", '--requirepass "foo bar"')
        self.assertEqual("+OK\r\n", self.answers(port, "AUTH", "foo bar"))
        self.assertIn("* Ready to accept connections", self.stop(process))
        self.assertTrue((self.root / "data/appendonlydir").is_dir())

    def test_defaults_and_the_first_process(self):
        process, setting = self.alone("redis-server")
        self.assertEqual(["6379", "no", "0"], [setting(name) for name in ("port", "protected-mode", "tls-port")])
        server = int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())
        os.kill(server, signal.SIGTERM)
        self.assertIn("bye bye", process.communicate(timeout=30)[0].decode())
        self.assertEqual(0, process.returncode)

    def test_keeps_its_data(self):
        port = free_port()
        process = self.docker_run("--port", port)
        self.assertEqual("+OK\r\n", self.answers(port, "SET", "a", "1"))
        self.assertIn("Data is kept in /data/dump.rdb, saved after 3600 s with 1 change,", self.stop(process))
        process = self.docker_run("--port", port)
        self.assertEqual("$1\r\n1\r\n", self.answers(port, "GET", "a"))
        self.stop(process)
        self.docker_run("--port", port, "--save", "")
        self.assertEqual("*2\r\n$4\r\nsave\r\n$0\r\n\r\n", self.answers(port, "CONFIG", "GET", "save"))

    def test_a_file_may_protect(self):
        port = free_port()
        (self.root / "etc/redis.conf").write_text(f"port {port}\nprotected-mode yes\n")
        self.docker_run("/etc/redis.conf")
        self.assertIn("$3\r\nyes\r\n", self.answers(port, "CONFIG", "GET", "protected-mode"))

    def test_runs_as_redis(self):
        port = free_port()
        (self.root / "data/older").write_text("root's\n")
        process = self.docker_run("--port", port)
        self.answers(port, "PING")
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        self.assertIn(f"Uid:\t{USER}\t{USER}\t{USER}\t{USER}", status)
        self.assertIn("Groups:\t \n", status)
        self.assertEqual("+OK\r\n", ask(port, "SAVE"))
        self.assertEqual([USER, USER], [(self.root / "data" / name).stat().st_uid for name in ("dump.rdb", "older")])

    def test_another_user(self):
        """docker run --user"""
        port = free_port()
        process = self.docker_run("--port", port, "--save", "", user=1234)  # this user may not write to /data
        self.assertEqual("+PONG\r\n", self.answers(port, "PING"))
        self.assertIn("Uid:\t1234\t1234", pathlib.Path(f"/proc/{process.pid}/status").read_text())

    def check(self, *words, **variables):
        """Returns the exit code and output of `docker exec … redis-cli words…`."""
        done = subprocess.run(["/usr/local/bin/redis-cli", *map(str, words)], capture_output=True, text=True, timeout=30, check=False,
                              cwd=self.root, preexec_fn=lambda: (os.chroot(self.root), os.chdir("/")), env=self.environment(**variables))
        return done.returncode, done.stdout

    def test_health_checks(self):
        port = free_port()
        self.docker_run("--port", port, "--requirepass", "secret")
        self.answers(port, "PING")
        for words in (("ping",), ("PiNg",), ("--raw", "ping")):
            self.assertEqual((0, "PONG\n"), self.check("-p", port, "-a", "secret", *words))
        self.assertEqual((0, "PONG\n"), self.check("-p", port, "ping", REDISCLI_AUTH="secret"))
        self.assertEqual((0, "NOAUTH Authentication required.\n\n"), self.check("-p", port, "ping"))
        self.assertEqual((1, ""), self.check("-e", "-p", port, "ping"))
        self.assertEqual((1, ""), self.check("-p", free_port(), "ping"))
        dead = self.docker_run("redis-cli", "-p", free_port(), "ping")
        self.assertEqual(1, dead.wait(timeout=10))

    def test_health_check_over_tls(self):
        port = free_port()
        self.docker_run("--port", "0", TLS_ENABLED="yes", TLS_PORT=str(port))
        wait_until(lambda: self.check("-p", port, "--tls", "--insecure", "--cert", "/redis/work/tls/client.crt", "--key",
                                      "/redis/work/tls/client.key", "ping") == (0, "PONG\n"), "the server")
        own = ("--cert", "/redis/work/tls/client.crt", "--key", "/redis/work/tls/client.key")
        self.assertEqual((0, "PONG\n"), self.check("-p", port, "--tls", "--cacert", "/redis/work/tls/ca.crt", *own, "ping"))
        self.assertEqual((1, ""), self.check("-p", port, "--tls", *own, "ping"))  # its signer is unknown

    def test_other_programs(self):
        process = self.docker_run("no-such-program")
        self.assertIn("no-such-program: No such file", process.communicate(timeout=10)[0].decode())
        self.assertEqual(1, process.returncode)


class ClientLibsTest(ImageTest):
    """Behaves like the image `redislabs/client-libs-test`."""

    def test_a_server(self):
        port, tls_port = free_port(), free_port()
        process = self.docker_run("--save", "", "--tls-auth-clients", "optional", "--enable-debug-command", "yes", PORT=str(port),
                                  TLS_PORT=str(tls_port), TLS_ENABLED="yes", REDIS_CLUSTER="no", NODES="3", REDIS_PASSWORD="pass",
                                  PROTECTED_MODE="yes", TLS_CLIENT_CNS="ada bob", TLS_AUTH_CLIENTS_USER="CN")
        self.assertTrue(self.answers(port, "PING").startswith("-NOAUTH"))
        for name in (None, "client", "ada", "bob", "redis"):
            with self.subTest(name):
                self.assertEqual("+OK\r\n", ask(tls_port, "AUTH", "pass", wrap=self.tls(name)))
        self.assertIn("yes", self.setting(port, "protected-mode", "pass"))
        self.stop(process)

    def setting(self, port, name, password):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as sock, sock.makefile("rb") as stream:
            sock.sendall(f"AUTH {password}\r\nCONFIG GET {name}\r\n".encode())
            return b"".join(stream.readline() for _ in range(6)).decode()

    def test_the_default_ports(self):
        _, setting = self.alone("--save", "", TLS_ENABLED="yes")
        self.assertEqual(["6379", "6666"], [setting(name) for name in ("port", "tls-port")])

    def test_certificates(self):
        port, tls_port = free_port(), free_port()
        variables = {"PORT": str(port), "TLS_PORT": str(tls_port), "TLS_ENABLED": "yes", "TLS_CLIENT_CNS": " ada  bob "}
        process = self.docker_run("redis-server", **variables)
        self.answers(port, "PING")
        names = {path.name for path in self.certificates.iterdir()}
        self.assertEqual({f"{name}.{kind}" for name in ("ca", "redis", "client", "ada", "bob") for kind in ("crt", "key")}, names)
        for name in ("client", "ada", "bob"):
            subject = run("openssl", "x509", "-in", self.certificates / f"{name}.crt", "-noout", "-subject")
            self.assertRegex(subject, rf"CN ?= ?{name}\n")
            run("openssl", "verify", "-CAfile", self.certificates / "ca.crt", self.certificates / f"{name}.crt")
            self.assertEqual(0o644, (self.certificates / f"{name}.key").stat().st_mode & 0o777)  # tests of other users read it
        # A client without a certificate is refused, as by Redis, unless tls-auth-clients says otherwise.
        self.assertTrue(self.is_refused(tls_port))
        self.stop(process)
        before = {path.name: path.read_bytes() for path in self.certificates.iterdir()}
        process = self.docker_run("redis-server", **variables)
        self.assertEqual("+PONG\r\n", self.answers(port, "PING"))
        self.assertEqual(before, {path.name: path.read_bytes() for path in self.certificates.iterdir()})
        self.stop(process)

    def is_refused(self, tls_port):
        try:
            return ask(tls_port, "PING", wrap=self.tls()) == ""
        except OSError:
            return True

    def check_cluster(self, port, nodes, replicas):
        for node in range(port, port + nodes):
            wait_until(lambda n=node: "cluster_state:ok" in ask(n, "CLUSTER", "INFO"), "the cluster")
        rows = [line.split(" ") for line in ask(port, "CLUSTER", "NODES").split("\n") if line.count(" ") > 6]
        self.assertEqual(nodes, len(rows))
        primaries = {row[0] for row in rows if "master" in row[2]}
        self.assertEqual(nodes // (replicas + 1), len(primaries))
        for primary in primaries:
            self.assertEqual(replicas, sum(row[3] == primary for row in rows))
        return rows

    def test_a_cluster(self):
        for variables, nodes, replicas in (({"NODES": "6", "REPLICAS": "1"}, 6, 1), ({}, 6, 0), ({"NODES": "3"}, 3, 0)):
            with self.subTest(variables):
                port = free_port()
                self.empty_data()
                process = self.docker_run("--save", "", PORT=str(port), REDIS_CLUSTER="yes", **variables)
                self.answers(port + nodes - 1, "PING")
                rows = self.check_cluster(port, nodes, replicas)
                ports = {int(re.match(r"127\.0\.0\.1:(\d+)@", row[1])[1]) for row in rows}
                self.assertEqual(set(range(port, port + nodes)), ports)
                self.stop(process)

    def test_a_cluster_with_certificates_and_a_password(self):
        port, tls_port = free_port(), free_port()
        process = self.docker_run("--save", "", "--tls-auth-clients", "optional", PORT=str(port), TLS_PORT=str(tls_port),
                                  TLS_ENABLED="yes", REDIS_CLUSTER="yes", NODES="6", REPLICAS="1", REDIS_PASSWORD="pass")
        self.answers(port + 5, "PING")
        for first, wrap in ((port, lambda sock: sock), (tls_port, self.tls("client"))):
            nodes = [Login(first + i, "pass", wrap) for i in range(6)]
            wait_until(lambda n=nodes: all("cluster_state:ok" in node.ask("CLUSTER INFO") for node in n), "the cluster")
            links = wait_until(lambda n=nodes: "".join(node.ask("INFO replication") for node in n).count("master_link_status:up") == 3,
                               "replicas that log in")
            self.assertTrue(links)
            # Redirections name the kind of port that the client uses.
            slots = nodes[0].ask("CLUSTER SHARDS") + nodes[0].ask("CLUSTER SLOTS")
            for i in range(6):
                self.assertIn(f":{first + i}\r\n", slots)
            moved = {node.ask("SET key value")[:6] for node in nodes}
            self.assertLessEqual({"+OK\r\n", "-MOVED"}, moved | {"-MOVED"})
            targets = {re.search(r":(\d+)\r\n", node.ask("SET key value"))[1] for node in nodes if node.ask("SET key value")[0] == "-"}
            self.assertEqual(1, len(targets))
            self.assertIn(int(targets.pop()), range(first, first + 6))
            for node in nodes:
                node.close()
        self.stop(process)


class PodmanTest(ImageTest):
    """Runs real containers, in the network of this machine."""

    def setUp(self):
        super().setUp()
        if not (shutil.which("podman") and shutil.which("runc")):
            self.skipTest("podman or runc is not installed")
        self.podman("load", "-q", "-i", self.image)
        self.name = re.search(r"(\S+)\s*$", self.podman("images", "-q"))[1]

    def podman(self, *words):
        return run("podman", f"--root={self.folder}/store", f"--runroot={self.folder}/run", "--storage-driver=vfs", "--runtime=runc",
                   "--events-backend=file", "--cgroup-manager=cgroupfs", *words)

    def container(self, *words, options=()):
        """Returns its id; it ends with the test."""
        command = ("run", "-d", "--network=host", "--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000", *options, self.name, *words)
        try:
            made = self.podman(*command).split()[-1]
        except AssertionError as error:
            if re.search(r"cgroup|permitted|permission", str(error)):
                self.skipTest(f"containers are not permitted: {str(error).splitlines()[-1]}")
            raise
        self.addCleanup(self.podman, "rm", "-f", "-t", "0", made)
        return made

    def test_a_server(self):
        port = free_port()
        made = self.container("redis-server", "--port", port, "--requirepass", "secret", "--save", "60 1")
        self.assertEqual("+OK\r\n", self.answers(port, "AUTH", "secret"))
        self.assertEqual("PONG\n", self.podman("exec", made, "redis-cli", "-p", port, "-a", "secret", "ping"))
        self.assertEqual("OK\n", self.podman("exec", "-e", "REDISCLI_AUTH=secret", made, "redis-cli", "-p", port, "set", "a", "1"))
        self.podman("stop", "-t", "20", made)
        self.assertEqual("0", self.podman("inspect", "--format", "{{.State.ExitCode}}", made).strip())
        self.podman("start", made)  # with the data of the volume
        self.answers(port, "PING")
        self.assertEqual("1\n", self.podman("exec", made, "redis-cli", "-p", port, "-a", "secret", "get", "a"))

    def test_a_cluster_with_certificates_in_a_folder_outside(self):
        port, tls_port = free_port(), free_port()
        work = self.folder / "work"
        work.mkdir()
        variables = {"PORT": port, "TLS_PORT": tls_port, "TLS_ENABLED": "yes", "REDIS_CLUSTER": "yes", "NODES": 6, "REPLICAS": 1}
        self.container("--save", "", options=[f"--volume={work}:/redis/work", *(f"-e={name}={value}" for name, value in variables.items())])
        self.answers(port + 5, "PING")
        wait_until(lambda: "cluster_state:ok" in ask(port + 5, "CLUSTER", "INFO"), "the cluster")
        self.certificates = work / "tls"
        wait_until(lambda: "cluster_state:ok" in ask(tls_port, "CLUSTER", "INFO", wrap=self.tls("client")), "the cluster")

    def test_another_user(self):
        port = free_port()
        made = self.container("--port", port, "--save", "", options=["--user=1234"])
        self.assertEqual("+PONG\r\n", self.answers(port, "PING"))
        self.assertEqual("PONG\n", self.podman("exec", made, "redis-cli", "-p", port, "ping"))


def end_both(process):
    """Kills unshare, which ignores other signals, and the server in it."""
    for child in pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split() if process.poll() is None else ():
        os.kill(int(child), signal.SIGKILL)
    process.communicate(timeout=30)


class Login:
    """A connection with a password."""

    def __init__(self, port, password, wrap):
        self.sock = wrap(socket.create_connection(("127.0.0.1", port), timeout=10))
        self.ask(f"AUTH {password}")

    def ask(self, line):
        self.sock.sendall(f"{line}\r\nECHO the-end-of-it\r\n".encode())
        text = ""
        while not text.endswith("$13\r\nthe-end-of-it\r\n"):
            octets = self.sock.recv(65536)
            if not octets:
                raise OSError("the connection ended")
            text += octets.decode()
        return text.removesuffix("$13\r\nthe-end-of-it\r\n")

    def close(self):
        self.sock.close()


if __name__ == "__main__":
    unittest.main()
