"""TEST LINT through redis-py: each rule with a program that makes the mistake, and with a corrected version."""
import subprocess
import uuid

import pytest
import redis

import servers


@pytest.fixture(scope="module")
def server():
    if "--test " not in subprocess.run([servers.PROGRAM, "--help"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, check=False).stdout:
        pytest.skip("this server has no TEST")
    server = servers.Server("--test-commands", "local")
    yield server
    server.remove()


class Shop:
    """Two clients of one server, and an observer."""

    def __init__(self, server):
        self.admin = server.client(decode_responses=True)
        self.admin.execute_command("TEST", "RESET")
        self.anna = server.client(client_name="anna", decode_responses=True)
        self.bob = server.client(client_name="bob", decode_responses=True)
        self.anna.ping()
        self.bob.set("stock", 10)

    def advance(self, duration):
        self.admin.execute_command("TEST", "CLOCK", "ADVANCE", duration)

    def report(self):
        findings = self.admin.execute_command("TEST", "LINT", "REPORT")
        return [finding if isinstance(finding, dict) else dict(zip(finding[::2], finding[1::2])) for finding in findings]

    def close(self):
        for client in (self.admin, self.anna, self.bob):
            client.close()


@pytest.fixture
def shop(server):
    shop = Shop(server)
    yield shop
    shop.close()


def unlock(client, token):
    script = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"
    return client.eval(script, 1, "lock", token)


# --- The incorrect locks of the tutorials, and a correct one.

def setnx_then_expire(shop):
    shop.anna.setnx("lock", "me")
    shop.anna.expire("lock", 10)


def set_nx_ex(shop):
    shop.anna.set("lock", "me", nx=True, ex=10)


def unlock_without_comparing(shop):
    shop.anna.set("lock", "anna", nx=True, px=100)
    shop.advance("1s")
    shop.bob.set("lock", "bob", nx=True, px=1000)
    shop.anna.delete("lock")


def unlock_by_get_then_del(shop):
    shop.anna.set("lock", "anna", nx=True, px=100)
    if shop.anna.get("lock") == "anna":
        shop.advance("1s")  # between the two requests
        shop.bob.set("lock", "bob", nx=True, px=1000)
        shop.anna.delete("lock")


def unlock_by_script(shop):
    shop.anna.set("lock", "anna", nx=True, px=100)
    shop.advance("1s")
    shop.bob.set("lock", "bob", nx=True, px=1000)
    assert unlock(shop.anna, "anna") == 0
    assert unlock(shop.bob, "bob") == 1


def lock_of_redis_py(shop):
    with shop.anna.lock("lock", timeout=10):
        shop.anna.incr("stock")
    with shop.bob.lock("lock", timeout=10):
        shop.bob.incr("stock")


def work_behind_the_end(shop):
    shop.anna.set("lock", "anna", nx=True, px=100)
    stock = int(shop.anna.get("stock"))
    shop.advance("1s")
    shop.bob.set("lock", "bob", nx=True, px=1000)
    shop.bob.decr("stock")
    shop.anna.set("stock", stock - 1)


def work_within_a_prolonged_lock(shop):
    shop.anna.set("lock", "anna", nx=True, px=100)
    shop.anna.decr("stock")
    shop.anna.pexpire("lock", 10_000)
    shop.advance("1s")
    assert not shop.bob.set("lock", "bob", nx=True, px=1000)
    shop.anna.decr("stock")
    unlock(shop.anna, "anna")
    shop.bob.set("lock", "bob", nx=True, px=1000)
    shop.bob.decr("stock")


# --- Values, slots, messages, shapes.

def get_then_set(shop):
    stock = int(shop.anna.get("stock"))
    shop.bob.decr("stock")
    shop.anna.set("stock", stock - 1)


def watch_then_set(shop):
    tries = []

    def take(pipe):
        stock = int(pipe.get("stock"))
        if not tries:
            shop.bob.decr("stock")
        tries.append(stock)
        pipe.multi()
        pipe.set("stock", stock - 1)

    shop.anna.transaction(take, "stock")
    assert tries == [10, 9]


def keys_of_different_slots(shop):
    shop.anna.mget("cart:1", "order:1")


def keys_of_one_slot(shop):
    shop.anna.mget("{1}:cart", "{1}:order")


def key_made_by_a_script(shop):
    shop.anna.eval("return redis.call('GET', 'user:' .. ARGV[1])", 0, 7)


def key_of_keys(shop):
    shop.anna.eval("return redis.call('GET', KEYS[1])", 1, "user:7")


def publish_to_nobody(shop):
    shop.anna.publish("news", "x")


def publish_to_somebody(shop):
    with shop.bob.pubsub() as subscription:
        subscription.subscribe("news")
        shop.admin.execute_command("TEST", "AWAIT", "SUBSCRIBERS", "news", 1)
        assert shop.anna.publish("news", "x") == 1


def pop(shop):
    shop.bob.rpush("jobs", "a")
    shop.anna.blpop(["jobs"], 1)


def move(shop):
    shop.bob.rpush("jobs", "a")
    shop.anna.blmove("jobs", "doing", 1)
    shop.anna.lrem("doing", 1, "a")


def delete_a_big_set(shop):
    shop.anna.sadd("many", *range(2000))
    shop.anna.delete("many")


def unlink_a_big_set(shop):
    shop.anna.sadd("many", *range(2000))
    shop.anna.unlink("many")


def one_after_the_other(shop):
    for number in range(30):
        shop.anna.get(f"item:{number}")


def all_at_once(shop):
    with shop.anna.pipeline(transaction=False) as pipe:
        for number in range(30):
            pipe.get(f"item:{number}")
        pipe.execute()


def session_without_deadline(shop):
    shop.anna.hset("session:1", mapping={"user": "anna"})
    shop.anna.expire("session:1", 60)


def session_with_deadline(shop):
    with shop.anna.pipeline() as pipe:
        pipe.hset("session:1", mapping={"user": "anna"})
        pipe.expire("session:1", 60)
        pipe.execute()


def setex(shop):
    shop.anna.setex("a", 10, "x")


def set_ex(shop):
    shop.anna.set("a", "x", ex=10)


def getdel(shop):
    shop.anna.getdel("stock")


def get_and_delete(shop):
    with shop.anna.pipeline() as pipe:
        pipe.get("stock").delete("stock").execute()


def big_value(shop):
    shop.anna.set("photo", "x" * 200_000)


def small_values(shop):
    for part in range(4):
        shop.anna.set(f"photo:{part}", "x" * 50_000)


def one_counter(shop):
    with shop.anna.pipeline(transaction=False) as pipe:
        for _ in range(1000):
            pipe.incr("visits")
        pipe.execute()


def sixteen_counters(shop):
    with shop.anna.pipeline(transaction=False) as pipe:
        for number in range(1000):
            pipe.incr(f"visits:{number % 16}")
        pipe.execute()


def watch_and_leave(shop):
    with shop.anna.pipeline() as pipe:
        pipe.watch("stock")
        pipe.connection.disconnect()
    shop.anna.close()
    shop.admin.execute_command("TEST", "AWAIT", "CLIENTS", 0, "NAME", "anna")


def watch_and_unwatch(shop):
    with shop.anna.pipeline() as pipe:
        pipe.watch("stock")
        pipe.unwatch()
    shop.anna.close()
    shop.admin.execute_command("TEST", "AWAIT", "CLIENTS", 0, "NAME", "anna")


def other_database(shop):
    shop.anna.select(1)


def first_database(shop):
    shop.anna.select(0)


RULES = [
    ("lock-without-ttl", setnx_then_expire, set_nx_ex),
    ("foreign-unlock", unlock_without_comparing, unlock_by_script),
    ("foreign-unlock", unlock_by_get_then_del, lock_of_redis_py),
    ("expired-lock-work", work_behind_the_end, work_within_a_prolonged_lock),
    ("lost-update", get_then_set, watch_then_set),
    ("cross-slot", keys_of_different_slots, keys_of_one_slot),
    ("undeclared-key", key_made_by_a_script, key_of_keys),
    ("lost-message", publish_to_nobody, publish_to_somebody),
    ("lost-message", pop, move),
    ("slow-shape", delete_a_big_set, unlink_a_big_set),
    ("chatty", one_after_the_other, all_at_once),
    ("no-ttl=session:*", session_without_deadline, session_with_deadline),
    ("deprecated", setex, set_ex),
    ("newer=6.0", getdel, get_and_delete),
    ("big-value=100kb", big_value, small_values),
    ("hot-key", one_counter, sixteen_counters),
    ("watch-without-exec", watch_and_leave, watch_and_unwatch),
    ("select-in-cluster", other_database, first_database),
]


def names(value):
    return value if isinstance(value, str) else value.__name__


@pytest.mark.parametrize("rule, mistake, mended", RULES, ids=names)
def test_a_rule_finds_the_mistake_and_not_its_mended_twin(shop, rule, mistake, mended):
    shop.admin.execute_command("TEST", "LINT", "ON", rule)
    mended(shop)
    assert shop.report() == []
    shop.admin.execute_command("TEST", "RESET", "DATA")
    shop.bob.set("stock", 10)
    shop.admin.execute_command("TEST", "RESET", "LINT")
    shop.admin.execute_command("TEST", "LINT", "ON", rule)
    mistake(shop)
    [finding] = shop.report()
    assert (finding["rule"], finding["name"]) == (rule.split("=")[0], "anna")
    assert finding["why"] and finding["instead"]


def test_each_rule_has_a_program(shop):
    known = {(row if isinstance(row, dict) else dict(zip(row[::2], row[1::2])))["rule"]
             for row in shop.admin.execute_command("TEST", "LINT", "RULES")}
    assert known == {rule.split("=")[0] for rule, _, _ in RULES}


def test_a_strict_rule_is_an_exception(shop):
    shop.admin.execute_command("TEST", "LINT", "STRICT", "lost-update")
    with pytest.raises(redis.ResponseError, match="^LINT lost-update: client bob has written stock since it was read"):
        get_then_set(shop)
    assert shop.bob.get("stock") == "9"


@pytest.mark.parametrize("rule", ["foreign-unlock", "lost-update", "expired-lock-work", "lock-without-ttl"])
def test_many_right_locks_are_clean(server, shop, rule):
    shop.admin.execute_command("TEST", "LINT", "ON", rule)
    clients = [server.client(client_name=f"worker-{number}", decode_responses=True) for number in range(5)]
    for turn in range(50):
        client = clients[turn * 7 % 5]
        token = uuid.uuid4().hex
        assert client.set("lock", token, nx=True, px=1000)
        client.set("stock", int(client.get("stock")) - 1)
        assert unlock(client, token) == 1
    assert shop.report() == []
    for client in clients:
        client.close()
