"""redis-py's connections: pools, sockets, passwords, names, and restarts of the server."""
import os
import threading

import pytest
import redis
from redis.backoff import ConstantBackoff, NoBackoff
from redis.retry import Retry

import servers

AT_ONCE = {"retry": Retry(NoBackoff(), 0)}  # redis-py retries even if the password is wrong


def test_pool_has_a_limit(protocol):
    pool = redis.ConnectionPool(host=servers.HOST, port=servers.PORT, protocol=protocol, max_connections=2)
    first, second = pool.get_connection(), pool.get_connection()
    with pytest.raises(redis.ConnectionError, match="Too many connections"):
        pool.get_connection()
    pool.release(first)
    assert pool.get_connection() is first
    pool.release(second)
    pool.disconnect()


def test_threads_share_a_blocking_pool(client):
    pool = redis.BlockingConnectionPool(host=servers.HOST, port=servers.PORT, max_connections=3, timeout=20)
    shared = redis.Redis(connection_pool=pool)
    threads = [threading.Thread(target=lambda: [shared.incr("counter") for _ in range(100)]) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert client.get("counter") == "1000"
    pool.disconnect()


def test_url_and_names():
    with redis.Redis.from_url(f"redis://{servers.HOST}:{servers.PORT}/3?client_name=worker-1&decode_responses=True") as client:
        assert client.client_getname() == "worker-1"
        info = client.client_info()
        assert (info["name"], int(info["db"])) == ("worker-1", 3)
        mine = [row for row in client.client_list() if row["id"] == str(client.client_id())]
        assert mine[0]["name"] == "worker-1"
        assert mine[0]["addr"] == info["addr"]
        assert mine[0]["cmd"] == "client|list"


def test_library_tells_its_name(client):
    if client.info("server")["redis_version"] < "7.2":
        pytest.skip("CLIENT SETINFO came with 7.2")
    info = client.client_info()
    assert info["lib-name"].startswith("redis-py")
    assert info["lib-ver"].startswith(redis.__version__)


def test_protocol_that_was_asked_for(client, protocol):
    assert int(client.client_info()["resp"]) == protocol


def test_killed_connection_is_opened_again(client, other):
    before = client.client_id()
    assert other.client_kill_filter(_id=before) == 1
    assert client.ping() is True
    assert client.client_id() != before


def test_connection_that_has_been_idle_is_checked(client):
    with redis.Redis(servers.HOST, servers.PORT, health_check_interval=1, decode_responses=True) as careful:
        careful.set("k", "v")
        connection = careful.connection_pool.get_connection()
        careful.connection_pool.release(connection)
        connection.next_health_check = 1
        pings = calls(client, "ping")
        assert careful.get("k") == "v"
        assert calls(client, "ping") == pings + 1


def calls(client, command):
    return client.info("commandstats").get(f"cmdstat_{command}", {"calls": 0})["calls"]


def test_password(start_server):
    server = start_server("--requirepass", "wyt131551")
    with pytest.raises(redis.AuthenticationError, match="^Authentication required.$"):
        server.client(protocol=2, **AT_ONCE).get("k")
    for protocol in (2, 3):
        with pytest.raises(redis.AuthenticationError) as caught:
            server.client(password="wrong", protocol=protocol, **AT_ONCE).get("k")
        assert str(caught.value) == "invalid username-password pair or user is disabled."
        for credentials in ({"password": "wyt131551"}, {"username": "default", "password": "wyt131551"}):
            with server.client(protocol=protocol, **credentials) as client:
                assert client.ping()
    with pytest.raises(redis.AuthenticationError, match="^HELLO must be called with the client already authenticated, otherwise "
                       "the HELLO (<proto> )?AUTH <user> <pass> option can be used to authenticate the client and select the RESP "
                       "protocol version at the same time$"):
        server.client(protocol=3, **AT_ONCE).get("k")


def test_authenticating_without_a_password_to_give(protocol):
    with redis.Redis(servers.HOST, servers.PORT, protocol=protocol, **AT_ONCE) as client:
        with pytest.raises(redis.AuthenticationError) as caught:
            client.execute_command("AUTH", "x")
    assert str(caught.value) == ("AUTH <password> called without any password configured for the default user. "
                                 "Are you sure your configuration is correct?")


def test_unix_socket(start_server, protocol):
    server = start_server()
    server.options = ("--unixsocket", os.path.join(server.folder, "redis.sock"), "--unixsocketperm", "700")
    server.restart()
    with redis.Redis(unix_socket_path=server.options[1], protocol=protocol, decode_responses=True) as client:
        assert client.set("k", "v") and client.get("k") == "v"
        assert client.client_info()["addr"].startswith(server.options[1])


def test_client_goes_on_after_a_restart(start_server, protocol):
    server = start_server("--appendonly", "yes", "--appendfsync", "always")
    with server.client(protocol=protocol, retry=Retry(ConstantBackoff(0.05), 3)) as client:
        double = client.register_script("return redis.call('GET', KEYS[1]) * 2")
        client.set("stock", 21)
        client.xgroup_create("orders", "g", "0", mkstream=True)
        last = client.xadd("orders", {"n": 1})
        client.xreadgroup("g", "c", {"orders": ">"})
        assert double(keys=["stock"]) == 42
        server.kill()
        with pytest.raises(redis.ConnectionError):
            client.get("stock")
        server.start()
        # The data set is back; scripts are not kept, and redis-py loads this one again.
        assert client.get("stock") == "21"
        assert double(keys=["stock"]) == 42
        assert client.xpending("orders", "g")["pending"] == 1
        assert client.xack("orders", "g", last) == 1


def test_subscriber_subscribes_again_after_a_restart(start_server):
    server = start_server()
    client = server.client(retry=Retry(ConstantBackoff(0.05), 20), retry_on_error=[redis.ConnectionError])
    with client, client.pubsub(ignore_subscribe_messages=True) as pubsub:
        pubsub.subscribe("c")
        pubsub.get_message(timeout=5)
        server.restart()
        publisher = server.client()
        servers.wait_until(lambda: pubsub.get_message(timeout=0.05) or publisher.publish("c", "again"), "a subscription")
        message = servers.wait_until(lambda: pubsub.get_message(timeout=1), "a message")
        assert (message["channel"], message["data"]) == ("c", "again")


def test_many_connections(client):
    """Lock libraries open dozens of pools."""
    before = connected(client)
    crowd = [redis.Redis(servers.HOST, servers.PORT, single_connection_client=True) for _ in range(200)]
    assert connected(client) >= 200
    assert all(one.ping() for one in crowd)
    for one in crowd:
        one.close()
    servers.wait_until(lambda: connected(client) <= before, "the end of the connections")


def connected(client):
    return client.info("clients")["connected_clients"]
