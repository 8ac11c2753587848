"""redis-py's Sentinel: discovery, reads from replicas, messages, a manual failover and a dead primary, both under
load."""
import asyncio
import contextlib
import functools
import itertools

import pytest
import redis
from redis.asyncio.sentinel import Sentinel as AsyncSentinel
from redis.sentinel import MasterNotFoundError, Sentinel, SlaveNotFoundError

import cluster_control
from cluster_control import Load
from servers import wait_until

control = functools.partial(cluster_control.control, port="REDIS_SENTINELS_CONTROL")

# The errors of the client while there is no primary, or while it is still connected to the old one.
OUTAGE = (redis.ConnectionError, redis.TimeoutError, redis.ReadOnlyError, MasterNotFoundError)
# The old primary accepts writes until a Sentinel makes it a replica, which may be ten seconds after a manual failover.
BY_HAND_S, AFTER_A_CRASH_S = 20, 10


@pytest.fixture
def addresses():
    return [(host, int(port)) for host, port in (one.split(":") for one in control("fresh").split(","))]


@pytest.fixture
def sentinel(addresses):
    with contextlib.closing(Finder(addresses)) as finder:
        yield finder


class Finder(Sentinel):
    def __init__(self, addresses):
        super().__init__(addresses, socket_timeout=2, decode_responses=True)

    def close(self):
        for client in self.sentinels:
            client.close()


def keep(primary):
    """Writes values that both replicas receive before the failover."""
    for number in range(100):
        primary.set(f"kept:{number}", number)
    assert primary.wait(2, 10_000) == 2


def check_kept(primary):
    assert [primary.get(f"kept:{number}") for number in range(100)] == [str(number) for number in range(100)]


def wait_until_writes_reach(primary, limit_s):
    """Waits until the client's writes are at the primary that the Sentinels name."""
    steps = itertools.count()

    def reaches():
        text = f"step-{next(steps)}"
        try:
            primary.set("moved", text)
        except OUTAGE:
            return False
        return control("get", "moved") == text
    wait_until(reaches, "writes at the new primary", limit_s)


def test_discovery(addresses, sentinel):
    replicas = sorted(int(port) for port in control("replicas").split())
    assert sentinel.discover_master("mymaster") == ("127.0.0.1", int(control("primary")))
    assert sorted(sentinel.discover_slaves("mymaster")) == [("127.0.0.1", port) for port in replicas]
    with pytest.raises(MasterNotFoundError):
        sentinel.discover_master("nobody")
    with pytest.raises(SlaveNotFoundError):
        next(sentinel.slave_for("nobody").connection_pool.rotate_slaves())
    told = sentinel.sentinels[0].sentinel_master("mymaster")
    assert (told["num-slaves"], told["num-other-sentinels"], told["quorum"], told["is_master"]) == (2, 2, 2, True)
    assert len(sentinel.sentinels[0].sentinel_sentinels("mymaster")) == 2
    # The client's own method regards "OK 3 usable Sentinels…" as a refusal, since it is more than OK.
    with redis.Redis(*addresses[0], decode_responses=True) as plain:
        plain.response_callbacks.clear()
        assert plain.execute_command("SENTINEL", "CKQUORUM", "mymaster") == \
            "OK 3 usable Sentinels. Quorum and failover authorization can be reached"


def test_reads_and_writes(sentinel):
    primary, replica = sentinel.master_for("mymaster"), sentinel.slave_for("mymaster")
    assert primary.set("key", "value") and primary.wait(2, 10_000) == 2
    assert [replica.get("key") for _ in range(4)] == ["value"] * 4
    assert primary.role()[0] == "master" and replica.role()[0] == "slave"
    with pytest.raises(redis.ReadOnlyError):
        replica.set("key", "other")
    with primary.pipeline() as pipe:
        assert pipe.incr("n").incr("n").execute() == [1, 2]


def test_messages_by_way_of_a_replica(sentinel):
    with sentinel.slave_for("mymaster").pubsub() as pubsub:
        pubsub.subscribe("news")
        wait_until(lambda: pubsub.get_message(timeout=0.05), "the subscription")
        sentinel.master_for("mymaster").publish("news", "hello")
        message = wait_until(lambda: pubsub.get_message(timeout=0.05), "a message")
        assert (message["type"], message["data"]) == ("message", "hello")


def test_a_failover_by_hand_under_load(sentinel):
    old = control("primary")
    primary = sentinel.master_for("mymaster")
    keep(primary)
    with sentinel.sentinels[1].pubsub(ignore_subscribe_messages=True) as events:
        events.subscribe("+switch-master")
        with Load(primary.incr, OUTAGE) as load:
            new = control("failover")
            wait_until_writes_reach(sentinel.master_for("mymaster"), BY_HAND_S)
            wait_until(lambda: control("primary") == new, "the new primary")
            load.wait_more()
        event = wait_until(lambda: events.get_message(timeout=0.05), "+switch-master")
    assert event["data"].decode() == f"mymaster 127.0.0.1 {old} 127.0.0.1 {new}"
    assert sentinel.discover_master("mymaster") == ("127.0.0.1", int(new))
    check_kept(primary)


def test_a_primary_dies_under_load(sentinel):
    primary = sentinel.master_for("mymaster")
    keep(primary)
    with Load(primary.incr, OUTAGE) as load:
        dead = control("kill")
        load.wait_more(limit_s=AFTER_A_CRASH_S)
    new = control("primary")
    assert new != dead and load.refused > 0
    wait_until_writes_reach(primary, AFTER_A_CRASH_S)
    check_kept(primary)
    control("heal")
    assert dead in control("replicas").split()


def test_asyncio_and_a_dead_primary(addresses):
    async def scenario():
        finder = AsyncSentinel(addresses, socket_timeout=2, decode_responses=True)
        assert await finder.discover_master("mymaster") == ("127.0.0.1", int(control("primary")))
        primary = finder.master_for("mymaster")
        assert await primary.set("kept", "value") and await primary.wait(2, 10_000) == 2
        dead = await asyncio.to_thread(control, "kill")

        async def goes_on():
            while True:
                with contextlib.suppress(*OUTAGE):
                    return await primary.incr("n")
        assert await asyncio.wait_for(goes_on(), AFTER_A_CRASH_S) == 1
        assert await primary.get("kept") == "value"
        assert await asyncio.to_thread(control, "primary") != dead
        await primary.aclose()
        await asyncio.gather(*(client.aclose() for client in finder.sentinels))
    asyncio.run(scenario())
