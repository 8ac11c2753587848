"""The Lua scripts of distributed locks, flash sales and tutorials, word for word, with the results of a real server.

The scripts are exactly as their authors publish them: with comments in Chinese, with mistakes, with and without a
return."""
import hashlib
import pathlib
import threading

import pytest
import redis

import servers

SCRIPTS = pathlib.Path(__file__).parent.parent / "scripts"


def lua(name):
    return (SCRIPTS / f"{name}.lua").read_text(encoding="utf-8")


def without_lines_of(comment, script):
    """Removes the comments of another language, with which a script does not compile."""
    return "".join(line for line in script.splitlines(keepends=True) if not line.lstrip().startswith(comment))


ACQUIRE = lua("acquire_hset")
ACQUIRE_EXPLAINED = lua("acquire_explained")
RENEW = lua("renew")
RELEASE = lua("release_assembled")
RELEASE_OLD = without_lines_of("//", lua("release_with_slash_comments"))
SALE_FRAGMENT = lua("seckill_fragment")
SALE_WITHOUT_VARIABLES = lua("seckill_with_stream")
SALE = "local voucherId=ARGV[1] local userId=ARGV[2] local orderId=ARGV[3]\n" + SALE_WITHOUT_VARIABLES

ME, SOMEBODY_ELSE = "b60a9c8c-92f8-4bfe-b0e7-308967346336:1", "c3a1:9"
CHANNEL = "redisson_lock__channel:{updateAccount}"


@pytest.mark.parametrize("name", ["acquire_hset", "acquire_hincrby", "acquire_or"])
def test_acquiring_a_reentrant_lock(client, name):
    script = lua(name)
    assert client.eval(script, 1, "updateAccount", 10_000, ME) is None
    assert client.eval(script, 1, "updateAccount", 10_000, ME) is None
    assert client.hgetall("updateAccount") == {ME: "2"}
    assert 9_000 < client.eval(script, 1, "updateAccount", 10_000, SOMEBODY_ELSE) <= 10_000


def test_acquiring_as_explained_takes_milliseconds_for_seconds(client):
    assert client.eval(ACQUIRE_EXPLAINED, 1, "lock", ME, 30_000) == 1
    assert client.eval(ACQUIRE_EXPLAINED, 1, "lock", ME, 30_000) == 1
    assert client.eval(ACQUIRE_EXPLAINED, 1, "lock", SOMEBODY_ELSE, 30_000) == 0
    assert client.ttl("lock") == 30_000


def test_watchdog_renews_for_the_owner_alone(client):
    client.eval(ACQUIRE, 1, "lock", 1_000, ME)
    assert client.eval(RENEW, 1, "lock", 30_000, ME) == 1
    assert 29_000 < client.pttl("lock") <= 30_000
    assert client.eval(RENEW, 1, "lock", 60_000, SOMEBODY_ELSE) == 0
    assert client.pttl("lock") <= 30_000


@pytest.mark.parametrize("script", [RELEASE_OLD, RELEASE, lua("release_explained")], ids=["old", "newer", "explained"])
def test_unlocking_counts_down_and_tells_the_waiters(client, other, script):
    keys = ["updateAccount", CHANNEL]
    with other.pubsub(ignore_subscribe_messages=True) as waiter:
        waiter.subscribe(CHANNEL)
        servers.wait_until(lambda: waiter.get_message() is None and client.pubsub_numsub(CHANNEL)[0][1] == 1, "a subscription")
        for _ in range(2):
            client.eval(ACQUIRE, 1, "updateAccount", 10_000, ME)
        assert client.eval(script, 2, *keys, 0, 10_000, SOMEBODY_ELSE) is None
        assert client.eval(script, 2, *keys, 0, 10_000, ME) == 0
        assert client.eval(script, 2, *keys, 0, 10_000, ME) == 1
        assert client.exists("updateAccount") == 0
        message = servers.wait_until(lambda: waiter.get_message(timeout=1), "the message")
        assert (message["channel"], message["data"]) == (CHANNEL, "0")


def test_unlocking_what_is_not_locked(client):
    assert client.eval(RELEASE_OLD, 2, "lock", CHANNEL, 0, 10_000, ME) == 1
    assert client.eval(RELEASE, 2, "lock", CHANNEL, 0, 10_000, ME) is None


