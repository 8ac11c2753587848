"""redis-py's publish and subscribe: by polling, with handlers in a thread, patterns, sharded channels."""
import pytest
import redis

import servers


def next_message(pubsub, sharded=False):
    """Returns the next message; redis-py returns None after it has read something else."""
    read = pubsub.get_sharded_message if sharded and hasattr(pubsub, "get_sharded_message") else pubsub.get_message
    return servers.wait_until(lambda: read(timeout=1), "a message")


def test_subscriber_gets_what_is_published_from_then_on(client, other):
    assert other.publish("order_channel", "nobody hears") == 0
    with client.pubsub() as pubsub:
        pubsub.subscribe("order_channel")
        assert next_message(pubsub) == {"type": "subscribe", "pattern": None, "channel": "order_channel", "data": 1}
        assert other.publish("order_channel", "New order: #12345") == 1
        assert next_message(pubsub) == {"type": "message", "pattern": None, "channel": "order_channel",
                                        "data": "New order: #12345"}
        pubsub.unsubscribe("order_channel")
        assert next_message(pubsub) == {"type": "unsubscribe", "pattern": None, "channel": "order_channel", "data": 0}
    servers.wait_until(lambda: other.publish("order_channel", "x") == 0, "the end of the subscription")


def test_patterns(client, other):
    with client.pubsub(ignore_subscribe_messages=True) as pubsub:
        pubsub.psubscribe("order.*", "h?llo")
        pubsub.subscribe("order.created")
        servers.wait_until(lambda: pubsub.get_message(timeout=0.1) or other.pubsub_numsub("order.created")[0][1], "a subscription")
        assert other.pubsub_numpat() == 2
        assert other.publish("order.created", "1") == 2
        got = {next_message(pubsub)["type"], next_message(pubsub)["type"]}
        assert got == {"message", "pmessage"}
        assert other.publish("hello", "2") == 1
        assert next_message(pubsub) == {"type": "pmessage", "pattern": "h?llo", "channel": "hello", "data": "2"}
        assert other.publish("heello", "3") == 0


def test_handlers_run_in_a_thread(client, other):
    heard = []
    pubsub = client.pubsub()
    pubsub.subscribe(**{"news": lambda message: heard.append(("news", message["data"]))})
    pubsub.psubscribe(**{"n*s": lambda message: heard.append((message["pattern"], message["data"]))})
    thread = pubsub.run_in_thread(sleep_time=0.01)
    try:
        servers.wait_until(lambda: other.pubsub_numpat() == 1, "a subscription")
        for number in range(100):
            assert other.publish("news", number) == 2
        servers.wait_until(lambda: len(heard) == 200, "200 messages")
    finally:
        thread.stop()
        thread.join(10)
    assert [data for name, data in heard if name == "news"] == [str(number) for number in range(100)]
    assert [data for name, data in heard if name == "n*s"] == [str(number) for number in range(100)]


def test_sharded_channels_are_apart_from_the_others(client, other):
    with client.pubsub() as pubsub:
        pubsub.ssubscribe("shard")
        assert next_message(pubsub, sharded=True)["type"] == "ssubscribe"
        assert other.execute_command("SPUBLISH", "shard", "one") == 1
        assert next_message(pubsub, sharded=True) == {"type": "smessage", "pattern": None, "channel": "shard", "data": "one"}
        assert other.publish("shard", "not this") == 0
        assert other.pubsub_shardchannels() == ["shard"]
        assert [list(pair) for pair in other.pubsub_shardnumsub("shard")] == [["shard", 1]]
        assert other.pubsub_channels() == []
        pubsub.sunsubscribe("shard")
        assert next_message(pubsub, sharded=True)["type"] == "sunsubscribe"


def test_ping_while_subscribed():
    """In RESP2, where the reply is a message; redis-py misparses the plain reply of RESP3."""
    with redis.Redis(servers.HOST, servers.PORT, protocol=2, decode_responses=True) as client, client.pubsub() as pubsub:
        pubsub.subscribe("c")
        next_message(pubsub)
        pubsub.ping("are you there?")
        assert next_message(pubsub) == {"type": "pong", "pattern": None, "channel": None, "data": "are you there?"}


def test_binary_messages(protocol, chance):
    data = chance.randbytes(100_000)
    with redis.Redis(servers.HOST, servers.PORT, protocol=protocol) as client, client.pubsub() as pubsub:
        pubsub.subscribe(b"\xff\x00")
        next_message(pubsub)
        assert client.publish(b"\xff\x00", data) == 1
        assert next_message(pubsub)["data"] == data


def test_subscriber_may_not_use_other_commands_in_resp2():
    with redis.Redis(servers.HOST, servers.PORT, protocol=2, single_connection_client=True) as client:
        client.connection.send_command("SUBSCRIBE", "c")
        assert client.connection.read_response() == [b"subscribe", b"c", 1]
        client.connection.send_command("GET", "k")
        with pytest.raises(redis.ResponseError) as caught:
            client.connection.read_response()
        assert str(caught.value) == ("Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                                     "allowed in this context")
