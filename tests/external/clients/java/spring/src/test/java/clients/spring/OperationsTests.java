package clients.spring;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.springframework.data.redis.connection.BitFieldSubCommands.BitFieldType.unsigned;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.data.domain.Range;
import org.springframework.data.geo.Circle;
import org.springframework.data.geo.Distance;
import org.springframework.data.geo.Metrics;
import org.springframework.data.geo.Point;
import org.springframework.data.redis.connection.BitFieldSubCommands;
import org.springframework.data.redis.connection.DataType;
import org.springframework.data.redis.connection.DefaultSortParameters;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.RedisListCommands.Direction;
import org.springframework.data.redis.connection.RedisStringCommands.BitOperation;
import org.springframework.data.redis.connection.SortParameters;
import org.springframework.data.redis.core.Cursor;
import org.springframework.data.redis.core.DefaultTypedTuple;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.ScanOptions;
import org.springframework.data.redis.core.ZSetOperations.TypedTuple;
import org.springframework.data.redis.core.query.SortQueryBuilder;
import org.springframework.data.redis.domain.geo.GeoReference;

/** All methods of opsFor…(), and the template's own methods on keys. */
abstract class OperationsTests extends OnSuiteServer {
  OperationsTests(Driver driver) {
    super(driver);
  }

  private static TypedTuple<String> tuple(String member, double score) {
    return new DefaultTypedTuple<>(member, score);
  }

  private static Set<TypedTuple<String>> tuples(TypedTuple<?>... tuples) {
    Set<TypedTuple<String>> set = new LinkedHashSet<>();
    for (TypedTuple<?> each : tuples) {
      set.add(tuple((String) each.getValue(), each.getScore()));
    }
    return set;
  }

  @Test
  void valuesAreSetAndGot() {
    var ops = redis.opsForValue();
    ops.set("name", "虎哥");
    assertEquals("虎哥", ops.get("name"));
    assertNull(ops.get("missing"));
    ops.set("code", "1234", 2, TimeUnit.MINUTES);
    assertEquals(120, redis.getExpire("code"));
    ops.set("code", "1234", Duration.ofMillis(90_500));
    long left = redis.getExpire("code", TimeUnit.MILLISECONDS);
    assertTrue(left > 85_000 && left <= 90_500, "" + left);
    assertEquals(true, ops.setIfAbsent("lock", "1", 10, SECONDS));
    assertEquals(false, ops.setIfAbsent("lock", "1", 10, SECONDS));
    assertEquals(10, redis.getExpire("lock"));
    assertEquals(true, ops.setIfPresent("lock", "2"));
    assertEquals(false, ops.setIfPresent("missing", "2", Duration.ofSeconds(5)));
    assertEquals("2", ops.getAndSet("lock", "3"));
    assertEquals("3", ops.getAndExpire("lock", Duration.ofSeconds(50)));
    assertEquals(50, redis.getExpire("lock"));
    assertEquals("3", ops.getAndPersist("lock"));
    assertEquals(-1, redis.getExpire("lock"));
    assertEquals("3", ops.getAndDelete("lock"));
    assertEquals(false, redis.hasKey("lock"));
  }

  @Test
  void valuesAreCountedAndCut() {
    var ops = redis.opsForValue();
    assertEquals(1, ops.increment("count"));
    assertEquals(11, ops.increment("count", 10));
    assertEquals(10, ops.decrement("count"));
    assertEquals(7, ops.decrement("count", 3));
    assertEquals(7.25, ops.increment("count", 0.25));
    assertEquals(4, ops.append("text", "abcd"));
    assertEquals("bc", ops.get("text", 1, 2));
    ops.set("text", "XY", 1);
    assertEquals("aXYd", ops.get("text"));
    assertEquals(4, ops.size("text"));
    ops.multiSet(Map.of("k1", "v1", "k2", "v2"));
    assertEquals(false, ops.multiSetIfAbsent(Map.of("k2", "x", "k3", "x")));
    assertEquals(Arrays.asList("v1", null, "v2"), ops.multiGet(List.of("k1", "k3", "k2")));
    redis.opsForValue().set("word", "abc");
    assertEquals("ERR value is not an integer or out of range", errorOf(() -> ops.increment("word")));
  }

