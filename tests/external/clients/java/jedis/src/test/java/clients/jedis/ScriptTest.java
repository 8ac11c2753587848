package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;

/** The Lua scripts of the tutorials, and Redis' answers to each of their callers. */
class ScriptTest extends OnSuiteServer {
  private static final String LOCK = "updateAccount";
  private static final String CHANNEL = "redisson_lock__channel:{updateAccount}";
  private static final String ME = "b60a9c8c-92f8-4bfe-b0e7-308967346336:1";
  private static final String YOU = "b60a9c8c-92f8-4bfe-b0e7-308967346336:2";

  @BeforeEach
  void forgetScripts() {
    jedis.scriptFlush();
  }

  private Object acquire(String script, String owner) {
    return jedis.eval(script, 1, LOCK, "30000", owner);
  }

  private long leaseMs() {
    return jedis.pttl(LOCK);
  }

  @ParameterizedTest
  @ValueSource(strings = {"acquire_hset.lua", "acquire_hincrby.lua", "acquire_or.lua"})
  void acquireIsNullForTheOwnerAndTheRemainingTimeForOthers(String name) {
    String script = Lua.read(name);
    assertNull(acquire(script, ME));
    assertEquals(Map.of(ME, "1"), jedis.hgetAll(LOCK));
    assertNull(acquire(script, ME));
    assertEquals(Map.of(ME, "2"), jedis.hgetAll(LOCK));
    long remaining = (Long) acquire(script, YOU);
    assertTrue(remaining > 25_000 && remaining <= 30_000, "" + remaining);
    assertEquals(Map.of(ME, "2"), jedis.hgetAll(LOCK));
  }

  @Test
  void explainedAcquireAnswersOneOrZeroAndTakesTheTimeForSeconds() {
    String script = Lua.read("acquire_explained.lua");
    assertEquals(1L, jedis.eval(script, 1, LOCK, ME, "30000"));
    assertEquals(1L, jedis.eval(script, 1, LOCK, ME, "30000"));
    assertEquals(0L, jedis.eval(script, 1, LOCK, YOU, "30000"));
    assertEquals(Map.of(ME, "2"), jedis.hgetAll(LOCK));
    assertEquals(30_000, jedis.ttl(LOCK));
  }

  @Test
  void renewIsForTheOwner() {
    jedis.hset(LOCK, ME, "1");
    jedis.pexpire(LOCK, 5_000);
    String renew = Lua.read("renew.lua");
    assertEquals(0L, jedis.eval(renew, 1, LOCK, "30000", YOU));
    assertTrue(leaseMs() <= 5_000);
    assertEquals(1L, jedis.eval(renew, 1, LOCK, "30000", ME));
    assertTrue(leaseMs() > 25_000);
  }

  /** The oldest release, without its `//` comments, which do not compile. */
  @Test
  void oldReleasePublishesAlsoWhenTheLockIsGone() {
    String release = Lua.read("release_with_slash_comments.lua").replaceAll("(?m)^\\s*//.*$", "");
    jedis.hset(LOCK, ME, "2");
    assertNull(release(release, YOU));
    assertEquals(0L, release(release, ME));
    assertEquals(1L, release(release, ME));
    assertFalse(jedis.exists(LOCK));
    assertEquals(1L, release(release, ME));
  }

  private Object release(String script, String owner) {
    return jedis.eval(script, List.of(LOCK, CHANNEL), List.of("0", "30000", owner));
  }

  @ParameterizedTest
  @ValueSource(strings = {"release_assembled.lua", "release_explained.lua"})
  void releaseCountsDownAndTellsTheWaiters(String name) {
    String script = Lua.read(name);
    try (Jedis waiter = another()) {
      waiter.sendCommand(Command.SUBSCRIBE, CHANNEL);
      jedis.hset(LOCK, ME, "2");
      assertNull(release(script, YOU));
      assertEquals(0L, release(script, ME));
      assertTrue(leaseMs() > 25_000);
      assertEquals(1L, release(script, ME));
      assertFalse(jedis.exists(LOCK));
      assertNull(release(script, ME));
      assertEquals(List.of("message", CHANNEL, "0"), text(waiter.getClient().getOne()));
    }
  }

  @Test
  void releaseWithLatchAnswersARepeatedRequestAsTheFirstTime() {
    String script = Lua.read("release_with_latch.lua");
    String latch = "redisson_unlock_latch:{updateAccount}:request";
    List<String> keys = List.of(LOCK, CHANNEL, latch);
    List<String> mine = List.of("0", "30000", ME, "PUBLISH", "3000");
    jedis.hset(LOCK, ME, "2");
    assertNull(jedis.eval(script, keys, List.of("0", "30000", YOU, "PUBLISH", "3000")));
    assertEquals(0L, jedis.eval(script, keys, mine));
    assertEquals(0L, jedis.eval(script, keys, mine));
    assertEquals(Map.of(ME, "1"), jedis.hgetAll(LOCK));
    jedis.del(latch);
    assertEquals(1L, jedis.eval(script, keys, mine));
    assertEquals("1", jedis.get(latch));
    assertTrue(jedis.pttl(latch) > 1_000 && jedis.pttl(latch) <= 3_000);
    assertFalse(jedis.exists(LOCK));
  }

