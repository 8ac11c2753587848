"""TLS on the real server: authentication, refusals, keys that change at run time, and clients that stop during the
handshake."""
import contextlib
import os
import random
import re
import select
import shutil
import socket
import ssl
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from certificates import EXPIRED, Authority
from launcher import LaunchTest, ask, connect, free_port, wait_until

WAIT_S = 30
UPDATE_REFUSED = "Unable to update TLS configuration. Check server logs."


def read_exactly(sock, size):
    got = bytearray()
    while len(got) < size:
        part = sock.recv(min(1 << 20, size - len(got)))
        if not part:
            break
        got += part
    return bytes(got)


def request(*words):
    parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


class TlsServerTest(LaunchTest):
    @classmethod
    def setUpClass(cls):
        cls.keys = tempfile.mkdtemp(prefix="tlskeys")
        cls.addClassCleanup(shutil.rmtree, cls.keys, ignore_errors=True)
        cls.authority = Authority(cls.keys, "authority")
        cls.stranger = Authority(cls.keys, "stranger")
        cls.server_pair = cls.authority.issue("server")
        cls.client_pair = cls.authority.issue("client")
        cls.other_pair = cls.authority.issue("other")

    def files(self, pair=None):
        pair = pair or self.server_pair
        return ["--tls-cert-file", pair.cert, "--tls-key-file", pair.key, "--tls-ca-cert-file", self.authority.cert]

    def serve(self, *options):
        """A server with a plain port and a TLS port."""
        self.tls_port = free_port()
        self.server = self.start("--port", "auto", "--tls-port", self.tls_port, "--bind", "127.0.0.1", "--save", "",
                                 *self.files(), *options)
        self.plain = connect(self.server.port)
        self.addCleanup(self.plain.close)
        return self.server

    def config_set(self, *words):
        return ask(self.plain, "CONFIG", "SET", *words)

    def context(self, pair="client", protocol=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(self.authority.cert)
        if protocol:
            context.minimum_version = context.maximum_version = protocol
        pair = self.client_pair if pair == "client" else pair
        if pair:
            context.load_cert_chain(pair.cert, pair.key)
        return context

    def connect_tls(self, context=None, session=None, port=None):
        plain = socket.create_connection(("127.0.0.1", port or self.tls_port), timeout=WAIT_S)
        try:
            sock = (context or self.context()).wrap_socket(plain, server_hostname="localhost", session=session)
        except (OSError, ssl.SSLError):
            plain.close()
            raise
        self.addCleanup(sock.close)
        return sock

    def assert_serves(self, context=None, **options):
        sock = self.connect_tls(context, **options)
        self.assertEqual("PONG", ask(sock, "PING").lstrip("+"))
        return sock

    def assert_refuses(self, context):
        # With TLS 1.3 the client's handshake ends before the server has checked its certificate.
        with self.assertRaises((ssl.SSLError, OSError)):
            sock = self.connect_tls(context)
            sock.sendall(b"PING\r\n")
            if not sock.recv(10):
                raise ConnectionResetError

    def clients(self):
        return int(re.search(r"connected_clients:(\d+)", ask(self.plain, "INFO", "clients"))[1])

    def served_serial(self):
        with self.assert_serves() as sock:
            return sock.getpeercert()["serialNumber"]

    def serial_of(self, pair):
        shown = subprocess.run(["openssl", "x509", "-in", pair.cert, "-noout", "-serial"], check=True,
                               capture_output=True, text=True)
        return shown.stdout.strip().removeprefix("serial=")


class OpenSslClient:
    """openssl s_client, which treats lines of certain single letters as commands."""

    def __init__(self, test, *options):
        self.process = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{test.tls_port}", "-cert", test.client_pair.cert, "-key",
             test.client_pair.key, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.text = ""
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def __enter__(self):
        self._wait_for("Verify return code")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()

    def _read(self):
        while part := os.read(self.process.stdout.fileno(), 1 << 16):
            self.text += part.decode(errors="replace")

    def _wait_for(self, pattern):
        wait_until(lambda: re.search(pattern, self.text, re.S), pattern + " in " + self.text)

    def say(self, line, answer):
        self.text = ""
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        self._wait_for(answer)


class WhoGetsInTest(TlsServerTest):
    def test_a_client_with_a_certificate_is_served(self):
        self.serve()
        self.server.wait_for("Ready to accept connections tls\n")
        for protocol, name in ((ssl.TLSVersion.TLSv1_2, "TLSv1.2"), (ssl.TLSVersion.TLSv1_3, "TLSv1.3")):
            sock = self.assert_serves(self.context(protocol=protocol))
            self.assertEqual(name, sock.version())
        listed = ask(sock, "CLIENT", "LIST")
        self.assertIn(f"laddr=127.0.0.1:{self.tls_port}", listed)
        self.assertIn(f"listener2:name=tls,bind=127.0.0.1,port={self.tls_port}\r\n", ask(sock, "INFO", "server"))

    def test_the_tls_port_alone(self):
        self.tls_port = free_port()
        server = self.start("--port", "0", "--tls-port", self.tls_port, "--save", "", *self.files())
        self.assertEqual(self.tls_port, server.port)
        self.assertIn(f"Running mode=standalone, port={self.tls_port}.", server.text)
        self.assertNotIn("connections tcp", server.text)
        sock = self.assert_serves()
        info = ask(sock, "INFO", "server")
        self.assertIn(f"tcp_port:{self.tls_port}\r\n", info)
        self.assertNotIn("listener0", info)

    def test_certificates_are_demanded_asked_for_or_not_wanted(self):
        self.serve()
        self.assert_refuses(self.context(pair=None))
        self.server.wait_for(r"# Error accepting a client connection: error:0A0000C7:SSL routines::peer did not return a "
                             r"certificate \(addr=127\.0\.0\.1:\d+ laddr=127\.0\.0\.1:%d\)" % self.tls_port)
        self.assertEqual("+OK", self.config_set("tls-auth-clients", "optional"))
        self.assert_serves(self.context(pair=None))
        self.assert_serves()
        self.assert_refuses(self.context(pair=self.stranger.issue("unknown")))
        self.assertEqual("+OK", self.config_set("tls-auth-clients", "no"))
        self.assert_serves(self.context(pair=None))
        self.assert_serves(self.context(pair=self.stranger.issue("unknown")))
        self.assertEqual("+OK", self.config_set("tls-auth-clients", "yes"))
        self.assert_refuses(self.context(pair=None))

    def test_expired_certificates_and_those_of_others_are_refused(self):
        self.serve()
        expired = self.authority.issue("expired", EXPIRED)
        for mode in ("yes", "optional"):
            self.config_set("tls-auth-clients", mode)
            self.assert_refuses(self.context(pair=expired))
            self.assert_refuses(self.context(pair=self.stranger.issue("foreign")))
            self.assert_serves()
        self.server.wait_for("certificate verify failed")

    def test_authorities_from_a_folder(self):
        folder = self.path("authorities")
        os.mkdir(folder)
        shutil.copy(self.authority.cert, folder)
        subprocess.run(["openssl", "rehash", folder], check=True)
        self.serve("--tls-ca-cert-file", "", "--tls-ca-cert-dir", folder)
        self.assert_serves()
        self.assert_refuses(self.context(pair=self.stranger.issue("foreign")))

    def test_old_protocols_are_refused(self):
        self.serve()
        old = self.context()
        with contextlib.suppress(ssl.SSLError):
            old.set_ciphers("DEFAULT@SECLEVEL=0")
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        self.assert_refuses(old)
        self.config_set("tls-protocols", "TLSv1.3")
        self.assert_refuses(self.context(protocol=ssl.TLSVersion.TLSv1_2))
        self.assert_serves()
        self.config_set("tls-protocols", "TLSv1.2")
        self.assert_refuses(self.context(protocol=ssl.TLSVersion.TLSv1_3))
        self.assert_serves()
        self.assertEqual("+OK", self.config_set("tls-protocols", ""))
        self.assert_serves(self.context(protocol=ssl.TLSVersion.TLSv1_3))

    def test_ciphers_are_those_of_the_directives(self):
        first, second = "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"
        self.serve("--tls-protocols", "TLSv1.2", "--tls-ciphers", first + ":" + second)
        client = self.context()
        client.set_ciphers("ECDHE-ECDSA-CHACHA20-POLY1305")
        self.assert_refuses(client)
        client.set_ciphers(second + ":" + first)
        self.assertEqual(second, self.assert_serves(client).cipher()[0])
        self.assertEqual("+OK", self.config_set("tls-prefer-server-ciphers", "yes"))
        self.assertEqual(first, self.assert_serves(client).cipher()[0])
        self.assertEqual("+OK", self.config_set("tls-protocols", "", "tls-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"))
        self.assertEqual("TLS_CHACHA20_POLY1305_SHA256", self.assert_serves().cipher()[0])

    def test_protected_mode_speaks_through_tls(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))
            except OSError:
                self.skipTest("no address but loopback")
            address = probe.getsockname()[0]
        if address.startswith("127."):
            self.skipTest("no address but loopback")
        self.tls_port = free_port()
        self.start("--port", "0", "--tls-port", self.tls_port, "--bind", address, "--save", "", *self.files())
        with socket.create_connection((address, self.tls_port), timeout=WAIT_S) as plain:
            sock = self.context().wrap_socket(plain, server_hostname="localhost")
            self.assertTrue(sock.recv(2000).startswith(b"-DENIED Redis is running in protected mode"))
            self.assertEqual(b"", sock.recv(10))

    def test_one_client_too_many_is_dropped_without_a_word(self):
        self.serve("--maxclients", "2")
        self.assert_serves()
        with socket.create_connection(("127.0.0.1", self.tls_port), timeout=WAIT_S) as plain:
            self.assertEqual(b"", plain.recv(10))
        self.assertIn("rejected_connections:1\r\n", ask(self.plain, "INFO", "stats"))


