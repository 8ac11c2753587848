"""redis-py's asyncio client, used from an event loop."""
import asyncio
import contextlib

import pytest
import redis
from redis import asyncio as aioredis

import servers


@pytest.fixture
def connect(protocol):
    """Creates clients in the event loop of the test."""
    @contextlib.asynccontextmanager
    async def connected(**options):
        options = {"decode_responses": True, **options}
        client = aioredis.Redis(host=servers.HOST, port=servers.PORT, protocol=protocol, **options)
        try:
            yield client
        finally:
            await client.aclose()
    return connected


def in_loop(test):
    """Runs a coroutine as a test, with a timeout."""
    def run(connect):
        asyncio.run(asyncio.wait_for(test(connect), 20))
    run.__name__ = test.__name__
    return run


async def until(condition, what):
    async with asyncio.timeout(20):
        while not (value := await condition()):
            await asyncio.sleep(0.002)
    return value


@in_loop
async def test_commands(connect):
    async with connect() as client:
        assert await client.set("k", "v", ex=100) is True
        assert await client.get("k") == "v"
        assert await client.hset("h", mapping={"a": 1, "b": 2}) == 2
        assert await client.hgetall("h") == {"a": "1", "b": "2"}
        assert await client.zadd("z", {"m": 1.5}) == 1
        assert await client.zscore("z", "m") == 1.5
        with pytest.raises(redis.ResponseError, match="^value is not an integer or out of range$"):
            await client.incr("k")


@in_loop
async def test_many_tasks_share_a_pool(connect):
    async with connect(max_connections=50) as client:
        replies = await asyncio.gather(*[client.incr("counter") for _ in range(50)])
        assert sorted(replies) == list(range(1, 51))


@in_loop
async def test_pipeline_and_watch(connect):
    async with connect() as client, connect() as other:
        async with client.pipeline(transaction=True) as pipe:
            assert await pipe.set("a", 1).incr("a").get("a").execute() == [True, 2, "2"]
        async with client.pipeline() as pipe:
            await pipe.watch("a")
            await other.set("a", 9)
            pipe.multi()
            pipe.set("a", 3)
            with pytest.raises(redis.WatchError):
                await pipe.execute()
        assert await client.get("a") == "9"


@in_loop
async def test_scan_iterators(connect):
    async with connect() as client:
        await client.mset({f"scan:{number}": number for number in range(500)})
        found = {key async for key in client.scan_iter("scan:*", count=20)}
        assert len(found) == 500


@in_loop
async def test_pubsub(connect):
    async with connect() as client, connect() as other:
        async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.subscribe("c")
            await pubsub.psubscribe("p.*")
            await pubsub.get_message(timeout=1)
            await until(lambda: other.pubsub_numpat(), "a subscription")
            await other.publish("c", "one")
            await other.publish("p.x", "two")
            messages = []
            async for message in pubsub.listen():
                messages.append((message["type"], message["channel"], message["data"]))
                if len(messages) == 2:
                    break
            assert messages == [("message", "c", "one"), ("pmessage", "p.x", "two")]


@in_loop
async def test_blocked_task_does_not_hold_up_the_loop(connect):
    async with connect() as client, connect() as other:
        waiting = asyncio.create_task(client.blpop("queue", timeout=10))
        await asyncio.sleep(0)
        assert await other.rpush("queue", "task") == 1
        assert list(await waiting) == ["queue", "task"]
        assert await client.blpop("queue", timeout=0.1) is None


@in_loop
async def test_cancelled_command_leaves_the_connection_usable(connect):
    async with connect(single_connection_client=False) as client:
        waiting = asyncio.create_task(client.blpop("queue", timeout=10))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await client.ping() is True
        assert await client.set("k", "v")


@in_loop
async def test_lock(connect):
    async with connect() as client, connect() as other:
        async with client.lock("l", timeout=10) as lock:
            assert await lock.owned()
            assert not await other.lock("l", blocking=False).acquire()
            assert await lock.extend(10) is True
            assert await lock.reacquire() is True
        assert not await client.exists("l")


@in_loop
async def test_lock_guards_a_counter(connect):
    async with connect(max_connections=20) as client:
        await client.set("stock", 20)

        async def buy():
            async with client.lock("stock:lock", timeout=10, sleep=0.002):
                stock = int(await client.get("stock"))
                await asyncio.sleep(0)
                await client.set("stock", stock - 1)

        await asyncio.gather(*[buy() for _ in range(15)])
        assert await client.get("stock") == "5"


@in_loop
async def test_scripts(connect):
    async with connect() as client:
        script = client.register_script("return {KEYS[1], ARGV[1]}")
        assert await script(keys=["k"], args=["a"]) == ["k", "a"]
        await client.script_flush()
        assert await script(keys=["k"], args=["b"]) == ["k", "b"]


@in_loop
async def test_streams(connect):
    async with connect() as client, connect() as other:
        await client.xgroup_create("s", "g", mkstream=True)
        waiting = asyncio.create_task(client.xreadgroup("g", "c", {"s": ">"}, block=10_000))
        await until(lambda: blocked(other), "a blocked reader")
        last = await other.xadd("s", {"n": 1})
        assert last in str(await waiting)
        assert await client.xack("s", "g", last) == 1


async def blocked(client):
    return (await client.info("clients"))["blocked_clients"]


@in_loop
async def test_monitor(connect):
    async with connect() as client, connect() as other:
        async with client.monitor() as monitor:
            await other.set("seen", "x")
            async with asyncio.timeout(10):
                while "seen" not in (command := await monitor.next_command())["command"]:
                    pass
        assert command["command"] == "SET seen x"