  @ParameterizedTest
  @ValueSource(strings = {
      "compare_and_delete.lua", "compare_and_delete_commented.lua", "compare_and_delete_double_quoted.lua",
      "compare_and_delete_in_lines.lua", "compare_and_delete_upper_case.lua"})
  void compareAndDelete(String name) {
    String script = Lua.read(name);
    jedis.set("lock", "me");
    assertEquals(0L, jedis.eval(script, Collections.singletonList("lock"), Collections.singletonList("you")));
    assertEquals("me", jedis.get("lock"));
    assertEquals(1L, jedis.eval(script, Collections.singletonList("lock"), Collections.singletonList("me")));
    assertEquals(0L, jedis.eval(script, Collections.singletonList("lock"), Collections.singletonList("me")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"compare_and_expire.lua", "compare_and_expire_upper_case.lua"})
  void compareAndExpire(String name) {
    String script = Lua.read(name);
    jedis.set("lock", "me");
    assertEquals(0L, jedis.eval(script, 1, "lock", "you", "30000"));
    assertEquals(-1, jedis.pttl("lock"));
    assertEquals(1L, jedis.eval(script, 1, "lock", "me", "30000"));
    assertTrue(jedis.pttl("lock") > 25_000);
  }

  @Test
  void seckillFragmentWithItsVariablesGiven() {
    String script =
        "local stock_key=KEYS[1] local order_key=KEYS[2] local user_id=ARGV[1]\n" + Lua.read("seckill_fragment.lua");
    jedis.set("stock", "2");
    assertEquals(1L, jedis.eval(script, 2, "stock", "orders", "1001"));
    assertEquals(0L, jedis.eval(script, 2, "stock", "orders", "1001"));
    assertEquals(1L, jedis.eval(script, 2, "stock", "orders", "1002"));
    assertEquals(0L, jedis.eval(script, 2, "stock", "orders", "1003"));
    assertEquals("0", jedis.get("stock"));
  }

  @Test
  void seckillWithStreamAndItsVariablesGiven() {
    String script =
        "local voucherId=ARGV[1] local userId=ARGV[2] local orderId=ARGV[3]\n" + Lua.read("seckill_with_stream.lua");
    String missing = errorOf(() -> jedis.eval(script, 0, "7", "1001", "1"));
    assertEquals(
        "ERR user_script:7: attempt to compare nil with number script: " + Lua.sha1(script) + ", on @user_script:7.",
        missing);
    jedis.set("seckill:stock:7", "1");
    assertEquals(0L, jedis.eval(script, 0, "7", "1001", "1"));
    assertEquals(
        Map.of("userId", "1001", "voucherId", "7"), jedis.xrange("stream.orders", "-", "+").get(0).getFields());
    assertEquals(1L, jedis.eval(script, 0, "7", "1001", "2"));
    jedis.incr("seckill:stock:7");
    assertEquals(2L, jedis.eval(script, 0, "7", "1001", "3"));
  }

  @Test
  void aThousandUsersTwiceGetAHundredVouchers() {
    String sha = jedis.scriptLoad(Lua.read("seckill.lua"));
    jedis.set("seckill:stock:7", "100");
    List<Object> replies = new ArrayList<>();
    for (int request = 0; request < 2000; request++) {
      replies.add(jedis.evalsha(sha, 0, "7", "" + request % 1000, "" + request));
    }
    assertEquals(100, replies.stream().filter(Long.valueOf(0)::equals).count());
    assertEquals(Set.of(0L, 1L), new TreeSet<>(replies));
    assertEquals("0", jedis.get("seckill:stock:7"));
    assertEquals(100, jedis.scard("seckill:order:7"));
    assertEquals(100, jedis.xlen("stream.orders"));
    assertEquals(
        Map.of("userId", "0", "voucherId", "7", "id", "0"),
        jedis.xrange("stream.orders", "-", "+", 1).get(0).getFields());
  }

  @Test
  void firstSteps() {
    assertNull(jedis.eval(Lua.read("set_parameters.lua"), 1, "key", "value"));
    assertEquals("value", jedis.get("key"));
    assertEquals("value", jedis.eval(Lua.read("get.lua"), 1, "key"));
    assertNull(jedis.eval(Lua.read("get.lua"), 1, "missing"));
    assertNull(jedis.eval(Lua.read("set_name.lua")));
    assertEquals("jack", jedis.get("name"));
    assertEquals("jack", jedis.eval(Lua.read("get_name_with_hash_comment.lua").replaceAll("(?m)^#.*$", "")));
    assertEquals("OK", jedis.eval("return redis.call('set', 'name', 'jack')", 0));
    assertEquals("OK", jedis.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, "name", "rose"));
    assertEquals("rose", jedis.get("name"));
  }