class SessionTest(TlsServerTest):
    """Python's ssl provides a TLS 1.3 session only after it has received data."""

    def resumed(self, context):
        first = self.assert_serves(context)
        session = first.session
        self.assertFalse(first.session_reused)
        second = self.assert_serves(context, session=session)
        return second.session_reused

    def test_sessions_are_resumed_unless_caching_is_off(self):
        self.serve()
        for protocol in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            self.assertEqual("+OK", self.config_set("tls-session-caching", "yes"))
            self.assertTrue(self.resumed(self.context(protocol=protocol)), protocol)
            self.assertEqual("+OK", self.config_set("tls-session-caching", "no"))
            self.assertFalse(self.resumed(self.context(protocol=protocol)), protocol)

    def test_a_session_ends_after_its_time(self):
        self.serve("--tls-session-cache-timeout", "1")
        context = self.context(protocol=ssl.TLSVersion.TLSv1_2)
        first = self.assert_serves(context)
        self.assertTrue(self.assert_serves(context, session=first.session).session_reused)
        wait_until(lambda: not self.assert_serves(context, session=first.session).session_reused, "a new session", 10)

    def test_a_session_without_a_certificate_is_no_way_round_one(self):
        self.serve("--tls-auth-clients", "no")
        for protocol in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            self.config_set("tls-auth-clients", "no")
            context = self.context(pair=None, protocol=protocol)
            session = self.assert_serves(context).session
            self.assertTrue(self.assert_serves(context, session=session).session_reused)
            self.config_set("tls-auth-clients", "yes")
            with self.assertRaises(OSError):
                sock = self.connect_tls(context, session=session)
                sock.sendall(b"PING\r\n")
                if not sock.recv(10):
                    raise ConnectionResetError


