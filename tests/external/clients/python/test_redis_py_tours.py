"""The commands of five tutorials, one after another, with unconverted RESP2 replies.

Texts are bytes, integers are integers, a nil is None; wrong commands of the tutorials must fail with the right errors.
"""
import re
import socket
import threading
import time

import pytest
import redis

import servers


class Refused(str):
    """Returns the error of a command; redis-py removes the first word if it has a class for it."""


def ask(plain, line):
    try:
        return plain.execute_command(*words_of(line))
    except redis.ResponseError as error:
        return Refused(error)


def words_of(line):
    """Splits arguments like a shell or redis-cli: quoted ones may contain blanks."""
    return [quoted or word for quoted, word in re.findall(r'"([^"]*)"|(\S+)', line)]


def tour(plain, *steps):
    seen = [(line, ask(plain, line)) for line, _ in steps]
    assert seen == list(steps)


def test_raw_socket():
    """Sends the bytes of a captured conversation, together and one by one."""
    requests = (b"*3\r\n$3\r\nSET\r\n$8\r\nqingshan\r\n$4\r\n2673\r\n", b"*2\r\n$3\r\nGET\r\n$8\r\nqingshan\r\n")
    replies = b"+OK\r\n$4\r\n2673\r\n"
    for pieces in ([requests[0], requests[1]], [b"".join(requests)], [bytes([octet]) for octet in b"".join(requests)]):
        with socket.create_connection((servers.HOST, servers.PORT), timeout=10) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces:
                connection.sendall(piece)
            assert connection.makefile("rb").read(len(replies)) == replies
    with socket.create_connection((servers.HOST, servers.PORT), timeout=10) as connection:
        connection.sendall(b'set inline "a b"\r\nget inline\r\n')
        assert connection.makefile("rb").read(14) == b"+OK\r\n$3\r\na b\r\n"


def test_protocol_error_closes_the_connection():
    with socket.create_connection((servers.HOST, servers.PORT), timeout=10) as connection:
        connection.sendall(b"*1\r\n$x\r\n")
        assert connection.makefile("rb").read() == b"-ERR Protocol error: invalid bulk length\r\n"


def test_strings(plain):
    tour(plain,
         ("SET name 虎哥", b"OK"),
         ("GET name", "虎哥".encode()),
         ("SET lock_key unique_value NX EX 10", b"OK"),
         ("SET lock_key unique_value NX EX 10", None),
         ("SET lock_key other NX PX 30000", None),
         ("TTL lock_key", 10),
         ("SET num 100", b"OK"),
         ("OBJECT ENCODING num", b"int"),
         ('SET text "ABC"', b"OK"),
         ("OBJECT ENCODING text", b"embstr"),
         ("SET text " + "x" * 45, b"OK"),
         ("OBJECT ENCODING text", b"raw"),
         ("MSET key1 val1 key2 val2", b"OK"),
         ("MGET key1 none key2", [b"val1", None, b"val2"]),
         ("INCR num", 101),
         ("INCRBY num 10", 111),
         ("DECRBY num 1", 110),
         ("INCRBYFLOAT num 0.75", b"110.75"),
         ("INCR num", Refused("value is not an integer or out of range")),
         ("SET max 9223372036854775807", b"OK"),
         ("INCR max", Refused("increment or decrement would overflow")),
         ('SETNX lock "token"', 1),
         ('SETNX lock "token"', 0),
         ('SETEX code 60 "1234"', b"OK"),
         ('SETEX code 0 "1234"', Refused("invalid expire time in 'setex' command")),
         ("APPEND code 5", 5),
         ("STRLEN code", 5),
         ("GETSET code x", b"12345"),
         ("TTL code", -1),
         ("SET seckill:stock:商品ID 100", b"OK"),
         ("GET seckill:stock:商品ID", b"100"),
         ("EXPIRE name 100 NX XX", Refused("NX and XX, GT or LT options at the same time are not compatible")),
         ("EXPIRE none 100", 0),
         ("DEL name none", 1),
         ("EXISTS num num none", 2))


def test_empty_text_is_not_nothing(plain):
    """Caches store this for objects that do not exist."""
    assert plain.execute_command("SET", "cache:shop:0", "", "EX", 120) == b"OK"
    assert plain.execute_command("GET", "cache:shop:0") == b""
    assert plain.execute_command("GET", "cache:shop:1") is None


