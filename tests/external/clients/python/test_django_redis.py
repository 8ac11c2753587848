"""django-redis: Django's cache, sessions, and its own extensions."""
import threading

import django
import pytest
from django.conf import settings

import servers

settings.configure(
    SECRET_KEY="tests only", USE_TZ=True, INSTALLED_APPS=[], SESSION_ENGINE="django.contrib.sessions.backends.cache",
    CACHES={
        "default": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": f"redis://{servers.HOST}:{servers.PORT}/1",
                    "KEY_PREFIX": "shop", "TIMEOUT": 300},
        "json": {"BACKEND": "django_redis.cache.RedisCache", "LOCATION": f"redis://{servers.HOST}:{servers.PORT}/2",
                 "OPTIONS": {"SERIALIZER": "django_redis.serializers.json.JSONSerializer",
                             "COMPRESSOR": "django_redis.compressors.zlib.ZlibCompressor"}},
        "django": {"BACKEND": "django.core.cache.backends.redis.RedisCache",
                   "LOCATION": f"redis://{servers.HOST}:{servers.PORT}/3"}})
django.setup()

from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402  (needs the settings)
from django.core.cache import caches  # noqa: E402
from django_redis import get_redis_connection  # noqa: E402

pytestmark = pytest.mark.full


@pytest.fixture(params=["default", "json", "django"])
def cache(request):
    return caches[request.param]


def test_values_of_every_kind(cache):
    cache.set("user:200", {"name": "王五", "age": 21, "tags": [1, 2.5, None, True]})
    assert cache.get("user:200") == {"name": "王五", "age": 21, "tags": [1, 2.5, None, True]}
    assert cache.get("none") is None
    assert cache.get("none", "default") == "default"
    cache.set_many({"a": 1, "b": "two"})
    assert cache.get_many(["a", "b", "c"]) == {"a": 1, "b": "two"}
    assert cache.delete("a") and "a" not in cache
    cache.delete_many(["b", "user:200"])
    assert cache.get_many(["b", "user:200"]) == {}


def test_add_and_counters(cache):
    assert cache.add("lock", "me", timeout=30) is True
    assert cache.add("lock", "you", timeout=30) is False
    cache.set("hits", 10)
    assert (cache.incr("hits"), cache.incr("hits", 5), cache.decr("hits")) == (11, 16, 15)
    with pytest.raises(ValueError):
        cache.incr("none")
    assert cache.get_or_set("made", lambda: 7, 60) == 7
    assert cache.get("made") == 7


def test_timeouts(cache):
    cache.set("short", "x", timeout=1)
    cache.set("forever", "x", timeout=None)
    cache.set("gone", "x", timeout=0)
    assert cache.get("gone") is None
    assert cache.touch("short", 60) is True
    assert cache.touch("none", 60) is False
    cache.set("old", 1, version=1)
    cache.set("old", 2, version=2)
    assert (cache.get("old", version=1), cache.get("old", version=2)) == (1, 2)
    cache.clear()
    assert cache.get("forever") is None


def test_keys_patterns_and_time_to_live():
    cache = caches["default"]
    cache.set_many({f"shop:{number}": number for number in range(30)} | {"user:1": 1})
    assert sorted(cache.iter_keys("shop:*")) == sorted(cache.keys("shop:*")) == sorted(f"shop:{number}" for number in range(30))
    assert cache.delete_pattern("shop:*") == 30
    assert cache.keys("*") == ["user:1"]
    assert 298 <= cache.ttl("user:1") <= 300
    assert cache.persist("user:1") and cache.ttl("user:1") is None
    assert cache.pexpire("user:1", 20_000) and 19_000 < cache.pttl("user:1") <= 20_000
    assert cache.ttl("none") == 0
    assert get_redis_connection("default").exists("shop:1:user:1") == 1


def test_lock_of_the_cache():
    cache, held = caches["default"], []
    with cache.lock("order", timeout=20):
        thread = threading.Thread(target=lambda: held.append(cache.lock("order", timeout=1, blocking=False).acquire()))
        thread.start()
        thread.join()
    assert held == [False]


def test_sets_hashes_and_sorted_sets():
    cache = caches["default"]
    assert cache.sadd("tags", "a", "b") == 2
    assert cache.smembers("tags") == {"a", "b"}
    assert cache.hset("h", "f", {"deep": 1}) == 1
    assert cache.hkeys("h") == ["f"]
    assert cache.zadd("rank", {"Tom": 500, "Jerry": 800}) == 2
    assert cache.zrange("rank", 0, -1) == ["Tom", "Jerry"]


def test_session_is_shared_and_ends():
    session = SessionStore()
    session["user"] = {"id": 7, "nickName": "Tom"}
    session.set_expiry(1800)
    session.save()
    elsewhere = SessionStore(session_key=session.session_key)
    assert elsewhere["user"]["nickName"] == "Tom"
    connection = get_redis_connection("default")
    keys = connection.keys("*sessions*")
    assert len(keys) == 1 and 1795 <= connection.ttl(keys[0]) <= 1800
    elsewhere.flush()
    assert SessionStore(session_key=session.session_key).get("user") is None
