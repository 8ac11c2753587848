package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RMapCache;
import org.redisson.api.map.event.EntryCreatedListener;
import org.redisson.api.map.event.EntryExpiredListener;
import org.redisson.api.map.event.EntryRemovedListener;
import org.redisson.api.map.event.EntryUpdatedListener;

/** A map whose entries expire by themselves, with events for listeners in every client. */
class MapCacheTest extends RedissonTest {
  @Test
  void entriesExpireOneByOne() {
    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    assertNull(cache.put("short", "1", 300, TimeUnit.MILLISECONDS));
    assertNull(cache.put("long", "2", 60, TimeUnit.SECONDS));
    assertTrue(cache.fastPut("forever", "3"));
    assertEquals("1", cache.get("short"));
    assertEquals(3, cache.readAllMap().size());

    Await.await("the entry expires", () -> cache.get("short") == null);
    assertEquals(Map.of("long", "2", "forever", "3"), cache.readAllMap());
    assertFalse(cache.containsKey("short"));
  }

  @Test
  void idleEntriesExpireUnlessTheyAreRead() {
    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    cache.put("read", "1", 0, TimeUnit.SECONDS, 600, TimeUnit.MILLISECONDS);
    cache.put("idle", "2", 0, TimeUnit.SECONDS, 600, TimeUnit.MILLISECONDS);
    long start = System.nanoTime();
    while (System.nanoTime() - start < TimeUnit.MILLISECONDS.toNanos(900)) {
      assertEquals("1", cache.get("read"));
    }
    assertNull(cache.get("idle"));
  }

  @Test
  void putIfAbsentSeesAnExpiredEntryAsAbsent() {
    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    assertNull(cache.putIfAbsent("k", "1", 200, TimeUnit.MILLISECONDS));
    assertEquals("1", cache.putIfAbsent("k", "2", 60, TimeUnit.SECONDS));
    Await.await("the entry expires", () -> cache.fastPutIfAbsent("k", "3", 60, TimeUnit.SECONDS));
    assertEquals("3", cache.get("k"));
    assertEquals("3", cache.remove("k"));
  }

  @Test
  void listenersInOtherClientsHearOfEveryChange() {
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    RMapCache<String, String> listened = another().getMapCache("cache", TEXT);
    listened.addListener((EntryCreatedListener<String, String>) event ->
        heard.add("created " + event.getKey() + "=" + event.getValue()));
    listened.addListener((EntryUpdatedListener<String, String>) event ->
        heard.add("updated " + event.getKey() + "=" + event.getOldValue() + ">" + event.getValue()));
    listened.addListener((EntryRemovedListener<String, String>) event ->
        heard.add("removed " + event.getKey()));

    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    cache.put("k", "1");
    expect(heard, "created k=1");
    cache.put("k", "2");
    expect(heard, "updated k=1>2");
    cache.remove("k");
    expect(heard, "removed k");
    assertTrue(heard.isEmpty(), heard.toString());
  }

  @Test
  void theEvictionTaskTellsListenersWhatExpired() {
    Queue<String> heard = new ConcurrentLinkedQueue<>();
    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    cache.addListener((EntryExpiredListener<String, String>) event ->
        heard.add("expired " + event.getKey() + "=" + event.getValue()));
    cache.put("k", "1", 100, TimeUnit.MILLISECONDS);
    cache.put("other", "2", 60, TimeUnit.SECONDS);
    // The client's task checks for the first time after some seconds.
    Await.await("the event", Duration.ofSeconds(20), () -> !heard.isEmpty());
    expect(heard, "expired k=1");
    assertEquals("1", plain.call("HLEN", "cache"));
    assertTrue(heard.isEmpty(), heard.toString());
  }

  @Test
  void aFullCacheDropsTheLeastRecentlyUsed() {
    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    assertTrue(cache.trySetMaxSize(2));
    assertFalse(cache.trySetMaxSize(5));
    cache.put("a", "1");
    nextMillisecond();
    cache.put("b", "2");
    nextMillisecond();
    cache.get("a");
    nextMillisecond();
    cache.put("c", "3");
    assertEquals(Map.of("a", "1", "c", "3"), cache.readAllMap());
  }

  /** The client's clock decides which use was the latest. */
  private static void nextMillisecond() {
    long now = System.currentTimeMillis();
    Await.await("the clock goes on", () -> System.currentTimeMillis() > now);
  }

  private static void expect(Queue<String> heard, String event) {
    Await.await(event, () -> !heard.isEmpty());
    assertEquals(event, heard.poll());
  }
}