  @Test
  void bits() {
    var ops = redis.opsForValue();
    assertEquals(false, ops.setBit("sign", 6, true));
    assertEquals(true, ops.getBit("sign", 6));
    assertEquals(List.of(2L), ops.bitField("sign", BitFieldSubCommands.create().get(unsigned(8)).valueAt(0)));
    redis.execute((RedisCallback<Void>) connection -> {
      assertEquals(1, connection.stringCommands().bitCount("sign".getBytes()));
      assertEquals(6, connection.stringCommands().bitPos("sign".getBytes(), true));
      assertEquals(1, connection.stringCommands().bitOp(BitOperation.NOT, "not".getBytes(), "sign".getBytes()));
      return null;
    });
  }

  @Test
  void hashes() {
    var ops = redis.<String, String>opsForHash();
    ops.put("user:400", "name", "虎哥");
    ops.putAll("user:400", Map.of("age", "21", "city", "上海"));
    assertEquals(Map.of("name", "虎哥", "age", "21", "city", "上海"), ops.entries("user:400"));
    assertEquals("21", ops.get("user:400", "age"));
    assertEquals(Arrays.asList("21", null), ops.multiGet("user:400", List.of("age", "missing")));
    assertEquals(22, ops.increment("user:400", "age", 1));
    assertEquals(22.5, ops.increment("user:400", "age", 0.5));
    assertEquals(false, ops.putIfAbsent("user:400", "name", "x"));
    assertEquals(true, ops.hasKey("user:400", "city"));
    assertEquals(Set.of("name", "age", "city"), ops.keys("user:400"));
    assertEquals(Set.of("虎哥", "22.5", "上海"), Set.copyOf(ops.values("user:400")));
    assertEquals(3, ops.size("user:400"));
    assertEquals(6, ops.lengthOfValue("user:400", "city"));
    assertTrue(ops.keys("user:400").contains(ops.randomKey("user:400")));
    assertEquals(2, ops.randomEntries("user:400", 2).size());
    Set<String> scanned = new TreeSet<>();
    try (Cursor<Map.Entry<String, String>> cursor = ops.scan("user:400", ScanOptions.scanOptions().count(1).build())) {
      cursor.forEachRemaining(entry -> scanned.add(entry.getKey()));
    }
    assertEquals(Set.of("name", "age", "city"), scanned);
    assertEquals(2, ops.delete("user:400", "name", "age"));
    assertTrue(ops.entries("missing").isEmpty());
  }

  @Test
  void lists() {
    var ops = redis.opsForList();
    assertEquals(1, ops.leftPush("list", "a"));
    assertEquals(3, ops.rightPushAll("list", "b", "c"));
    assertEquals(5, ops.leftPushAll("list", List.of("y", "x")));
    assertEquals(List.of("x", "y", "a", "b", "c"), ops.range("list", 0, -1));
    assertEquals(6, ops.rightPush("list", "b", "b2"));
    assertEquals(7, ops.leftPush("list", "y", "y0"));
    assertEquals(List.of("x", "y0", "y", "a", "b", "b2", "c"), ops.range("list", 0, -1));
    assertEquals(0, ops.leftPushIfPresent("missing", "x"));
    assertEquals(0, ops.rightPushIfPresent("missing", "x"));
    ops.set("list", 0, "first");
    assertEquals("first", ops.index("list", 0));
    assertEquals(3, ops.indexOf("list", "a"));
    assertEquals(6, ops.lastIndexOf("list", "c"));
    assertNull(ops.indexOf("list", "missing"));
    assertEquals(1, ops.remove("list", 0, "y0"));
    assertEquals("first", ops.leftPop("list"));
    assertEquals(List.of("c", "b2"), ops.rightPop("list", 2));
    assertEquals(List.of("y"), ops.leftPop("list", 1));
    assertEquals("b", ops.rightPopAndLeftPush("list", "other"));
    assertEquals("b", ops.move("other", Direction.LEFT, "list", Direction.RIGHT));
    assertEquals(2, ops.size("list"));
    ops.trim("list", 1, 1);
    assertEquals(List.of("b"), ops.range("list", 0, -1));
    assertEquals("b", ops.leftPop("list", Duration.ofSeconds(1)));
    assertNull(ops.rightPop("list", Duration.ofSeconds(1)));
    ops.rightPush("source", "z");
    assertEquals("z", ops.rightPopAndLeftPush("source", "target", Duration.ofSeconds(1)));
    assertEquals("z", ops.move("target", Direction.LEFT, "source", Direction.LEFT, Duration.ofSeconds(1)));
  }