class SettingsTest(TlsServerTest):
    def refused(self, directive):
        return f"-ERR CONFIG SET failed (possibly related to argument '{directive}') - {UPDATE_REFUSED}"

    def test_a_new_certificate_serves_new_connections(self):
        self.serve()
        old = self.assert_serves()
        self.assertEqual(self.serial_of(self.server_pair), old.getpeercert()["serialNumber"])
        self.assertEqual("+OK", self.config_set("tls-cert-file", self.other_pair.cert,
                                                "tls-key-file", self.other_pair.key))
        self.assertEqual(self.serial_of(self.other_pair), self.served_serial())
        self.assertEqual("+PONG", ask(old, "PING"))

    def test_a_file_that_was_replaced_is_read_when_it_is_named_again(self):
        pair = self.authority.issue("rotating")
        self.serve("--tls-cert-file", pair.cert, "--tls-key-file", pair.key)
        before = self.served_serial()
        self.authority.issue("rotating")
        self.assertEqual(before, self.served_serial())
        self.assertEqual("+OK", self.config_set("tls-cert-file", pair.cert))
        self.assertEqual(self.serial_of(pair), self.served_serial())
        self.assertNotEqual(before, self.served_serial())

    def test_what_cannot_be_loaded_changes_nothing(self):
        self.serve()
        serial = self.served_serial()
        bad = self.write("bad", "no certificate")
        wrong = [(["tls-cert-file", "/nowhere"], "Failed to load certificate: /nowhere: error:80000002:"
                                                 "system library::No such file or directory"),
                 (["tls-cert-file", bad], f"Failed to load certificate: {bad}: error:"),
                 (["tls-key-file", self.other_pair.key], f"Failed to load private key: {self.other_pair.key}: "
                  "error:05800074:x509 certificate routines::key values mismatch"),
                 (["tls-ca-cert-file", "/nowhere"], "Failed to configure CA certificate(s) file/directory: error:"),
                 (["tls-ca-cert-file", ""], "Either tls-ca-cert-file or tls-ca-cert-dir must be specified when "
                  "tls-cluster, tls-replication or tls-auth-clients are enabled!"),
                 (["tls-dh-params-file", bad], f"{bad}: failed to read DH params."),
                 (["tls-dh-params-file", "/nowhere"], "Failed to load /nowhere: No such file or directory"),
                 (["tls-protocols", "SSLv3"], "Invalid tls-protocols specified. Use a combination of 'TLSv1', "
                  "'TLSv1.1', 'TLSv1.2' and 'TLSv1.3'."),
                 (["tls-ciphers", "NONESUCH"], "Failed to configure ciphers: NONESUCH"),
                 (["tls-ciphersuites", "NONESUCH"], "Failed to configure ciphersuites: NONESUCH"),
                 (["tls-client-cert-file", bad, "tls-client-key-file", bad], f"Failed to load certificate: {bad}: "),
                 (["tls-key-file", ""], "No tls-key-file configured!"),
                 (["tls-cert-file", self.other_pair.cert, "tls-key-file", self.other_pair.key, "tls-ciphers", "NO"],
                  "Failed to configure ciphers: NO")]
        before = ask(self.plain, "CONFIG", "GET", "tls-*")
        for words, line in wrong:
            with self.subTest(words=words):
                self.assertEqual(self.refused(words[0]), self.config_set(*words))
                self.server.wait_for(re.escape("# " + line))
                self.assertEqual(before, ask(self.plain, "CONFIG", "GET", "tls-*"))
                self.assertEqual(serial, self.served_serial())

    def test_a_locked_key_needs_its_password(self):
        self.serve()
        locked = self.server_pair.with_password("1234")
        self.assertEqual(self.refused("tls-key-file"), self.config_set("tls-key-file", locked))
        self.assertEqual(self.refused("tls-key-file"),
                         self.config_set("tls-key-file", locked, "tls-key-file-pass", "4321"))
        self.assertEqual("+OK", self.config_set("tls-key-file-pass", "1234"))
        self.assertEqual("+OK", self.config_set("tls-key-file", locked))
        self.assert_serves()

    def test_parameters_for_an_exchange_after_diffie_and_hellman(self):
        parameters = self.path("dh")
        # A well-known group: generating one takes minutes.
        subprocess.run(["openssl", "genpkey", "-genparam", "-algorithm", "DH", "-pkeyopt", "group:ffdhe2048", "-out",
                        parameters], check=True, capture_output=True)
        self.serve("--tls-protocols", "TLSv1.2", "--tls-ciphers", "DHE-RSA-AES128-GCM-SHA256:ECDHE+AESGCM")
        self.assertEqual("+OK", self.config_set("tls-dh-params-file", parameters))
        self.assert_serves()

    def certificates_in_info(self):
        """The section TLS of INFO as a dict."""
        lines = ask(self.plain, "INFO", "tls").splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def serial(self, path):
        text = subprocess.check_output(["openssl", "x509", "-noout", "-serial", "-in", path], text=True)
        return text.strip().removeprefix("serial=")

    def test_info_says_when_the_certificates_expire(self):
        self.serve("--emulate", "valkey:9.1")
        info = self.certificates_in_info()
        self.assertEqual(self.serial(self.server_pair.cert), info["tls_server_cert_serial"])
        self.assertAlmostEqual(2 * 86400, int(info["tls_server_cert_expires_in_seconds"]), delta=600)
        self.assertEqual(("none", "0"), (info["tls_client_cert_serial"], info["tls_client_cert_expires_in_seconds"]))
        self.assertEqual(self.serial(self.authority.cert), info["tls_ca_cert_serial"])
        self.assertAlmostEqual(3 * 86400, int(info["tls_ca_cert_expires_in_seconds"]), delta=600)
        # INFO shows the authority that expires first.
        folder = tempfile.mkdtemp(dir=self.keys)
        old = self.authority.issue("old", EXPIRED)
        shutil.copy(old.cert, folder)
        self.assertEqual("+OK", ask(self.plain, "CONFIG", "SET", "tls-ca-cert-dir", folder, "tls-client-cert-file",
                                    self.client_pair.cert, "tls-client-key-file", self.client_pair.key))
        info = self.certificates_in_info()
        self.assertEqual(self.serial(self.client_pair.cert), info["tls_client_cert_serial"])
        self.assertEqual(self.serial(old.cert), info["tls_ca_cert_serial"])
        self.assertEqual("0", info["tls_ca_cert_expires_in_seconds"])
        self.assertEqual("+OK", ask(self.plain, "CONFIG", "SET", "tls-port", "0"))
        self.assertEqual({"none", "0"}, set(self.certificates_in_info().values()))

    def test_the_port_opens_and_closes(self):
        self.serve()
        self.assertEqual("+OK", self.config_set("tls-port", "0"))
        with self.assertRaises(ConnectionRefusedError):
            self.connect_tls()
        self.assertEqual("+OK", self.config_set("tls-port", self.tls_port))
        self.assert_serves()
        taken = self.server.port
        self.assertEqual("-ERR CONFIG SET failed (possibly related to argument 'tls-port') - Unable to listen on this "
                         "port. Check server logs.", self.config_set("tls-port", taken))
        self.assertEqual(["tls-port", str(self.tls_port)], ask(self.plain, "CONFIG", "GET", "tls-port"))
        self.assert_serves()

    def test_tls_begins_while_the_server_runs(self):
        port = free_port()
        server = self.start("--port", "auto", "--save", "")
        self.tls_port = port
        with connect(server.port) as self.plain:
            self.assertEqual(self.refused("tls-port"), self.config_set("tls-port", port))
            server.wait_for("# No tls-cert-file configured!")
            pairs = [word.removeprefix("--") for word in self.files()]
            self.assertEqual("+OK", self.config_set("tls-port", port, *pairs))
            self.assert_serves()

    def test_ports_change_places(self):
        self.serve()
        plain_port = self.server.port
        self.assertEqual("+OK", self.config_set("tls-port", "0"))
        self.assertEqual("+OK", self.config_set("port", self.tls_port))
        with connect(self.tls_port) as sock:
            self.assertEqual("+PONG", ask(sock, "PING"))
        self.assertEqual("+OK", self.config_set("tls-port", plain_port))
        self.assert_serves(port=plain_port)

    def test_a_server_that_cannot_have_its_keys_does_not_start(self):
        port = ["--port", "0", "--tls-port", free_port(), "--save", ""]
        text = self.fails(*port)
        self.assertIn("# No tls-cert-file configured!\n", text)
        self.assertIn("# Failed to configure TLS. Check logs for more info.\n", text)
        text = self.fails(*port, *self.files(), "--tls-cert-file", "/nowhere")
        self.assertIn("# Failed to load certificate: /nowhere: error:80000002:system library::No such file or directory\n",
                      text)
        text = self.fails(*port, *self.files(), "--tls-key-file", self.other_pair.key)
        self.assertIn("key values mismatch\n", text)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            number = taken.getsockname()[1]
            text = self.fails("--port", "0", "--bind", "127.0.0.1", "--tls-port", number, "--save", "", *self.files())
        self.assertIn(f"# Failed listening on port {number} (tls), aborting.\n", text)


