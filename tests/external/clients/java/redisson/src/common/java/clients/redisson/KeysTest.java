package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RKeys;
import org.redisson.api.RType;

@Tag("all")
class KeysTest extends RedissonTest {
  @Test
  void keysAreFoundByPattern() {
    fill(1500);
    RKeys keys = redisson.getKeys();
    assertEquals(1500, keys.count());
    Set<String> found = new TreeSet<>();
    keys.getKeysByPattern("user:12?").forEach(found::add);
    assertEquals(10, found.size());
    assertTrue(found.containsAll(List.of("user:120", "user:129")));
    Set<String> all = new TreeSet<>();
    keys.getKeys().forEach(all::add);
    assertEquals(1500, all.size());
  }

  @Test
  void keysAreDeletedByPattern() {
    fill(300);
    RKeys keys = redisson.getKeys();
    assertEquals(100, keys.deleteByPattern("user:1??"));
    assertEquals(200, keys.count());
    assertEquals(2, keys.delete("user:0", "user:1", "none"));
    assertEquals(1, keys.unlink("user:2"));
    keys.flushdb();
    assertEquals(0, keys.count());
  }

  @Test
  void aRandomKeyIsOneOfThem() {
    assertNull(redisson.getKeys().randomKey());
    fill(3);
    assertTrue(Set.of("user:0", "user:1", "user:2").contains(redisson.getKeys().randomKey()));
  }

  @Test
  void keysHaveTypesAndTimes() {
    plain.call("SET", "string", "v");
    plain.call("HSET", "hash", "f", "v");
    plain.call("RPUSH", "list", "v");
    plain.call("SADD", "set", "v");
    plain.call("ZADD", "zset", "1", "v");
    RKeys keys = redisson.getKeys();
    assertEquals(List.of(RType.OBJECT, RType.MAP, RType.LIST, RType.SET, RType.ZSET),
        List.of("string", "hash", "list", "set", "zset").stream().map(keys::getType).toList());
    assertNull(keys.getType("none"));
    assertEquals(2, keys.countExists("string", "hash", "none"));
    assertEquals(1, keys.touch("string", "none"));
    assertTrue(keys.expire("string", 60, TimeUnit.SECONDS));
    assertTrue(keys.remainTimeToLive("string") > 50_000);
    assertTrue(keys.clearExpire("string"));
    assertFalse(keys.clearExpire("string"));
    keys.rename("string", "text");
    assertFalse(keys.renamenx("text", "hash"));
  }

  @Test
  void anObjectMovesToAnotherDatabase() {
    redisson.getBucket("k", TEXT).set("v");
    assertTrue(redisson.getBucket("k").move(3));
    assertFalse(redisson.getBucket("k").isExists());
    plain.call("SELECT", "3");
    assertEquals("v", plain.call("GET", "k"));
    plain.call("SELECT", "0");
  }

  private void fill(int count) {
    String[] words = new String[1 + 2 * count];
    words[0] = "MSET";
    for (int i = 0; i < count; i++) {
      words[1 + 2 * i] = "user:" + i;
      words[2 + 2 * i] = "" + i;
    }
    plain.call(words);
  }
}
