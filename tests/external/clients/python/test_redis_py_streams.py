"""redis-py and streams: consumer groups as the flash sale of a shop uses them."""
import threading
import time

import pytest
import redis

import servers


def plain(reply):
    """Returns a reply of XREAD or XREADGROUP in one form: RESP3 and newer clients return maps."""
    pairs = reply.items() if isinstance(reply, dict) else reply
    return [(name, [tuple(entry) for entry in without_wrapping(entries)]) for name, entries in pairs]


def without_wrapping(entries):
    """In RESP3, redis-py wraps the entries of a stream in another list."""
    is_wrapped = len(entries) == 1 and (not entries[0] or isinstance(entries[0][0], (list, tuple)))
    return entries[0] if is_wrapped else entries


def test_entries_and_ranges(client):
    assert client.xadd("s", {"name": "John", "age": 30}, id="1681138020163-0") == "1681138020163-0"
    assert client.xadd("s", {"n": 2}, id="1681138020163-*") == "1681138020163-1"
    with pytest.raises(redis.ResponseError) as caught:
        client.xadd("s", {"n": 3}, id="5-5")
    assert str(caught.value) == "The ID specified in XADD is equal or smaller than the target stream top item"
    assert [tuple(entry) for entry in client.xrange("s")] == [("1681138020163-0", {"name": "John", "age": "30"}),
                                                             ("1681138020163-1", {"n": "2"})]
    assert [entry[0] for entry in client.xrevrange("s", count=1)] == ["1681138020163-1"]
    assert client.xdel("s", "1681138020163-0") == 1
    assert client.xlen("s") == 1


def test_trimming(client):
    for number in range(20):
        client.xadd("s", {"n": number}, id=f"{number + 1}-0", maxlen=10, approximate=False)
    assert client.xlen("s") == 10
    assert client.xtrim("s", minid="15", approximate=False) == 4
    assert client.xtrim("s", maxlen=2, approximate=False) == 4
    assert client.xadd("none", {"a": 1}, nomkstream=True) is None


def test_reading_several_streams(client):
    client.xadd("a", {"n": 1}, id="1-1")
    client.xadd("b", {"n": 2}, id="1-1")
    assert plain(client.xread({"a": "0", "b": "0", "none": "0"})) == [("a", [("1-1", {"n": "1"})]), ("b", [("1-1", {"n": "2"})])]
    assert plain(client.xread({"a": "1-1", "b": "0-0"}, count=5)) == [("b", [("1-1", {"n": "2"})])]
    assert not client.xread({"a": "1-1"})


def test_blocked_reader_gets_only_what_comes_later(client, other):
    client.xadd("s", {"n": "before"})
    got = []
    reader = threading.Thread(target=lambda: got.append(client.xread({"s": "$"}, block=20_000)))
    reader.start()
    servers.wait_until(lambda: other.info("clients")["blocked_clients"] == 1, "a blocked reader")
    last = other.xadd("s", {"n": "after"})
    reader.join()
    assert plain(got[0]) == [("s", [(last, {"n": "after"})])]


def test_group_reads_each_entry_once_and_keeps_it_until_it_is_acknowledged(client):
    assert client.xgroup_create("stream.orders", "g1", "0", mkstream=True) is True
    with pytest.raises(redis.ResponseError, match="^BUSYGROUP Consumer Group name already exists$"):
        client.xgroup_create("stream.orders", "g1", "0")
    ids = [client.xadd("stream.orders", {"voucherId": 7, "userId": user}) for user in range(3)]
    first = plain(client.xreadgroup("g1", "c1", {"stream.orders": ">"}, count=1, block=2000))
    assert first == [("stream.orders", [(ids[0], {"voucherId": "7", "userId": "0"})])]
    assert plain(client.xreadgroup("g1", "c2", {"stream.orders": ">"})) == [
        ("stream.orders", [(ids[1], {"voucherId": "7", "userId": "1"}), (ids[2], {"voucherId": "7", "userId": "2"})])]
    assert plain(client.xreadgroup("g1", "c1", {"stream.orders": "0"}, count=1)) == first
    # The wrong stream, as printed in a tutorial: nothing is acknowledged, and the entry stays.
    assert client.xack("s1", "g1", ids[0]) == 0
    assert plain(client.xreadgroup("g1", "c1", {"stream.orders": "0"}, count=1)) == first
    assert (client.xack("stream.orders", "g1", ids[0]), client.xack("stream.orders", "g1", ids[0])) == (1, 0)
    assert plain(client.xreadgroup("g1", "c1", {"stream.orders": "0"}, count=1)) == [("stream.orders", [])]
    pending = client.xpending("stream.orders", "g1")
    assert pending == {"pending": 2, "min": ids[1], "max": ids[2], "consumers": [{"name": "c2", "pending": 2}]}