def test_hashes(plain):
    tour(plain,
         ('HSET user:1 id 1 name "Tom"', 2),
         ("HGET user:1 name", b"Tom"),
         ("HMSET user:1 age 30 city Rome", b"OK"),
         ("HMGET user:1 name none age", [b"Tom", None, b"30"]),
         ("HGETALL user:1", [b"id", b"1", b"name", b"Tom", b"age", b"30", b"city", b"Rome"]),
         ("HKEYS user:1", [b"id", b"name", b"age", b"city"]),
         ("HINCRBY user:1 age -1", 29),
         ("HINCRBY user:1 name 1", Refused("hash value is not an integer")),
         ("HSETNX user:1 name x", 0),
         ("HEXISTS user:1 none", 0),
         ("HDEL user:1 id name age city", 4),
         ("EXISTS user:1", 0),
         ("HGETALL user:1", []))


def test_lists(plain):
    tour(plain,
         ('LPUSH my_queue "message1"', 1),
         ("BRPOP my_queue 0", [b"my_queue", b"message1"]),
         ("RPUSH task:queue task1 task2 task3", 3),
         ("BLPOP task:queue 5", [b"task:queue", b"task1"]),
         ("LRANGE task:queue 0 -1", [b"task2", b"task3"]),
         ("RPOPLPUSH task:queue processing", b"task3"),
         ("LLEN task:queue", 1),
         ("LPOP task:queue", b"task2"),
         ("RPOP task:queue", None),
         ("BLPOP task:queue -1", Refused("timeout is negative")),
         ("BLPOP task:queue x", Refused("timeout is not a float or out of range")))


@pytest.mark.full
def test_empty_queue_waits_five_seconds(plain):
    begin = time.monotonic()
    assert plain.execute_command("BLPOP", "task:queue", 5) is None
    assert 5.0 <= time.monotonic() - begin < 5.5


def test_sets(plain):
    tour(plain,
         ('SADD myset "a" "b"', 2),
         ('SADD user:1:tags "旅游" "摄影" "健身"', 3),
         ('SADD user:2:tags "旅游" "美食"', 2),
         ("SINTER user:1:tags user:2:tags", ["旅游".encode()]),
         ("SCARD user:1:tags", 3),
         ("SISMEMBER user:1:tags 美食", 0),
         ("SREM myset a", 1),
         ("SMEMBERS myset", [b"b"]))


def test_sorted_sets(plain):
    tour(plain,
         ('ZADD game:rank 500 "Tom" 800 "Jerry" 700 "Mike" 400 "Amy" 300 "Lucy"', 5),
         ("ZREVRANGE game:rank 0 2 WITHSCORES", [b"Jerry", b"800", b"Mike", b"700", b"Tom", b"500"]),
         ("ZSCORE game:rank Tom", b"500"),
         ("ZRANK game:rank Tom", 2),
         ("ZREVRANK game:rank Jerry", 0),
         ("ZCOUNT game:rank 400 700", 3),
         ("ZINCRBY game:rank 0.5 Amy", b"400.5"),
         ("ZRANGEBYSCORE game:rank -inf (500", [b"Lucy", b"Amy"]),
         ("ZADD times 1700000000000 a 1e30 b -inf c", 3),
         ("ZRANGE times 0 -1 WITHSCORES", [b"c", b"-inf", b"a", b"1700000000000", b"b", b"1e+30"]),
         ("ZADD game:rank abc x", Refused("value is not a valid float")),
         ("ZDIFF 2 game:rank times", [b"Lucy", b"Amy", b"Tom", b"Mike", b"Jerry"]),
         ("ZINTER 2 game:rank times", []),
         ("ZUNION 2 game:rank times WITHSCORES", [b"c", b"-inf", b"Lucy", b"300", b"Amy", b"400.5", b"Tom", b"500", b"Mike", b"700",
                                                  b"Jerry", b"800", b"a", b"1700000000000", b"b", b"1e+30"]),
         ("ZREM game:rank Tom none", 1),
         ("ZCARD game:rank", 4))