  @Test
  void sets() {
    var ops = redis.opsForSet();
    assertEquals(3, ops.add("user:1:tags", "旅游", "摄影", "健身"));
    assertEquals(2, ops.add("user:2:tags", "旅游", "美食"));
    assertEquals(Set.of("旅游"), ops.intersect("user:1:tags", "user:2:tags"));
    assertEquals(Set.of("摄影", "健身"), ops.difference("user:1:tags", "user:2:tags"));
    assertEquals(4, ops.union("user:1:tags", "user:2:tags").size());
    assertEquals(4, ops.unionAndStore("user:1:tags", "user:2:tags", "all"));
    assertEquals(1, ops.intersectAndStore("user:1:tags", "user:2:tags", "both"));
    assertEquals(2, ops.differenceAndStore("user:1:tags", "user:2:tags", "mine"));
    assertEquals(3, ops.size("user:1:tags"));
    assertEquals(true, ops.isMember("all", "美食"));
    assertEquals(Map.of("美食", true, "x", false), ops.isMember("all", "美食", "x"));
    assertEquals(true, ops.move("mine", "摄影", "both"));
    assertEquals(Set.of("旅游", "摄影"), ops.members("both"));
    assertNotNull(ops.randomMember("all"));
    assertEquals(2, ops.distinctRandomMembers("all", 2).size());
    assertEquals(7, ops.randomMembers("all", 7).size());
    Set<String> scanned = new TreeSet<>();
    try (Cursor<String> cursor = ops.scan("all", ScanOptions.scanOptions().match("*").build())) {
      cursor.forEachRemaining(scanned::add);
    }
    assertEquals(4, scanned.size());
    assertEquals(1, ops.remove("all", "美食", "x"));
    assertEquals(2, ops.pop("all", 2).size());
    assertNotNull(ops.pop("all"));
    assertEquals(false, redis.hasKey("all"));
  }

  @Test
  void sortedSets() {
    var ops = redis.opsForZSet();
    assertEquals(true, ops.add("game:rank", "Tom", 500));
    assertEquals(4, ops.add("game:rank",
        tuples(tuple("Jerry", 800), tuple("Mike", 700), tuple("Amy", 400), tuple("Lucy", 300))));
    assertEquals(false, ops.addIfAbsent("game:rank", "Tom", 1));
    assertEquals(tuples(tuple("Jerry", 800), tuple("Mike", 700), tuple("Tom", 500)),
        ops.reverseRangeWithScores("game:rank", 0, 2));
    assertEquals(new LinkedHashSet<>(List.of("Lucy", "Amy")), ops.range("game:rank", 0, 1));
    assertEquals(2, ops.rank("game:rank", "Tom"));
    assertEquals(2, ops.reverseRank("game:rank", "Tom"));
    assertEquals(500.0, ops.score("game:rank", "Tom"));
    assertEquals(Arrays.asList(500.0, null), ops.score("game:rank", "Tom", "missing"));
    assertNull(ops.score("game:rank", "missing"));
    assertEquals(510.5, ops.incrementScore("game:rank", "Tom", 10.5));
    assertEquals(3, ops.count("game:rank", 300, 511));
    assertEquals(Set.of("Amy"), ops.rangeByScore("game:rank", 0, 1000, 1, 1));
    assertEquals(Set.of("Jerry", "Mike"), ops.reverseRangeByScore("game:rank", 600, 900));
    assertEquals(5, ops.zCard("game:rank"));
    assertNotNull(ops.randomMember("game:rank"));
    assertEquals(2, ops.distinctRandomMembersWithScore("game:rank", 2).size());
    assertEquals(3, ops.rangeAndStoreByScore("game:rank", "low", Range.closed(0, 600)));
    assertEquals(tuple("Jerry", 800), ops.popMax("game:rank"));
    assertEquals(tuples(tuple("Lucy", 300)), ops.popMin("game:rank", 1));
    assertEquals(tuple("Amy", 400), ops.popMin("game:rank", Duration.ofSeconds(1)));
    assertNull(ops.popMax("missing", Duration.ofSeconds(1)));
    assertEquals(1, ops.removeRangeByScore("game:rank", 0, 600));
    assertEquals(1, ops.removeRange("game:rank", 0, -1));
  }