class BytesTest(TlsServerTest):
    def test_huge_values_both_ways(self):
        self.serve()
        value = random.Random(7).randbytes(100 << 20)
        sock = self.connect_tls()
        sock.sendall(b"*3\r\n$3\r\nSET\r\n$4\r\nhuge\r\n$%d\r\n" % len(value))
        sock.sendall(value)
        sock.sendall(b"\r\n")
        self.assertEqual(b"+OK\r\n", read_exactly(sock, 5))
        sock.sendall(request("GET", "huge"))
        head = b"$%d\r\n" % len(value)
        got = read_exactly(sock, len(head) + len(value) + 2)
        self.assertTrue(got == head + value + b"\r\n")

    def test_long_pipelines_of_all_sizes(self):
        self.serve()
        chance = random.Random(8)
        values = [chance.randbytes(int(chance.paretovariate(0.5)) % 70_000) for _ in range(3000)]
        sent = b"".join(request("ECHO", value) for value in values)
        wanted = b"".join(b"$%d\r\n%s\r\n" % (len(value), value) for value in values)
        self.assertTrue(self.exchange(self.connect_tls(), sent, len(wanted)) == wanted)

    def exchange(self, sock, sent, size):
        """Sends and receives at the same time."""
        sock.setblocking(False)
        left, got = memoryview(sent), bytearray()
        end = time.monotonic() + WAIT_S
        while len(got) < size:
            self.assertLess(time.monotonic(), end)
            with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                if left:
                    left = left[sock.send(left[:50_000]):]
            with contextlib.suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError):
                part = sock.recv(1 << 16)
                self.assertTrue(part)
                got += part
                continue
            select.select([sock], [sock] if left else [], [], 1)
        return bytes(got)

    def test_octet_by_octet(self):
        self.serve()
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        end = self.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
        with socket.create_connection(("127.0.0.1", self.tls_port), timeout=WAIT_S) as plain:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def drive(action):
                while True:
                    try:
                        return action()
                    except ssl.SSLWantReadError:
                        for octet in outgoing.read():
                            plain.sendall(bytes([octet]))
                        incoming.write(plain.recv(1 << 16))
            drive(end.do_handshake)
            end.write(request("SET", "k", "v" * 100))
            end.write(request("GET", "k"))
            self.assertEqual(b"+OK\r\n", drive(lambda: end.read(5)))
            self.assertEqual(b"$100\r\n" + b"v" * 100 + b"\r\n", drive(lambda: end.read(200)))

    def test_replies_that_did_not_fit_follow_when_there_is_room(self):
        self.serve()
        sock = self.connect_tls()
        sock.sendall(request("SET", "long", "x" * 60_000))
        sock.sendall(request("GET", "long") * 1000 + request("PING"))
        self.assert_serves()
        size = 5 + 1000 * (len(b"$60000\r\n") + 60_000 + 2) + 7
        got = read_exactly(sock, size)
        self.assertEqual(size, len(got))
        self.assertTrue(got.endswith(b"x\r\n+PONG\r\n"))

    def test_who_says_goodbye_first_still_gets_all_replies(self):
        self.serve()
        for last_word in ("close_notify", "nothing"):
            with socket.create_connection(("127.0.0.1", self.tls_port), timeout=WAIT_S) as plain:
                incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                end = self.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
                while True:
                    try:
                        end.do_handshake()
                        break
                    except ssl.SSLWantReadError:
                        plain.sendall(outgoing.read())
                        incoming.write(plain.recv(1 << 16))
                end.write(b"INCR n\r\n" * 5000)
                if last_word == "close_notify":
                    with contextlib.suppress(ssl.SSLError):
                        end.unwrap()
                plain.sendall(outgoing.read())
                plain.shutdown(socket.SHUT_WR)
                while part := plain.recv(1 << 16):
                    incoming.write(part)
                got = b""
                with contextlib.suppress(ssl.SSLError):
                    while part := end.read(1 << 16):
                        got += part
                self.assertEqual(5000, got.count(b":"), last_word)

    def test_quit_ends_with_a_goodbye(self):
        self.serve()
        sock = self.connect_tls()
        sock.sendall(b"QUIT\r\n")
        self.assertEqual(b"+OK\r\n", sock.recv(100))
        self.assertEqual(b"", sock.recv(100))  # an end without close_notify would raise SSLEOFError
        wait_until(lambda: self.clients() == 1, "its end")

    def test_messages_waits_and_monitoring(self):
        self.serve()
        subscriber, waiter, monitor, speaker = (self.connect_tls() for _ in range(4))
        subscriber.sendall(request("SUBSCRIBE", "news"))
        self.assertEqual(b"*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n", subscriber.recv(100))
        monitor.sendall(request("MONITOR"))
        self.assertEqual(b"+OK\r\n", monitor.recv(100))
        waiter.sendall(request("BLPOP", "list", 0))
        wait_until(lambda: "blocked_clients:1" in ask(self.plain, "INFO", "clients"), "a waiting client")
        self.assertEqual(":1", ask(speaker, "PUBLISH", "news", "hello"))
        self.assertEqual(":1", ask(speaker, "RPUSH", "list", "item"))
        self.assertEqual(b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n", subscriber.recv(100))
        self.assertEqual(b"*2\r\n$4\r\nlist\r\n$4\r\nitem\r\n", waiter.recv(100))
        seen = b""
        while b'"RPUSH" "list" "item"' not in seen:
            seen += monitor.recv(1000)
        self.assertIn(b'"PUBLISH" "news" "hello"', seen)

    def test_new_keys_in_the_middle_of_a_connection(self):
        self.serve()
        with OpenSslClient(self, "-tls1_3") as client:
            for i in range(5):
                client.say(f"PING before{i}", f"before{i}\r\n")
                client.say("K", "KEYUPDATE")
            client.say("PING after", "after\r\n")

    def test_keys_go_to_another_server_through_tls(self):
        source = self.serve("--tls-cluster", "yes")
        source_plain = self.plain
        self.tls_port = free_port()
        target = self.start("--port", "auto", "--tls-port", self.tls_port, "--save", "", *self.files())
        self.assertEqual("+OK", ask(source_plain, "SET", "k", "v" * 200_000))
        self.assertEqual("+OK", ask(source_plain, "MIGRATE", "127.0.0.1", self.tls_port, "k", 0, 5000))
        with connect(target.port) as sock:
            self.assertEqual("v" * 200_000, ask(sock, "GET", "k"))
            # There is no reply in plain text.
            ask(source_plain, "SET", "k", "again")
            answer = ask(source_plain, "MIGRATE", "127.0.0.1", target.port, "k", 0, 300, "REPLACE")
            self.assertEqual("-IOERR error or timeout connecting to the client", answer)
            self.assertEqual("again", ask(source_plain, "GET", "k"))
            self.assertEqual("+OK", ask(source_plain, "CONFIG", "SET", "tls-cluster", "no"))
            self.assertEqual("+OK", ask(source_plain, "MIGRATE", "127.0.0.1", target.port, "k", 0, 5000, "REPLACE"))
            self.assertEqual("again", ask(sock, "GET", "k"))
        self.assertIsNone(source.process.poll())


class HostileTest(TlsServerTest):
    def raw(self, port=None):
        sock = socket.create_connection(("127.0.0.1", port or self.tls_port), timeout=WAIT_S)
        self.addCleanup(sock.close)
        return sock

    def hello(self):
        """A ClientHello of a client that sends nothing more."""
        outgoing = ssl.MemoryBIO()
        end = self.context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()
        return outgoing.read()

    def longest_ping_ms(self, sock, until):
        longest = 0.0
        while not until():
            began = time.monotonic()
            self.assertEqual("+PONG", ask(sock, "PING"))
            longest = max(longest, (time.monotonic() - began) * 1000)
        return longest

    def test_half_open_handshakes_hold_nobody_up(self):
        # A signature with this key takes about five milliseconds.
        expensive = self.authority.issue("expensive", rsa_bits=4096)
        self.serve("--tls-cert-file", expensive.cert, "--tls-key-file", expensive.key)
        bystander = self.assert_serves()
        hello = self.hello()
        half_open = [self.raw() for _ in range(200)]
        for sock in half_open:
            sock.sendall(hello)

        def all_answered():
            return len(select.select(half_open, [], [], 0)[0]) == len(half_open)
        longest = self.longest_ping_ms(bystander, all_answered)
        self.assertLess(longest, 500)  # all handshakes in one turn would take a second
        self.assertEqual(202, self.clients())
        for sock in half_open:
            sock.close()
        wait_until(lambda: self.clients() == 2, "their end")

    def test_a_hello_in_slow_pieces_holds_nobody_up(self):
        self.serve()
        slow = [self.raw() for _ in range(50)]
        for octet in self.hello()[:20]:
            for sock in slow:
                sock.sendall(bytes([octet]))
            self.assert_serves().close()

    def test_a_script_that_runs_forever_is_killed_through_tls(self):
        self.serve("--busy-reply-threshold", "50")
        with connect(self.server.port) as busy:
            busy.sendall(request("EVAL", "while true do end", 0))
            wait_until(lambda: ask(self.plain, "PING").startswith("-BUSY"), "the script")
            self.assertEqual("+OK", ask(self.connect_tls(), "SCRIPT", "KILL"))
            self.assertIn(b"Script killed by user", busy.recv(1000))

    def test_garbage_on_the_tls_port(self):
        self.serve()
        for garbage in (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"*1\r\n$4\r\nPING\r\n", bytes(5000), b"\x16\x03\x01\xff\xff" * 99,
                        self.hello()[:50] + os.urandom(400)):
            sock = self.raw()
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                sock.sendall(garbage)
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(1000):
                    pass
            self.assert_serves().close()
        self.server.wait_for(r"# Error accepting a client connection: error:0A\w+:SSL routines::(http request|wrong version "
                             r"number) \(addr=")
        wait_until(lambda: self.clients() == 1, "their end")

    def test_tls_on_the_plain_port(self):
        self.serve()
        with self.assertRaises(OSError):
            sock = self.raw(self.server.port)
            sock.settimeout(1)
            self.context().wrap_socket(sock, server_hostname="localhost")
        self.assertEqual("+PONG", ask(self.plain, "PING"))

    def test_clients_that_vanish_leave_no_session(self):
        self.serve()
        hello = self.hello()
        for how in ("silent", "half", "connected", "replies"):
            for _ in range(10):
                if how in ("silent", "half"):
                    sock = self.raw()
                    if how == "half":
                        sock.sendall(hello)
                else:
                    sock = self.connect_tls()
                    if how == "replies":
                        sock.sendall(request("SET", "long", "x" * 100_000) + request("GET", "long") * 100)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                sock.close()
            wait_until(lambda: self.clients() == 1, f"the end of those that vanished {how}")
        self.assert_serves()

    def test_a_broken_record_ends_the_connection(self):
        self.serve()
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        end = self.context().wrap_bio(incoming, outgoing, server_hostname="localhost")
        sock = self.raw()
        while True:
            try:
                end.do_handshake()
                break
            except ssl.SSLWantReadError:
                sock.sendall(outgoing.read())
                incoming.write(sock.recv(1 << 16))
        end.write(b"SET broken 1\r\n")
        record = bytearray(outgoing.read())
        record[-1] ^= 1
        sock.sendall(record)
        with contextlib.suppress(ConnectionResetError):
            while sock.recv(1000):
                pass
        self.assertEqual(":0", ask(self.plain, "EXISTS", "broken"))
        wait_until(lambda: self.clients() == 1, "its end")

    def test_nobody_negotiates_anew(self):
        self.serve()
        with OpenSslClient(self, "-tls1_2") as client:
            client.say("PING before", "before\r\n")
            client.say("R", "RENEGOTIATING.*(no renegotiation|handshake failure|closed)")
        self.assert_serves()

    def test_a_storm_of_connections_lets_others_work(self):
        self.serve()
        bystander = self.assert_serves()
        done = threading.Event()

        def storm():
            context = self.context()
            for _ in range(40):
                with socket.create_connection(("127.0.0.1", self.tls_port), timeout=WAIT_S) as plain:
                    with context.wrap_socket(plain, server_hostname="localhost") as sock:
                        sock.sendall(b"PING\r\n")
                        sock.recv(10)
            done.set()
        thread = threading.Thread(target=storm)
        thread.start()
        longest = self.longest_ping_ms(bystander, done.is_set)
        thread.join()
        self.assertLess(longest, 500)


class ToolsTest(TlsServerTest):
    def tool_options(self):
        return ["-p", str(self.tls_port), "--tls", "--cacert", self.authority.cert, "--cert", self.client_pair.cert,
                "--key", self.client_pair.key]

    @unittest.skipUnless(shutil.which("redis-cli"), "no redis-cli")
    def test_redis_cli(self):
        self.serve()
        run = subprocess.run(["redis-cli", *self.tool_options(), "ECHO", "through tls"], capture_output=True, text=True,
                             timeout=WAIT_S, check=True)
        self.assertEqual("through tls\n", run.stdout)

    @unittest.skipUnless(shutil.which("redis-benchmark"), "no redis-benchmark")
    def test_redis_benchmark(self):
        self.serve()
        run = subprocess.run(["redis-benchmark", *self.tool_options(), "-q", "-n", "2000", "-c", "20", "-P", "8", "-t",
                              "ping_mbulk,set,get"], capture_output=True, text=True, timeout=WAIT_S, check=True)
        self.assertEqual(3, run.stdout.count("requests per second"), run.stdout + run.stderr)

    def test_openssl_s_client(self):
        self.serve()
        run = subprocess.run(["openssl", "s_client", "-quiet", "-verify_return_error", "-connect",
                              f"127.0.0.1:{self.tls_port}", "-CAfile", self.authority.cert, "-cert",
                              self.client_pair.cert, "-key", self.client_pair.key], input=b"PING\nQUIT\n",
                             capture_output=True, timeout=WAIT_S, check=False)
        self.assertIn(b"+PONG\r\n+OK\r\n", run.stdout)


if __name__ == "__main__":
    unittest.main()
