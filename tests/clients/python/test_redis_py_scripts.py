"""The Lua scripts of distributed locks, flash sales and tutorials, word for word, with the results of a real server.

The scripts come as their authors print them: with comments in Chinese, with mistakes, with and without a return.
"""
import hashlib
import threading

import pytest
import redis

import servers

ACQUIRE = """\
if (redis.call('exists', KEYS[1]) == 0) then redis.call('hset', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); \
return nil; end; if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then redis.call('hincrby', KEYS[1], ARGV[2], 1); \
redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; return redis.call('pttl', KEYS[1]);"""

ACQUIRE_BY_INCREMENT = """\
if redis.call('exists', KEYS[1]) == 0 then
    redis.call('hincrby', KEYS[1], ARGV[2], 1);
    redis.call('pexpire', KEYS[1], ARGV[1]);
    return nil;
end;
if redis.call('hexists', KEYS[1], ARGV[2]) == 1 then
    redis.call('hincrby', KEYS[1], ARGV[2], 1);
    redis.call('pexpire', KEYS[1], ARGV[1]);
    return nil;
end;
return redis.call('pttl', KEYS[1]);
"""

ACQUIRE_WITH_ONE_CONDITION = """\
if ((redis.call('exists', KEYS[1]) == 0) or (redis.call('hexists', KEYS[1], ARGV[2]) == 1)) then \
redis.call('hincrby', KEYS[1], ARGV[2], 1); redis.call('pexpire', KEYS[1], ARGV[1]); return nil; end; \
return redis.call('pttl', KEYS[1]);"""

ACQUIRE_EXPLAINED = """\
local key = KEYS[1];                  -- 锁的键名
local threadId = ARGV[1];             -- 线程唯一标识
local releaseTime = ARGV[2];          -- 锁的自动释放时间

-- 场景1：锁不存在，首次获取锁
if (redis.call('exists', key) == 0) then
    -- 创建Hash结构，记录线程标识与重入次数（初始为1）
    redis.call('hset', key, threadId, 1);
    -- 设置锁的过期时间
    redis.call('expire', key, releaseTime);
    return 1;  -- 返回1表示获取成功
end;

-- 场景2：锁已存在且属于当前线程，重入获取
if (redis.call('hexists', key, threadId) == 1) then
    -- 重入次数+1
    redis.call('hincrby', key, threadId, 1);
    -- 刷新锁的过期时间
    redis.call('expire', key, releaseTime);
    return 1;  -- 返回1表示获取成功
end;

-- 场景3：锁被其他线程持有，获取失败
return 0;  -- 返回0表示获取失败
"""

RENEW = """\
if (redis.call('hexists', KEYS[1], ARGV[2]) == 1) then redis.call('pexpire', KEYS[1], ARGV[1]); return 1; end; return 0;"""

UNLOCK_OLD = """\
if (redis.call('exists', KEYS[1]) == 0) then
    redis.call('publish', KEYS[2], ARGV[1]);
    return 1;
end;
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then
    return nil;
end;

local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1);
if (counter > 0) then
    redis.call('pexpire', KEYS[1], ARGV[2]);
    return 0;
else
    redis.call('del', KEYS[1]);
    redis.call('publish', KEYS[2], ARGV[1]);
    return 1;
end;

return nil;
"""

UNLOCK = """\
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil;end; local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); \
if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); return 0; else redis.call('del', KEYS[1]); \
redis.call('publish', KEYS[2], ARGV[1]); return 1; end; return nil;"""

UNLOCK_EXPLAINED = """\
-- KEYS[1]：锁的键名（如"myLock"）
-- KEYS[2]：锁的释放通知频道（如"redisson_lock__channel:{锁名}"）
-- ARGV[1]：锁释放的广播消息（固定为0）
-- ARGV[2]：锁的默认超时时间（如30000毫秒）
-- ARGV[3]：当前线程的唯一标识（UUID + 线程ID）

-- 1. 检查锁是否存在或是否属于当前线程
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then
    return nil;  -- 锁不存在或非当前线程持有，直接返回
end;

-- 2. 减少重入次数（计数器-1）
local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1);

-- 3. 判断计数器是否归零
if (counter > 0) then
    -- 3.1 未完全释放锁，仅刷新过期时间
    redis.call('pexpire', KEYS[1], ARGV[2]);
    return 0;
else
    -- 3.2 完全释放锁，删除键并发布通知
    redis.call('del', KEYS[1]);
    redis.call('publish', KEYS[2], ARGV[1]);
    return 1;
end;

return nil;  -- 其他情况（如参数错误）
"""