  @Test
  void sortedSetsOfOneScoreAndTheirAlgebra() {
    var ops = redis.opsForZSet();
    for (String member : List.of("a", "b", "c", "d")) {
      ops.add("lex", member, 0);
    }
    assertEquals(Set.of("b", "c"), ops.rangeByLex("lex", Range.closed("b", "c")));
    assertEquals(List.of("d"), List.copyOf(ops.reverseRangeByLex("lex", Range.unbounded(), Limit.limit().count(1))));
    assertEquals(3, ops.lexCount("lex", Range.rightOpen("a", "d")));
    assertEquals(1, ops.removeRangeByLex("lex", Range.closed("a", "a")));
    ops.add("one", tuples(tuple("x", 1), tuple("y", 2)));
    ops.add("two", tuples(tuple("y", 10), tuple("z", 20)));
    assertEquals(tuples(tuple("y", 12)), ops.intersectWithScores("one", List.of("two")));
    assertEquals(tuples(tuple("x", 1)), ops.differenceWithScores("one", "two"));
    assertEquals(tuples(tuple("x", 1), tuple("y", 12), tuple("z", 20)), ops.unionWithScores("one", List.of("two")));
    assertEquals(3, ops.unionAndStore("one", "two", "union"));
    assertEquals(1, ops.intersectAndStore("one", "two", "inter"));
    assertEquals(1, ops.differenceAndStore("one", List.of("two"), "diff"));
    List<String> scanned = new ArrayList<>();
    try (Cursor<TypedTuple<String>> cursor = ops.scan("union", ScanOptions.NONE)) {
      cursor.forEachRemaining(each -> scanned.add(each.getValue() + each.getScore()));
    }
    assertEquals(Set.of("x1.0", "y12.0", "z20.0"), Set.copyOf(scanned));
  }

  @Test
  void places() {
    var ops = redis.opsForGeo();
    assertEquals(2, ops.add("shops",
        Map.of("palace", new Point(116.397128, 39.916527), "temple", new Point(116.410886, 39.881949))));
    assertEquals(4.02, ops.distance("shops", "palace", "temple", Metrics.KILOMETERS).getValue(), 0.02);
    assertEquals(116.397128, ops.position("shops", "palace").get(0).getX(), 0.00001);
    assertEquals(11, ops.hash("shops", "palace").get(0).length());
    Circle circle = new Circle(new Point(116.4, 39.9), new Distance(10, Metrics.KILOMETERS));
    assertEquals(2, ops.radius("shops", circle).getContent().size());
    assertEquals(2, ops.search("shops", circle).getContent().size());
    assertEquals("temple",
        ops.search("shops", GeoReference.fromMember("temple"), new Distance(1, Metrics.KILOMETERS)).getContent().get(0)
            .getContent().getName());
    assertEquals(2, ops.searchAndStore("shops", "near", circle));
    assertEquals(1, ops.remove("shops", "temple"));
  }

  @Test
  void hyperLogLogs() {
    var ops = redis.opsForHyperLogLog();
    assertEquals(1, ops.add("day1", "a", "b", "c"));
    assertEquals(1, ops.add("day2", "c", "d"));
    assertEquals(0, ops.add("day2", "d"));
    assertEquals(4, ops.size("day1", "day2"));
    assertEquals(4, ops.union("both", "day1", "day2"));
    ops.delete("both");
    assertEquals(false, redis.hasKey("both"));
  }