def test_unlocking_with_a_latch_can_be_repeated(client):
    acquire, release = lua("acquire_or"), lua("release_with_latch")

    def unlock(request, owner=ME):
        return client.eval(release, 3, "lock", "redisson_lock__channel:{lock}",
                           f"redisson_unlock_latch:{{lock}}:{request}", 0, 30_000, owner, "PUBLISH", 3_000)

    for _ in range(2):
        client.eval(acquire, 1, "lock", 30_000, ME)
    assert unlock("a", SOMEBODY_ELSE) is None
    assert (unlock("b"), unlock("b")) == (0, 0)
    assert client.hget("lock", ME) == "1"
    assert (unlock("c"), unlock("c")) == (1, 1)
    assert client.exists("lock") == 0
    assert client.get("redisson_unlock_latch:{lock}:c") == "1"
    assert 2_000 < client.pttl("redisson_unlock_latch:{lock}:c") <= 3_000


@pytest.mark.parametrize("name", ["compare_and_delete", "compare_and_delete_commented", "compare_and_delete_upper_case"])
def test_only_the_owner_deletes_a_lock(client, name):
    script = lua(name)
    assert client.eval(script, 1, "lock", ME) == 0
    client.set("lock", ME, nx=True, px=30_000)
    assert client.eval(script, 1, "lock", SOMEBODY_ELSE) == 0
    assert client.get("lock") == ME
    assert client.eval(script, 1, "lock", ME) == 1
    assert client.exists("lock") == 0


def test_only_the_owner_renews_a_lock(client):
    script = lua("compare_and_expire_upper_case")
    client.set("lock", ME, px=1_000)
    assert client.eval(script, 1, "lock", SOMEBODY_ELSE, 30_000) == 0
    assert client.eval(script, 1, "lock", ME, 30_000) == 1
    assert 29_000 < client.pttl("lock") <= 30_000


def test_flash_sale_fragment(client):
    script = "local stock_key=KEYS[1] local order_key=KEYS[2] local user_id=ARGV[1]\n" + SALE_FRAGMENT
    client.set("stock:product_001", 2)
    assert [client.eval(script, 2, "stock:product_001", "orders", user) for user in (1, 1, 2, 3)] == [1, 0, 1, 0]
    assert client.get("stock:product_001") == "0"
    assert client.smembers("orders") == {"1", "2"}


def test_flash_sale_writes_orders_to_a_stream(client):
    client.set("seckill:stock:7", 1)
    assert client.eval(SALE, 0, 7, 1001, 1) == 0
    assert [dict(fields) for _, fields in client.xrange("stream.orders")] == [{"userId": "1001", "voucherId": "7"}]
    assert client.eval(SALE, 0, 7, 1001, 2) == 1  # the script checks the stock first
    client.set("seckill:stock:7", 1)
    assert client.eval(SALE, 0, 7, 1001, 3) == 2
    assert client.eval(SALE, 0, 7, 1002, 4) == 0
    assert client.eval(SALE, 0, 7, 1003, 5) == 1


def test_flash_sale_sells_a_hundred_to_a_thousand_users(client):
    """Without keys, by hash, two requests of every user."""
    buy = client.register_script(lua("seckill"))
    client.set("seckill:stock:10", 100)
    results = []
    for attempt in range(2):
        with client.pipeline(transaction=False) as pipe:
            for user in range(1000):
                buy(args=[10, user, attempt * 1000 + user], client=pipe)
            results += pipe.execute()
    assert (results.count(0), results.count(1), results.count(2)) == (100, 1900, 0)
    assert client.get("seckill:stock:10") == "0"
    assert client.scard("seckill:order:10") == client.xlen("stream.orders") == 100


def test_first_steps(client):
    assert client.eval(lua("set_parameters"), 1, "k", "v") is None
    assert client.get("k") == "v"
    assert client.eval(lua("get"), 1, "none") is None
    assert client.eval(lua("set_name"), 0) is None
    assert client.eval(without_lines_of("#", lua("get_name_with_hash_comment")), 0) == "jack"
    assert client.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, "name", "rose") == "OK"
    assert client.eval(lua("json"), 0) in ('{"name":"Alice","age":30}', '{"age":30,"name":"Alice"}')