  @Test
  void jsonHasIntegersWithoutAPoint() {
    String json = (String) jedis.eval(Lua.read("json.lua"));
    assertEquals(Set.of("\"name\":\"Alice\"", "\"age\":30"), Set.of(json.substring(1, json.length() - 1).split(",")));
    assertEquals("{}", jedis.eval("return cjson.encode({})"));
  }

  @Test
  void scriptsAreKnownByTheirDigest() {
    assertEquals("e0e1f9fabfc9d4800c877a703b823ac0578ff8db", jedis.scriptLoad("return 1"));
    assertEquals(1L, jedis.evalsha("e0e1f9fabfc9d4800c877a703b823ac0578ff8db"));
    assertEquals(1L, jedis.evalsha("E0E1F9FABFC9D4800C877A703B823AC0578FF8DB"));
    assertEquals(
        List.of(true, false),
        jedis.scriptExists("e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "ffffffffffffffffffffffffffffffffffffffff"));
    jedis.flushAll();
    assertTrue(jedis.scriptExists("e0e1f9fabfc9d4800c877a703b823ac0578ff8db"));
    assertEquals("OK", jedis.scriptFlush());
    assertEquals(
        "NOSCRIPT No matching script. Please use EVAL.",
        errorOf(() -> jedis.evalsha("e0e1f9fabfc9d4800c877a703b823ac0578ff8db")));
    assertEquals("NOTBUSY No scripts in execution right now.", errorOf(jedis::scriptKill));
  }

  @Test
  void valuesBecomeRepliesAsInRedis() {
    assertEquals(3L, jedis.eval("return 3.99"));
    assertEquals(1L, jedis.eval("return true"));
    assertNull(jedis.eval("return false"));
    assertEquals(List.of(1L, 2L), jedis.eval("return {1,2,nil,4}"));
    assertEquals(List.of(), jedis.eval("return {name='x'}"));
    assertEquals("fine", jedis.eval("return {ok='fine'}"));
    assertEquals("CUSTOM x", errorOf(() -> jedis.eval("return {err='CUSTOM x'}")));
    assertEquals(1L, jedis.eval("if redis.call('get', 'missing') == false then return 1 end"));
    assertEquals(2L, jedis.eval("return math.max(1, '2')"));
    jedis.eval("redis.call('set', KEYS[1], 3.0)", 1, "number");
    assertEquals("3", jedis.get("number"));
    assertEquals("1:2", jedis.eval("return redis.call('incr', 'a') .. ':' .. (redis.call('incr', 'b') + 1)"));
  }

  @Test
  void errorsSayWhereAndInWhichScript() {
    jedis.set("text", "abc");
    String increment = "return redis.call('incr', 'text')";
    assertEquals(
        "ERR value is not an integer or out of range script: " + Lua.sha1(increment) + ", on @user_script:1.",
        errorOf(() -> jedis.eval(increment)));
    assertEquals(
        "ERR value is not an integer or out of range",
        errorOf(() -> jedis.eval("return redis.pcall('incr', 'text')")));
    String asserted = "assert(false, 'Bloom filter config has been changed')";
    assertEquals(
        "ERR user_script:1: Bloom filter config has been changed script: "
            + Lua.sha1(asserted) + ", on @user_script:1.",
        errorOf(() -> jedis.eval(asserted)));
    assertTrue(errorOf(() -> jedis.eval("return redis.call('subscribe', 'c')"))
        .startsWith("ERR This Redis command is not allowed from script script: "));
    assertEquals(
        "ERR Number of keys can't be greater than number of args", errorOf(() -> jedis.eval("return 1", 1)));
    assertEquals(
        "ERR Number of keys can't be negative", errorOf(() -> jedis.sendCommand(Command.EVAL, "return 1", "-1")));
  }

  @Test
  void whatWasWrittenBeforeAnErrorStays() {
    errorOf(() -> jedis.eval("redis.call('set', 'key', 'written'); redis.call('lpush', 'key', 'x')"));
    assertEquals("written", jedis.get("key"));
  }

  @Test
  void readOnlyEvaluationRefusesWrites() {
    assertNull(jedis.evalReadonly("return redis.call('get', KEYS[1])", List.of("key"), List.of()));
    assertTrue(
        errorOf(() -> jedis.evalReadonly("return redis.call('set', KEYS[1], 1)", List.of("key"), List.of()))
            .startsWith("ERR Write commands are not allowed from read-only scripts. script: "));
  }

  @Test
  void tablesAndRepliesNest() {
    jedis.eval("for i = 1, 3 do redis.call('rpush', KEYS[1], i) end", 1, "list");
    assertEquals(List.of("1", "2", "3"), jedis.eval("return redis.call('lrange', KEYS[1], 0, -1)", 1, "list"));
    assertEquals(List.of(List.of(1L, "a"), "b"), jedis.eval("return {{1, 'a'}, 'b'}"));
    String sum =
        "local s = 0; for _, v in ipairs(redis.call('lrange', KEYS[1], 0, -1)) do s = s + v end; return s";
    assertEquals(6L, jedis.eval(sum, 1, "list"));
  }
}
