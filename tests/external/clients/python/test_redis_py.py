"""redis-py, used as most programs use it: one command at a time, pipelines, transactions, scans."""
import threading
import time

import pytest
import redis

import servers


def test_strings(client):
    assert client.set("name", "虎哥") is True
    assert client.get("name") == "虎哥"
    assert client.set("name", "x", nx=True) is None
    assert client.set("name", "y", get=True) == "虎哥"
    assert client.append("name", "z") == 2
    assert client.strlen("name") == 2
    assert client.setrange("name", 4, "!") == 5
    assert client.getrange("name", 0, -1) == "yz\0\0!"
    assert client.getdel("name") == "yz\0\0!"
    assert client.get("name") is None
    assert client.mset({"a": 1, "b": 2}) is True
    assert client.mget("a", "b", "none") == ["1", "2", None]
    assert client.msetnx({"b": 3, "c": 4}) is False
    assert (client.incr("a"), client.incrby("a", 9), client.decr("a", 3)) == (2, 11, 8)
    assert client.incrbyfloat("a", 0.75) == 8.75
    assert client.getset("a", "new") == "8.75"


def test_expiry(client):
    assert client.set("k", "v", ex=100)
    assert 98 <= client.ttl("k") <= 100
    assert 98_000 <= client.pttl("k") <= 100_000
    assert client.set("k", "w", keepttl=True)
    assert client.ttl("k") > 0
    assert client.persist("k") is True
    assert (client.ttl("k"), client.ttl("none")) == (-1, -2)
    assert client.expire("k", 50, xx=True) is False
    assert client.expire("k", 50, nx=True) is True
    assert client.expireat("k", 4102444800) is True
    assert client.expiretime("k") == 4102444800
    assert client.pexpiretime("k") == 4102444800000
    assert client.getex("k", persist=True) == "w"
    assert client.pexpire("k", 30) is True
    servers.wait_until(lambda: client.exists("k") == 0, "the end of a key")
    assert client.set("gone", "x", pxat=1000) is True
    assert client.get("gone") is None


def test_hashes(client):
    assert client.hset("user:1", mapping={"name": "Jack", "age": 21}) == 2
    assert client.hset("user:1", "city", "Rome") == 1
    assert client.hgetall("user:1") == {"name": "Jack", "age": "21", "city": "Rome"}
    assert client.hmget("user:1", ["name", "none"]) == ["Jack", None]
    assert client.hincrby("user:1", "age", 2) == 23
    assert client.hincrbyfloat("user:1", "age", 0.5) == 23.5
    assert client.hsetnx("user:1", "name", "Tom") == 0
    assert (client.hexists("user:1", "name"), client.hlen("user:1"), client.hstrlen("user:1", "name")) == (True, 3, 4)
    assert sorted(client.hkeys("user:1")) == ["age", "city", "name"]
    assert sorted(client.hvals("user:1")) == ["23.5", "Jack", "Rome"]
    assert set(client.hrandfield("user:1", 2)) < {"age", "city", "name"}
    assert client.hdel("user:1", "name", "age", "city") == 3
    assert client.exists("user:1") == 0


def test_lists(client):
    assert client.rpush("l", "a", "b", "c") == 3
    assert client.lpush("l", "z") == 4
    assert client.lrange("l", 0, -1) == ["z", "a", "b", "c"]
    assert client.linsert("l", "before", "b", "x") == 5
    assert client.lset("l", 0, "y") is True
    assert (client.lindex("l", 0), client.lindex("l", 9)) == ("y", None)
    assert client.lpos("l", "b") == 3
    assert client.lrem("l", 1, "x") == 1
    assert client.lmove("l", "m", "LEFT", "RIGHT") == "y"
    assert client.rpoplpush("l", "m") == "c"
    assert client.lpop("l", 5) == ["a", "b"]
    assert client.ltrim("m", 0, 0) is True
    assert client.lmpop(2, "l", "m", direction="LEFT", count=2) == ["m", ["c"]]
    assert client.llen("m") == 0


def test_sets(client):
    assert client.sadd("user:1:tags", "旅游", "摄影", "健身") == 3
    assert client.sadd("user:2:tags", "旅游", "美食") == 2
    assert client.sinter("user:1:tags", "user:2:tags") == {"旅游"}
    assert client.sunionstore("all", "user:1:tags", "user:2:tags") == 4
    assert client.sdiff("user:1:tags", "user:2:tags") == {"摄影", "健身"}
    assert client.smembers("all") == {"旅游", "摄影", "健身", "美食"}
    assert client.smismember("all", ["旅游", "x"]) == [1, 0]
    assert client.sismember("all", "x") == 0
    assert client.sintercard(2, ["all", "user:1:tags"]) == 3
    assert client.smove("all", "one", "旅游") is True
    assert client.spop("one") == "旅游"
    assert client.srandmember("all", 10) and client.scard("all") == 3
    assert client.srem("all", "摄影", "none") == 1


