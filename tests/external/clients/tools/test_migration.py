"""Moving a data set to another server as RedisShake does in its scanning mode: SCAN, PTTL, DUMP, RESTORE.

The other server is the redis-server of the system. An older one refuses the dumps of a newer one; then the
keys are copied by commands.
"""
import contextlib
import subprocess
import tempfile
import time

import pytest
import redis

import servers

pytestmark = pytest.mark.full

SOURCES = {"of a hash": lambda key, client: ["HSET", key, *flat(client.hgetall(key))],
           "of a list": lambda key, client: ["RPUSH", key, *client.lrange(key, 0, -1)],
           "of a set": lambda key, client: ["SADD", key, *client.smembers(key)],
           "of a zset": lambda key, client: ["ZADD", key, *flat((score, member) for member, score in client.zrange(key, 0, -1, withscores=True))],
           "of a string": lambda key, client: ["SET", key, client.get(key)]}


def flat(pairs):
    return [one for pair in (pairs.items() if isinstance(pairs, dict) else pairs) for one in pair]


@contextlib.contextmanager
def redis_of_the_system():
    port = servers.free_port()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client = redis.Redis("127.0.0.1", port, protocol=2)
        try:
            servers.wait_until(lambda: listens(client), "redis-server")
            yield client
        finally:
            client.close()
            process.terminate()
            process.wait(10)


def listens(client):
    with contextlib.suppress(redis.ConnectionError):
        return client.ping()


@pytest.fixture
def theirs():
    with redis_of_the_system() as client:
        yield client


@pytest.fixture
def ours(start_server):
    with start_server().client(decode_responses=False, protocol=2) as client:
        yield client


def fill(client):
    """Keys of every type, small and large, in all encodings."""
    client.mset({"text": "虎哥", "number": -12345, "long": "x" * 100_000, "repeated": "ab" * 5_000, "": "no name", b"\xff\x00": b"\x00\xff"})
    for kind, size in (("small", 5), ("large", 3_000)):
        client.rpush(f"list:{kind}", *range(size), "text", "y" * 100)
        client.hset(f"hash:{kind}", mapping={f"field{number}": number for number in range(size)})
        client.sadd(f"numbers:{kind}", *range(size))
        client.sadd(f"set:{kind}", *[f"member{number}" for number in range(size)])
        client.zadd(f"zset:{kind}", {f"member{number}": number / 3 for number in range(size)})
        for number in range(size):
            client.xadd(f"stream:{kind}", {"number": number, "text": "z" * (number % 50)}, id=f"{number + 1}-1")
    client.zadd("scores", {"low": "-inf", "high": "inf", "zero": 0, "third": 1 / 3})
    client.rpush("huge elements", "x" * 20_000, "y" * 20_000)
    client.pfadd("visitors", *range(1_000))
    client.geoadd("places", (13.361389, 38.115556, "Palermo"))
    client.setbit("bits", 100_000, 1)
    client.xgroup_create("stream:small", "g1", "0")
    client.xreadgroup("g1", "c1", {"stream:small": ">"}, count=3)
    client.xack("stream:small", "g1", "1-1")
    client.xdel("stream:small", "2-1")
    client.xgroup_create("stream:small", "g2", "$")
    client.set("with an end", "x", px=100_000)
    client.rpush("list with an end", "x")
    client.pexpire("list with an end", 200_000)


def content(client):
    """Returns the whole data set as a client sees it."""
    return {key: (client.type(key), value(client, key), round(client.pexpiretime(key) / 1000)) for key in client.scan_iter(count=100)}


def value(client, key):
    kind = client.type(key)
    if kind == b"stream":
        return (client.xrange(key), [{name: told for name, told in group.items() if name != "consumers"} for group in client.xinfo_groups(key)],
                [client.xpending_range(key, group["name"], "-", "+", 100) and
                 [(row["message_id"], row["consumer"], row["times_delivered"])
                  for row in client.xpending_range(key, group["name"], "-", "+", 100)] for group in client.xinfo_groups(key)],
                {name: told for name, told in client.xinfo_stream(key).items() if "radix" not in name})
    return {b"string": client.get, b"hash": client.hgetall, b"set": client.smembers, b"list": lambda name: client.lrange(name, 0, -1),
            b"zset": lambda name: client.zrange(name, 0, -1, withscores=True)}[kind](key)


