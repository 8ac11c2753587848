"""Programs that read the stream of a primary without being a server. The test repeats byte by byte what they send:
RedisShake (its sync reader, version 4) and redis-rdb-cli (its library redis-replicator)."""
import re
import socket
import subprocess
import tempfile
import unittest

import oracles
from launcher import free_port, wait_until
from two_servers import RESPITE, WAIT_S, Server, encode, value_of

MARK_OCTETS = 40
WRITES = 200


class Reader:
    """A socket from which bytes are read as a stream."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        self.buffer = b""

    def close(self):
        self.socket.close()

    def send(self, *words):
        self.socket.sendall(encode(words))

    def fill(self):
        data = self.socket.recv(16 * 1024)
        if not data:
            raise ConnectionResetError("the server hung up")
        self.buffer += data

    def take(self, octets):
        while len(self.buffer) < octets:
            self.fill()
        taken, self.buffer = self.buffer[:octets], self.buffer[octets:]
        return taken

    def line(self):
        while b"\n" not in self.buffer:
            self.fill()
        return self.take(self.buffer.index(b"\n") + 1)

    def answer(self, *words):
        """Returns the line of an answer after empty lines, which keep the connection alive."""
        self.send(*words)
        return self.next_line().rstrip(b"\r\n")

    def next_line(self):
        while (line := self.line()) == b"\n":
            pass
        return line

    def bulk(self, *words):
        head = self.answer(*words)
        assert head.startswith(b"$"), head
        return self.take(int(head[1:]) + 2)[:-2]

    def has_more(self):
        """Returns whether more bytes have arrived by now."""
        self.socket.setblocking(False)
        try:
            self.fill()
        except BlockingIOError:
            pass
        finally:
            self.socket.settimeout(WAIT_S)
        return bool(self.buffer)

    def request(self):
        """Returns the arguments of the stream's next request, and its bytes."""
        head = self.line()
        text = head
        words = []
        assert head.startswith(b"*"), head
        for _ in range(int(head[1:])):
            size = self.line()
            assert size.startswith(b"$"), size
            word = self.take(int(size[1:]) + 2)
            text += size + word
            words.append(word[:-2])
        return words, text


