"""The features of a test server through redis-py: time that the test moves, snapshots, worlds, faults. No test
sleeps."""
import re
import subprocess
import threading

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

import servers

HOUR_MS = 3_600_000


@pytest.fixture(scope="module")
def server():
    """Returns a server with test commands; skips the test on Redis, which has none."""
    if not servers.has_test_commands():
        pytest.skip("this server has no TEST")
    server = servers.Server("--test-commands", "local")
    yield server
    server.remove()


@pytest.fixture
def frozen(server):
    """Returns a client of a server that has just been reset, and whose clock stands still."""
    with server.client() as client:
        client.execute_command("TEST", "RESET")
        client.execute_command("TEST", "CLOCK", "FREEZE", "1700000000000")
        yield client


def advance(client, duration):
    assert client.execute_command("TEST", "CLOCK", "ADVANCE", duration) in ("OK", b"OK", True)


def test_a_watchdog_keeps_a_lock(frozen, server):
    lock = frozen.lock("lock:order", timeout=30)
    assert lock.acquire(blocking=False)
    with server.client() as other:
        second = other.lock("lock:order", timeout=30)
        for _ in range(6):  # a minute of a watchdog that renews every 10 s
            advance(frozen, "10s")
            assert lock.reacquire()
            assert not second.acquire(blocking=False)
        advance(frozen, "30s")  # the watchdog has died
        assert second.acquire(blocking=False)
        with pytest.raises(redis.exceptions.LockNotOwnedError):
            lock.release()


def test_a_delayed_queue_delivers_in_time(frozen):
    def now():
        seconds, micros = frozen.time()
        return seconds * 1000 + micros // 1000

    def due():
        return frozen.zrange("delayed", "-inf", now(), byscore=True)

    frozen.zadd("delayed", {"mail": now() + HOUR_MS, "reminder": now() + 2 * HOUR_MS})
    assert due() == []
    advance(frozen, "1h")
    assert due() == ["mail"]
    advance(frozen, "1h")
    assert due() == ["mail", "reminder"]


def test_entries_of_a_dead_consumer_are_claimed_after_an_hour(frozen):
    frozen.xgroup_create("orders", "workers", mkstream=True)
    entry = frozen.xadd("orders", {"id": 1})
    frozen.xreadgroup("workers", "dies", {"orders": ">"})
    advance(frozen, "59m")
    assert frozen.xautoclaim("orders", "workers", "lives", HOUR_MS)[1] == []
    advance(frozen, "1m")
    assert frozen.xpending_range("orders", "workers", "-", "+", 1)[0]["time_since_delivered"] == HOUR_MS
    assert [claimed[0] for claimed in frozen.xautoclaim("orders", "workers", "lives", HOUR_MS)[1]] == [entry]


def test_a_rate_limiter_allows_a_hundred_a_minute(frozen):
    def allowed():
        count = frozen.incr("rate:ann")
        if count == 1:
            frozen.expire("rate:ann", 60)
        return count <= 100

    assert sum(allowed() for _ in range(150)) == 100
    advance(frozen, "59s")
    assert not allowed()
    advance(frozen, "1s")
    assert sum(allowed() for _ in range(150)) == 100


def test_a_session_expires_unless_it_is_used(frozen):
    frozen.hset("session:1", mapping={"user": "ann"})
    frozen.expire("session:1", 1800)
    advance(frozen, "29m")
    assert frozen.expire("session:1", 1800)
    advance(frozen, "29m")
    assert frozen.hget("session:1", "user") == "ann"
    advance(frozen, "1m")
    assert frozen.exists("session:1") == 0


def test_a_cache_with_jitter_expires_key_by_key(frozen, server):
    frozen.config_set("notify-keyspace-events", "Ex")
    with server.client() as other, other.pubsub() as listener:
        listener.psubscribe("__keyevent@*__:expired")
        listener.get_message(timeout=5)
        for number, jitter in enumerate([7, 3, 9, 1, 5]):
            frozen.set(f"page:{number}", "html", ex=60 + jitter)
        advance(frozen, "2m")
        expired = [listener.get_message(timeout=5)["data"] for _ in range(5)]
    assert expired == ["page:3", "page:1", "page:4", "page:0", "page:2"]