def migrate(source, target):
    for key in source.scan_iter(count=100):
        ttl, dump = source.pttl(key), source.dump(key)
        target.restore(key, max(ttl, 0), dump, replace=True)


def dump_version(client):
    client.set("probe", "x")
    version = int.from_bytes(client.dump("probe")[-10:-8], "little")
    client.delete("probe")
    return version


def assert_same(first, second):
    assert first.keys() == second.keys()
    for key in first:
        (kind, what, end), (other_kind, other_what, other_end) = first[key], second[key]
        assert (key, kind, what) == (key, other_kind, other_what)
        assert abs(end - other_end) <= 2


def test_from_redis_server(theirs, ours):
    fill(theirs)
    migrate(theirs, ours)
    assert_same(content(theirs), content(ours))


def test_to_a_second_server_and_back(ours, start_server):
    fill(ours)
    before = content(ours)
    with start_server().client(decode_responses=False, protocol=2) as second:
        migrate(ours, second)
        assert_same(before, content(second))
        ours.flushall()
        migrate(second, ours)
    assert_same(before, content(ours))


def test_dumps_to_redis_server(ours, theirs):
    fill(ours)
    if dump_version(ours) > dump_version(theirs):
        with pytest.raises(redis.ResponseError, match="^DUMP payload version or checksum are wrong$"):
            migrate(ours, theirs)
    else:
        migrate(ours, theirs)
        assert_same(content(ours), content(theirs))


def test_commands_to_redis_server(ours, theirs):
    """Returns the commands that a tool sends to an older target."""
    fill(ours)
    for key in ours.scan_iter(count=100):
        kind = ours.type(key).decode()
        if kind == "stream":
            for entry, fields in ours.xrange(key):
                theirs.execute_command("XADD", key, entry, *flat(fields))
        else:
            theirs.execute_command(*SOURCES[f"of a {kind}"](key, ours))
        if ours.pttl(key) > 0:
            theirs.pexpireat(key, ours.pexpiretime(key))
    ours_now, theirs_now = content(ours), content(theirs)
    for key in [key for key in ours_now if key.startswith(b"stream:")]:
        assert ours_now.pop(key)[1][0] == theirs_now.pop(key)[1][0]
    assert_same(ours_now, theirs_now)


def test_migrate_command_from_redis_server(theirs, ours):
    fill(theirs)
    before = content(theirs)
    port = ours.connection_pool.connection_kwargs["port"]
    keys = [key for key in theirs.keys() if key]
    assert theirs.execute_command("MIGRATE", "127.0.0.1", port, "", 0, 5000, "KEYS", *keys) == b"OK"
    assert theirs.keys() == [b""]
    del before[b""]
    assert_same(before, content(ours))


def test_changes_made_meanwhile_are_followed(ours, theirs):
    """Keyspace events show what has changed since the scan."""
    theirs.config_set("notify-keyspace-events", "KEA")
    theirs.mset({"a": 1, "b": 2})
    with theirs.pubsub(ignore_subscribe_messages=True) as events:
        events.psubscribe("__keyevent@*__:*")
        events.get_message(timeout=5)
        migrate(theirs, ours)
        theirs.set("a", "changed")
        theirs.delete("b")
        end = time.monotonic() + 10
        while ours.mget("a", "b") != [b"changed", None] and time.monotonic() < end:
            message = events.get_message(timeout=1)
            if message:
                key = message["data"]
                dump = theirs.dump(key)
                ours.restore(key, 0, dump, replace=True) if dump else ours.delete(key)
    assert content(ours) == content(theirs)