def failed(client, script, *arguments):
    with pytest.raises(redis.ResponseError) as caught:
        client.eval(script, *(arguments or (0,)))
    return str(caught.value)


def sha(script):
    return hashlib.sha1(script.encode()).hexdigest()


COMPILING = "Error compiling script (new function): user_script"


def test_comments_of_another_language_do_not_compile(client):
    for name in ("acquire_with_slash_comments", "release_with_slash_comments"):
        assert failed(client, lua(name)) == f"{COMPILING}:1: unexpected symbol near '/'"
    assert failed(client, lua("get_name_with_hash_comment")) == f"{COMPILING}:2: unexpected symbol near '#'"


@pytest.mark.parametrize("script, line, name", [(SALE_FRAGMENT, 2, "stock_key"), (SALE_WITHOUT_VARIABLES, 2, "voucherId")],
                         ids=["fragment", "script"])
def test_free_variables_do_not_exist(client, script, line, name):
    assert failed(client, script) == (f"user_script:{line}: Script attempted to access nonexistent global variable '{name}' "
                                      f"script: {sha(script)}, on @user_script:{line}.")


def test_commands_that_do_not_exist(client):
    for script in (lua("template"), "return redis.call('')"):
        assert failed(client, script) == f"Unknown Redis command called from script script: {sha(script)}, on @user_script:1."
    script = "return redis.call('get')"
    assert failed(client, script) == (f"Wrong number of args calling Redis command from script script: {sha(script)}, "
                                      "on @user_script:1.")


def test_stock_that_does_not_exist(client):
    assert failed(client, SALE, 0, 7, 1001, 1).startswith("user_script:7: attempt to compare nil with number script: ")


def test_errors_of_commands_say_where(client):
    client.set("k", "text")
    for script, text in (("return redis.call('incr', KEYS[1])", "value is not an integer or out of range"),
                         ("return redis.call('lpush', KEYS[1], 'x')",
                          "WRONGTYPE Operation against a key holding the wrong kind of value")):
        assert failed(client, script, 1, "k") == f"{text} script: {sha(script)}, on @user_script:1."
    assert failed(client, "return redis.pcall('incr', KEYS[1])", 1, "k") == "value is not an integer or out of range"
    script = "assert(false, 'Bloom filter config has been changed')"
    assert failed(client, script) == (f"user_script:1: Bloom filter config has been changed script: {sha(script)}, "
                                      "on @user_script:1.")
    script = "return redis.error_reply('MY error')"
    assert failed(client, script) == "MY error"


def test_what_a_script_may_not_do(client):
    for script, text in (("return os.time()", "user_script:1: Script attempted to access nonexistent global variable 'os'"),
                         ("x = 1", "user_script:1: Attempt to modify a readonly table"),
                         ("return redis.call('subscribe', 'c')", "This Redis command is not allowed from script"),
                         ("return redis.call({})", "Lua redis lib command arguments must be strings or integers"),
                         ("return redis.call()", "Please specify at least one argument for this redis lib call")):
        assert failed(client, script).startswith(text)


def test_numbers_of_keys(client):
    assert failed(client, "return 1", 2, "k") == "Number of keys can't be greater than number of args"
    assert failed(client, "return 1", -1, "k") == "Number of keys can't be negative"
    assert failed(client, "return 1", "x") == "value is not an integer or out of range"


def test_values_on_their_way_out_and_in(client):
    assert client.eval("return 3.99", 0) == 3
    assert client.eval("return {1, 2, nil, 4}", 0) == [1, 2]
    assert client.eval("return {name='x'}", 0) == []
    assert client.eval("return {true, false, 'text', {1}}", 0) == [1, None, "text", [1]]
    assert client.eval("return {ok='FINE'}", 0) == "FINE"
    assert client.eval("redis.call('set', 'fl', 3.0) return redis.call('get', 'fl')", 0) == "3"
    assert client.eval("redis.call('set', 'big', 2^53) return redis.call('get', 'big')", 0) == "9007199254740992"
    assert client.eval("return 4/2 .. ''", 0) == "2"
    assert client.eval("return math.max(1, '2')", 0) == 2
    assert client.eval("return {unpack({1, 2, 3}, 2)}", 0) == [2, 3]
    assert client.eval("return string.format('%d', 3.7)", 0) == "3"
    assert client.eval("return cjson.encode({})", 0) == "{}"
    assert client.eval("return type(redis.call('get', 'none'))", 0) == "boolean"
    assert client.eval("return redis.call('ping')", 0) == "PONG"


