"""redis-sentinel monitors the server: clients learn its address, and Sentinel notices when it goes down and returns."""
import subprocess
import time

import pytest
import redis
from redis.sentinel import MasterNotFoundError, Sentinel

import servers

pytestmark = pytest.mark.full


@pytest.fixture
def watched(start_server):
    return start_server()


@pytest.fixture
def sentinel(watched, tmp_path):
    """Returns the port of a Sentinel that monitors the server as "mymaster"."""
    port = servers.free_port()
    configuration = tmp_path / "sentinel.conf"
    configuration.write_text(f"port {port}\nbind 127.0.0.1\ndir {tmp_path}\nsentinel monitor mymaster 127.0.0.1 {watched.port} 1\n"
                             "sentinel down-after-milliseconds mymaster 1000\nsentinel failover-timeout mymaster 60000\n")
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen(["redis-sentinel", configuration], stdout=log, stderr=log)
    client = redis.Redis("127.0.0.1", port, decode_responses=True, protocol=2)
    try:
        servers.wait_until(lambda: flags(client) == "master", "a Sentinel that knows its master")
        yield client
    finally:
        client.close()
        process.terminate()
        process.wait(10)


def state(client):
    """Returns Sentinel's state of its master."""
    words = client.execute_command("SENTINEL", "MASTER", "mymaster")
    return dict(zip(words[::2], words[1::2]))


def flags(client):
    try:
        return state(client)["flags"]
    except redis.ConnectionError:
        return None


def test_address_of_the_master(sentinel, watched):
    told = sentinel.execute_command("SENTINEL", "get-master-addr-by-name", "mymaster")
    assert list(told) in (["127.0.0.1", str(watched.port)], ["127.0.0.1", watched.port])
    assert sentinel.execute_command("SENTINEL", "get-master-addr-by-name", "nobody") is None
    printed = subprocess.run(["redis-cli", "-p", str(sentinel.connection_pool.connection_kwargs["port"]), "sentinel",
                              "get-master-addr-by-name", "mymaster"], capture_output=True, text=True, check=True).stdout
    assert printed == f"127.0.0.1\n{watched.port}\n"


def test_what_sentinel_reads_from_info(sentinel, watched):
    servers.wait_until(lambda: state(sentinel)["runid"], "the run id")
    told = state(sentinel)
    assert told["runid"] == watched.client().info()["run_id"]
    assert (told["role-reported"], told["num-slaves"]) == ("master", "0")
    assert int(told["last-ok-ping-reply"]) < 2_000


def test_server_is_not_thought_dead(sentinel, watched, tmp_path):
    """Sentinel sends PING each second, INFO, and a hello message on a channel."""
    with watched.client() as client, client.pubsub(ignore_subscribe_messages=True) as hello:
        hello.subscribe("__sentinel__:hello")
        message = servers.wait_until(lambda: hello.get_message(timeout=1), "a hello", 10)
        assert message["data"].split(",")[4:7] == ["mymaster", "127.0.0.1", str(watched.port)]
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert flags(sentinel) == "master"
        time.sleep(0.1)
    assert "+sdown" not in (tmp_path / "log").read_text()


def test_clients_find_the_master(sentinel, watched):
    finder = Sentinel([("127.0.0.1", sentinel.connection_pool.connection_kwargs["port"])], socket_timeout=5)
    assert finder.discover_master("mymaster") == ("127.0.0.1", watched.port)
    assert finder.discover_slaves("mymaster") == []
    with pytest.raises(MasterNotFoundError):
        finder.discover_master("nobody")
    master = finder.master_for("mymaster", decode_responses=True)
    assert master.set("k", "v") and master.get("k") == "v"
    assert watched.client().get("k") == "v"


def test_death_and_return_are_noticed(sentinel, watched):
    with sentinel.pubsub(ignore_subscribe_messages=True) as events:
        events.subscribe("+sdown", "-sdown")
        watched.kill()
        event = servers.wait_until(lambda: events.get_message(timeout=1), "+sdown", 15)
        assert (event["channel"], event["data"]) == ("+sdown", f"master mymaster 127.0.0.1 {watched.port}")
        assert "s_down" in flags(sentinel)
        watched.start()
        event = servers.wait_until(lambda: events.get_message(timeout=1), "-sdown", 20)
        assert (event["channel"], event["data"]) == ("-sdown", f"master mymaster 127.0.0.1 {watched.port}")
    assert watched.client().set("k", "v")
