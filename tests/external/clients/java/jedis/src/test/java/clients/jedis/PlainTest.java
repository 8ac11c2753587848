package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisCluster;
import redis.clients.jedis.args.GeoUnit;
import redis.clients.jedis.exceptions.JedisClusterOperationException;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.params.ScanParams;
import redis.clients.jedis.params.SetParams;
import redis.clients.jedis.resps.ScanResult;
import redis.clients.jedis.resps.Tuple;

/** One connection, the commands of the tutorials' tours by type. */
class PlainTest extends OnSuiteServer {
  @Test
  void tutorialClassWithPasswordStringAndHash() {
    try (OwnServer server = OwnServer.start("--requirepass", "wyt131551");
        Jedis client = new Jedis(server.host(), server.port())) {
      assertEquals("NOAUTH Authentication required.", errorOf(() -> client.get("name")));
      assertEquals("WRONGPASS invalid username-password pair or user is disabled.", errorOf(() -> client.auth("no")));
      assertEquals("OK", client.auth("wyt131551"));
      assertEquals("OK", client.select(0));

      assertEquals("OK", client.set("name", "虎哥"));
      assertEquals("虎哥", client.get("name"));

      assertEquals(1, client.hset("user:1", "name", "Jack"));
      assertEquals(1, client.hset("user:1", "age", "21"));
      assertEquals("{name=Jack, age=21}", client.hgetAll("user:1").toString());
    }
  }

  @Test
  void passwordIsRefusedWhereNoneIsSet() {
    assertEquals(
        "ERR AUTH <password> called without any password configured for the default user. "
            + "Are you sure your configuration is correct?",
        errorOf(() -> jedis.auth("anything")));
  }

  @Test
  void databasesAreSeparate() {
    jedis.set("key", "zero");
    jedis.select(2);
    assertNull(jedis.get("key"));
    jedis.set("key", "two");
    assertEquals(1, jedis.dbSize());
    assertEquals("ERR DB index is out of range", errorOf(() -> jedis.select(16)));
    assertEquals("two", jedis.get("key"));
    jedis.select(0);
    assertEquals("zero", jedis.get("key"));
    assertEquals(0, jedis.move("key", 2));
    assertEquals("OK", jedis.swapDB(0, 2));
    assertEquals("two", jedis.get("key"));
  }

  @Test
  void strings() {
    assertNull(jedis.get("missing"));
    jedis.set("empty", "");
    assertEquals("", jedis.get("empty"));
    assertEquals("OK", jedis.mset("k1", "v1", "k2", "v2"));
    assertEquals(Arrays.asList("v1", null, "v2"), jedis.mget("k1", "missing", "k2"));
    assertEquals(1, jedis.incr("count"));
    assertEquals(11, jedis.incrBy("count", 10));
    assertEquals(10, jedis.decr("count"));
    assertEquals(10.75, jedis.incrByFloat("count", 0.75));
    assertEquals("10.75", jedis.get("count"));
    assertEquals("ERR value is not an integer or out of range", errorOf(() -> jedis.incr("count")));
    assertEquals(1, jedis.setnx("lock", "token"));
    assertEquals(0, jedis.setnx("lock", "token2"));
    assertEquals("OK", jedis.setex("code", 60, "1234"));
    assertEquals(60, jedis.ttl("code"));
    assertEquals("ERR invalid expire time in 'setex' command", errorOf(() -> jedis.setex("code", 0, "1234")));
    assertEquals("1234", jedis.getSet("code", "5678"));
    assertEquals(-1, jedis.ttl("code"));
    assertEquals(8, jedis.append("code", "9999"));
    assertEquals(8, jedis.strlen("code"));
    assertEquals("789", jedis.getrange("code", 2, 4));
    assertEquals("56789999", jedis.getDel("code"));
    assertEquals(-2, jedis.ttl("code"));
  }

  @Test
  void encodingsOfStrings() {
    jedis.set("num", "100");
    jedis.set("short", "ABC");
    jedis.set("long", "x".repeat(60));
    assertEquals("int", jedis.objectEncoding("num"));
    assertEquals("embstr", jedis.objectEncoding("short"));
    assertEquals("raw", jedis.objectEncoding("long"));
  }

