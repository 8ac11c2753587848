"""Redlock over three independent servers: a majority decides, and one of them may be down."""
import asyncio

import pytest
from redlock import AsyncRedlock, Redlock

import servers


@pytest.fixture
def three(start_server):
    return [start_server() for _ in range(3)]


def locks(three, **options):
    urls = [f"redis://{servers.HOST}:{server.port}" for server in three]
    return Redlock(urls, retry_count=1, retry_delay_min=0.01, retry_delay_max=0.02, **options)


def holders(three, name):
    return [server.client().get(name) for server in three]


def test_lock_is_on_all_servers_and_excludes_others(three):
    first, second = locks(three), locks(three)
    lock = first.acquire("order", ttl=10_000)
    assert lock.valid and 9_000 < lock.validity <= 10_000
    assert holders(three, "order") == [lock.value] * 3
    assert second.acquire("order", ttl=10_000) is None
    assert holders(three, "order") == [lock.value] * 3
    first.release(lock)
    assert holders(three, "order") == [None] * 3
    assert second.acquire("order", ttl=10_000).valid


def test_only_the_owner_releases(three):
    first, second = locks(three), locks(three)
    lock = first.acquire("order", ttl=10_000)
    second.unlock("order", "somebody else's")
    assert holders(three, "order") == [lock.value] * 3


def test_extending(three):
    redlock = locks(three)
    lock = redlock.acquire("order", ttl=1_000)
    assert redlock.extend(lock, 20_000) is True
    assert all(server.client().pttl("order") > 10_000 for server in three)


def test_majority_is_enough(three):
    three[0].kill()
    first, second = locks(three), locks(three)
    lock = first.acquire("order", ttl=10_000)
    assert lock.valid
    assert second.acquire("order", ttl=10_000) is None
    assert holders(three[1:], "order") == [lock.value] * 2
    first.release(lock)
    assert holders(three[1:], "order") == [None] * 2


def test_minority_is_not_enough_and_leaves_nothing_behind(three):
    three[0].kill()
    three[1].kill()
    assert locks(three).acquire("order", ttl=10_000) is None
    assert holders(three[2:], "order") == [None]


def test_asynchronous_lock(three):
    async def hold():
        redlock = AsyncRedlock([f"redis://{servers.HOST}:{server.port}" for server in three])
        lock = await redlock.acquire("order", ttl=10_000)
        held = holders(three, "order") == [lock.value] * 3
        await redlock.release(lock)
        return held

    assert asyncio.run(hold())
    assert holders(three, "order") == [None] * 3