def test_a_blocked_client_times_out_when_told(frozen, server):
    with server.client(single_connection_client=True) as waits:
        connection = waits.connection
        connection.send_command("BLPOP", "queue", "0.1")
        while frozen.info("clients")["blocked_clients"] == 0:
            pass
        advance(frozen, "99ms")
        assert not connection.can_read(timeout=0)
        advance(frozen, "1ms")
        assert connection.read_response() is None


@pytest.mark.parametrize("number", range(5))
def test_a_fixture_comes_back_before_each_test(server, number):
    with server.client() as client:
        if "shop" not in str(client.execute_command("TEST", "SNAPSHOT", "LIST")):
            client.execute_command("TEST", "RESET")
            client.execute_command("TEST", "LOAD", "JSON", '{"stock:1": 100, "cart:ann": {"list": ["1", "2"]}}')
            client.execute_command("TEST", "SNAPSHOT", "SAVE", "shop")
        client.execute_command("TEST", "SNAPSHOT", "RESTORE", "shop")
        assert client.execute_command("TEST", "DUMP") == "RPUSH cart:ann 1 2\nSET stock:1 100\n"
        client.decrby("stock:1", number + 1)
        client.flushall() if number % 2 else client.delete("cart:ann")


def test_workers_share_a_server_but_no_data(server):
    urls = [f"redis://world.gw{n}:any@{servers.HOST}:{server.port}/0?decode_responses=True" for n in range(8)]
    clients = [redis.from_url(url) for url in urls]
    for n, client in enumerate(clients):
        assert client.dbsize() == 0
        client.set("worker", n)
        assert len(client.client_list()) == 1
    clients[0].flushall()
    assert [client.get("worker") for client in clients] == [None, *map(str, range(1, 8))]
    for client in clients:
        client.close()


def test_a_retry_after_a_lost_reply_runs_incr_twice(frozen, server):
    frozen.execute_command("TEST", "FAULT", "ADD", "lost", "WHEN", "COMMAND", "INCR*", "DO", "CLOSE-AFTER", "TIMES", 1)
    with server.client(retry=Retry(NoBackoff(), 1), retry_on_error=[redis.exceptions.ConnectionError]) as client:
        assert client.incr("orders") == 2
    assert frozen.execute_command("TEST", "FAULT", "HITS", "lost") == 1
    assert frozen.get("orders") == "2"


def test_a_retry_survives_a_server_that_loads(frozen, server):
    frozen.execute_command("TEST", "FAULT", "ADD", "loads", "WHEN", "COMMAND", "GET", "DO", "ERROR", "LOADING", "TIMES", 2)
    with server.client(retry=Retry(NoBackoff(), 3), retry_on_error=[redis.exceptions.BusyLoadingError]) as client:
        assert client.get("k") is None
    assert frozen.execute_command("TEST", "FAULT", "HITS", "loads") == 2


def test_a_timeout_leaves_no_reply_for_the_next_request(frozen, server):
    frozen.execute_command("TEST", "FAULT", "ADD", "hangs", "WHEN", "COMMAND", "GET", "DO", "SILENCE", "TIMES", 1)
    frozen.set("a", "1")
    with server.client(socket_timeout=0.1, retry=None) as client:
        with pytest.raises(redis.exceptions.TimeoutError):
            client.get("a")
        assert client.echo("mine") == "mine"


@pytest.fixture
def journal(server):
    """Returns a client of a server that has just been reset, and records the requests."""
    with server.client() as client:
        client.execute_command("TEST", "RESET")
        client.execute_command("TEST", "JOURNAL", "START")
        yield client


def test_the_journal_shows_a_lock_that_is_taken_in_two_steps(journal, server):
    with server.client(client_name="app") as app:
        app.setnx("lock", "me")
        app.expire("lock", 30)
    unsafe = ("COMMAND", "setnx", "KEY", "lock", "THEN", "COMMAND", "expire", "KEY", "lock")
    assert journal.execute_command("TEST", "EXPECT", "SEQUENCE", *unsafe) in ("OK", b"OK")
    with pytest.raises(redis.ResponseError) as failure:
        journal.execute_command("TEST", "EXPECT", "COMMAND", "setnx", "CLIENT", "app", "NONE")
    assert re.fullmatch(r"EXPECT wanted none of \[COMMAND setnx CLIENT app\], saw 1: \| #\d+ app: SETNX lock me -> ok",
                        str(failure.value))