UNLOCK_WITH_LATCH = """\
local val = redis.call('get', KEYS[3]); if val ~= false then return tonumber(val);end; \
if (redis.call('hexists', KEYS[1], ARGV[3]) == 0) then return nil;end; local counter = redis.call('hincrby', KEYS[1], ARGV[3], -1); \
if (counter > 0) then redis.call('pexpire', KEYS[1], ARGV[2]); redis.call('set', KEYS[3], 0, 'px', ARGV[5]); return 0; \
else redis.call('del', KEYS[1]); redis.call(ARGV[4], KEYS[2], ARGV[1]); redis.call('set', KEYS[3], 1, 'px', ARGV[5]); return 1; end; """

COMPARE_AND_DELETE = {
    "one line": "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end",
    "commented": """\
-- Lua 脚本保证解锁原子性
if redis.call("get", KEYS[1]) == ARGV[1] then
    return redis.call("del", KEYS[1])
else
    return 0
end
""",
    "upper case": """\
-- 这里的 KEYS[1] 就是锁的key，这里的ARGV[1] 就是当前线程标示
-- 获取锁中的标示，判断是否与当前线程标示一致
if (redis.call('GET', KEYS[1]) == ARGV[1]) then
  -- 一致，则删除锁
  return redis.call('DEL', KEYS[1])
end
-- 不一致，则直接返回
return 0
"""}

COMPARE_AND_EXPIRE = """\
-- 分布式锁续期脚本
if redis.call("GET", KEYS[1]) == ARGV[1] then
    return redis.call("PEXPIRE", KEYS[1], ARGV[2])
else
    return 0
end
"""

SECKILL_FRAGMENT = """\
-- 检查库存是否充足
if tonumber(redis.call('GET', stock_key)) <= 0 then return 0 end
-- 检查是否重复下单
if redis.call('SISMEMBER', order_key, user_id) == 1 then return 0 end
-- 扣减库存并记录用户
redis.call('DECR', stock_key)
redis.call('SADD', order_key, user_id)
return 1
"""

SECKILL = """\
-- 参数：voucherId, userId, orderId
local stockKey = 'seckill:stock:'..voucherId
local orderKey = 'seckill:order:'..voucherId

-- 校验库存与重复购买
if tonumber(redis.call('GET', stockKey)) <= 0 then return 1 end
if redis.call('SISMEMBER', orderKey, userId) == 1 then return 2 end

-- 扣减库存并记录订单
redis.call('DECR', stockKey)
redis.call('SADD', orderKey, userId)
redis.call('XADD', 'stream.orders', '*', 'userId', userId, 'voucherId', voucherId) -- 写入Stream队列
return 0
"""

ME, SOMEBODY_ELSE = "b60a9c8c-92f8-4bfe-b0e7-308967346336:1", "c3a1:9"
CHANNEL = "redisson_lock__channel:{updateAccount}"


@pytest.mark.parametrize("script", [ACQUIRE, ACQUIRE_BY_INCREMENT, ACQUIRE_WITH_ONE_CONDITION],
                         ids=["two branches", "increment", "one condition"])
def test_acquiring_a_reentrant_lock(client, script):
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


@pytest.mark.parametrize("script", [UNLOCK_OLD, UNLOCK, UNLOCK_EXPLAINED], ids=["old", "newer", "explained"])
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
    assert client.eval(UNLOCK_OLD, 2, "lock", CHANNEL, 0, 10_000, ME) == 1
    assert client.eval(UNLOCK, 2, "lock", CHANNEL, 0, 10_000, ME) is None


def test_unlocking_with_a_latch_can_be_repeated(client):
    def unlock(request, owner=ME):
        return client.eval(UNLOCK_WITH_LATCH, 3, "lock", "redisson_lock__channel:{lock}",
                           f"redisson_unlock_latch:{{lock}}:{request}", 0, 30_000, owner, "PUBLISH", 3_000)

    for _ in range(2):
        client.eval(ACQUIRE_WITH_ONE_CONDITION, 1, "lock", 30_000, ME)
    assert unlock("a", SOMEBODY_ELSE) is None
    assert (unlock("b"), unlock("b")) == (0, 0)
    assert client.hget("lock", ME) == "1"
    assert (unlock("c"), unlock("c")) == (1, 1)
    assert client.exists("lock") == 0
    assert client.get("redisson_unlock_latch:{lock}:c") == "1"
    assert 2_000 < client.pttl("redisson_unlock_latch:{lock}:c") <= 3_000


@pytest.mark.parametrize("script", COMPARE_AND_DELETE.values(), ids=COMPARE_AND_DELETE.keys())
def test_only_the_owner_deletes_a_lock(client, script):
    assert client.eval(script, 1, "lock", ME) == 0
    client.set("lock", ME, nx=True, px=30_000)
    assert client.eval(script, 1, "lock", SOMEBODY_ELSE) == 0
    assert client.get("lock") == ME
    assert client.eval(script, 1, "lock", ME) == 1
    assert client.exists("lock") == 0


