"""Commands of Redis 8.2 to 8.10 through the methods of redis-py, against a server that emulates 8.10, or a real one."""
import pytest
import redis
from redis.commands import core

import servers

# redis-py calls some of these methods experimental.
pytestmark = pytest.mark.filterwarnings("ignore:Call to")

if not hasattr(redis.Redis, "increx"):
    pytest.skip("this redis-py is too old", allow_module_level=True)


@pytest.fixture(scope="module")
def newest():
    server = servers.Server(*(["--emulate", "redis:8.10"] if servers.has_test_commands() else []))
    yield server
    server.remove()


@pytest.fixture
def client(newest, protocol):
    """Returns a client of the newest server; skips the test if a real server is older than 8.10."""
    with newest.client(protocol=protocol) as client:
        if [int(part) for part in client.info("server")["redis_version"].split(".")[:2]] < [8, 10]:
            pytest.skip("this server is older than Redis 8.10")
        client.flushall()
        yield client


def test_set_compares_before_it_writes(client):
    client.set("key", "one")
    assert client.set("key", "two", ifeq="other") is None
    assert client.set("key", "two", ifeq="one")
    assert client.set("key", "three", ifne="two") is None
    assert client.set("key", "three", ifne="one", ex=100)
    assert client.ttl("key") == 100
    assert client.set("key", "four", ifdeq=client.digest("key"))
    assert client.set("key", "five", ifdne=client.digest("key")) is None
    assert client.set("key", "five", ifeq="four", get=True) == "four"


def test_digest_is_the_one_that_the_client_computes(client):
    for value in ("", "value", "x" * 1000):
        client.set("key", value)
        assert client.digest("key") == client.digest_local(value.encode())
    assert client.digest("absent") is None
    client.lpush("list", "a")
    with pytest.raises(redis.ResponseError):
        client.digest("list")


def test_delex_compares_before_it_deletes(client):
    client.set("key", "value")
    assert client.delex("key", ifeq="other") == 0
    assert client.delex("key", ifne="value") == 0
    assert client.delex("key", ifdeq=client.digest_local(b"other")) == 0
    assert client.delex("key", ifdeq=client.digest("key")) == 1
    assert client.delex("key") == 0


def test_msetex_sets_all_keys_or_none(client):
    assert client.msetex({"a": "1", "b": "2"}, ex=100) == 1
    assert [client.ttl("a"), client.ttl("b")] == [100, 100]
    assert client.msetex({"b": "3", "c": "4"}, data_persist_option=core.DataPersistOptions.NX) == 0
    assert client.mget("a", "b", "c") == ["1", "2", None]
    assert client.msetex({"a": "5", "b": "6"}, data_persist_option=core.DataPersistOptions.XX, keepttl=True) == 1
    assert client.mget("a", "b") == ["5", "6"] and client.ttl("a") == 100


def test_increx_stays_in_its_bounds(client):
    assert client.increx("n") == [1, 1]
    assert client.increx("n", byint=5, ubound=10) == [6, 5]
    assert client.increx("n", byint=5, ubound=10, saturate=True) == [10, 4]
    assert client.increx("n", byint=5, ubound=10) == [10, 0]
    assert client.increx("n", byint=-1, lbound=0, ex=100) == [9, -1]
    assert client.ttl("n") == 100
    assert client.increx("n", byint=1, ex=500, enx=True) == [10, 1]
    assert client.ttl("n") == 100
    assert [float(number) for number in client.increx("f", byfloat=1.5)] == [1.5, 1.5]


def test_entries_are_deleted_with_their_references(client):
    client.xgroup_create("s", "g", mkstream=True)
    ids = [client.xadd("s", {"n": n}) for n in range(4)]
    client.xreadgroup("g", "c", {"s": ">"})
    assert client.xdelex("s", ids[0], "9-9", ref_policy="KEEPREF") == [1, -1]
    assert client.xpending("s", "g")["pending"] == 4
    assert client.xdelex("s", ids[1], ref_policy="DELREF") == [1]
    assert client.xdelex("s", ids[2], ref_policy="ACKED") == [2]
    assert client.xackdel("s", "g", ids[2], ref_policy="DELREF") == [1]
    assert client.xackdel("s", "g", ids[3]) == [1]
    assert client.xlen("s") == 0
    assert client.xpending("s", "g")["pending"] == 1  # ids[0]


