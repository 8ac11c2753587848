"""The journal as a sequence chart (TEST REPORT)."""
import html.parser
import json
import os
import re
import subprocess
import tempfile
import unittest

from hostile import Raw
from launcher import LaunchTest
from test_server_page import lines_of_page, page
from two_servers import encode

UNLOCK = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"
# A script like the one with which Redisson takes a lock.
HASH_LOCK = ("if redis.call('EXISTS',KEYS[1])==0 then redis.call('HINCRBY',KEYS[1],ARGV[1],1) "
             "redis.call('PEXPIRE',KEYS[1],ARGV[2]) return nil end return redis.call('PTTL',KEYS[1])")


class Page(html.parser.HTMLParser):
    """What a browser shows of a report."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.open = [], [], {}, []
        self.feed(text)
        self.close()
        self.data = json.loads(self.texts["script#data"])

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "input"):
            self.open.append(tag + "".join("#" + value for name, value in attrs if name == "id"))

    def handle_endtag(self, tag):
        assert self.open.pop().split("#")[0] == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data


class ReportTest(LaunchTest):
    def setUp(self):
        super().setUp()
        self.server = self.start("--test", "--save", "")
        self.admin = self.client()
        self.lab("CLOCK FREEZE 1700000000000")

    def client(self, name=None):
        client = Raw(self.server.port)
        self.addCleanup(client.close)
        if name is not None:
            self.assertEqual(b"+OK", client.value("CLIENT", "SETNAME", name))
        return client

    def lab(self, words, *more):
        reply = self.admin.value("TEST", *words.split(), *more)
        self.assertFalse(isinstance(reply, bytes) and reply.startswith(b"-"), reply)
        return reply

    def run_all(self, client, *requests):
        return [client.value(*(request.split() if isinstance(request, str) else request)) for request in requests]

    def text(self, *words):
        return self.lab("REPORT TEXT", *words).decode()

    def page(self, *words):
        return Page(self.lab("REPORT HTML", *words).decode())

    def locks(self, *words):
        """Returns client, key, first row, row of its end, and how it ended."""
        data = self.page(*words).data
        return [(data["columns"][column][0], key, begin / 2, end / 2, how)
                for column, _, begin, end, key, how, _ in data["locks"]]


class Text(ReportTest):
    def test_two_clients_and_a_lock(self):
        anna, bob = self.client("anna"), self.client("bob")
        self.lab("JOURNAL START")
        self.run_all(anna, "SET lock a NX PX 1000")
        self.lab("CLOCK ADVANCE 250ms")
        self.run_all(bob, "SET lock b NX PX 1000", "LPUSH lock x")
        self.lab("CLOCK ADVANCE 750ms")
        self.run_all(bob, "SET lock b NX PX 1000", "MULTI", "INCR n", "EXEC")
        self.run_all(bob, ("EVAL", UNLOCK, "1", "lock", "b"))
        self.assertEqual("""\
10 requests of 2 clients from 2023-11-14 22:13:20.000 UTC on, 2 locks, 1 key expired

ms            anna                                                  bob
0.000       + SET lock a NX PX 1000
250.000     |                                                       SET lock b NX PX 1000 -> key exists
250.000     |                                                       LPUSH lock x -> error WRONGTYPE Operation against...
1000.000    - ! lock expired
1000.000                                                          + SET lock b NX PX 1000
1000.000                                                          | MULTI
1000.000                                                          | EXEC
1000.000                                                          |   INCR n
1000.000                                                          | EVAL "if redis.call('GET',KEYS[1])==ARGV[1] then ...
1000.000                                                          |   GET lock
1000.000                                                          -   DEL lock

