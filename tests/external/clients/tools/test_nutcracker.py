"""nutcracker (twemproxy) distributes keys over three servers, and removes one that is down."""
import contextlib
import os
import subprocess

import pytest
import redis

import servers

pytestmark = pytest.mark.full


@contextlib.contextmanager
def proxy(folder, backends, password=None, **options):
    port, statistics = servers.free_port(), servers.free_port()
    settings = {"listen": f"127.0.0.1:{port}", "hash": "murmur", "distribution": "modula", "redis": "true", "timeout": 2000, **options}
    lines = ["shop:"] + [f"  {name}: {value}" for name, value in settings.items()] + ["  servers:"]
    lines += [f"   - 127.0.0.1:{server.port}:1 shard{number}" for number, server in enumerate(backends)]
    configuration = folder / "nutcracker.yml"
    configuration.write_text("\n".join(lines) + "\n")
    path = os.pathsep.join([os.environ["PATH"], "/usr/sbin"])
    with open(folder / "nutcracker.log", "wb") as log:
        process = subprocess.Popen(["nutcracker", "-c", configuration, "-s", str(statistics), "-p", folder / "nutcracker.pid"],
                                   stdout=log, stderr=log, cwd=folder, env={**os.environ, "PATH": path})
    try:
        client = redis.Redis("127.0.0.1", port, password=password, decode_responses=True, protocol=2, driver_info=None)
        servers.wait_until(lambda: answers(client), "the proxy")
        yield client
    finally:
        process.terminate()
        process.wait(10)


def answers(client):
    with contextlib.suppress(redis.ConnectionError):
        return client.get("none") is None


@pytest.fixture
def shards(start_server):
    return [start_server() for _ in range(3)]


def test_keys_are_spread_and_found_again(shards, tmp_path):
    with proxy(tmp_path, shards) as client:
        for number in range(300):
            assert client.set(f"user:{number}", number)
        sizes = [shard.client().dbsize() for shard in shards]
        assert sum(sizes) == 300 and all(size > 30 for size in sizes)
        names = [f"user:{number}" for number in range(300)]
        assert client.mget(names) == [str(number) for number in range(300)]
        assert client.delete(*names[:100]) == 100
        assert client.exists("user:5") == 0 and client.get("user:200") == "200"


def test_every_type(shards, tmp_path):
    with proxy(tmp_path, shards) as client:
        assert client.rpush("l", "a", "b") == 2 and client.lrange("l", 0, -1) == ["a", "b"]
        assert client.hset("h", mapping={"f": "v", "g": "w"}) == 2 and client.hgetall("h") == {"f": "v", "g": "w"}
        assert client.sadd("s", "m") == 1 and client.smembers("s") == {"m"}
        assert client.zadd("z", {"m": 1.5}) == 1 and client.zrange("z", 0, -1, withscores=True) == [("m", 1.5)]
        assert client.set("t", "v", ex=100) and 98 <= client.ttl("t") <= 100
        assert client.incr("n") == 1 and client.setnx("n", 5) is False
        assert client.pfadd("visitors", "a", "b") == 1 and client.pfcount("visitors") == 2


def test_scripts_with_a_key(shards, tmp_path):
    unlock = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end"
    with proxy(tmp_path, shards) as client:
        assert client.set("lock", "me", nx=True, px=30_000)
        assert client.set("lock", "you", nx=True, px=30_000) is None
        assert client.eval(unlock, 1, "lock", "you") == 0
        assert client.eval(unlock, 1, "lock", "me") == 1


def test_pipeline_through_the_proxy(shards, tmp_path):
    with proxy(tmp_path, shards) as client, client.pipeline(transaction=False) as pipe:
        for number in range(2000):
            pipe.set(f"k{number}", number).get(f"k{number}")
        assert pipe.execute() == [reply for number in range(2000) for reply in (True, str(number))]


def test_dead_server_is_ejected(shards, tmp_path):
    with proxy(tmp_path, shards, auto_eject_hosts="true", server_failure_limit=1, server_retry_timeout=30_000) as client:
        shards[0].kill()
        stored = 0
        for number in range(60):
            try:
                stored += client.set(f"k{number}", number)
            except redis.RedisError:
                pass  # the first request notices the failure
        assert stored >= 57
        assert sum(shard.client().dbsize() for shard in shards[1:]) == stored


def test_password(start_server, tmp_path):
    """The proxy logs in to the server, and requires the same password from its clients."""
    backend = start_server("--requirepass", "wyt131551")
    with proxy(tmp_path, [backend], password="wyt131551", redis_auth="wyt131551") as client:
        assert client.set("k", "v")
    assert backend.client(password="wyt131551").get("k") == "v"


def test_database(shards, tmp_path):
    with proxy(tmp_path, shards[:1], redis_db=2) as client:
        assert client.set("k", "v")
    assert shards[0].client(db=2).get("k") == "v"