  @Test
  void keysAndExpiry() {
    jedis.mset("user:1", "a", "user:2", "b", "other", "c");
    assertEquals(Set.of("user:1", "user:2"), jedis.keys("user:*"));
    assertEquals(3, jedis.exists("user:1", "user:1", "other", "missing"));
    assertEquals(1, jedis.expire("user:1", 100));
    assertEquals(100, jedis.ttl("user:1"));
    assertEquals(1, jedis.persist("user:1"));
    assertEquals(-1, jedis.ttl("user:1"));
    assertEquals(1, jedis.pexpire("user:1", 100_000));
    assertTrue(jedis.pttl("user:1") > 90_000);
    assertEquals(1, jedis.expire("user:1", 0));
    assertEquals(2, jedis.del("user:1", "user:2", "other"));
    assertEquals(0, jedis.dbSize());
  }

  @Test
  void scanVisitsEveryKey() {
    for (int i = 0; i < 1000; i++) {
      jedis.set("scan:" + i, "");
    }
    Set<String> seen = new HashSet<>();
    String cursor = ScanParams.SCAN_POINTER_START;
    do {
      ScanResult<String> page = jedis.scan(cursor, new ScanParams().match("scan:*").count(50));
      seen.addAll(page.getResult());
      cursor = page.getCursor();
    } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
    assertEquals(1000, seen.size());
  }

  @Test
  void hashes() {
    assertEquals(2, jedis.hset("user:1", Map.of("id", "1", "name", "Tom")));
    assertEquals("Tom", jedis.hget("user:1", "name"));
    assertEquals("OK", jedis.hmset("user:1", Map.of("age", "20")));
    assertEquals(List.of("Tom", "20"), jedis.hmget("user:1", "name", "age"));
    assertEquals(Map.of("id", "1", "name", "Tom", "age", "20"), jedis.hgetAll("user:1"));
    assertEquals(Set.of("id", "name", "age"), jedis.hkeys("user:1"));
    assertEquals(21, jedis.hincrBy("user:1", "age", 1));
    assertEquals("ERR hash value is not an integer", errorOf(() -> jedis.hincrBy("user:1", "name", 1)));
    assertEquals(0, jedis.hsetnx("user:1", "name", "Tim"));
    assertEquals(3, jedis.hdel("user:1", "id", "name", "age"));
    assertEquals(false, jedis.exists("user:1"));
  }

  @Test
  void lists() {
    assertEquals(3, jedis.rpush("task:queue", "task1", "task2", "task3"));
    assertEquals(4, jedis.lpush("task:queue", "task0"));
    assertEquals(List.of("task0", "task1", "task2", "task3"), jedis.lrange("task:queue", 0, -1));
    assertEquals("task0", jedis.lpop("task:queue"));
    assertEquals("task3", jedis.rpop("task:queue"));
    assertEquals(List.of("task:queue", "task1"), jedis.blpop(5, "task:queue"));
    assertEquals("task2", jedis.rpoplpush("task:queue", "task:backup"));
    assertEquals(1, jedis.llen("task:backup"));
    assertNull(jedis.blpop(0.05, "task:queue"));
    assertEquals("ERR timeout is negative", errorOf(() -> jedis.blpop(-1, "task:queue")));
  }

  @Test
  void sets() {
    assertEquals(3, jedis.sadd("user:1:tags", "旅游", "摄影", "健身"));
    assertEquals(2, jedis.sadd("user:2:tags", "旅游", "美食"));
    assertEquals(Set.of("旅游"), jedis.sinter("user:1:tags", "user:2:tags"));
    assertTrue(jedis.sismember("user:1:tags", "摄影"));
    assertEquals(3, jedis.scard("user:1:tags"));
    assertEquals(1, jedis.srem("user:1:tags", "摄影", "missing"));
    assertEquals(Set.of("旅游", "健身"), jedis.smembers("user:1:tags"));
  }