def test_only_the_owner_renews_a_lock(client):
    client.set("lock", ME, px=1_000)
    assert client.eval(COMPARE_AND_EXPIRE, 1, "lock", SOMEBODY_ELSE, 30_000) == 0
    assert client.eval(COMPARE_AND_EXPIRE, 1, "lock", ME, 30_000) == 1
    assert 29_000 < client.pttl("lock") <= 30_000


def test_flash_sale_fragment(client):
    script = "local stock_key=KEYS[1] local order_key=KEYS[2] local user_id=ARGV[1]\n" + SECKILL_FRAGMENT
    client.set("stock:product_001", 2)
    assert [client.eval(script, 2, "stock:product_001", "orders", user) for user in (1, 1, 2, 3)] == [1, 0, 1, 0]
    assert client.get("stock:product_001") == "0"
    assert client.smembers("orders") == {"1", "2"}


def seckill(body=SECKILL):
    return "local voucherId=ARGV[1] local userId=ARGV[2] local orderId=ARGV[3]\n" + body


def test_flash_sale_writes_orders_to_a_stream(client):
    client.set("seckill:stock:7", 1)
    assert client.eval(seckill(), 0, 7, 1001, 1) == 0
    assert [dict(fields) for _, fields in client.xrange("stream.orders")] == [{"userId": "1001", "voucherId": "7"}]
    assert client.eval(seckill(), 0, 7, 1001, 2) == 1  # the stock is looked at first
    client.set("seckill:stock:7", 1)
    assert client.eval(seckill(), 0, 7, 1001, 3) == 2
    assert client.eval(seckill(), 0, 7, 1002, 4) == 0
    assert client.eval(seckill(), 0, 7, 1003, 5) == 1


def test_flash_sale_sells_a_hundred_to_a_thousand_users(client):
    """Without keys, by hash, two requests of every user."""
    body = SECKILL.replace("redis.call('DECR', stockKey)", "redis.call('incrby', stockKey, -1)").replace(
        "'voucherId', voucherId)", "'voucherId', voucherId, 'id', orderId)")
    buy = client.register_script(seckill(body))
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
    script = "local key = KEYS[1]\nlocal value = ARGV[1]\nredis.call('SET', key, value)\n"
    assert client.eval(script, 1, "k", "v") is None
    assert client.get("k") == "v"
    assert client.eval("return redis.call('get', KEYS[1])", 1, "none") is None
    assert client.eval("redis.call('set', 'name', 'jack')", 0) is None
    assert client.eval("local name = redis.call('get', 'name')\nreturn name", 0) == "jack"
    assert client.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, "name", "rose") == "OK"
    encoded = client.eval('local data = {name="Alice", age=30}\nreturn cjson.encode(data) -- 返回 JSON 字符串', 0)
    assert encoded in ('{"name":"Alice","age":30}', '{"age":30,"name":"Alice"}')


def failed(client, script, *arguments):
    with pytest.raises(redis.ResponseError) as caught:
        client.eval(script, *(arguments or (0,)))
    return str(caught.value)


def sha(script):
    return hashlib.sha1(script.encode()).hexdigest()


COMPILING = "Error compiling script (new function): user_script"


def test_comments_of_another_language_do_not_compile(client):
    assert failed(client, "// KEYS[1] 锁名称 updateAccount\nreturn 1") == f"{COMPILING}:1: unexpected symbol near '/'"
    script = "local name = redis.call('get', 'name')\n# 返回\nreturn name"
    assert failed(client, script) == f"{COMPILING}:2: unexpected symbol near '#'"


@pytest.mark.parametrize("script, line, name", [(SECKILL_FRAGMENT, 2, "stock_key"), (SECKILL, 2, "voucherId")],
                         ids=["fragment", "script"])
def test_free_variables_do_not_exist(client, script, line, name):
    assert failed(client, script) == (f"user_script:{line}: Script attempted to access nonexistent global variable '{name}' "
                                      f"script: {sha(script)}, on @user_script:{line}.")


def test_commands_that_do_not_exist(client):
    for script in ("redis.call('命令名称', 'key', '其它参数', ...)", "return redis.call('')"):
        assert failed(client, script) == f"Unknown Redis command called from script script: {sha(script)}, on @user_script:1."
    script = "return redis.call('get')"
    assert failed(client, script) == (f"Wrong number of args calling Redis command from script script: {sha(script)}, "
                                      "on @user_script:1.")


def test_stock_that_does_not_exist(client):
    assert failed(client, seckill(), 0, 7, 1001, 1).startswith("user_script:7: attempt to compare nil with number script: ")


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
