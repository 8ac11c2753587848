"""redis-py's client-side caching: the client keeps values until the server invalidates them."""
import pytest
import redis
from redis.cache import CacheConfig
from redis.connection import CacheProxyConnection

import servers

if redis.utils.HIREDIS_AVAILABLE:
    pytest.skip("redis-py caches only with the parser of its own", allow_module_level=True)


@pytest.fixture
def caching(monkeypatch):
    """redis-py requires a server that reports 7.4; the features that it uses exist since 6.0."""
    monkeypatch.setattr(CacheProxyConnection, "MIN_ALLOWED_VERSION", "6.0.0")
    with redis.Redis(servers.HOST, servers.PORT, protocol=3, decode_responses=True, cache_config=CacheConfig()) as client:
        yield client


def gets(client):
    return client.info("commandstats").get("cmdstat_get", {"calls": 0})["calls"]


def test_value_is_asked_for_once(caching, other):
    other.set("k", "v")
    assert caching.get("k") == "v"
    before = gets(other)
    assert [caching.get("k") for _ in range(10)] == ["v"] * 10
    assert gets(other) == before
    assert caching.get_cache().size == 1


def test_change_by_another_client_is_seen(caching, other):
    other.set("k", "old")
    assert caching.get("k") == "old"
    other.set("k", "new")
    servers.wait_until(lambda: caching.get("k") == "new", "the new value")
    other.delete("k")
    servers.wait_until(lambda: caching.get("k") is None, "the end of the key")


def test_change_by_a_script_a_transaction_and_expiry_is_seen(caching, other):
    other.set("k", "0")
    assert caching.get("k") == "0"
    other.eval("return redis.call('SET', KEYS[1], 'script')", 1, "k")
    servers.wait_until(lambda: caching.get("k") == "script", "the value of the script")
    other.pipeline().set("k", "transaction").execute()
    servers.wait_until(lambda: caching.get("k") == "transaction", "the value of the transaction")
    other.pexpire("k", 20)
    servers.wait_until(lambda: caching.get("k") is None, "the end of the key")


def test_own_change_is_seen_at_once(caching):
    caching.set("k", "1")
    assert caching.get("k") == "1"
    caching.set("k", "2")
    assert caching.get("k") == "2"


def test_flush_empties_the_cache(caching, other):
    other.mset({"a": 1, "b": 2})
    assert caching.mget("a", "b") == ["1", "2"]
    other.flushall()
    servers.wait_until(lambda: caching.mget("a", "b") == [None, None], "an empty cache")


def test_hashes_and_ranges_are_cached_too(caching, other):
    other.hset("h", "f", "v")
    other.zadd("z", {"m": 1})
    assert (caching.hget("h", "f"), caching.zrange("z", 0, -1)) == ("v", ["m"])
    other.hset("h", "f", "w")
    other.zrem("z", "m")
    servers.wait_until(lambda: (caching.hget("h", "f"), caching.zrange("z", 0, -1)) == ("w", []), "the new values")
