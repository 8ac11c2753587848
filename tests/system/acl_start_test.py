"""Users from the configuration: lines of the configuration file, or an ACL file; errors in them are fatal."""
import unittest

import oracles
from launcher import LaunchTest, ask, call, connect
from two_servers import Client, Server, value_of

HASH_OF_X = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"


class AclStartTest(LaunchTest):
    def serve(self, *arguments):
        return self.start(*arguments, "--port", "0", "--unixsocket", self.path("socket"), "--save", "")

    def ask(self, *words):
        return call(self.path("socket"), *words)

    def test_users_of_the_configuration_file(self):
        self.serve(self.write("redis.conf", "user ann on >x ~k* +get (~o* +set)\nuser bob off\n"))
        self.assertEqual(["ann", "bob", "default"], self.ask("ACL", "USERS"))
        with connect(self.path("socket")) as client:
            self.assertEqual("+OK", ask(client, "AUTH", "ann", "x"))
            self.assertEqual("+OK", ask(client, "SET", "other", "v"))
            self.assertEqual("-NOPERM No permissions to access a key", ask(client, "GET", "other"))

    def test_the_default_user_can_be_limited(self):
        self.serve(self.write("redis.conf", "user default on nopass +ping\n"))
        self.assertEqual("+PONG", self.ask("PING"))
        self.assertEqual("-NOPERM User default has no permissions to run the 'get' command", self.ask("GET", "k"))

    def test_a_rewritten_configuration_has_the_users(self):
        path = self.write("redis.conf", "# mine\n")
        server = self.serve(path)
        self.assertEqual("+OK", self.ask("ACL", "SETUSER", "ann", "on", ">x", "+get"))
        self.assertEqual("+OK", self.ask("CONFIG", "REWRITE"))
        self.assertEqual(0, server.stop())
        self.assertIn(f"user ann on sanitize-payload #{HASH_OF_X} resetchannels -@all +get\n", self.read("redis.conf"))
        self.serve(path)
        self.assertEqual(["ann", "default"], self.ask("ACL", "USERS"))

    def test_an_acl_file(self):
        path = self.write("users.acl", f"user ann on #{HASH_OF_X} +@all ~*\nuser default off\n")
        self.serve("--aclfile", path)
        self.assertEqual("-NOAUTH Authentication required.", self.ask("PING"))
        with connect(self.path("socket")) as client:
            self.assertEqual("+OK", ask(client, "AUTH", "ann", "x"))
            self.assertEqual("+OK", ask(client, "ACL", "SETUSER", "bob"))
            self.assertEqual("+OK", ask(client, "ACL", "SAVE"))
        self.assertIn("user bob off sanitize-payload resetchannels -@all\n", self.read("users.acl"))

    def test_with_an_acl_file_requirepass_does_not_count(self):
        self.serve("--aclfile", self.write("users.acl", "user ann on\n"), "--requirepass", "x")
        self.assertEqual("+PONG", self.ask("PING"))

    def test_what_is_wrong_is_fatal(self):
        path = self.write("users.acl", "user ann +foo\n")
        for arguments, reason in (
                (("--user", "ann", "+foo"), "Error loading ACL rule '\\+foo' for the user named 'ann': Unknown command or category"),
                (("--user", "ann", "on", "--user", "ann"), "Error in user declaration 'ann': Duplicate user found"),
                (("--user", "a b"), "Error loading the user 'a b'"),
                (("--aclfile", path), f"because of ACL errors: {path}:1: Error in applying operation '\\+foo'"),
                (("--aclfile", self.path("none")), "because of ACL errors: Error loading ACLs, opening file"),
                (("--aclfile", path, "--user", "ann", "on"), "either an ACL file or declare users directly")):
            with self.subTest(arguments):
                self.assertRegex(self.fails("--port", "0", "--unixsocket", self.path("socket"), *arguments), reason)


class AclExchangeTest(LaunchTest):
    """Users with quotes, backslashes and parentheses: our server writes them so that it and others read the same users.
    Quotes in a first argument (`+select|it's`) are left out because ACL GETUSER of Redis 7.2 and later and of Valkey
    crashes on them."""
    RULES = ['~"x', "~'y", '~a"b"c', "&it's", "~a\\b", '~x"', "~#z", b"~\x80", b"~a\x01b", "~k)", "~x\\", "%R~\"x",
             """("~\\"q" +get)""", "('~a\\\\b' +get)", '("~k)" +get)', '(~"x" &"c\'" +get)', b"(~\x80'' +get)", "(+select|a))", "()"]

    def names(self):
        return [f"u{number}" for number in range(len(self.RULES))] + ["it's", '"', "a\\"]

    def users_of(self, path):
        """Returns what each user may do, by its name."""
        client = Client(path)
        self.addCleanup(client.close)
        users = {}
        for name in self.names():
            fields = value_of(client.run("ACL", "GETUSER", name))
            found = dict(zip(fields[::2], fields[1::2]))
            # Commands, keys, channels; Valkey's selectors also have databases.
            selectors = [selector[:6] for selector in found[b"selectors"]]
            users[name] = [*(found[field] for field in (b"commands", b"keys", b"channels")), selectors]
        return users

    def written(self, *arguments, end):
        """Returns the users of our server after `end`, which writes them, and again after a restart."""
        path = self.path("socket")
        start = lambda: self.start(*arguments, "--port", "0", "--unixsocket", path, "--save", "")  # noqa: E731
        server = start()
        client = Client(path)
        for name, rule in zip(self.names(), [*self.RULES, "on", "on", "on"]):
            self.assertEqual(b"+OK\r\n", client.run("ACL", "SETUSER", name, rule), rule)
        self.assertEqual(b"+OK\r\n", client.run(*end))
        client.close()
        users = self.users_of(path)
        self.assertEqual(0, server.stop())
        again = start()
        self.assertEqual(users, self.users_of(path))
        again.stop()
        return users

    def test_a_rewritten_configuration(self):
        users = self.written(self.write("redis.conf", ""), end=("CONFIG", "REWRITE"))
        with open(self.path("redis.conf"), "rb") as file:
            lines = [line for line in file.read().split(b"\n") if line.startswith(b"user ")]
        self.check_oracle(users, "--include", lines)

    def test_an_acl_file(self):
        users = self.written("--aclfile", self.write("users.acl", ""), end=("ACL", "SAVE"))
        with open(self.path("users.acl"), "rb") as file:
            lines = file.read().split(b"\n")
        self.check_oracle(users, "--aclfile", lines)

    def check_oracle(self, users, option, lines):
        with open(self.path("exchanged"), "wb") as file:
            file.write(b"\n".join(lines) + b"\n")
        other = Server(self.oracle.program, option, self.path("exchanged"), needs_debug=False)
        try:
            theirs = self.users_of(other.path)
        finally:
            other.stop()
        self.assertEqual(users, theirs)
        self.oracle.count(len(users))


oracles.multiply(globals(), AclExchangeTest)


if __name__ == "__main__":
    unittest.main()