def test_a_pipeline_is_one_round_trip(journal, server):
    with server.client(client_name="app") as app:
        app.ping()
        journal.execute_command("TEST", "JOURNAL", "CLEAR")
        pipeline = app.pipeline(transaction=True)
        for number in range(20):
            pipeline.set(f"k{number}", number)
        pipeline.execute()
        journal.execute_command("TEST", "EXPECT", "ROUNDTRIPS", "AT-MOST", 1, "CLIENT", "app")
        for number in range(3):
            app.get(f"k{number}")
        with pytest.raises(redis.ResponseError, match="wanted at most 3 round trips of .CLIENT app., saw 4"):
            journal.execute_command("TEST", "EXPECT", "ROUNDTRIPS", "AT-MOST", 3, "CLIENT", "app")


def test_a_worker_is_awaited_instead_of_a_sleep(journal, server):
    def work():
        with server.client() as worker:
            worker.blpop("jobs")
            worker.set("done", 1)

    thread = threading.Thread(target=work)
    thread.start()
    journal.execute_command("TEST", "AWAIT", "BLOCKED", 1, "KEY", "jobs")
    journal.rpush("jobs", "job")
    journal.execute_command("TEST", "AWAIT", "KEY", "done", "EXISTS")
    thread.join()
    with pytest.raises(redis.ResponseError, match='AWAIT wanted key "done" to be absent, saw a string'):
        journal.execute_command("TEST", "AWAIT", "KEY", "done", "ABSENT", "TIMEOUT", 0)


def test_what_the_application_asked_for_in_vain(frozen, server):
    frozen.execute_command("TEST", "MISSING", "CLEAR")
    with server.client(client_name="app") as app:
        with pytest.raises(redis.ResponseError):
            app.execute_command("FT.SEARCH", "idx", "*")
        assert app.config_get("no-such-directive") == {}
    rows = [row if isinstance(row, dict) else dict(zip(row[::2], row[1::2]))
            for row in frozen.execute_command("TEST", "MISSING")]
    assert [(row["kind"], row["what"], row["name"]) for row in rows if row["name"] == "app"] == [
        ("command", "FT.SEARCH", "app"), ("directive", "no-such-directive", "app")]


def test_the_report_shows_who_held_the_lock(journal, server):
    journal.execute_command("TEST", "CLOCK", "FREEZE", "1700000000000")
    with server.client(client_name="anna") as anna, server.client(client_name="bob") as bob:
        anna.set("lock", "a", nx=True, px=1000)
        bob.set("lock", "b", nx=True, px=1000)
        advance(journal, "2s")
        bob.set("lock", "b", nx=True, px=1000)
    text, page = (journal.execute_command("TEST", "REPORT", form, "KEY", "lock") for form in ("TEXT", "HTML"))
    text, page = (part.decode() if isinstance(part, bytes) else part for part in (text, page))
    assert text.endswith("anna held lock: expired\nbob held lock: still held\n"), text
    assert page.lower().startswith("<!doctype html>") and "anna" in page and "http:" not in page and "https:" not in page


def test_an_order_that_nobody_promised_changes(frozen, server):
    names = {f"name-{i}" for i in range(20)}
    with server.client() as app:
        app.hset("ages", mapping={name: len(name) for name in names})
        frozen.execute_command("TEST", "SHUFFLE", "ON")
        orders = [tuple(app.hkeys("ages")) for _ in range(5)]  # a list, because Python's sets have their own order
        ages = app.hgetall("ages")
    assert len(set(orders)) > 1
    assert all(len(order) == len(names) for order in orders)
    assert {name if isinstance(name, str) else name.decode(): int(age) for name, age in ages.items()} == {
        name: len(name) for name in names}