  @Test
  void keys() {
    redis.opsForValue().multiSet(Map.of("a", "1", "b", "2", "c", "3"));
    assertEquals(Set.of("a", "b", "c"), redis.keys("*"));
    assertEquals(2, redis.countExistingKeys(List.of("a", "b", "x")));
    assertEquals(DataType.STRING, redis.type("a"));
    assertEquals(DataType.NONE, redis.type("x"));
    redis.rename("a", "a2");
    assertEquals(false, redis.renameIfAbsent("a2", "b"));
    assertEquals(true, redis.copy("a2", "a", false));
    assertEquals(true, redis.expire("a", 100, SECONDS));
    assertEquals(100, redis.getExpire("a"));
    assertEquals(true, redis.expireAt("a", Instant.now().plusSeconds(1000)));
    assertTrue(redis.getExpire("a") > 900);
    assertEquals(true, redis.persist("a"));
    assertEquals(-1, redis.getExpire("a"));
    assertEquals(-2, redis.getExpire("x"));
    assertEquals(true, redis.move("a", 1));
    assertEquals(false, redis.hasKey("a"));
    byte[] dump = redis.dump("b");
    redis.restore("b3", dump, 0, SECONDS);
    assertEquals("2", redis.opsForValue().get("b3"));
    assertEquals("BUSYKEY Target key name already exists.", errorOf(() -> redis.restore("b3", dump, 0, SECONDS)));
    assertTrue(redis.keys("*").contains(redis.randomKey()));
    assertEquals(true, redis.delete("b3"));
    assertEquals(2, redis.unlink(List.of("b", "c")));
    assertEquals(1, redis.delete(List.of("a2", "x")));
    assertNull(redis.randomKey());
  }

  @Test
  void scanAndSort() {
    for (int i = 0; i < 200; i++) {
      redis.opsForValue().set("scan:" + i, "");
    }
    Set<String> scanned = new TreeSet<>();
    try (Cursor<String> cursor = redis.scan(ScanOptions.scanOptions().match("scan:*").count(30).build())) {
      cursor.forEachRemaining(scanned::add);
    }
    assertEquals(200, scanned.size());
    redis.opsForList().rightPushAll("numbers", "10", "9", "2");
    // SortQueryBuilder sends an empty pattern for BY, with which Redis does not sort.
    assertEquals(List.of("2", "9", "10"), sort(new DefaultSortParameters()));
    assertEquals(
        List.of("9", "2"),
        sort(new DefaultSortParameters(new SortParameters.Range(0, 2), SortParameters.Order.DESC, true)));
    assertEquals(3, redis.sort(SortQueryBuilder.sort("numbers").build(), "sorted"));
  }

  private List<String> sort(SortParameters order) {
    List<byte[]> sorted =
        redis.execute((RedisCallback<List<byte[]>>) connection ->
            connection.keyCommands().sort("numbers".getBytes(), order));
    return sorted.stream().map(String::new).toList();
  }

  @Test
  void pipelinedCommandsComeBackInOrder() {
    List<Object> replies = redis.executePipelined((RedisCallback<Object>) connection -> {
      for (int i = 0; i < 500; i++) {
        connection.stringCommands().set(("key" + i).getBytes(), ("value" + i).getBytes());
        connection.stringCommands().get(("key" + i).getBytes());
      }
      return null;
    });
    assertEquals(1000, replies.size());
    assertEquals("value499", replies.get(999));
  }

  @Test
  void serverTellsOfItself() {
    redis.execute((RedisCallback<Void>) connection -> {
      assertEquals("PONG", connection.ping());
      assertFalse(connection.serverCommands().info("server").getProperty("redis_version").isEmpty());
      assertEquals("no", connection.serverCommands().getConfig("appendonly").getProperty("appendonly"));
      assertEquals(0, connection.serverCommands().dbSize());
      long difference = connection.serverCommands().time(TimeUnit.MILLISECONDS) - System.currentTimeMillis();
      assertTrue(Math.abs(difference) < 5000, "" + difference);
      connection.serverCommands().setClientName("tour".getBytes());
      assertEquals("tour", connection.serverCommands().getClientName());
      connection.serverCommands().setClientName("".getBytes());
      return null;
    });
    assertFalse(redis.getClientList().isEmpty());
  }
}