def test_streams(plain):
    tour(plain,
         ("XADD mystream 1519073278252-0 foo value_1", b"1519073278252-0"),
         ("XADD mystream 1519073279157-0 foo value_2", b"1519073279157-0"),
         ("XREAD COUNT 2 STREAMS mystream 0", [[b"mystream", [[b"1519073278252-0", [b"foo", b"value_1"]],
                                                               [b"1519073279157-0", [b"foo", b"value_2"]]]]]),
         ("XADD mystream 1519073279157-0 foo x",
          Refused("The ID specified in XADD is equal or smaller than the target stream top item")),
         ("XADD mystream 0-0 foo x", Refused("The ID specified in XADD must be greater than 0-0")),
         ("XADD mystream * foo", Refused("wrong number of arguments for 'xadd' command")),
         ("XREAD COUNT 2 STREAMS mystream $", None),
         ("XGROUP CREATE mystream mygroup 0", b"OK"),
         ("XGROUP CREATE mystream mygroup 0", Refused("BUSYGROUP Consumer Group name already exists")),
         ("XREADGROUP GROUP mygroup consumer1 COUNT 1 STREAMS mystream >",
          [[b"mystream", [[b"1519073278252-0", [b"foo", b"value_1"]]]]]),
         ("XPENDING mystream mygroup", [1, b"1519073278252-0", b"1519073278252-0", [[b"consumer1", b"1"]]]),
         ("XDEL mystream 1519073278252-0", 1),
         ("XREADGROUP GROUP mygroup consumer1 COUNT 1 STREAMS mystream 0", [[b"mystream", [[b"1519073278252-0", None]]]]),
         ("XACK mystream mygroup 1519073278252-0", 1),
         ("XACK mystream mygroup 1519073278252-0", 0),
         ("XREADGROUP GROUP mygroup consumer1 COUNT 1 STREAMS mystream 0", [[b"mystream", []]]),
         ("XPENDING mystream mygroup", [0, None, None, None]),
         ("XINFO GROUPS mystream", [[b"name", b"mygroup", b"consumers", 1, b"pending", 0, b"last-delivered-id", b"1519073278252-0",
                                     b"entries-read", 1, b"lag", 1]]),
         ("XCLAIM mystream mygroup consumer2 3600000 1650000000000-0", []),
         ("XTRIM mystream MAXLEN 0", 1),
         ("XGROUP CREATECONSUMER mystream mygroup c9", 1),
         ("XGROUP DELCONSUMER mystream mygroup c9", 0),
         ("XGROUP DESTROY mystream mygroup", 1),
         ("XGROUP DESTROY mystream mygroup", 0))


def test_transactions(plain):
    tour(plain,
         ("MULTI", b"OK"),
         ('SET user:1:name "Alice"', b"QUEUED"),
         ("MULTI", Refused("MULTI calls can not be nested")),
         ("WATCH k", Refused("WATCH inside MULTI is not allowed")),
         ("LPUSH user:1:name x", b"QUEUED"),
         ("BLPOP none 0", b"QUEUED"))
    alice, wrong, none = plain.execute_command("EXEC")
    assert (alice, none) == (b"OK", None)
    assert str(wrong) == "WRONGTYPE Operation against a key holding the wrong kind of value"
    tour(plain,
         ("MULTI", b"OK"),
         ("SET k", Refused("wrong number of arguments for 'set' command")),
         ("EXEC", Refused("Transaction discarded because of previous errors.")),
         ("MULTI", b"OK"),
         ("SET k v", b"QUEUED"),
         ("DISCARD", b"OK"),
         ("DISCARD", Refused("DISCARD without MULTI")),
         ("WATCH k", b"OK"),
         ("SET k mine", b"OK"),
         ("MULTI", b"OK"),
         ("SET k later", b"QUEUED"),
         ("EXEC", None),
         ("GET k", b"mine"),
         ("UNWATCH", b"OK"))


def test_published_messages(plain):
    heard = []

    def listen():
        with socket.create_connection((servers.HOST, servers.PORT), timeout=10) as connection:
            connection.sendall(b"SUBSCRIBE order_channel\r\nPSUBSCRIBE order.*\r\n")
            stream = connection.makefile("rb")
            for _ in range(4):
                parts = int(stream.readline()[1:])
                heard.append([stream.readline() and stream.readline().rstrip() if stream.peek(1)[:1] == b"$" else stream.readline()
                              for _ in range(parts)])

    listener = threading.Thread(target=listen)
    listener.start()
    servers.wait_until(lambda: ask(plain, "PUBSUB NUMPAT") == 1, "a subscription")
    assert ask(plain, 'PUBLISH order_channel "New order: #12345"') == 1
    assert ask(plain, "PUBLISH order.paid 7") == 1
    listener.join(10)
    assert heard == [[b"subscribe", b"order_channel", b":1\r\n"], [b"psubscribe", b"order.*", b":2\r\n"],
                     [b"message", b"order_channel", b"New order: #12345"], [b"pmessage", b"order.*", b"order.paid", b"7"]]