anna held lock: expired
bob held lock: deleted by bob
""", self.text())

    def test_a_key_of_more_than_a_kilobyte_is_no_lock(self):
        anna = self.client("anna")
        self.lab("JOURNAL START")
        for _ in range(2):
            anna.value("SET", "k" * 1025, "v", "NX")
        self.assertNotIn("key exists", self.text())

    def test_a_client_that_waits(self):
        anna, bob = self.client("anna"), self.client("bob")
        self.lab("JOURNAL START")
        anna.send(encode(["BLPOP", "jobs", "0"]))
        self.lab("AWAIT BLOCKED 1")
        self.run_all(bob, "PING", "RPUSH jobs x")
        self.run_all(bob, "PING")
        lines = [line.split()[1:] for line in self.text().splitlines()[3:]]
        self.assertEqual([["BLPOP", "jobs", "0"], [":", "PING"], [":", "RPUSH", "jobs", "x"], ["PING"]], lines)

    def test_many_clients(self):
        clients = [self.client(f"client-{number}") for number in range(6)]
        self.lab("JOURNAL START")
        for client in clients:
            client.value("PING")
        self.lab("JOURNAL CLEAR")
        self.run_all(clients[3], "SET lock a NX")
        for number in (5, 4, 0, 1):
            clients[number].value("PING")
        self.run_all(clients[3], "DEL lock")
        self.assertEqual(["A  client-3", "B  client-5", "C  client-4", "D  client-0", "E  client-1", "",
                          "ms          A B C D E", "0.000       *          A SET lock a NX", "0.000       | *        B PING",
                          "0.000       |   *      C PING", "0.000       |     *    D PING", "0.000       |       *  E PING",
                          "0.000       *          A DEL lock"], self.text().splitlines()[2:15])
        more = [self.client(f"more-{number}") for number in range(30)]
        for client in more:
            client.value("PING")
        self.assertIn("\n0.000       more-7: PING\n", self.text())

    def test_what_is_shown(self):
        self.assertTrue(self.admin.value("TEST", "REPORT", "TEXT").startswith(b"-ERR there is no journal"))
        self.lab("JOURNAL START")
        self.assertEqual("no requests\n", self.text())
        anna = self.client("anna")
        self.run_all(anna, "GET a", "SET a 1", "GET b")
        self.assertEqual(["GET a", "GET b"], re.findall(r"GET \w", self.text("COMMAND", "get")))
        self.assertEqual(["GET b"], re.findall(r"[GS]ET \w", self.text("KEY", "*", "LAST", "1")))
        self.assertIn("the first 2 are left out", self.text("KEY", "*", "LAST", "1"))
        for words, text in ((("PDF",), b"'PDF' is no form of a report"), (("TEXT", "NONSENSE"), b"'NONSENSE' is not understood"),
                            (("HTML", "LAST", "0"), b"is no number of entries")):
            reply = self.admin.value("TEST", "REPORT", *words)
            self.assertTrue(reply.startswith(b"-ERR") and text in reply, reply)


class Locks(ReportTest):
    def test_how_locks_end(self):
        anna, bob = self.client("anna"), self.client("bob")
        self.lab("JOURNAL START")
        self.run_all(anna, "SETNX a 1", "SET b 1 NX PX 100", "SET c 1 NX", "SET d 1 NX", "SET e 1 NX PX 100")
        self.run_all(anna, "PEXPIRE e 10000")
        self.lab("CLOCK ADVANCE 1s")
        self.run_all(bob, "DEL a", "SET c 2")
        self.run_all(bob, "SET d 1 NX", "FLUSHALL")
        self.run_all(anna, "SET f 1 NX")
        self.assertEqual([
            ("anna", "a", 0.5, 7.5, "deleted by bob"), ("anna", "b", 1.5, 6.5, "expired"),
            ("anna", "c", 2.5, 8.5, "overwritten by bob"), ("anna", "d", 3.5, 10.5, "flushed by bob"),
            ("anna", "e", 4.5, 10.5, "flushed by bob, prolonged 1 times"), ("anna", "f", 11.5, 12, "still held")], self.locks())

    def test_a_lock_of_a_script(self):
        anna, bob = self.client("anna"), self.client("bob")
        self.lab("JOURNAL START")
        take = lambda client, name: client.value("EVAL", HASH_LOCK, "1", "lock", name, "1000")
        self.assertIsNone(take(anna, "anna:1"))
        self.assertEqual(1000, take(bob, "bob:1"))
        self.lab("CLOCK ADVANCE 1s")
        self.assertIsNone(take(bob, "bob:1"))
        self.assertEqual([("anna", "lock", "expired"), ("bob", "lock", "still held")],
                         [(client, key, how) for client, key, _, _, how in self.locks()])

    def test_a_crash_ends_what_is_known(self):
        self.lab("JOURNAL START")
        self.run_all(self.client("anna"), "SET lock 1 NX")
        self.lab("CRASH")
        [(_, key, _, _, how)] = self.locks()
        self.assertEqual(("lock", "unknown since the server was killed"), (key, how))


class Html(ReportTest):
    def test_what_a_row_has(self):
        anna = self.client("anna")
        anna.value("CLIENT", "SETINFO", "LIB-NAME", "mylib")
        self.lab("JOURNAL START")
        self.lab("FAULT ADD late WHEN COMMAND get DO ERROR", "ERR on purpose")
        self.run_all(anna, "SET k v PX 5", "GET k", "LPUSH k 1", "SETNX k w")
        self.lab("CLOCK ADVANCE 5ms")
        data = self.page().data
        [[name, library, address, lanes]] = data["columns"]
        self.assertEqual(("anna", "mylib", 0), (name, library, lanes))
        self.assertTrue(address.startswith("127.0.0.1:"))
        self.assertEqual([
            [0, 0, "o", 0, "SET k v PX 5", ""], [0, 0, "f", 0, "GET k", "fault late"],
            [0, 0, "e", 0, "LPUSH k 1", "error WRONGTYPE Operation against a key holding the wrong kind of value"],
            [0, 0, "m", 0, "SETNX k w", "key exists"], [5000, -1, "x", 0, "k expired", ""]], data["rows"])

    def test_octets_of_clients_stay_in_their_place(self):
        hostile = [b"</script><script>alert(1)</script>", b"<!--<script>", b"]]>", b"\"'&<>\\", b"\0\x01\x7f\xff\xc3\x28\xed\xa0\x80",
                   "\u2028\u2029\u202e\ufeff".encode(), b"</noscript></pre><img src=x onerror=alert(1)>", b"\r\n\t", "\u00fc\u6f22\U0001f600".encode()]
        anna = self.client("<b>anna</b>&")
        self.lab("JOURNAL START")
        for word in hostile:
            anna.value("SET", word, word, "NX")
            anna.value(word)
        page = self.page()
        plain = Page(self.page_of_nobody())
        self.assertEqual(plain.tags, page.tags)
        self.assertEqual(plain.attributes, page.attributes)
        self.assertEqual("<b>anna</b>&", page.data["columns"][0][0])
        texts = [row[4] for row in page.data["rows"]]
        self.assertIn("</script><script>alert(1)</script>", texts[0])
        self.assertFalse([text for text in texts if re.search("[\0-\x1f\x7f\u2028\u2029\u202e\ufeff]", text)], texts)
        self.assertIn('"\\x00\\x01\\x7f\\xff\\xc3(\\xed\\xa0\\x80"', texts[8])
        self.assertIn("\u00fc\u6f22\U0001f600", texts[-1])

    def page_of_nobody(self):
        self.lab("JOURNAL CLEAR")
        self.client("x").value("PING")
        return self.lab("REPORT HTML").decode()

    def test_nothing_comes_from_elsewhere(self):
        self.lab("JOURNAL START")
        text = self.lab("REPORT HTML").decode()
        self.assertNotRegex(text, r"https?:|//[a-z]|url\(|@import|src=|href=|innerHTML|document\.write|eval\(")
        self.assertIn("default-src 'none'", text)

    def test_ten_thousand_entries(self):
        anna, bob = self.client("anna"), self.client("bob")
        self.lab("JOURNAL START LAST 20000")
        for client in (anna, bob):
            client.batch([words for number in range(2000)
                          for words in (("SET", f"lock:{number}", "t", "NX", "PX", "1000"), ("INCR", "stock"), ("GET", "stock"))])
        page = self.page()
        self.assertEqual(10_000, len(page.data["rows"]))
        self.assertIn("the first 2000 are left out", page.texts["p"])
        self.assertLess(len(self.lab("REPORT HTML")), 4_000_000)
        self.assertEqual(12_000, len(self.page("LAST", "20000").data["rows"]))


class Docs(ReportTest):
    def test_the_lines_of_the_page(self):
        self.lab("JOURNAL START")
        lines = lines_of_page("A picture of the journal", beginning="TEST ")
        self.assertEqual(2, len(lines))
        for line in lines:
            self.lab(line.removeprefix("TEST "))

    def test_the_text_of_the_page(self):
        """The chart on the page shows these requests."""
        anna, bob = self.client("worker-1"), self.client("worker-2")
        self.lab("JOURNAL START")
        self.run_all(anna, "SET lock:7 a NX PX 1000", "GET stock")
        self.lab("CLOCK ADVANCE 400ms")
        self.run_all(bob, "SET lock:7 b NX PX 1000")
        self.lab("CLOCK ADVANCE 600ms")
        self.run_all(bob, "SET lock:7 b NX PX 1000", "DECR stock")
        self.run_all(anna, "SET stock 41", "DEL lock:7")
        self.assertIn("```\n" + self.text() + "```\n", page("testing/report.md"))

    def test_the_lines_of_readme(self):
        lines = re.findall(r"^    (redis-cli TEST .*)$", page("../README.md"), re.M)
        self.assertEqual(2, len(lines))
        anna = self.client("anna")
        with tempfile.TemporaryDirectory() as folder:
            shell = f'redis-cli() {{ command redis-cli -p {self.server.port} "$@"; }}\n'
            for line in lines:
                subprocess.run(["bash", "-c", shell + line], cwd=folder, check=True, timeout=60, stdout=subprocess.DEVNULL)
                self.run_all(anna, "SET lock:7 a NX PX 1000")
            with open(os.path.join(folder, "report.html"), encoding="utf-8") as file:
                self.assertIn("SET lock:7 a NX PX 1000", file.read())


if __name__ == "__main__":
    unittest.main()