def test_sorted_sets(client):
    assert client.zadd("game:rank", {"Tom": 500, "Jerry": 800, "Mike": 700, "Amy": 400, "Lucy": 300}) == 5
    assert [name for name, _ in client.zrevrange("game:rank", 0, 2, withscores=True)] == ["Jerry", "Mike", "Tom"]
    assert client.zscore("game:rank", "Tom") == 500.0
    assert client.zincrby("game:rank", 1.5, "Tom") == 501.5
    assert (client.zrank("game:rank", "Tom"), client.zrevrank("game:rank", "Tom")) == (2, 2)
    assert client.zcount("game:rank", 400, "(700") == 2
    assert client.zrangebyscore("game:rank", "-inf", 400) == ["Lucy", "Amy"]
    assert client.zrange("game:rank", 0, 0, desc=True) == ["Jerry"]
    assert client.zmscore("game:rank", ["Amy", "none"]) == [400.0, None]
    assert client.zadd("game:rank", {"Amy": 100}, gt=True, ch=True) == 0
    assert client.zrangestore("top", "game:rank", 0, 1, desc=True) == 2
    assert client.zdiff(["game:rank", "top"]) == ["Lucy", "Amy", "Tom"]
    assert client.zpopmin("game:rank")[0] in (["Lucy", 300.0], ("Lucy", 300.0), "Lucy")
    assert client.zunionstore("sum", {"top": 2, "game:rank": 1}) == 4
    assert client.zscore("sum", "Jerry") == 2400.0
    assert client.zremrangebyrank("sum", 0, 1) == 2
    assert client.zcard("sum") == 2


def test_bits_and_estimates(client):
    assert client.setbit("sign", 6, 1) == 0
    assert client.bitcount("sign") == 1
    assert client.bitpos("sign", 1) == 6
    assert client.bitop("not", "inverse", "sign") == 1
    assert client.bitfield("field").set("u8", 0, 255).incrby("u8", 0, 10, overflow="sat").execute() == [0, 255]
    assert client.pfadd("visitors", *range(1000)) == 1
    assert abs(client.pfcount("visitors") - 1000) < 30


def test_places(client):
    assert client.geoadd("Sicily", (13.361389, 38.115556, "Palermo", 15.087269, 37.502669, "Catania")) == 2
    assert client.geodist("Sicily", "Palermo", "Catania", "km") == 166.2742
    assert client.geohash("Sicily", "Palermo") == ["sqc8b49rny0"]
    found = client.geosearch("Sicily", longitude=15, latitude=37, radius=200, unit="km", sort="ASC", withdist=True)
    assert [list(place) for place in found] == [["Catania", 56.4413], ["Palermo", 190.4424]]
    longitude, latitude = client.geopos("Sicily", "Palermo")[0]
    assert (round(longitude, 4), round(latitude, 4)) == (13.3614, 38.1156)


def test_keys(client):
    client.mset({"demo:user:1": "a", "demo:user:2": "b", "demo:product:1": "c"})
    assert sorted(client.keys("demo:user:*")) == ["demo:user:1", "demo:user:2"]
    assert client.type("demo:user:1") == "string"
    assert client.rename("demo:user:1", "demo:user:3") is True
    assert client.renamenx("demo:user:3", "demo:user:2") is False
    assert client.copy("demo:user:3", "demo:user:4") is True
    assert client.touch("demo:user:3", "none") == 1
    assert client.unlink("demo:user:3", "demo:user:4") == 2
    assert client.dbsize() == 2
    assert client.randomkey() in ("demo:user:2", "demo:product:1")
    assert client.move("demo:user:2", 1) is True
    client.rpush("numbers", 3, 1, 2)
    assert client.sort("numbers", desc=True) == ["3", "2", "1"]
    assert client.object("encoding", "numbers") == "listpack" or client.info("server")["redis_version"] < "7.2"
    assert client.memory_usage("numbers") > 20
    with pytest.raises(redis.ResponseError, match="^no such key$"):
        client.rename("none", "x")