  @Test
  void sortedSets() {
    jedis.zadd("game:rank", Map.of("Tom", 500.0, "Jerry", 800.0, "Mike", 700.0, "Amy", 400.0, "Lucy", 300.0));
    assertEquals(
        List.of(new Tuple("Jerry", 800.0), new Tuple("Mike", 700.0), new Tuple("Tom", 500.0)),
        jedis.zrevrangeWithScores("game:rank", 0, 2));
    assertEquals(2, jedis.zrank("game:rank", "Tom"));
    assertEquals(2, jedis.zrevrank("game:rank", "Tom"));
    assertEquals(3, jedis.zcount("game:rank", 300, 500));
    assertEquals(510.5, jedis.zincrby("game:rank", 10.5, "Tom"));
    assertEquals(List.of("Lucy", "Amy"), jedis.zrangeByScore("game:rank", "-inf", "(510.5"));
    jedis.zadd("other", 1, "Tom");
    assertEquals(List.of("Lucy", "Amy", "Mike", "Jerry"), jedis.zdiff("game:rank", "other"));
    assertEquals(1, jedis.zrem("game:rank", "Tom"));
    assertEquals(4, jedis.zcard("game:rank"));
  }

  @Test
  void bytesComeBackAsTheyWere() {
    byte[] every = new byte[256];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    jedis.set(every, every);
    assertArrayEquals(every, jedis.get(every));
    jedis.hset("hash".getBytes(), every, every);
    assertArrayEquals(every, jedis.hget("hash".getBytes(), every));
  }

  @Test
  void setWithOptionsInAnyOrder() {
    assertEquals("OK", jedis.set("lock", "me", SetParams.setParams().nx().px(30_000)));
    assertNull(jedis.set("lock", "you", SetParams.setParams().nx().px(30_000)));
    assertEquals("OK", jedis.set("lock", "me", SetParams.setParams().xx().keepTtl()));
    assertTrue(jedis.pttl("lock") > 20_000);
    assertNull(jedis.set("missing", "x", SetParams.setParams().xx()));
    assertEquals("me", jedis.setGet("lock", "you"));
    assertEquals(-1, jedis.pttl("lock"));
  }

  @Test
  void wrongTypeIsAnError() {
    jedis.set("text", "x");
    assertEquals(
        "WRONGTYPE Operation against a key holding the wrong kind of value", errorOf(() -> jedis.lpush("text", "x")));
  }

  @Test
  void dumpAndRestore() {
    jedis.rpush("list", "a", "b");
    byte[] dump = jedis.dump("list");
    assertEquals("BUSYKEY Target key name already exists.", errorOf(() -> jedis.restore("list", 0, dump)));
    assertEquals("OK", jedis.restore("copy", 10_000, dump));
    assertEquals(List.of("a", "b"), jedis.lrange("copy", 0, -1));
    assertTrue(jedis.pttl("copy") > 5_000);
  }

  @Test
  void geoAndHyperLogLogAndBits() {
    jedis.geoadd("shops", 116.397128, 39.916527, "palace");
    jedis.geoadd("shops", 116.410886, 39.881949, "temple");
    assertEquals(4.021, jedis.geodist("shops", "palace", "temple", GeoUnit.KM), 0.02);
    assertEquals(1, jedis.pfadd("uv", "a", "b", "c"));
    assertEquals(3, jedis.pfcount("uv"));
    assertEquals(false, jedis.setbit("sign", 6, true));
    assertEquals(1, jedis.bitcount("sign"));
    assertEquals(List.of(2L), jedis.bitfield("sign", "GET", "u8", "0"));
  }

  @Test
  void clientNameAndListTellOfTheConnection() {
    jedis.clientSetname("tour");
    assertEquals("tour", jedis.clientGetname());
    String line = jedis.clientList().lines().filter(each -> each.contains("name=tour")).findFirst().orElseThrow();
    assertTrue(
        line.matches(
            "id=\\d+ addr=127\\.0\\.0\\.1:\\d+ .*fd=\\d+ name=tour age=\\d+ idle=\\d+ flags=N db=0 sub=0 psub=0 .*"
                + "multi=-1 .*qbuf=\\d+ qbuf-free=\\d+ .*obl=0 oll=0 omem=0 .*events=r cmd=client\\|list .*"),
        line);
  }

  @Test
  void clusterClientIsToldThatThereIsNoCluster() {
    assertEquals("ERR This instance has cluster support disabled", errorOf(jedis::clusterSlots));
    assertThrows(JedisClusterOperationException.class, () -> new JedisCluster(ADDRESS));
    assertTrue(jedis.info("cluster").contains("cluster_enabled:0"));
  }

  @Test
  void quitClosesTheConnection() {
    assertEquals("PONG", jedis.ping());
    assertEquals("OK", text(jedis.sendCommand(() -> "QUIT".getBytes())));
    assertThrows(JedisConnectionException.class, jedis::ping);
  }
}
