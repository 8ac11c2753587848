package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.StreamEntryID;
import redis.clients.jedis.params.XAddParams;
import redis.clients.jedis.params.XReadGroupParams;

/** Snippets that the tutorials print with mistakes: each must fail as on Redis. */
class WrongSnippetTest extends OnSuiteServer {
  @Test
  void misspelledDestroy() {
    assertEquals(
        "ERR unknown subcommand 'DESTORY'. Try XGROUP HELP.",
        errorOf(() -> jedis.sendCommand(Command.XGROUP, "DESTORY", "key", "groupName")));
  }

  @Test
  void groupMadeWithoutItsName() {
    assertEquals(
        "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM "
            + "option to create an empty stream automatically.",
        errorOf(() -> jedis.sendCommand(Command.XGROUP, "CREATE", "orders:group1", "$", "MKSTREAM")));
    jedis.xadd("orders:group1", StreamEntryID.NEW_ENTRY, Map.of("a", "b"));
    assertEquals(
        "ERR Invalid stream ID specified as stream command argument",
        errorOf(() -> jedis.sendCommand(Command.XGROUP, "CREATE", "orders:group1", "$", "MKSTREAM")));
    assertEquals(
        "NOGROUP No such key 'orders:queue' or consumer group 'group1' in XREADGROUP with GROUP option",
        errorOf(() -> jedis.sendCommand(Command.XREADGROUP, "GROUP", "group1", "consumer1", "BLOCK", "0", "STREAMS",
            "orders:queue", ">")));
  }