@pytest.mark.parametrize("printed, said", [
    ("XGROUP DESTORY s g", "unknown subcommand 'DESTORY'. Try XGROUP HELP."),
    ("SETNX seckill:order:商品ID", "wrong number of arguments for 'setnx' command"),
    ("XGROUP CREATE orders:group1 $ MKSTREAM",
     "The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an "
     "empty stream automatically."),
    ("XREADGROUP GROUP group1 consumer1 BLOCK 0 STREAMS orders:queue >",
     "NOGROUP No such key 'orders:queue' or consumer group 'group1' in XREADGROUP with GROUP option"),
    ("XADD order:{user_id%10} *", "wrong number of arguments for 'xadd' command"),
    ("CONFIG SET max-memery 1gb", "Unknown option or number of arguments for CONFIG SET - 'max-memery'"),
    ("CONFIG SET maxmemory-policy voaltile-lru",
     "CONFIG SET failed (possibly related to argument 'maxmemory-policy') - argument(s) must be one of the following: volatile-lru, "
     "volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, allkeys-random, noeviction"),
    ("SELECT 16", "DB index is out of range"),
    ("EXEC", "EXEC without MULTI")])
def test_what_the_tutorials_print_wrongly(plain, printed, said):
    assert ask(plain, printed) == Refused(said)


def test_group_of_an_existing_stream_needs_an_id(plain):
    tour(plain,
         ("XADD orders:group1 1-1 a b", b"1-1"),
         ("XGROUP CREATE orders:group1 $ MKSTREAM", Refused("Invalid stream ID specified as stream command argument")))


def test_order_set_that_is_a_text_is_of_the_wrong_type(plain):
    wrong = Refused("WRONGTYPE Operation against a key holding the wrong kind of value")
    tour(plain,
         ("SETNX seckill:order:7 x", 1),
         ("SISMEMBER seckill:order:7 1001", wrong),
         ("SADD seckill:order:7 1001", wrong))


def test_client_list_has_the_fields_of_the_course(plain):
    row = ask(plain, "CLIENT LIST").decode().splitlines()[0]
    names = [field.partition("=")[0] for field in row.split()]
    wanted = "id addr fd name age idle flags db sub psub multi qbuf qbuf-free obl oll omem events cmd".split()
    assert [name for name in names if name in wanted] == wanted


def test_reader_that_does_not_read_stalls_nobody(plain):
    """A slow reader's replies accumulate in the server, as CLIENT LIST shows, and other clients are served."""
    plain.execute_command("SET", "big", b"x" * 100_000)
    with socket.create_connection((servers.HOST, servers.PORT), timeout=10) as lazy:
        lazy.sendall(b"CLIENT SETNAME lazy\r\n" + b"GET big\r\n" * 300)

        def backlog():
            rows = ask(plain, "CLIENT LIST").decode().splitlines()
            row = next(iter([row for row in rows if " name=lazy " in row]), "")
            return int(row.partition(" omem=")[2].partition(" ")[0] or 0)

        servers.wait_until(lambda: backlog() > 10_000_000, "a backlog")
        begin = time.monotonic()
        assert plain.execute_command("PING") == b"PONG"
        assert time.monotonic() - begin < 0.5
    servers.wait_until(lambda: backlog() == 0, "the end of the client")


@pytest.mark.full
def test_one_by_one_and_in_a_pipeline(plain):
    """Sends five thousand requests each way: the data is the same, all replies come in order, and the pipeline is much
    faster."""
    begin = time.monotonic()
    for number in range(5000):
        plain.execute_command("SET", f"k{number}", number)
    singly_s = time.monotonic() - begin
    with socket.create_connection((servers.HOST, servers.PORT), timeout=30) as connection:
        begin = time.monotonic()
        connection.sendall(b"".join(b"SET k%d p%d\r\n" % (number, number) for number in range(5000)))
        assert connection.makefile("rb").read(5 * 5000) == b"+OK\r\n" * 5000
        together_s = time.monotonic() - begin
        connection.sendall(b"".join(b"GET k%d\r\n" % number for number in range(5000)))
        wanted = b"".join(b"$%d\r\np%d\r\n" % (len(str(number)) + 1, number) for number in range(5000))
        assert connection.makefile("rb").read(len(wanted)) == wanted
    assert together_s < singly_s / 4
