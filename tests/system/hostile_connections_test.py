"""Hostile clients: half-open, slow, greedy and silent connections. No other client may be
affected, and all memory must be released (hostile.py).

Sizes are reduced unless RESPITE_HOSTILE=full; RESPITE_SERVER may also be a redis-server, for comparison."""
import random
import resource
import threading
import time
import unittest

from hostile import SANITIZED, HostileTest, Raw, size
from launcher import few_descriptors, wait_until
from two_servers import encode

HALF_REQUESTS = [b"", b"*", b"*3\r\n$3\r\nSET\r\n$1", b"SET key", b"*2\r\n$3\r\nGET\r\n$3\r\nab", b"*3\r\n$3\r\nSET\r\n$100\r\nabc"]


class HalfOpen(HostileTest):
    def test_connections_that_say_nothing_or_half_a_request(self):
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        count = min(size(2_000, 10_000), soft - 300)
        self.start_server("--maxclients", count + 10)

        def case():
            sockets = self.sockets()
            for half in HALF_REQUESTS:
                sockets.open(count // len(HALF_REQUESTS), half)
            wait_until(lambda: self.clients() >= len(sockets.all), "all to be accepted")
            self.assertLess(self.used_memory(), 4_000_000 + count * 1024)
            sockets.close()
        self.attack(case)

    def test_more_clients_than_allowed_are_told_and_turned_away(self):
        self.start_server("--maxclients", 50)

        def case():
            sockets = self.sockets()
            sockets.open(50 - self.clients())
            wait_until(lambda: self.clients() == 50, "all places to be taken")
            for _ in range(size(500, 5_000)):
                with Raw(self.port) as late:
                    self.assertEqual(b"-ERR max number of clients reached\r\n", late.read_to_end())
            sockets.close()
            wait_until(lambda: self.clients() == 2, "places to be free again")
            with Raw(self.port) as late:
                self.assertEqual(b"+PONG\r\n", late.run("PING"))
        self.attack(case)

    def test_connection_churn(self):
        def case():
            for n in range(size(4_000, 50_000)):
                client = Raw(self.port, source=f"127.0.0.{2 + n % 20}")
                if n % 4:
                    client.send([b"PING\r\n", b"*1\r\n$4\r\nPI", b"SUBSCRIBE a b c\r\nWATCH k\r\nMULTI\r\n"][n % 4 - 1])
                (client.vanish if n % 2 else client.close)()
        self.attack(case)

    def test_descriptors_that_run_out_come_back(self):
        self.start_server("--maxclients", 10_000, before_start=few_descriptors(100))
        places = int(self.admin.value("CONFIG", "GET", "maxclients")[1])
        self.assertLessEqual(places, 100 - 32)

        def case():
            sockets = self.sockets()
            sockets.open(400)
            wait_until(lambda: self.clients() == places, "all places to be taken")
            # The reserve of descriptors suffices for the server's own files. BGSAVE, because SAVE makes the bystander wait
            # for the disk.
            self.assertEqual(b"+Background saving started", self.admin.value("BGSAVE"))
            wait_until(lambda: self.info("persistence", "rdb_bgsave_in_progress") == "0", "the snapshot")
            self.assertEqual("ok", self.info("persistence", "rdb_last_bgsave_status"))
            self.assertNotEqual("-1", self.info("persistence", "rdb_last_bgsave_time_sec"))
            sockets.close()
            wait_until(lambda: self.clients() == 2, "places to be free again")
            with Raw(self.port) as late:
                self.assertEqual(b"+PONG\r\n", late.run("PING"))
        self.attack(case)

    def test_a_malformed_request_behind_one_that_blocks_is_refused(self):
        self.start_server()
        self.admin.value("SET", "canary", "1")
        with Raw(self.port) as client:
            client.send(encode(["BLPOP", "l", "0"]) + b"*2\r\n$4\r\nECHO\r\n$-1\r\n$8\r\nFLUSHALL\r\n")
            wait_until(lambda: self.info("clients", "blocked_clients") == "1", "BLPOP to block")
            self.admin.value("RPUSH", "l", "x")
            self.assertEqual(b"*2\r\n$1\r\nl\r\n$1\r\nx\r\n-ERR Protocol error: invalid bulk length\r\n", client.read_to_end())
        self.assertEqual(1, self.admin.value("EXISTS", "canary"))


class Slow(HostileTest):
    def test_senders_of_one_byte_at_a_time(self):
        request = encode(["SET", "slow", "v" * 10])

        def case():
            sockets = self.sockets()
            sockets.open(size(300, 2_000))
            for n in range(len(request)):
                for sock in sockets.all:
                    sock.send(request[n:n + 1])
            for sock in sockets.all:
                self.assertEqual(b"+OK\r\n", sock.recv(100))
            sockets.close()
        self.attack(case)

    def test_a_large_value_that_arrives_in_crumbs(self):
        def case():
            clients = [self.client() for _ in range(20)]
            for client in clients:
                client.send(b"*3\r\n$3\r\nSET\r\n$4\r\nslow\r\n$1000000\r\n")
            for _ in range(size(300, 1_000)):
                for client in clients:
                    client.send(b"x" * 40)
            self.assertLess(self.used_memory(), 25_000_000)
            for client in clients:
                client.close()
        self.attack(case)

    def test_readers_of_one_byte_at_a_time(self):
        def case():
            self.admin.value("SET", "big", "v" * 1_000_000)
            clients = [self.client() for _ in range(20)]
            for client in clients:
                client.send(b"GET big\r\n" * 20)
            for _ in range(size(200, 2_000)):
                for client in clients:
                    client.socket.recv(1)
            for client in clients:
                client.close()
            self.admin.value("DEL", "big")
        self.attack(case)

    def test_a_pipeline_of_large_values_that_is_never_read_ends_at_the_output_limit(self):
        self.start_server("--client-output-buffer-limit", "normal 20mb 0 0")

        def case():
            self.admin.value("SET", "big", "v" * 1_000_000)
            clients = [self.client() for _ in range(10)]
            for client in clients:
                client.run("PING")  # the server has accepted it
                client.push_without_reading(b"GET big\r\n" * 1_000, limit_s=0.05)
            wait_until(lambda: self.clients() == 2, "them to be closed")
            self.admin.value("DEL", "big")
        self.attack(case)
        self.assertLess(self.peak, 230_000_000)

    def test_small_replies_that_are_never_read_end_at_the_output_limit(self):
        self.start_server("--client-output-buffer-limit", "normal 5mb 0 0")

        def case():
            self.admin.batch([["RPUSH", "list", *range(1_000)]])
            clients = [self.client() for _ in range(5)]
            for client in clients:
                client.run("PING")  # the server has accepted it
                client.push_without_reading(b"LRANGE list 0 -1\r\n" * 10_000, limit_s=0.05)
            wait_until(lambda: self.clients() == 2, "them to be closed")
            self.admin.value("DEL", "list")
        self.attack(case)
        self.assertLess(self.peak, 60_000_000)


class Announcements(HostileTest):
    def announce(self, text, count, bytes_each):
        sockets = self.sockets()
        before = self.used_memory()
        resident = self.resident_bytes()
        sockets.open(count, text)
        time.sleep(0.1)
        wait_until(lambda: self.clients() >= count, "all to be accepted")
        self.assertLess(self.used_memory() - before, 1_000_000 + count * bytes_each)
        if not SANITIZED:
            self.assertLess(self.resident_bytes() - resident, 20_000_000 + count * 70_000)
        return sockets

    def test_bulks_of_a_gigabyte_that_never_come(self):
        self.start_server("--proto-max-bulk-len", "1gb")
        for text in (b"*2\r\n$3\r\nGET\r\n$1073741824\r\n", b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1073741824\r\nx"):
            self.attack(lambda: self.announce(text, size(300, 3_000), 90_000).close())

    def test_requests_of_a_million_words_that_never_come(self):
        for text in (b"*1048576\r\n", b"*1048576\r\n$4\r\nMGET\r\n", b"*1048576\r\n$4\r\nMGET\r\n" + b"$1\r\nk\r\n" * 20):
            self.attack(lambda: self.announce(text, size(300, 3_000), 20_000).close())

    def test_sizes_beyond_the_limits_close_the_connection(self):
        def case():
            for text, error in [
                    (b"*2147483648\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
                    (b"*9223372036854775807\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
                    (b"*99999999999999999999999999\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
                    (b"*1\r\n$536870913\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
                    (b"*1\r\n$9223372036854775808\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
                    (b"*1\r\n$-1\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
                    (b"*1\r\n:1\r\n", b"-ERR Protocol error: expected '$', got ':'\r\n"),
                    (b"*" + b"1" * 70_000, b"-ERR Protocol error: too big mbulk count string\r\n"),
                    (b"*1\r\n$" + b"1" * 70_000, b"-ERR Protocol error: too big bulk count string\r\n"),
                    (b"x" * 70_000, b"-ERR Protocol error: too big inline request\r\n"),
                    (b"GET 'a\r\n", b"-ERR Protocol error: unbalanced quotes in request\r\n")]:
                with Raw(self.port) as client:
                    client.send(text)
                    self.assertEqual(error, client.read_to_end(), text[:30])
        self.attack(case)

    def test_strangers_get_little_room(self):
        self.start_server("--requirepass", "secret")
        self.admin.value("AUTH", "secret")

        def case():
            for text, error in [
                    (b"*11\r\n", b"-ERR Protocol error: unauthenticated multibulk length\r\n"),
                    (b"*1\r\n$16385\r\n", b"-ERR Protocol error: unauthenticated bulk length\r\n")]:
                with Raw(self.port) as client:
                    client.send(text)
                    self.assertEqual(error, client.read_to_end())
            sockets = self.announce(b"*2\r\n$4\r\nAUTH\r\n$16384\r\n" + b"x" * 16_000, size(200, 2_000), 25_000)
            sockets.close()
            with Raw(self.port, window=4096) as client:
                client.push_without_reading(b"ECHO x\r\n" * 500_000, limit_s=0.5)
                client.read_to_end()
        self.attack(case)  # the bystander has no password either, so its refusals take the same path

    def test_limits_hold_for_a_request_whose_beginning_waits_behind_one_that_blocks(self):
        self.start_server()
        with Raw(self.port) as client:
            client.send(encode(["BLPOP", "l", "0"]) + b"*2\r\n$6\r\nSTRLEN\r\n$1100000\r\nabc")
            wait_until(lambda: self.info("clients", "blocked_clients") == "1", "BLPOP to block")
            self.admin.value("CONFIG", "SET", "proto-max-bulk-len", "1mb")
            self.admin.value("RPUSH", "l", "x")
            self.assertEqual(b"*2\r\n$1\r\nl\r\n$1\r\nx\r\n-ERR Protocol error: invalid bulk length\r\n", client.read_to_end())

    def test_limits_hold_for_the_next_request_of_a_pipeline(self):
        self.start_server("--proto-max-bulk-len", "1mb", "--requirepass", "secret")
        lower, higher = (encode(["CONFIG", "SET", "proto-max-bulk-len", limit]) for limit in ("1mb", "512mb"))
        login, large = encode(["AUTH", "secret"]), encode(["STRLEN", "x" * 1_100_000])
        refused = b"-ERR Protocol error: invalid bulk length\r\n"
        for text, replies in [
                (login + higher + large + lower + large, b"+OK\r\n+OK\r\n:0\r\n+OK\r\n" + refused),
                (login + higher + b"PING\r\n" + lower + large[:30], b"+OK\r\n+OK\r\n+PONG\r\n+OK\r\n" + refused),
                (login + encode(["MULTI"]) + higher + encode(["EXEC"]) + large + lower + large,
                 b"+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n:0\r\n+OK\r\n" + refused),
                (login + b"PING\r\nRESET\r\n*11\r\n",
                 b"+OK\r\n+PONG\r\n+RESET\r\n-ERR Protocol error: unauthenticated multibulk length\r\n")]:
            with Raw(self.port) as client:
                client.send(text)
                self.assertEqual(replies, client.read_to_end())

    def test_a_query_buffer_beyond_its_limit_closes_the_connection(self):
        self.start_server("--client-query-buffer-limit", "1mb")

        def case():
            for _ in range(size(10, 100)):
                with Raw(self.port) as client:
                    client.push_without_reading(b"*100000\r\n" + b"$1000\r\n" + b"x" * 1_000 + b"\r\n"
                                                + (b"$1000\r\n" + b"x" * 1_000 + b"\r\n") * 3_000, limit_s=0.5)
                    client.read_to_end()
        self.attack(case)
        self.assertLess(self.peak, 10_000_000)


class Queues(HostileTest):
    def test_transactions_that_grow_and_are_given_up(self):
        words = size(200_000, 3_000_000)

        def case():
            client = self.client()
            client.run("MULTI")
            request = encode(["SET", "key", "value"]) * 1_000
            for _ in range(words // 1_000):
                client.send(request)
                got = 0
                while got < 9 * 1_000:
                    got += len(client.socket.recv(1 << 18))
            client.vanish()
        self.attack(case)

    def test_many_transactions_that_are_never_executed(self):
        def case():
            clients = [self.client() for _ in range(size(100, 1_000))]
            for client in clients:
                client.send(b"MULTI\r\n" + encode(["SET", "k", "v" * 5_000]) * 20)
            for client in clients:
                client.run("DISCARD")
                client.close()
        self.attack(case)

    def test_watches_of_many_keys(self):
        keys = size(20_000, 100_000)

        def case():
            clients = [self.client() for _ in range(3)]
            for client in clients:
                client.batch([["WATCH", *(f"key:{n}" for n in range(start, start + 1_000))] for start in range(0, keys, 1_000)], 1)
            self.admin.value("SET", "key:5", "changed")
            clients[0].run("UNWATCH")
            self.assertEqual([b"+OK\r\n", b"*-1\r\n"], clients[1].batch([["MULTI"], ["EXEC"]]))
            self.admin.value("DEL", "key:5")
            for client in clients:
                client.close()
        self.attack(case)

    def test_many_watches_that_end_at_once(self):
        keys, half = size(100_000, 500_000), size(50_000, 250_000)

        def case():
            watchers = [self.client() for _ in range(2)]
            self.admin.batch([["MSET", *(w for k in range(n, n + 100) for w in (f"key:{k}", "v"))] for n in range(half, keys, 100)], 10)
            for client in watchers:
                client.batch([["WATCH", *(f"key:{k}" for k in range(n, n + 100))] for n in range(0, keys, 100)], 10)
            self.admin.value("FLUSHALL")
            self.assertEqual(b"*-1\r\n", watchers[0].batch([["MULTI"], ["EXEC"]])[1])
            watchers[1].run("MULTI")
            self.assertEqual(b"+OK\r\n", watchers[1].run("DISCARD"))
            watchers[1].batch([["WATCH", *(f"key:{k}" for k in range(n, n + 100))] for n in range(0, keys, 100)], 10)
            self.admin.value("FLUSHALL")
            self.assertEqual(b"*0\r\n", watchers[1].batch([["MULTI"], ["EXEC"]])[1])
            for client in watchers:
                client.close()
        self.attack(case)

    def test_waiting_clients_that_all_go_at_once(self):
        count = size(1_000, 5_000)

        def case():
            sockets = self.sockets()
            sockets.open(count, b"BLPOP line 0\r\n")
            wait_until(lambda: int(self.info("clients", "blocked_clients")) == count, "all to wait")
            self.admin.batch([["RPUSH", "line", "a"], ["SADD", "other", "b"], ["RENAME", "other", "line"], ["DEL", "line"],
                              ["FLUSHALL"]])
            sockets.close()
            wait_until(lambda: int(self.info("clients", "blocked_clients")) == 0, "none to wait")
            sockets.open(count, b"BLPOP line other 0.3\r\n")
            for sock in sockets.all:
                self.assertEqual(b"*-1\r\n", sock.recv(100))
            sockets.close()
            sockets.open(count, b"XREAD BLOCK 0 STREAMS line $\r\n")
            wait_until(lambda: int(self.info("clients", "blocked_clients")) == count, "all to wait")
            self.admin.value("XADD", "line", "1-1", "f", "v")
            for sock in sockets.all:
                self.assertTrue(sock.recv(1_000).startswith(b"*1\r\n"))
            self.admin.value("DEL", "line")
            sockets.close()
        self.attack(case)

    def test_clients_killed_and_paused_over_and_over(self):
        def case():
            rounds = size(50, 300)
            for _ in range(rounds):
                sockets = self.sockets()
                sockets.open(20, b"SUBSCRIBE a\r\nMONITOR\r\n")
                self.admin.value("CLIENT", "KILL", "TYPE", "pubsub")
                self.admin.value("CLIENT", "KILL", "LADDR", f"127.0.0.1:{self.port}", "MAXAGE", "1000000")
                self.admin.batch([["CLIENT", "PAUSE", "9223372036854775", "WRITE"], ["CLIENT", "PAUSE", "0", "WRITE"],
                                  ["CLIENT", "UNPAUSE"]])
                sockets.close()
            self.assertEqual([b"-ERR timeout is negative\r\n"], self.admin.batch([["CLIENT", "PAUSE", "-1"]]))
        self.attack(case)


class Listeners(HostileTest):
    OPTIONS = ("--client-output-buffer-limit", "pubsub 4mb 1mb 1", "--client-output-buffer-limit", "normal 4mb 0 0")

    def test_subscribers_that_never_read(self):
        def case():
            clients = [self.client() for _ in range(size(20, 200))]
            for n, client in enumerate(clients):
                client.run("PING")
                client.send(b"SUBSCRIBE news\r\n" if n % 2 else b"PSUBSCRIBE n* *s\r\n")
            publisher = self.client()
            message = "m" * 20_000
            for _ in range(size(1_000, 3_000)):
                publisher.run("PUBLISH", "news", message)
            wait_until(lambda: self.clients() <= 3, "them to be closed")
            publisher.close()
        self.attack(case)
        self.assertLess(self.peak, size(200, 1_500) * 1_000_000)

    def test_monitors_that_never_read(self):
        def case():
            clients = [self.client() for _ in range(10)]
            for client in clients:
                client.run("MONITOR")
            writer = self.client()
            for _ in range(size(200, 1_000)):
                writer.batch([["SET", "k", "v" * 1_000]] * 100)
            writer.value("DEL", "k")
            wait_until(lambda: self.clients() <= 3, "them to be closed")
            writer.close()
        self.attack(case)
        self.assertLess(self.peak, 120_000_000)

    def test_a_hundred_thousand_patterns(self):
        patterns = size(20_000, 100_000)

        def case():
            client = self.client()
            for start in range(0, patterns, 1_000):
                client.send(encode(["PSUBSCRIBE", *(f"a*{n}*b" for n in range(start, start + 1_000))]))
                for _ in range(1_000):
                    client.read()
            for _ in range(20):
                self.admin.run("PUBLISH", "a123b", "message")
                time.sleep(0.02)
            client.close()
        self.attack(case)

    def test_many_subscribers_of_many_channels_leave_at_once(self):
        def case():
            clients = [self.client() for _ in range(20)]
            for client in clients:
                for start in range(0, size(2_000, 20_000), 1_000):
                    client.send(encode(["SUBSCRIBE", *(f"c{n}" for n in range(start, start + 1_000))]))
                    for _ in range(1_000):
                        client.read()
            for client in clients:
                client.vanish()
        self.attack(case)

    def test_unsubscribing_from_everything(self):
        """Takes many turns, but the confirmations come in a row, with no other reply of the client between."""
        count = size(20_000, 100_000)

        def case():
            client = self.client()
            for n in range(0, count, 100):
                client.send(encode(["SUBSCRIBE", *(f"c{k}" for k in range(n, n + 100))]))
                for _ in range(100):
                    client.read()
            client.send(b"UNSUBSCRIBE\r\nPING\r\n")
            for left in reversed(range(count)):
                self.assertTrue(client.read().endswith(b"\r\n:%d\r\n" % left))
            self.assertEqual(b"+PONG\r\n", client.read())
            self.assertEqual([], self.admin.value("PUBSUB", "CHANNELS"))
            client.close()
        self.start_server("--client-output-buffer-limit", "pubsub 0 0 0")
        self.attack(case)

    def test_broadcast_tracking_of_many_prefixes(self):
        prefixes = size(1_000, 10_000)

        def case():
            clients = [self.client() for _ in range(10)]
            for client in clients:
                client.run("HELLO", "3")
                client.run("CLIENT", "TRACKING", "ON", "BCAST", *(w for n in range(prefixes) for w in ("PREFIX", f"p{n:06}:")))
            for n in range(size(200, 1_000)):
                self.admin.batch([["SET", f"p{n:06}:{k}", "v"] for k in range(50)])
            self.admin.batch([["DEL", *(f"p{n:06}:{k}" for k in range(50))] for n in range(size(200, 1_000))])
            for client in clients:
                client.close()
        self.attack(case)

    def test_tracking_keeps_no_more_keys_than_allowed(self):
        self.start_server("--tracking-table-max-keys", "1000")

        def case():
            client = self.client()
            client.run("HELLO", "3")
            client.run("CLIENT", "TRACKING", "ON")
            for start in range(0, size(50_000, 500_000), 1_000):
                client.send(encode(["MGET", *(f"key:{n}" for n in range(start, start + 1_000))]))
                while client.read()[:1] == b">":
                    pass
            wait_until(lambda: int(self.info("stats", "tracking_total_keys")) <= 1_000, "keys to be forgotten")
            client.close()
        self.attack(case)


class Floods(HostileTest):
    def test_line_ends_without_a_pause_leave_room_for_new_clients(self):
        self.start_server()
        for text in (b"\r\n", b"\n", b"*0\r\n"):
            stop = threading.Event()

            def flood():
                with Raw(self.port) as client:
                    while not stop.is_set():
                        client.send(text * 100_000)
            thread = threading.Thread(target=flood)
            thread.start()
            try:
                for _ in range(20):
                    with Raw(self.port) as late:
                        self.assertEqual(b"+PONG\r\n", late.run("PING"))
            finally:
                stop.set()
                thread.join()

    def test_errors_of_all_kinds(self):
        def case():
            client, rng = self.client(), random.Random(7)
            for _ in range(size(30, 300)):
                client.batch([[rng.choice(["NOSUCH%d" % rng.randrange(10**9), "GET", "EVAL", "XADD", "CLIENT"]),
                               *("x" * rng.randrange(50) for _ in range(rng.randrange(4)))] for _ in range(100)])
                client.batch([["EVAL", f"return redis.error_reply('E{rng.randrange(10**9)} x')", 0] for _ in range(50)])
            self.admin.value("SCRIPT", "FLUSH", "SYNC")
            client.close()
        self.attack(case)

    def test_names_and_logs_do_not_grow(self):
        self.start_server("--slowlog-log-slower-than", "0")

        def case():
            client = self.client()
            self.admin.value("ACL", "SETUSER", "u", "on", ">p")
            for n in range(size(300, 3_000)):
                client.batch([["CLIENT", "SETNAME", "n" * 10_000], ["AUTH", f"user{n}", "x" * 1_000], ["AUTH", f"u{n}" * 1_000, "x"],
                              ["ECHO", "x" * 10_000]])
            self.admin.value("ACL", "DELUSER", "u")
            self.admin.value("ACL", "LOG", "RESET")
            self.admin.value("SLOWLOG", "RESET")
            client.close()
        self.attack(case)


if __name__ == "__main__":
    unittest.main()