  @Test
  void acknowledgementToAnotherStreamLeavesTheOrderPending() {
    jedis.xgroupCreate("stream.orders", "g1", new StreamEntryID(0, 0), true);
    StreamEntryID id = jedis.xadd("stream.orders", StreamEntryID.NEW_ENTRY, Map.of("userId", "1"));
    XReadGroupParams one = XReadGroupParams.xReadGroupParams().count(1);
    jedis.xreadGroup("g1", "c1", one, Map.of("stream.orders", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
    for (int round = 0; round < 3; round++) {
      var pending = jedis.xreadGroup("g1", "c1", one, Map.of("stream.orders", new StreamEntryID(0, 0)));
      assertEquals(id, pending.get(0).getValue().get(0).getID());
      assertEquals(0, jedis.xack("s1", "g1", id));
    }
    assertEquals(1, jedis.xpending("stream.orders", "g1").getTotal());
  }

  @ParameterizedTest
  @ValueSource(strings = {"acquire_with_slash_comments.lua", "release_with_slash_comments.lua"})
  void luaWithSlashComments(String name) {
    String error = errorOf(() -> jedis.eval(Lua.read(name), 1, "updateAccount", "10000", "me"));
    // The error of Lua 5.1 names '/', the error of later versions '//'.
    assertTrue(
        error.startsWith("ERR Error compiling script (new function): user_script:1: unexpected symbol near '/"),
        error);
  }

  @Test
  void luaWithHashComment() {
    assertTrue(
        errorOf(() -> jedis.eval(Lua.read("get_name_with_hash_comment.lua")))
            .startsWith("ERR Error compiling script (new function): user_script:2: unexpected symbol near '#'"));
  }

  @Test
  void luaWithVariablesThatNobodySets() {
    String fragment = Lua.read("seckill_fragment.lua");
    assertEquals(
        "ERR user_script:2: Script attempted to access nonexistent global variable 'stock_key' script: "
            + Lua.sha1(fragment) + ", on @user_script:2.",
        errorOf(() -> jedis.eval(fragment)));
    String seckill = Lua.read("seckill_with_stream.lua");
    assertEquals(
        "ERR user_script:2: Script attempted to access nonexistent global variable 'voucherId' script: "
            + Lua.sha1(seckill) + ", on @user_script:2.",
        errorOf(() -> jedis.eval(seckill)));
    String global = "counter = 1";
    assertEquals(
        "ERR user_script:1: Attempt to modify a readonly table script: " + Lua.sha1(global) + ", on @user_script:1.",
        errorOf(() -> jedis.eval(global)));
    assertTrue(errorOf(() -> jedis.eval("return io.open('x')"))
        .startsWith("ERR user_script:1: Script attempted to access nonexistent global variable 'io' script: "));
  }

  @Test
  void templateWithAPlaceholderForTheCommand() {
    String template = Lua.read("template.lua");
    assertEquals(
        "ERR Unknown Redis command called from script script: " + Lua.sha1(template) + ", on @user_script:1.",
        errorOf(() -> jedis.eval(template)));
    String empty = "return redis.call(\"\",'xx')";
    assertEquals(
        "ERR Unknown Redis command called from script script: " + Lua.sha1(empty) + ", on @user_script:1.",
        errorOf(() -> jedis.eval(empty)));
  }

  @Test
  void explainedAcquireTakesMillisecondsForSeconds() {
    assertEquals(1L, jedis.eval(Lua.read("acquire_explained.lua"), 1, "lock", "thread", "30000"));
    assertEquals(30_000, jedis.ttl("lock"));
  }

  @Test
  void setnxForASet() {
    assertEquals(
        "ERR wrong number of arguments for 'setnx' command",
        errorOf(() -> jedis.sendCommand(Command.SETNX, "seckill:order:商品ID")));
    assertEquals(1, jedis.setnx("seckill:order:商品ID", ""));
    String wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value";
    assertEquals(wrongType, errorOf(() -> jedis.sadd("seckill:order:商品ID", "1001")));
    assertEquals(wrongType, errorOf(() -> jedis.sismember("seckill:order:商品ID", "1001")));
  }

  @Test
  void xaddWithoutFields() {
    String arity = "ERR wrong number of arguments for 'xadd' command";
    assertEquals(arity, errorOf(() -> jedis.sendCommand(Command.XADD, "order:{user_id%10}", "*")));
    assertEquals(arity, errorOf(() -> jedis.sendCommand(Command.XADD, "stream", "*", "field")));
    assertEquals(arity, errorOf(() -> jedis.sendCommand(Command.XADD, "stream", "*", "field", "value", "field2")));
  }

  @Test
  void unacknowledgedMessagesAreNotGivenToOthersByThemselves() {
    jedis.xgroupCreate("orders", "group", new StreamEntryID(0, 0), true);
    jedis.xadd("orders", XAddParams.xAddParams().id("1-0"), Map.of("a", "b"));
    XReadGroupParams wait = XReadGroupParams.xReadGroupParams().count(1).block(20);
    jedis.xreadGroup("group", "c1", wait, Map.of("orders", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY));
    assertNull(
        jedis.xreadGroup("group", "c2", wait, Map.of("orders", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY)));
    assertEquals(Map.of("c1", 1L), jedis.xpending("orders", "group").getConsumerMessageCount());
  }

  @Test
  void severalFieldsAtOnceDoExistForHashes() {
    assertEquals("OK", jedis.hmset("hash", Map.of("a", "1", "b", "2")));
    assertEquals(List.of("1", "2"), jedis.hmget("hash", "a", "b"));
  }

  @Test
  void misspelledDirective() {
    assertEquals(Map.of(), jedis.configGet("max-memery"));
    assertEquals(1, jedis.configGet("maxmemory").size());
    assertTrue(errorOf(() -> jedis.configSet("max-memery", "1"))
        .startsWith("ERR Unknown option or number of arguments for CONFIG SET - 'max-memery'"));
    assertEquals(
        "ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - argument(s) must be one of the "
            + "following: volatile-lru, volatile-lfu, volatile-random, volatile-ttl, allkeys-lru, allkeys-lfu, "
            + "allkeys-random, noeviction",
        errorOf(() -> jedis.configSet("maxmemory-policy", "voaltile-lru")));
  }
}
