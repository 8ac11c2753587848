"""aiocache: a cache for coroutines."""
import asyncio

import pytest
from aiocache import RedisCache, cached
from aiocache.lock import OptimisticLock, OptimisticLockError, RedLock
from aiocache.serializers import JsonSerializer

import servers

pytestmark = pytest.mark.full


def in_loop(test):
    def run():
        async def whole():
            cache = RedisCache(endpoint=servers.HOST, port=servers.PORT, namespace="shop:", serializer=JsonSerializer())
            try:
                await asyncio.wait_for(test(cache), 20)
            finally:
                await cache.close()
        asyncio.run(whole())
    run.__name__ = test.__name__
    return run


@in_loop
async def test_values(cache):
    assert await cache.set("k", {"name": "王五"}, ttl=60)
    assert await cache.get("k") == {"name": "王五"}
    assert await cache.multi_set([("a", 1), ("b", [2])])
    assert await cache.multi_get(["a", "b", "none"]) == [1, [2], None]
    with pytest.raises(ValueError):
        await cache.add("a", 2)
    assert await cache.exists("a")
    assert await cache.expire("a", 30)
    assert await cache.increment("count", 5) == 5
    assert await cache.delete("a") == 1
    assert await cache.clear(namespace="shop:")
    assert await cache.get("k") is None


@in_loop
async def test_one_task_loads_what_many_want(cache):
    loads = []

    async def load():
        async with RedLock(cache, "shop:1", lease=5):
            value = await cache.get("shop:1")
            if value is None:
                loads.append(1)
                await asyncio.sleep(0.05)
                value = "loaded"
                await cache.set("shop:1", value)
            return value

    first = asyncio.create_task(load())
    while not loads:  # aiocache does not block tasks until the holder has recorded its lock
        await asyncio.sleep(0.001)
    assert await asyncio.gather(first, *[load() for _ in range(9)]) == ["loaded"] * 10
    assert len(loads) == 1


@in_loop
async def test_optimistic_lock(cache):
    await cache.set("k", 1)
    async with OptimisticLock(cache, "k") as lock:
        await lock.cas(2)
    assert await cache.get("k") == 2
    with pytest.raises(OptimisticLockError):
        async with OptimisticLock(cache, "k") as lock:
            await cache.set("k", "other")
            await lock.cas(3)


def test_decorated_coroutine_runs_once():
    calls = []

    @cached(ttl=60, cache=RedisCache, endpoint=servers.HOST, port=servers.PORT, key="price", serializer=JsonSerializer())
    async def price():
        calls.append(1)
        return {"price": 7}

    async def whole():
        first = [await price() for _ in range(3)]
        await price.cache.close()
        return first

    assert asyncio.run(whole()) == [{"price": 7}] * 3
    assert len(calls) == 1