def test_xadd_is_idempotent(client):
    first = client.xadd("s", {"n": 1}, idmp=("producer", b"1"))
    assert client.xadd("s", {"n": 1}, idmp=("producer", b"1")) == first
    automatic = client.xadd("s", {"n": 2}, idmpauto="producer")
    assert client.xadd("s", {"n": 2}, idmpauto="producer") == automatic
    assert client.xlen("s") == 2
    assert client.xcfgset("s", idmp_duration=60, idmp_maxsize=10)
    assert client.xinfo_stream("s")["idmp-duration"] == 60


def test_trimming_keeps_or_deletes_references(client):
    client.xgroup_create("s", "g", mkstream=True)
    for n in range(3):
        client.xadd("s", {"n": n})
    client.xreadgroup("g", "c", {"s": ">"})
    client.xadd("s", {"n": 3}, maxlen=3, approximate=False, ref_policy="KEEPREF")
    assert client.xpending("s", "g")["pending"] == 3
    client.xadd("s", {"n": 4}, maxlen=2, approximate=False, ref_policy="DELREF")
    assert client.xpending("s", "g")["pending"] < 3
    assert client.xlen("s") == 2


def test_a_consumer_claims_idle_entries_with_new_ones(client):
    client.xgroup_create("s", "g", mkstream=True)
    first = client.xadd("s", {"n": 1})
    client.xreadgroup("g", "dies", {"s": ">"})
    second = client.xadd("s", {"n": 2})
    read = client.xreadgroup("g", "lives", {"s": ">"}, claim_min_idle_time=0)
    [entries] = read.values() if isinstance(read, dict) else [entries for _, entries in read]
    entries = entries[0] if entries and isinstance(entries[0], list) else entries
    assert [entry[0] for entry in entries] == [first, second]
    assert len(entries[0]) == 4  # with the idle time and the number of deliveries
    assert client.xnack("s", "g", "FAIL", first, second) == 2


def test_hot_keys(client):
    assert client.hotkeys_start([core.HotkeysMetricsTypes.CPU, core.HotkeysMetricsTypes.NET], count=10)
    for _ in range(50):
        client.set("hot", "x" * 100)
    client.get("cold")
    assert client.hotkeys_stop()
    report = client.hotkeys_get()
    report = report[0] if isinstance(report, list) else report
    named = {key.decode() if isinstance(key, bytes) else key: value for key, value in report.items()}
    by_bytes = named["by-net-bytes"]
    assert "hot" in str(by_bytes)
    assert client.hotkeys_reset()


def test_lists_and_sets(client):
    client.rpush("from", "a", "b", "c", "d")
    assert client.lmovem("from", "to", "LEFT", "RIGHT", count=3, mode="COUNT", ordering="OBO") == ["a", "b", "c"]
    assert client.lrange("to", 0, -1) == ["a", "b", "c"]
    assert not client.lmovem("from", "to", "LEFT", "RIGHT", count=2, mode="EXACTLY", ordering="BULK")
    client.sadd("s", "a", "b", "c")
    client.sadd("t", "c", "d")
    assert client.sunioncard(2, ["s", "t"]) == 4
    assert client.sunioncard(2, ["s", "t"], limit=3) == 3
    assert client.sdiffcard(2, ["s", "t"]) == 2


def test_hashes_are_imported_by_lists_of_fields(client):
    client.himport_prepare("people", ["name", "age"])
    client.himport_set("ann", "people", ["Ann", "30"])
    client.himport_set("bob", "people", ["Bob", "40"])
    assert client.hgetall("ann") == {"name": "Ann", "age": "30"}
    assert client.hgetall("bob") == {"name": "Bob", "age": "40"}
    assert client.himport_discard("people") == 1


def test_fields_of_hashes_expire(client):
    client.hsetex("h", mapping={"a": "1", "b": "2"}, ex=100)
    assert client.hgetex("h", "a", persist=True) == ["1"]
    assert client.httl("h", "a", "b") == [-1, 100]
    assert client.hgetdel("h", "a", "b") == ["1", "2"]
    assert client.exists("h") == 0
