"""The program as redis-cli: what health checks do with it, with a password and over TLS."""
import os
import subprocess
import unittest

from certificates import Authority
from launcher import SERVER, LaunchTest, call, free_port


class ClientToolTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.tool = self.path("redis-cli")
        os.symlink(os.path.abspath(SERVER), self.tool)

    def answer(self, *words, **variables):
        done = subprocess.run([self.tool, *map(str, words)], capture_output=True, text=True, timeout=20, check=False,
                              stdin=subprocess.DEVNULL, env={**os.environ, **variables})
        return done.returncode, done.stdout, done.stderr

    def test_ping(self):
        server = self.start("--test", "--requirepass", "secret")
        self.assertEqual((0, "PONG\n", ""), self.answer("-p", server.port, "-a", "secret", "PING"))
        self.assertEqual((0, "PONG\n", ""), self.answer("-p", server.port, "--raw", "PING", REDISCLI_AUTH="secret"))
        self.assertEqual((1, "NOAUTH Authentication required.\n", ""), self.answer("-e", "-p", server.port, "PING"))
        code, said, _ = self.answer("-p", server.port, "--user", "nobody", "-a", "wrong", "PING")
        self.assertEqual((0, "NOAUTH Authentication required.\n"), (code, said))
        code, said, error = self.answer("-p", free_port(), "PING")
        self.assertEqual((1, ""), (code, said))
        self.assertIn("Could not connect to Redis at 127.0.0.1:", error)

    def test_tls(self):
        authority, stranger = Authority(self.folder, "authority"), Authority(self.folder, "stranger")
        issued, client = authority.issue("server"), authority.issue("client")
        port = free_port()
        server = self.start("--test", "--tls-port", port, "--tls-cert-file", issued.cert, "--tls-key-file", issued.key,
                            "--tls-ca-cert-file", authority.cert)
        own = ("--cert", client.cert, "--key", client.key)
        to = ("-p", port, "--tls", *own)
        self.assertEqual((0, "PONG\n", ""), self.answer(*to, "--cacert", authority.cert, "--sni", "localhost", "PING"))
        self.assertEqual((0, "PONG\n", ""), self.answer(*to, "--insecure", "PING"))
        long = "x" * 300_000
        self.assertEqual(0, self.answer(*to, "--insecure", "SET", "long", long[:100_000])[0])
        self.assertEqual("+OK", call(server.port, "SET", "long", long))
        self.assertEqual((0, long + "\n", ""), self.answer(*to, "--insecure", "GET", "long"))
        for words, reason in ((("--cacert", stranger.cert, *own), "certificate verify failed|unable to get|self.signed"),
                              ((*own,), "unable to get|self.signed"), (("--cacert", "/no/such.crt"), "No such file"),
                              (("--insecure", "--cert", client.cert, "--key", issued.key), "key values mismatch")):
            with self.subTest(words):
                code, said, error = self.answer("-p", port, "--tls", *words, "PING")
                self.assertEqual((1, ""), (code, said))
                self.assertRegex(error, f"Could not connect to Redis at 127.0.0.1:{port}: .*({reason})")
        self.assertEqual(1, self.answer("-p", port, "--tls", "--insecure", "PING")[0])  # it wants a certificate
        self.assertEqual(1, self.answer("-p", server.port, "--tls", "--insecure", "PING")[0])

    def test_wrong_options(self):
        for words in (("--no-such-option", "PING"), ("--cacert",)):
            code, said, error = self.answer(*words)
            self.assertEqual((1, ""), (code, said))
            self.assertIn("Usage: ", error)


if __name__ == "__main__":
    unittest.main()
