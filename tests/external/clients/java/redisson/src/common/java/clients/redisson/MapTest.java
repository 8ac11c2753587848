package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.LocalCachedMapOptions;
import org.redisson.api.RListMultimap;
import org.redisson.api.RListMultimapCache;
import org.redisson.api.RLocalCachedMap;
import org.redisson.api.RMap;
import org.redisson.api.RSetMultimap;
import org.redisson.api.RedissonClient;

/** Maps, local cached maps and multimaps; map caches have their own class. */
@Tag("all")
class MapTest extends RedissonTest {
  @Test
  void mapBehavesAsAMap() {
    RMap<String, String> map = redisson.getMap("user:1", TEXT);
    assertNull(map.put("name", "Jack"));
    assertEquals("Jack", map.put("name", "Rose"));
    assertEquals("Rose", plain.call("HGET", "user:1", "name"));
    assertEquals("Rose", map.putIfAbsent("name", "Tom"));
    assertTrue(map.fastPut("age", "21"));
    assertFalse(map.fastPutIfAbsent("age", "22"));
    assertEquals("21", map.replace("age", "23"));
    assertTrue(map.replace("age", "23", "24"));
    assertFalse(map.remove("age", "99"));
    assertTrue(map.containsKey("age"));
    assertTrue(map.containsValue("24"));
    assertEquals(Map.of("name", "Rose"), map.getAll(Set.of("name", "none")));
    map.putAll(Map.of("city", "Paris", "zip", "75000"));
    assertEquals(4, map.size());
    assertEquals(Set.of("name", "age", "city", "zip"), map.readAllKeySet());
    assertEquals(2, map.fastRemove("city", "zip", "none"));
    assertEquals(Map.of("name", "Rose", "age", "24"), map.readAllMap());
    assertEquals("25", String.valueOf((Object) map.addAndGet("age", 1)));
    assertEquals("Rose", map.remove("name"));
    assertEquals(2, map.valueSize("age"));
  }

  @Test
  void mapIsScannedThrough() {
    RMap<String, String> map = redisson.getMap("many", TEXT);
    Map<String, String> expected = new HashMap<>();
    for (int i = 0; i < 2000; i++) {
      expected.put("field:" + i, "" + i);
    }
    map.putAll(expected);
    Map<String, String> seen = new HashMap<>();
    map.entrySet().forEach(entry -> seen.put(entry.getKey(), entry.getValue()));
    assertEquals(expected, seen);
    assertEquals(11, new HashSet<>(map.keySet("field:12?")).size() + 1);
  }

  @Test
  void mapHasALockForEachKey() throws Exception {
    RMap<String, String> map = redisson.getMap("user:1", TEXT);
    map.getLock("name").lock();
    Future<Boolean> same = inThread(() -> map.getLock("name").tryLock());
    Future<Boolean> other = inThread(() -> map.getLock("age").tryLock());
    assertFalse(same.get());
    assertTrue(other.get());
    map.getLock("name").unlock();
  }

  @Test
  void mapHoldsObjects() {
    RMap<Integer, List<String>> map = redisson.getMap("objects");
    map.put(1, new ArrayList<>(List.of("a", "b")));
    assertEquals(List.of("a", "b"), another().getMap("objects").get(1));
  }

  @Test
  void localCachesAreInvalidatedByOtherClients() {
    RLocalCachedMap<String, String> here = cached(redisson);
    RLocalCachedMap<String, String> there = cached(another());
    fillAndChangeBehind(here, there);

    here.put("k", "2");
    Await.await("the other cache forgets", () -> "2".equals(there.get("k")));
    there.remove("k");
    Await.await("this cache forgets", () -> here.get("k") == null);
    here.destroy();
    there.destroy();
  }

  @Test
  void localCachesAreClearedTogether() {
    RLocalCachedMap<String, String> here = cached(redisson);
    RLocalCachedMap<String, String> there = cached(another());
    fillAndChangeBehind(here, there);
    here.clearLocalCache();
    Await.await("both caches forget", () -> "behind".equals(there.get("k")) && "behind".equals(here.get("k")));
    here.destroy();
    there.destroy();
  }

  @Test
  void setMultimapHasEachValueOnce() {
    RSetMultimap<String, String> map = redisson.getSetMultimap("tags", TEXT);
    assertTrue(map.put("book", "a"));
    assertFalse(map.put("book", "a"));
    assertTrue(map.putAll("book", List.of("b", "c")));
    map.put("film", "x");
    assertEquals(Set.of("a", "b", "c"), map.getAll("book"));
    assertEquals(4, map.size());
    assertEquals(2, map.keySize());
    assertTrue(map.containsEntry("book", "b"));
    assertTrue(map.remove("book", "b"));
    assertEquals(Set.of("a", "c"), map.removeAll("book"));
    assertEquals(Set.of("film"), map.readAllKeySet());
    assertEquals(1, map.fastRemove("film"));
    assertEquals("0", plain.call("DBSIZE"));
  }

  @Test
  void listMultimapKeepsOrderAndDoubles() {
    RListMultimap<String, String> map = redisson.getListMultimap("log", TEXT);
    map.put("a", "1");
    map.put("a", "2");
    map.put("a", "1");
    assertEquals(List.of("1", "2", "1"), map.getAll("a"));
    assertEquals(List.of("1", "2", "1"), map.replaceValues("a", List.of("9")));
    assertEquals(List.of("9"), map.get("a").readAll());
  }

  @Test
  void multimapCacheKeysExpire() {
    RListMultimapCache<String, String> map = redisson.getListMultimapCache("log", TEXT);
    map.put("goes", "1");
    map.put("stays", "2");
    assertTrue(map.expireKey("goes", 300, TimeUnit.MILLISECONDS));
    assertEquals(List.of("1"), map.getAll("goes"));
    Await.await("the key expires", () -> map.getAll("goes").isEmpty());
    assertEquals(List.of("2"), map.getAll("stays"));
  }

  /** A change that the clients do not notice shows that they answer from their caches. */
  private void fillAndChangeBehind(RLocalCachedMap<String, String> here, RLocalCachedMap<String, String> there) {
    plain.call("HSET", "cached", "k", "1");
    assertEquals("1", here.get("k"));
    assertEquals("1", there.get("k"));
    plain.call("HSET", "cached", "k", "behind");
    assertEquals("1", here.get("k"));
    assertEquals("1", there.get("k"));
  }

  private static RLocalCachedMap<String, String> cached(RedissonClient client) {
    return client.getLocalCachedMap("cached", TEXT, LocalCachedMapOptions.defaults());
  }
}
