"""What programs do with time, tested on a server whose clock stands still until the test moves it (docs/test_server.md): no test
sleeps. Each prints how long it took."""
import os
import time

import pytest
import redis

from test_redis_py_scripts import ACQUIRE, RENEW

TEST_SERVER = os.environ.get("REDIS_TEST_SERVER", "")
pytestmark = pytest.mark.skipif(not TEST_SERVER, reason="the server has no test commands")

# Takes the jobs that are due by the clock of the server, as queues with delays do.
TAKE_DUE = """
local now = redis.call('TIME')
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now[1] * 1000 + math.floor(now[2] / 1000))
if #due > 0 then redis.call('ZREM', KEYS[1], unpack(due)) end
return due"""
# So many calls a minute, counted from the first.
ALLOW = """
local calls = redis.call('INCR', KEYS[1])
if calls == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return calls <= tonumber(ARGV[1])"""


class Clock:
    """The clock of the server: it stands still but for advance() and next()."""

    def __init__(self, client):
        self.client = client

    def advance(self, duration):
        assert self.client.execute_command("TEST", "CLOCK", "ADVANCE", duration) == "OK"

    def next(self):
        return self.client.execute_command("TEST", "CLOCK", "NEXT")

    def now_ms(self):
        seconds, microseconds = self.client.time()
        return seconds * 1000 + microseconds // 1000


@pytest.fixture
def timed():
    """A client of the server with test commands, reset."""
    host, port = TEST_SERVER.split(":")
    with redis.Redis(host, int(port), decode_responses=True) as client:
        assert client.execute_command("TEST", "RESET") == "OK"
        yield client
        client.execute_command("TEST", "RESET")


@pytest.fixture
def clock(timed):
    timed.execute_command("TEST", "CLOCK", "FREEZE")
    begin = time.perf_counter()
    yield Clock(timed)
    print(f"{(time.perf_counter() - begin) * 1000:.1f} ms")


def test_lock_of_30_seconds_with_a_watchdog_every_10(timed, clock):
    lock, holder, other = "lock:order", "uuid:1", "uuid:2"
    assert timed.eval(ACQUIRE, 1, lock, 30_000, holder) is None
    for _ in range(6):
        clock.advance("10s")
        assert timed.pttl(lock) == 20_000
        assert timed.eval(RENEW, 1, lock, 30_000, holder) == 1
    assert timed.eval(ACQUIRE, 1, lock, 30_000, other) == 30_000
    clock.advance("29999ms")
    assert timed.eval(ACQUIRE, 1, lock, 30_000, other) == 1
    clock.advance("2ms")
    assert timed.eval(RENEW, 1, lock, 30_000, holder) == 0
    assert timed.eval(ACQUIRE, 1, lock, 30_000, other) is None


def test_delayed_queue(timed, clock):
    begin = clock.now_ms()
    timed.zadd("delayed", {"mail": begin + 60_000, "report": begin + 3_600_000, "invoice": begin + 60_000})
    take = timed.register_script(TAKE_DUE)
    assert take(["delayed"]) == []
    clock.advance("59999ms")
    assert take(["delayed"]) == []
    clock.advance("1ms")
    assert sorted(take(["delayed"])) == ["invoice", "mail"]
    clock.advance("59m")
    assert take(["delayed"]) == ["report"]
    assert timed.zcard("delayed") == 0


def test_pending_entries_are_claimed_after_an_hour(timed, clock):
    timed.xgroup_create("orders", "workers", "0", mkstream=True)
    entry = timed.xadd("orders", {"item": "1"})
    assert entry == f"{clock.now_ms()}-0"
    timed.xreadgroup("workers", "dead", {"orders": ">"})
    clock.advance("59m")
    assert timed.xautoclaim("orders", "workers", "alive", 3_600_000)[1] == []
    clock.advance("1m")
    assert timed.xpending_range("orders", "workers", "-", "+", 10)[0]["time_since_delivered"] == 3_600_000
    assert timed.xautoclaim("orders", "workers", "alive", 3_600_000)[1] == [(entry, {"item": "1"})]
    assert timed.xack("orders", "workers", entry) == 1


def test_rate_limiter_of_100_a_minute(timed, clock):
    def allowed(calls):
        pipeline = timed.pipeline(transaction=False)
        for _ in range(calls):
            pipeline.eval(ALLOW, 1, "calls:alice", 100, 60)
        return sum(reply == 1 for reply in pipeline.execute())

    assert allowed(40) == 40
    clock.advance("30s")
    assert allowed(70) == 60
    clock.advance("29999ms")
    assert allowed(1) == 0
    clock.advance("2ms")
    assert allowed(101) == 100


def test_session_expires_30_minutes_after_its_last_use(timed, clock):
    timed.set("session:1", "alice", ex=1800)
    for _ in range(3):
        clock.advance("29m")
        assert timed.getex("session:1", ex=1800) == "alice"
    clock.advance("1799999ms")
    assert timed.get("session:1") == "alice"
    clock.advance("2ms")
    assert timed.get("session:1") is None


def test_session_end_is_told(timed, clock):
    timed.config_set("notify-keyspace-events", "Ex")
    with timed.pubsub(ignore_subscribe_messages=True) as listener:
        listener.subscribe("__keyevent@0__:expired")
        assert listener.get_message(timeout=10) is None
        timed.set("session:1", "alice", ex=1800)
        clock.advance("30m")
        assert listener.get_message(timeout=10)["data"] == "session:1"


def test_cache_with_jitter_expires_little_by_little(timed, clock, chance):
    jitters = [chance.randrange(60) for _ in range(200)]
    with timed.pipeline(transaction=False) as pipeline:
        for i, jitter in enumerate(jitters):
            pipeline.set(f"cache:{i}", "value", ex=600 + jitter)
        pipeline.execute()
    clock.advance("599999ms")
    assert timed.dbsize() == 200
    clock.advance("2ms")
    for second in range(0, 60, 5):
        assert timed.dbsize() == sum(jitter > second for jitter in jitters)
        clock.advance("5s")
    assert timed.dbsize() == 0


def test_next_jumps_from_deadline_to_deadline(timed, clock):
    begin = clock.now_ms()
    timed.set("cache:1", "value", ex=600)
    timed.set("cache:2", "value", ex=630)
    assert clock.next()
    assert ((clock.now_ms() - begin) // 1000, timed.keys()) == (600, ["cache:2"])
    assert clock.next()
    assert ((clock.now_ms() - begin) // 1000, timed.keys()) == (630, [])
    assert clock.next() is None