def test_entries_of_a_dead_consumer_are_taken_over(client):
    client.xgroup_create("orders", "order_group", "0", mkstream=True)
    ids = [client.xadd("orders", {"order_id": number}) for number in range(3)]
    client.xreadgroup("order_group", "consumer1", {"orders": ">"})
    assert client.xclaim("orders", "order_group", "consumer2", 3_600_000, [ids[0]]) == []
    assert [entry[0] for entry in client.xclaim("orders", "order_group", "consumer2", 0, [ids[0]])] == [ids[0]]
    assert client.xclaim("orders", "order_group", "consumer2", 0, [ids[1]], justid=True) == [ids[1]]
    rows = client.xpending_range("orders", "order_group", "-", "+", 100)
    assert [(row["message_id"], row["consumer"], row["times_delivered"]) for row in rows] == [
        (ids[0], "consumer2", 2), (ids[1], "consumer2", 1), (ids[2], "consumer1", 1)]
    assert client.xdel("orders", ids[2]) == 1
    following, claimed, deleted = client.xautoclaim("orders", "order_group", "consumer3", 0)
    assert (following, [entry[0] for entry in claimed], deleted) == ("0-0", ids[:2], [ids[2]])


def test_groups_are_independent_of_each_other(client):
    client.xadd("s", {"n": 1})
    client.xgroup_create("s", "from_start", "0")
    client.xgroup_create("s", "from_now", "$")
    client.xadd("s", {"n": 2})
    assert len(plain(client.xreadgroup("from_start", "c", {"s": ">"}))[0][1]) == 2
    assert len(plain(client.xreadgroup("from_now", "c", {"s": ">"}, noack=True))[0][1]) == 1
    groups = {group["name"]: group for group in client.xinfo_groups("s")}
    assert (groups["from_start"]["pending"], groups["from_now"]["pending"]) == (2, 0)
    assert (groups["from_start"]["entries-read"], groups["from_start"]["lag"]) == (2, 0)
    assert client.xinfo_consumers("s", "from_start")[0]["name"] == "c"
    info = client.xinfo_stream("s")
    assert (info["length"], info["groups"], info["entries-added"]) == (2, 2, 2)
    assert client.xgroup_setid("s", "from_now", "0") is True
    assert client.xgroup_createconsumer("s", "from_now", "d") == 1
    assert client.xgroup_delconsumer("s", "from_start", "c") == 2
    assert client.xgroup_destroy("s", "from_now") in (1, True)


def test_waiting_consumers_share_the_work(client, other):
    """The client that has waited longest gets the next entry: eight orders are distributed 3:3:2 over three
    consumers."""
    client.xgroup_create("s", "g", "$", mkstream=True)
    done = {"c1": [], "c2": [], "c3": []}

    def consume(name):
        with redis.Redis(servers.HOST, servers.PORT, decode_responses=True) as mine:
            while True:
                for _, entries in plain(mine.xreadgroup("g", name, {"s": ">"}, count=1, block=20_000)):
                    if "stop" in entries[0][1]:
                        return
                    done[name].append(entries[0][0])
                    mine.xack("s", "g", entries[0][0])

    threads = [threading.Thread(target=consume, args=(name,)) for name in done]
    for thread in threads:
        thread.start()
    for number in range(8 + 3):
        servers.wait_until(lambda: other.info("clients")["blocked_clients"] == 3 - max(0, number - 8), "idle consumers")
        other.xadd("s", {"order": number} if number < 8 else {"stop": 1})
    for thread in threads:
        thread.join(20)
    assert sorted(map(len, done.values())) == [2, 3, 3]


def test_reading_an_idle_stream_ends_in_time(client):
    client.xgroup_create("s", "g", mkstream=True)
    begin = time.monotonic()
    assert not client.xreadgroup("g", "c", {"s": ">"}, block=200)
    assert not client.xread({"s": "$"}, block=100)
    assert 0.3 <= time.monotonic() - begin < 1.5


def test_group_that_does_not_exist(client):
    with pytest.raises(redis.ResponseError) as caught:
        client.xreadgroup("g1", "c1", {"s1": ">"})
    assert str(caught.value) == "NOGROUP No such key 's1' or consumer group 'g1' in XREADGROUP with GROUP option"