def test_binary_keys_and_values(protocol, chance):
    with redis.Redis(servers.HOST, servers.PORT, protocol=protocol) as client:
        for size in (0, 1, 44, 45, 5000, 300_000):
            key, value = b"k" + chance.randbytes(12), chance.randbytes(size)
            assert client.set(key, value)
            assert client.get(key) == value
            client.restore(b"copy" + key, 0, client.dump(key))
            assert client.get(b"copy" + key) == value
        everything = bytes(range(256))
        client.hset("h", everything, everything)
        assert client.hgetall("h") == {everything: everything}
        assert client.echo(b"\r\n+OK\r\n") == b"\r\n+OK\r\n"


def test_scanning_meets_every_key_and_member(client):
    with client.pipeline(transaction=False) as pipe:
        for number in range(1000):
            pipe.set(f"scan:{number}", number).hset("h", number, number).sadd("s", f"m{number}").zadd("z", {number: number})
        pipe.execute()
    assert len(set(client.scan_iter(match="scan:*", count=50))) == 1000
    assert set(client.scan_iter(_type="zset")) == {"z"}
    assert dict(client.hscan_iter("h")) == {str(number): str(number) for number in range(1000)}
    assert len(set(client.sscan_iter("s", match="m1*"))) == 111
    assert dict(client.zscan_iter("z", count=100))["999"] == 999.0


def test_pipeline_answers_in_order(client):
    with client.pipeline(transaction=False) as pipe:
        for number in range(5000):
            pipe.set(f"k{number}", number)
        for number in range(5000):
            pipe.get(f"k{number}")
        replies = pipe.execute()
    assert replies == [True] * 5000 + [str(number) for number in range(5000)]


def test_transaction_goes_on_after_a_wrong_type(client):
    pipe = client.pipeline()
    pipe.set("text", "x").lpush("text", "y").incr("count")
    replies = pipe.execute(raise_on_error=False)
    assert replies[0] is True and replies[2] == 1
    assert str(replies[1]).startswith("WRONGTYPE Operation against a key holding the wrong kind of value")
    pipe.lpush("text", "y").incr("count")
    with pytest.raises(redis.ResponseError, match=r"^Command # 1 \(LPUSH text y\) of pipeline caused error: WRONGTYPE Operation"):
        pipe.execute()
    assert client.get("count") == "2"


def test_transaction_with_a_command_that_does_not_exist_does_nothing(client):
    pipe = client.pipeline()
    pipe.set("k", "v").execute_command("NOSUCHCOMMAND", "a")
    with pytest.raises(redis.ResponseError, match="unknown command 'NOSUCHCOMMAND', with args beginning with: 'a'"):
        pipe.execute()
    assert client.get("k") is None
    for words, text in ((["EXEC"], "EXEC without MULTI"), (["DISCARD"], "DISCARD without MULTI")):
        with pytest.raises(redis.ResponseError, match=f"^{text}$"):
            client.execute_command(*words)


def test_watch_notices_another_client(client, other):
    client.set("stock", 1)
    with client.pipeline() as pipe:
        pipe.watch("stock")
        assert pipe.get("stock") == "1"
        other.set("stock", 5)
        pipe.multi()
        pipe.decr("stock")
        with pytest.raises(redis.WatchError):
            pipe.execute()
    assert client.get("stock") == "5"


def test_transaction_is_tried_again_until_nobody_interferes(client, other):
    attempts = []

    def take_one(pipe):
        stock = int(pipe.get("stock"))
        attempts.append(stock)
        if len(attempts) < 3:
            other.decr("stock")
        pipe.multi()
        pipe.set("stock", stock - 1)

    client.set("stock", 10)
    assert client.transaction(take_one, "stock") == [True]
    assert attempts == [10, 9, 8]
    assert client.get("stock") == "7"


def test_errors_have_classes_and_texts_of_their_own(client):
    client.set("k", "text")
    for words, text in (
            (["INCR", "k"], "value is not an integer or out of range"),
            (["LPUSH", "k", "x"], "WRONGTYPE Operation against a key holding the wrong kind of value"),
            (["SET", "k"], "wrong number of arguments for 'set' command"),
            (["SETEX", "k", "0", "v"], "invalid expire time in 'setex' command"),
            (["ZADD", "z", "abc", "x"], "value is not a valid float"),
            (["EXPIRE", "k", "1", "NX", "XX"], "NX and XX, GT or LT options at the same time are not compatible"),
            (["SELECT", "16"], "DB index is out of range"),
            (["BLPOP", "l", "-1"], "timeout is negative"),
            (["BLPOP", "l", "x"], "timeout is not a float or out of range"),
            (["CLIENT", "NOSUCH"], "unknown subcommand 'NOSUCH'. Try CLIENT HELP.")):
        with pytest.raises(redis.ResponseError) as caught:
            client.execute_command(*words)
        assert str(caught.value) == text
    with pytest.raises(redis.exceptions.NoScriptError):
        client.evalsha("0" * 40, 0)


