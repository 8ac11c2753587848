"""What happens to a connection after a reply: whether it ends, and what the client reads before that. Our server and
the oracle get the same bytes. Texts of errors are compared with Redis 7.2 only. docs/differences.md names endings that
differ on purpose."""
import re
import time
import unittest

import oracles
from two_servers import RESPITE, Server, WAIT_S, encode

MARK = b"mark-of-the-end"
PING = b"PING " + MARK + b"\r\n"
ENDED = b"<ended>"


def inline(*lines):
    return b"".join(line.encode() + b"\r\n" for line in lines)


# Each request is sent together with a PING after it: either the PING's reply arrives, or the connection ends.
ALONE = {
    "QUIT": inline("QUIT"),
    "QUIT with words": inline("QUIT a b"),
    "QUIT in a transaction": inline("MULTI", "QUIT"),
    "QUIT of a subscriber": inline("SUBSCRIBE x", "QUIT"),
    "QUIT of a monitor": inline("MONITOR", "QUIT"),
    "RESET": inline("RESET"),
    "RESET with a word": inline("RESET x"),
    "RESET of a subscriber": inline("SUBSCRIBE x", "RESET"),
    "RESET in a transaction": inline("MULTI", "RESET"),
    "an unknown protocol": inline("HELLO 9"),
    "a wrong login": inline("AUTH nobody x"),
    "a wrong login with HELLO": inline("HELLO 3 AUTH nobody x"),
    "no array": b"*x\r\n",
    "no text": b"*1\r\n:1\r\n",
    "an array too long": b"*2147483648\r\n",
    "a negative array": b"*-1\r\n",
    "an empty array": b"*0\r\n",
    "no size": b"*1\r\n$x\r\n",
    "a negative size": b"*1\r\n$-1\r\n",
    "a size too large": b"*1\r\n$536870913\r\n",
    "an error after a reply": inline("PING") + b"*1\r\n:1\r\n",
    "an error in a transaction": inline("MULTI") + b"*1\r\n:1\r\n",
    "an error of a subscriber": inline("SUBSCRIBE x") + b"*1\r\n:1\r\n",
    "unbalanced quotes": b'SET "a\r\n',
    "a replica's words from a client": inline("REPLCONF x y"),
    "a port that is none": inline("REPLCONF listening-port x"),
    "an acknowledgement from a client": inline("REPLCONF ACK 1"),
    "PSYNC with words that are none": inline("PSYNC x y"),
    "PSYNC FAILOVER with another history": inline("PSYNC " + "0" * 40 + " 1 FAILOVER"),
    "PSYNC in a transaction": inline("MULTI", "PSYNC ? -1", "DISCARD"),
    "PSYNC in a script": inline("EVAL \"return redis.call('PSYNC', '?', '-1')\" 0"),
    "POST": b"POST / HTTP/1.1\r\n",
    "Host": b"Host: x\r\n",
    "POST in an array": encode(["POST", "x"]),
    "POST after a reply": inline("PING", "post x"),
    "POST of a subscriber": inline("SUBSCRIBE x", "POST x"),
    "GET, then Host": b"GET / HTTP/1.1\r\nHost: a\r\n",
    "SHUTDOWN with a word that is none": inline("SHUTDOWN x"),
    "SHUTDOWN ABORT": inline("SHUTDOWN ABORT"),
    "SHUTDOWN in a transaction": inline("MULTI", "SHUTDOWN", "DISCARD"),
    "FAILOVER without replicas": inline("FAILOVER"),
}

# Requests before a login.
STRANGERS = {
    "ten words": encode(["a"] * 10),
    "eleven words": encode(["a"] * 11),
    "a long word": encode(["a" * 16384]),
    "a word too long": b"*1\r\n$16385\r\n",
    "a command": inline("GET x"),
    "QUIT": inline("QUIT"),
    "RESET": inline("RESET"),
    "PSYNC": inline("PSYNC ? -1"),
    "MONITOR": inline("MONITOR"),
    "SHUTDOWN": inline("SHUTDOWN"),
    "POST": b"POST x\r\n",
    "HELLO": inline("HELLO 3"),
    "MULTI": inline("MULTI"),
    "AUTH": inline("AUTH secret"),
}

# Kills that a client sends for itself; ID stands for its own id.
KILLS = ("CLIENT KILL ID ID", "CLIENT KILL ID ID SKIPME no", "CLIENT KILL ID ID SKIPME yes", "CLIENT KILL TYPE normal ID ID",
         "CLIENT KILL USER default ID ID SKIPME no")

# Sent by a client of the user u for itself, and by another client.
USERS = ("ACL DELUSER u", "ACL SETUSER u off", "ACL SETUSER u resetpass", "ACL SETUSER u reset +ping", "ACL SETUSER u -get",
         "ACL SETUSER u resetchannels", "CLIENT KILL USER u", "ACL LOAD")