class Readers:
    """Each test runs against our server and against the oracle: the expectations are what a real primary sends."""

    def primary(self, *options):
        self.port = free_port()
        server = Server(self.program, "--port", str(self.port), "--repl-diskless-sync-delay", "0", "--save", "", "--hz", "50",
                        *options)
        self.addCleanup(server.stop)
        self.client = server.client()
        self.addCleanup(self.client.close)
        for i in range(100):
            self.client.run("SET", f"key{i}", "x" * i)
        self.client.run("RPUSH", "list", *range(50))
        return server

    def reader(self):
        reader = Reader(self.port)
        self.addCleanup(reader.close)
        return reader

    def info(self, field, section="replication"):
        text = value_of(self.client.run("INFO", section)).decode()
        found = re.search(rf"^{field}:(.*)$", text, re.M)
        return found and found[1].strip()

    def wait_until_online(self):
        """A primary ignores acknowledgements until it has reaped the child process that wrote the snapshot."""
        wait_until(lambda: b"state=online" in value_of(self.client.run("INFO", "replication")), "the replica")

    def check_dump(self, rdb):
        """redis-check-rdb finds 101 keys in it."""
        with tempfile.NamedTemporaryFile(suffix=".rdb") as file:
            file.write(rdb)
            file.flush()
            said = subprocess.run([self.oracle.tool("check-rdb"), file.name], capture_output=True, text=True, timeout=60, check=False)
        if self.program != self.oracle.program and self.oracle.version < (7, 2):
            return  # it does not know the version of the file
        self.assertIn("101 keys read", said.stdout)
        self.assertEqual(0, said.returncode, said.stdout)

    def write_and_follow(self, reader, offset, acknowledge):
        """The stream has all writes in order, and its length is the offset that INFO reports."""
        for i in range(WRITES):
            self.client.run("INCR", "n")
            if i % 50 == 0:
                self.client.run("SELECT", i // 50)
        seen = 0
        while seen < WRITES:
            words, text = reader.request()
            offset += len(text)
            if words[0].upper() == b"INCR":
                seen += 1
            else:
                self.assertIn(words[0].lower(), (b"select", b"ping", b"set"))
        self.client.run("SELECT", 0)
        acknowledge(offset)
        wait_until(lambda: re.search(rf"slave0:.*state=online,offset={offset},lag=[01]", value_of(self.client.run("INFO", "replication"))
                                     .decode()), f"the acknowledgement of {offset}")
        self.assertEqual(str(offset), self.info("master_repl_offset"))
        return offset

    # --- RedisShake: it sends REPLCONF listening-port, perhaps REPLCONF CAPA EOF, then INFO persistence and PSYNC ? -1.
    # After the snapshot it sends an acknowledgement every 100 ms.

    def shake_greets(self, reader, *, tries_diskless):
        self.assertTrue(reader.bulk("info", "server").startswith(b"# Server"))
        self.assertEqual(b"+OK", reader.answer("replconf", "listening-port", "0"))
        if tries_diskless:
            self.assertEqual(b"+OK", reader.answer("REPLCONF", "CAPA", "EOF"))
        wait_until(lambda: b"rdb_bgsave_in_progress:0" in reader.bulk("INFO", "persistence"), "the end of a snapshot")
        answer = reader.answer("PSYNC", "?", "-1")
        match = re.fullmatch(rb"\+FULLRESYNC ([0-9a-f]{40}) (\d+)", answer)
        self.assertTrue(match, answer)
        return int(match[2])

    def test_redis_shake_reads_a_file(self):
        self.primary()
        reader = self.reader()
        offset = self.shake_greets(reader, tries_diskless=False)
        head = reader.next_line()
        self.assertTrue(re.fullmatch(rb"\$\d+\r\n", head), head)
        self.check_dump(reader.take(int(head[1:])))
        self.write_and_follow(reader, offset, lambda to: reader.send("replconf", "ack", to))

    def test_redis_shake_reads_a_pipe(self):
        self.primary()
        reader = self.reader()
        offset = self.shake_greets(reader, tries_diskless=True)
        head = reader.next_line()
        self.assertTrue(head.startswith(b"$EOF:"), head)
        mark = head[5:].strip()
        self.assertEqual(MARK_OCTETS, len(mark))
        rdb = b""
        self.client.run("SET", "key0", "")  # in the stream, which must not be sent before the acknowledgement:
        while not rdb.endswith(mark):       # it looks for the mark at the end of what it has read
            if not reader.buffer:
                reader.fill()
            rdb += reader.take(len(reader.buffer))
        self.check_dump(rdb[:-MARK_OCTETS])
        self.client.run("SET", "key0", "again")  # the server sends the stream before it answers this
        self.wait_until_online()
        self.assertFalse(reader.has_more())
        reader.send("replconf", "ack", offset)
        words, text = reader.request()
        if words[0].lower() == b"select":
            offset += len(text)
            words, text = reader.request()
        self.assertEqual(b"SET", words[0].upper())
        self.write_and_follow(reader, offset + len(text), lambda to: reader.send("replconf", "ack", to))

    def test_a_failover_to_a_replica_that_has_not_spoken_yet(self):
        """INFO reports the reader as online as soon as it has the snapshot, so FAILOVER chooses it, and waits for its
        acknowledgement."""
        self.primary()
        reader = self.reader()
        self.assertEqual(b"+OK", reader.answer("REPLCONF", "listening-port", "1"))
        self.assertEqual(b"+OK", reader.answer("REPLCONF", "CAPA", "EOF"))
        self.assertTrue(reader.answer("PSYNC", "?", "-1").startswith(b"+FULLRESYNC"))
        mark = reader.next_line()[5:].strip()
        while not reader.buffer.endswith(mark):
            reader.fill()
        self.wait_until_online()
        self.client.run("SET", "k", "v")  # makes it lag
        self.assertEqual(b"+OK", value_of(self.client.run("FAILOVER", "TO", "127.0.0.1", "1")))
        self.assertIn(b"master_failover_state:waiting-for-sync", value_of(self.client.run("INFO", "replication")))
        self.assertEqual(b"+OK", value_of(self.client.run("FAILOVER", "ABORT")))

    # --- redis-rdb-cli: it sends AUTH, then REPLCONF listening-port, ip-address, capa eof and capa psync2 one by one,
    # then PSYNC with the history that it knows, and an acknowledgement every second. After a break it requests the byte
    # after its last one.

    def replicator_greets(self, reader, history="?", offset=-1):
        self.assertEqual(b"+OK", reader.answer("AUTH", "secret"))
        port = reader.socket.getsockname()[1]
        for words in (("listening-port", port), ("ip-address", "127.0.0.1"), ("capa", "eof"), ("capa", "psync2")):
            self.assertEqual(b"+OK", reader.answer("REPLCONF", *words))
        return reader.answer("PSYNC", history, offset)

    def test_redis_rdb_cli_goes_on_after_a_break(self):
        self.primary()
        self.client.run("CONFIG", "SET", "requirepass", "secret")
        reader = self.reader()
        answer = self.replicator_greets(reader)
        match = re.fullmatch(rb"\+FULLRESYNC ([0-9a-f]{40}) (\d+)", answer)
        self.assertTrue(match, answer)
        history, offset = match[1].decode(), int(match[2])
        head = reader.next_line()
        mark = head[5:].strip()
        rdb = b""
        while not rdb.endswith(mark):
            rdb += reader.take(1)
        self.check_dump(rdb[:-MARK_OCTETS])
        self.wait_until_online()
        reader.send("REPLCONF", "ACK", offset)
        offset = self.write_and_follow(reader, offset, lambda to: reader.send("REPLCONF", "ACK", to))
        reader.close()
        self.client.run("SET", "key0", "between")
        again = self.reader()
        self.assertEqual(b"+CONTINUE " + history.encode(), self.replicator_greets(again, history, offset + 1))
        words, text = again.request()
        if words[0].lower() == b"select":
            offset += len(text)
            words, text = again.request()
        self.assertEqual([b"SET", b"key0", b"between"], words)
        again.send("REPLCONF", "ACK", offset + len(text))
        self.assertEqual("1", self.info("sync_partial_ok", "stats"))
        self.write_and_follow(again, offset + len(text), lambda to: again.send("REPLCONF", "ACK", to))

    def test_a_reader_of_before_psync(self):
        """redis-replicator falls back to SYNC, as readers for Redis before 2.8 do: a bulk string, then the stream."""
        self.primary("--repl-diskless-sync", "no")
        reader = self.reader()
        reader.send("SYNC")
        head = reader.next_line()
        self.assertTrue(re.fullmatch(rb"\$\d+\r\n", head), head)
        self.check_dump(reader.take(int(head[1:])))
        self.client.run("SET", "key0", "new")
        words, _ = reader.request()
        while words[0].lower() in (b"select", b"ping"):  # Valkey 9.1 pings immediately
            words, _ = reader.request()
        self.assertEqual([b"SET", b"key0", b"new"], words)
        # It acknowledges nothing, and is served nevertheless.
        self.assertRegex(value_of(self.client.run("INFO", "replication")).decode(), "slave0:.*state=online,offset=0")

    def test_a_reader_that_comes_while_the_server_has_no_link_is_told_so(self):
        self.primary()
        self.client.run("REPLICAOF", "127.0.0.1", free_port())
        reader = self.reader()
        answer = reader.answer("PSYNC", "?", "-1")
        self.assertTrue(answer.startswith(b"-NOMASTERLINK"), answer)


class ReadersOfOurs(Readers, unittest.TestCase):
    def setUp(self):
        self.program = RESPITE


class ReadersOfTheOracle(Readers, unittest.TestCase):
    def setUp(self):
        self.program = self.oracle.program

    def tearDown(self):
        self.oracle.count()


oracles.multiply(globals(), ReadersOfOurs, ReadersOfTheOracle)


if __name__ == "__main__":
    unittest.main()