def test_cache_of_scripts(client):
    assert client.script_load("return 1") == "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
    assert client.evalsha("E0E1F9FABFC9D4800C877A703B823AC0578FF8DB", 0) == 1
    assert client.script_exists(sha("return 1"), sha("return 2")) == [True, False]
    client.flushall()
    assert client.script_exists(sha("return 1")) == [True]
    client.eval("return 2", 0)
    assert client.evalsha(sha("return 2"), 0) == 2
    assert client.script_flush("SYNC") is True
    with pytest.raises(redis.exceptions.NoScriptError, match=r"^No matching script. Please use EVAL.$"):
        client.evalsha(sha("return 1"), 0)
    assert client.eval_ro("return redis.call('get', KEYS[1])", 1, "none") is None
    with pytest.raises(redis.ResponseError, match="^Write commands are not allowed from read-only scripts"):
        client.eval_ro("return redis.call('set', KEYS[1], 1)", 1, "k")


def test_registered_script_comes_back_after_a_flush(client):
    multiply = client.register_script("return redis.call('GET', KEYS[1]) * ARGV[1]")
    client.set("k", 3)
    assert multiply(keys=["k"], args=[5]) == 15
    client.script_flush()
    assert multiply(keys=["k"], args=[5]) == 15
    client.script_flush()
    pipe = client.pipeline()
    multiply(keys=["k"], args=[2], client=pipe)
    pipe.incr("k")
    multiply(keys=["k"], args=[2], client=pipe)
    assert pipe.execute() == [6, 4, 8]


def test_script_that_does_not_end_is_killed(client, other, configure):
    configure(busy_reply_threshold=50)
    ended = []

    def run():
        try:
            client.eval("while true do end", 0)
        except redis.ResponseError as error:
            ended.append(str(error))

    runaway = threading.Thread(target=run)
    runaway.start()

    def is_busy():
        try:
            other.ping()
        except redis.ResponseError as error:
            return str(error)

    assert servers.wait_until(is_busy, "a busy server").endswith(
        "Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.")
    assert other.script_kill() in (True, "OK")
    runaway.join(10)
    assert ended[0].startswith("Script killed by user with SCRIPT KILL... script: ")
    with pytest.raises(redis.ResponseError, match="No scripts in execution right now.$"):
        other.script_kill()


LIBRARY = """#!lua name=shop
local function sell(keys, args)
  if tonumber(redis.call('GET', keys[1]) or '0') < tonumber(args[1]) then return redis.error_reply('ERR sold out') end
  return redis.call('DECRBY', keys[1], args[1])
end
redis.register_function('sell', sell)
redis.register_function{function_name='stock', callback=function(keys) return redis.call('GET', keys[1]) end, flags={'no-writes'}}
"""


def test_functions(client):
    assert client.function_load(LIBRARY) == "shop"
    with pytest.raises(redis.ResponseError, match="^Library 'shop' already exists$"):
        client.function_load(LIBRARY)
    assert client.function_load(LIBRARY, replace=True) == "shop"
    client.set("stock:1", 3)
    assert client.fcall("sell", 1, "stock:1", 2) == 1
    with pytest.raises(redis.ResponseError, match="sold out"):
        client.fcall("sell", 1, "stock:1", 2)
    assert client.fcall_ro("stock", 1, "stock:1") == "1"
    with pytest.raises(redis.ResponseError, match="^Can not execute a script with write flag using \\*_ro command.$"):
        client.fcall_ro("sell", 1, "stock:1", 1)
    assert client.function_delete("shop") in (True, "OK")
    with pytest.raises(redis.ResponseError, match="^Function not found$"):
        client.fcall("sell", 1, "stock:1", 1)


def test_functions_are_dumped_and_restored():
    with redis.Redis(servers.HOST, servers.PORT, protocol=2) as client:
        client.function_load(LIBRARY)
        dump = client.function_dump()
        client.function_flush()
        client.function_restore(dump)
        client.set("stock:1", 3)
        assert client.fcall("sell", 1, "stock:1", 1) == 2