BLOCKED = (["BLPOP", "k", "0"], ["XREAD", "BLOCK", "0", "STREAMS", "s", "$"], ["WAIT", "3", "0"], ["BZPOPMIN", "z", "0"],
           ["BLMOVE", "k", "l", "LEFT", "LEFT", "0"])
NOT_BLOCKED = (["SUBSCRIBE", "x"], ["WATCH", "k"], ["PING"])


def read_to_the_end(client):
    said = b""
    while MARK not in said:
        try:
            data = client.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            return said + ENDED
        said += data
    return said


class Endings(unittest.TestCase):
    def setUp(self):
        self.servers = []
        self.addCleanup(lambda: [server.stop() for server in self.servers])
        for program in (RESPITE, self.oracle.program):
            self.servers.append(Server(program, needs_debug=self.oracle.numbers >= (7,)))

    def compare(self, name, case):
        """`case` gets a server, and returns what a client reads until its connection ends or the mark arrives."""
        with self.subTest(name):
            ours, theirs = (self.shape(case(server)) for server in self.servers)
            self.oracle.count()
            self.assertEqual(theirs, ours)

    def shape(self, said):
        return said if self.oracle.mark == "7.2" else re.sub(rb"(?m)^-[^\r]*", b"-error", said)

    def said(self, server, *requests):
        client = server.client()
        try:
            client.send(b"".join(requests) + PING)
            return read_to_the_end(client)
        finally:
            client.close()

    def run_all(self, server, *lines):
        admin = server.client()
        for line in lines:
            admin.run(*line.split())
        admin.close()

    def test_alone(self):
        for name, request in ALONE.items():
            self.compare(name, lambda server, request=request: self.said(server, request))

    def test_strangers(self):
        for server in self.servers:
            self.run_all(server, "CONFIG SET requirepass secret")
        for name, request in STRANGERS.items():
            self.compare(name, lambda server, request=request: self.said(server, request, inline("AUTH secret")))

    def test_kills(self):
        def case(server, words):
            client = server.client()
            own = client.run("CLIENT", "ID")[1:-2].decode()
            client.send(encode([own if word == "ID" and words[at - 1] == "ID" else word for at, word in enumerate(words)]) + PING)
            said = read_to_the_end(client)
            client.close()
            return said
        for line in KILLS:
            self.compare(line, lambda server, words=line.split(): case(server, words))

    def test_users(self):
        def case(server, line, by_itself, subscribes):
            self.run_all(server, "ACL SETUSER u reset on nopass +@all ~* &*")
            client = server.client()
            client.run("AUTH", "u", "x")
            if subscribes:
                client.run("SUBSCRIBE", "x")
            if by_itself:
                client.send(encode(line.split()) + PING)
            else:
                self.run_all(server, line)
                try:
                    client.send(PING)
                except OSError:
                    pass
            said = read_to_the_end(client)
            client.close()
            return said
        for line in USERS:
            self.compare(line, lambda server, line=line: case(server, line, True, False))
            self.compare(line + " by another", lambda server, line=line: case(server, line, False, False))
            self.compare(line + " and a subscriber", lambda server, line=line: case(server, line, False, True))

    def test_a_server_that_becomes_a_replica(self):
        def case(server):
            clients = [server.client() for _ in (*BLOCKED, *NOT_BLOCKED)]
            for client, words in zip(clients, (*BLOCKED, *NOT_BLOCKED)):
                client.send(encode(words))
            admin = server.client()
            until = time.monotonic() + WAIT_S
            while f"blocked_clients:{len(BLOCKED)}\r".encode() not in admin.run("INFO", "clients"):
                self.assertLess(time.monotonic(), until)
            for client in clients[:len(BLOCKED)]:
                client.send(PING)  # waits until the client is unblocked
            admin.run("REPLICAOF", "127.0.0.1", "1")
            for client in clients[len(BLOCKED):]:
                client.send(PING)
            said = [read_to_the_end(client) for client in clients]
            said.append(self.said(server, inline("PSYNC ? -1")))
            said.append(self.said(server, inline("SYNC")))
            said.append(self.said(server, inline("FAILOVER")))
            said.append(self.said(server, inline("MULTI", "REPLICAOF NO ONE", "EXEC")))
            for client in (*clients, admin):
                client.close()
            return b"\n".join(said)
        if self.oracle.software != "redis":
            self.skipTest("Valkey has other endings for blocked clients")
        self.compare("REPLICAOF", case)

    def test_a_client_too_many(self):
        def case(server):
            self.run_all(server, "CONFIG SET maxclients 1")
            kept = server.client()
            client = server.client()
            said = read_to_the_end(client)
            client.close()
            kept.close()
            return said
        self.compare("maxclients", case)

    def test_shutdown(self):
        self.compare("SHUTDOWN NOSAVE", lambda server: self.said(server, inline("SHUTDOWN NOSAVE")))


oracles.multiply(globals(), Endings)

if __name__ == "__main__":
    unittest.main()
