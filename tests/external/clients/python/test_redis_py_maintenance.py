"""Announcements of maintenance, which TEST PUSH sends and redis-py obeys: longer timeouts, and another host."""
import asyncio
import pathlib

import pytest
import redis
import redis.asyncio
from redis.backoff import NoBackoff
from redis.retry import Retry

import servers
from servers import start_server, wait_until  # noqa: F401  (a fixture)

notifications = pytest.importorskip("redis.maint_notifications")

SHORT_S = 0.2  # the timeout of the clients
SLOW_MS = 600  # how long the server delays GET slow


@pytest.fixture
def start(start_server):  # noqa: F811
    """Starts servers with TEST, whose GET slow takes longer than the timeout of the clients."""
    if not servers.has_test_commands():
        pytest.skip("this server has no TEST")

    def started(*options, **place):
        server = start_server("--test-commands", "local", *options, **place)
        server.admin = server.client(protocol=2)
        server.admin.execute_command("TEST", "FAULT", "ADD", "slow", "WHEN", "KEY", "slow", "DO", "DELAY", SLOW_MS)
        return server
    return started


@pytest.fixture
def server(start):
    return start("--test-maint-notifications", "yes")


def options_of(server, enabled):
    return {"host": server.host, "port": server.port, "protocol": 3, "client_name": "app", "decode_responses": True,
            "socket_timeout": SHORT_S, "retry": Retry(NoBackoff(), 0),
            "maint_notifications_config": notifications.MaintNotificationsConfig(enabled=enabled, relaxed_timeout=10)}


def connect(server, enabled=True):
    return redis.Redis(**options_of(server, enabled))


def push(server, *words):
    """Sends a message to the clients that asked for announcements."""
    reached = server.admin.execute_command("TEST", "PUSH", "app", "SUBSCRIBED", *words)
    assert reached == 1


def test_a_server_without_the_directive_refuses_as_redis_does(start):
    server = start()
    with pytest.raises(redis.ResponseError, match="unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."):
        connect(server).ping()
    assert connect(server, "auto").ping()
    server.admin.config_set("test-maint-notifications", "yes")  # for connections from now on
    assert connect(server).ping()


@pytest.mark.parametrize("begin, end", [(("MIGRATING", 1, 10, "[1]"), ("MIGRATED", 2, "[1]")),
                                        (("FAILING_OVER", 3, 10, "[1]"), ("FAILED_OVER", 4, "[1]")),
                                        (("SMIGRATING", 5, "0-99"), ("SMIGRATED", 6, "a:1", "b:2", "0-99"))])
def test_timeouts_are_longer_during_maintenance(server, begin, end):
    with connect(server) as client:
        client.ping()
        with pytest.raises(redis.TimeoutError):
            client.get("slow")
        client.ping()
        push(server, *begin)
        client.ping()  # reads the announcement
        assert client.get("slow") is None
        push(server, *end)
        client.ping()
        with pytest.raises(redis.TimeoutError):
            client.get("slow")


def test_pushes_reach_clients_whose_request_was_refused(start):
    server = start()
    with connect(server, "auto") as client:
        client.ping()
        assert server.admin.execute_command("TEST", "PUSH", "app", "SUBSCRIBED", "MIGRATING", 1, 10, "[1]") == 0
        assert server.admin.execute_command("TEST", "PUSH", "app", "MIGRATING", 1, 10, "[1]") == 1
        client.ping()
        assert client.get("slow") is None


def test_moving_takes_the_client_to_another_host_for_its_time(server, start):
    """redis-py replaces the host and keeps the port."""
    other = start("--test-maint-notifications", "yes", host="127.0.0.2", port=server.port)
    server.admin.set("where", "old")
    other.admin.set("where", "new")
    with connect(server) as client:
        assert client.get("where") == "old"
        push(server, "MOVING", 1, 1, f"127.0.0.2:{other.port}")
        client.ping()  # reads the announcement
        assert client.get("where") == "new"
        assert client.get("slow") is None  # the timeout is also longer

        def is_back():
            client.connection_pool.disconnect()
            return client.get("where") == "old"
        wait_until(is_back, "the client's own address again")


def test_moving_without_an_endpoint_reconnects_to_the_same_one(server):
    with connect(server) as client:
        before = client.client_id()
        push(server, "MOVING", 1, 1)
        assert client.client_id() == before
        wait_until(lambda: client.client_id() > before, "a new connection after half of the time")


def test_asyncio_obeys_too(server, start):
    other = start("--test-maint-notifications", "yes", host="127.0.0.2", port=server.port)
    other.admin.set("where", "new")

    async def use():
        async with redis.asyncio.Redis(**{**options_of(server, True),
                                          "retry": redis.asyncio.retry.Retry(NoBackoff(), 0)}) as client:
            await client.ping()
            push(server, "MIGRATING", 1, 10, "[1]")
            await client.ping()
            assert await client.get("slow") is None
            push(server, "MIGRATED", 2, "[1]")
            await client.ping()
            push(server, "MOVING", 3, 2, f"127.0.0.2:{other.port}")
            await client.ping()
            assert await client.get("where") == "new"
    asyncio.run(use())


def test_smigrated_tells_a_cluster_client_which_slots_have_moved(start_server):  # noqa: F811
    if not servers.has_test_commands():
        pytest.skip("this server has no TEST")
    nodes = start_server("--test", "--nodes", "2x0", "--port", "auto", "--port-file", "ports",
                         "--test-maint-notifications", "yes")
    source, target = (int(line) for line in pathlib.Path(nodes.folder, "ports").read_text(encoding="ascii").split())
    config = notifications.MaintNotificationsConfig(enabled=True)
    admin = redis.Redis(nodes.host, source, protocol=2)
    with redis.RedisCluster(nodes.host, source, protocol=3, maint_notifications_config=config) as cluster:
        key = next(key for key in map(str, range(1000)) if 0 < cluster.keyslot(key) < 8000)  # at the source, not slot 0

        def owner():
            return cluster.nodes_manager.slots_cache[0][0].port
        cluster.get(key)
        assert owner() == source
        admin.execute_command("TEST", "CLUSTER", "MOVE", 0, "node-2")
        cluster.get(key)
        assert owner() == source
        assert admin.execute_command("TEST", "PUSH", "*", "SUBSCRIBED", "SMIGRATED", 7, f"{nodes.host}:{source}",
                                     f"{nodes.host}:{target}", "0") > 0
        cluster.get(key)  # reads the announcement
        assert owner() == target
