"""Flask-Caching: views and functions whose results are cached in Redis."""
import flask
import pytest
from flask_caching import Cache

import servers

pytestmark = pytest.mark.full


@pytest.fixture
def application():
    application = flask.Flask("shop")
    cache = Cache(application, config={"CACHE_TYPE": "RedisCache", "CACHE_REDIS_HOST": servers.HOST, "CACHE_REDIS_PORT": servers.PORT,
                                       "CACHE_KEY_PREFIX": "flask:", "CACHE_DEFAULT_TIMEOUT": 600})
    with application.app_context():
        yield application, cache


def test_values(application):
    _, cache = application
    assert cache.set("k", {"a": [1, 2]}) is True
    assert cache.get("k") == {"a": [1, 2]}
    assert cache.add("k", "other") is False
    assert cache.set_many({"x": 1, "y": 2})
    assert cache.get_many("x", "y", "z") == [1, 2, None]
    assert cache.get_dict("x", "y") == {"x": 1, "y": 2}
    assert cache.has("x") and cache.delete("x") and not cache.has("x")
    assert cache.delete_many("y", "k")
    assert cache.get("k") is None


def test_view_is_made_once_and_kept_for_a_time(application, other):
    web, cache = application
    made = []

    @web.route("/shop/<int:number>")
    @cache.cached(timeout=60)
    def shop(number):
        made.append(number)
        return f"shop {number}"

    client = web.test_client()
    assert [client.get("/shop/1").text for _ in range(3)] == ["shop 1"] * 3
    assert client.get("/shop/2").text == "shop 2"
    assert made == [1, 2]
    keys = sorted(other.keys("flask:*"))
    assert keys == ["flask:view//shop/1", "flask:view//shop/2"]
    assert 55 <= other.ttl(keys[0]) <= 60
    cache.clear()
    assert other.keys("flask:*") == []
    client.get("/shop/1")
    assert made == [1, 2, 1]


def test_memoized_function_forgets_what_it_is_told_to(application):
    _, cache = application
    calls = []

    @cache.memoize(60)
    def price(item, count):
        calls.append((item, count))
        return item * count

    assert [price(2, 3), price(2, 3), price(2, 4)] == [6, 6, 8]
    assert calls == [(2, 3), (2, 4)]
    cache.delete_memoized(price, 2, 3)
    assert [price(2, 3), price(2, 4)] == [6, 8]
    assert calls == [(2, 3), (2, 4), (2, 3)]