def test_blocking_pop_waits_for_a_push(client, other):
    popped = []
    waiting = threading.Thread(target=lambda: popped.append(client.blpop(["a", "b"], timeout=20)))
    waiting.start()
    servers.wait_until(lambda: other.info("clients")["blocked_clients"] == 1, "a blocked client")
    assert other.rpush("b", "task") == 1
    waiting.join()
    assert [list(pair) for pair in popped] == [["b", "task"]]
    assert other.llen("b") == 0


def test_blocking_commands_end_in_time(client):
    begin = time.monotonic()
    assert client.blpop("none", timeout=0.2) is None
    assert client.brpop("none", timeout=0.1) is None
    assert client.blmove("none", "other", 0.1, "LEFT", "RIGHT") is None
    assert client.bzpopmin("none", timeout=0.1) is None
    assert client.blmpop(0.1, 1, "none", direction="LEFT") is None
    assert client.bzmpop(0.1, 1, ["none"], min=True) is None
    assert 0.7 <= time.monotonic() - begin < 2.0


def test_blocking_commands_take_what_is_there(client):
    client.zadd("z", {"low": 1, "high": 2})
    client.rpush("l", "first", "second")
    assert list(client.bzpopmax("z")) == ["z", "high", 2.0]
    assert client.brpoplpush("l", "m", 1) == "second"
    assert client.blmpop(1, 2, "none", "l", direction="LEFT") == ["l", ["first"]]


def test_wait_and_server_commands(client):
    assert client.ping() is True
    assert client.wait(0, 10) == 0
    assert abs(client.time()[0] - time.time()) < 5
    assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert client.info("server")["tcp_port"] == servers.PORT
    assert client.info()["role"] == "master"
    assert client.command_count() > 200
    assert client.command()["set"]["step_count"] == 1
    assert client.role()[0] == "master"
    client.set("a", 1)
    assert client.swapdb(0, 1) is True
    assert client.exists("a") == 0
    assert client.swapdb(0, 1) is True


def test_slow_log_tells_a_slow_script(client, configure):
    configure(slowlog_log_slower_than=0)
    client.slowlog_reset()
    client.set("slow", "x")
    assert client.slowlog_len() >= 1
    entries = [entry["command"] for entry in client.slowlog_get(10)]
    assert any("slow" in str(command) for command in entries)


def test_monitor_shows_what_others_do(client, other):
    with client.monitor() as monitor:
        other.set("qingshan", 'a "quoted"\ntext')
        other.eval("return redis.call('GET', KEYS[1])", 1, "qingshan")
        seen = []
        while len(seen) < 3:
            command = monitor.next_command()
            if "qingshan" in command["command"]:
                seen.append((command["client_type"], command["client_address"], command["db"], command["command"]))
    assert seen == [("tcp", "127.0.0.1", 0, 'SET qingshan a "quoted"\\ntext'),
                    ("tcp", "127.0.0.1", 0, "EVAL return redis.call('GET', KEYS[1]) 1 qingshan"),
                    ("lua", "lua", 0, "GET qingshan")]


def test_sixteen_databases_apart(client):
    with redis.Redis(servers.HOST, servers.PORT, db=2, decode_responses=True) as second:
        second.set("k", "two")
        assert client.get("k") is None
        assert second.client_info()["db"] in (2, "2")
        assert client.info("keyspace")["db2"]["keys"] == 1


def test_keyspace_events_arrive(client, other, configure):
    configure(notify_keyspace_events="KEA")
    with client.pubsub(ignore_subscribe_messages=True) as events:
        events.psubscribe("__keyevent@0__:*")
        assert events.get_message(timeout=5) is None
        other.set("k", "v", px=20)
        seen = []
        servers.wait_until(lambda: note(seen, events.get_message(timeout=1)) and ("__keyevent@0__:expired", "k") in seen,
                           "the event of an expired key")
    assert seen == [("__keyevent@0__:set", "k"), ("__keyevent@0__:expire", "k"), ("__keyevent@0__:expired", "k")]


def note(seen, message):
    if message:
        seen.append((message["channel"], message["data"]))
    return True
