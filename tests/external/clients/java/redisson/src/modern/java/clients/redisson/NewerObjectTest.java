package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
// The classes for geographical data have moved from the first package to the second.
import org.redisson.api.*;
import org.redisson.api.geo.*;

/** Objects that Redisson 3.6 did not have, or had with fewer methods. */
@Tag("all")
class NewerObjectTest extends RedissonTest {
  @Test
  void idsAreDistinctAcrossThreadsAndClients() throws Exception {
    RIdGenerator here = redisson.getIdGenerator("orders");
    assertTrue(here.tryInit(1000, 50));
    assertFalse(here.tryInit(1, 1));
    RIdGenerator there = another().getIdGenerator("orders");
    List<Future<List<Long>>> threads = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      RIdGenerator generator = i % 2 == 0 ? here : there;
      threads.add(inThread(() -> {
        List<Long> ids = new ArrayList<>();
        for (int n = 0; n < 100; n++) {
          ids.add(generator.nextId());
        }
        return ids;
      }));
    }
    Set<Long> all = new HashSet<>();
    for (Future<List<Long>> thread : threads) {
      all.addAll(thread.get(30, TimeUnit.SECONDS));
    }
    assertEquals(600, all.size());
    assertTrue(all.stream().allMatch(id -> id >= 1000 && id < 1000 + 14 * 50), "from reserved blocks");
  }

  @Test
  void rateLimiterRefusesTheSixthInItsInterval() {
    RRateLimiter limiter = redisson.getRateLimiter("api");
    assertTrue(limiter.trySetRate(RateType.OVERALL, 5, 600, RateIntervalUnit.MILLISECONDS));
    assertFalse(limiter.trySetRate(RateType.OVERALL, 99, 1, RateIntervalUnit.SECONDS));
    for (int i = 0; i < 5; i++) {
      assertTrue(limiter.tryAcquire(), "call " + i);
    }
    assertFalse(limiter.tryAcquire());
    assertEquals(0, limiter.availablePermits());
    assertFalse(another().getRateLimiter("api").tryAcquire());
    assertTrue(limiter.tryAcquire(1, 10, TimeUnit.SECONDS), "the next interval");
    assertEquals(5L, limiter.getConfig().getRate());
  }

  @Test
  void ringBufferDropsTheOldest() {
    RRingBuffer<String> buffer = redisson.getRingBuffer("last", TEXT);
    assertTrue(buffer.trySetCapacity(3));
    buffer.addAll(List.of("1", "2", "3", "4", "5"));
    buffer.add("6");
    assertEquals(List.of("4", "5", "6"), buffer.readAll());
    assertEquals(0, buffer.remainingCapacity());
    assertEquals("4", buffer.poll());
    assertEquals(1, buffer.remainingCapacity());
    assertEquals(3, buffer.capacity());
  }

  @Test
  void transferWaitsForTheTaker() throws Exception {
    RTransferQueue<String> queue = redisson.getTransferQueue("hand");
    assertFalse(queue.tryTransfer("nobody"));
    Future<String> taker = inThread(() -> another().<String>getTransferQueue("hand").poll(30, TimeUnit.SECONDS));
    assertTrue(queue.tryTransfer("order", 20, TimeUnit.SECONDS));
    assertEquals("order", taker.get(10, TimeUnit.SECONDS));
    assertFalse(queue.tryTransfer("late", 100, TimeUnit.MILLISECONDS));
    assertTrue(queue.isEmpty());
    queue.put("left");
    assertEquals(List.of("left"), queue.readAll());
  }

  @Test
  void timeSeriesIsReadByRange() {
    RTimeSeries<String, String> series = redisson.getTimeSeries("cpu", TEXT);
    series.add(100, "a");
    series.add(200, "b", "core 2");
    series.add(300, "c");
    assertEquals(3, series.size());
    assertEquals("b", series.get(200));
    assertEquals("core 2", series.getEntry(200).getLabel());
    assertNull(series.get(250));
    assertEquals(List.of("b", "c"), List.copyOf(series.range(150, 300)));
    assertEquals(List.of("c", "b"), List.copyOf(series.rangeReversed(150, 300)));
    assertEquals("a", series.first());
    assertEquals("c", series.last());
    assertEquals(300L, series.lastTimestamp());
    assertEquals("a", series.pollFirst());
    assertEquals(1, series.removeRange(0, 250));
    assertTrue(series.remove(300));
    assertEquals(0, series.size());
    series.destroy();
  }

  @Test
  void timeSeriesEntriesExpire() {
    RTimeSeries<String, String> series = redisson.getTimeSeries("cpu", TEXT);
    series.add(100, "stays");
    series.add(200, "goes", 300, TimeUnit.MILLISECONDS);
    assertEquals(List.of("stays", "goes"), List.copyOf(series.range(0, 1000)));
    Await.await("the entry expires", () -> series.get(200) == null);
    assertEquals(List.of("stays"), List.copyOf(series.range(0, 1000)));
    assertEquals(1, series.size());
    series.destroy();
  }

  @Test
  void geoSearchesByRadiusAndBox() {
    RGeo<String> shops = redisson.getGeo("shops", TEXT);
    assertEquals(3, shops.add(new GeoEntry(13.361389, 38.115556, "Palermo"),
        new GeoEntry(15.087269, 37.502669, "Catania"), new GeoEntry(2.349014, 48.864716, "Paris")));
    assertEquals(166.2742, shops.dist("Palermo", "Catania", GeoUnit.KILOMETERS));
    assertEquals(Map.of("Palermo", "sqc8b49rny0", "Catania", "sqdtr74hyu0"), shops.hash("Palermo", "Catania"));
    assertEquals(38.115556, shops.pos("Palermo").get("Palermo").getLatitude(), 1e-5);
    assertEquals(List.of("Catania", "Palermo"),
        shops.search(GeoSearchArgs.from(15, 37).radius(200, GeoUnit.KILOMETERS).order(GeoOrder.ASC)));
    assertEquals(List.of("Palermo"),
        shops.search(GeoSearchArgs.from("Palermo").box(100, 100, GeoUnit.KILOMETERS)));
    assertEquals(56.4413, shops.searchWithDistance(
        GeoSearchArgs.from(15, 37).radius(100, GeoUnit.KILOMETERS)).get("Catania"), 1e-3);
    assertEquals(2, shops.storeSearchTo("near", GeoSearchArgs.from(15, 37).radius(200, GeoUnit.KILOMETERS)));
    assertEquals("2", plain.call("ZCARD", "near"));
    assertFalse(shops.tryAdd(0, 0, "Paris"));
  }

  @Test
  void mapCacheKnowsTheTimeLeftOfAnEntry() {
    RMapCache<String, String> cache = redisson.getMapCache("cache", TEXT);
    cache.put("long", "1", 60, TimeUnit.SECONDS);
    cache.put("forever", "2");
    long ttl = cache.remainTimeToLive("long");
    assertTrue(ttl > 50_000 && ttl <= 60_000, "TTL " + ttl);
    assertEquals(-1, cache.remainTimeToLive("forever"));
    assertEquals(-2, cache.remainTimeToLive("none"));
  }

  @Test
  void bitSetHoldsNumbers() {
    RBitSet bits = redisson.getBitSet("bits");
    assertEquals(0, bits.setUnsigned(5, 3, 21));
    assertEquals(21, bits.getUnsigned(5, 3));
    assertEquals(22, bits.incrementAndGetUnsigned(5, 3, 1));
    assertEquals(0, bits.setLong(64, Long.MIN_VALUE));
    assertEquals(Long.MIN_VALUE, bits.getLong(64));
    assertEquals(-1, bits.incrementAndGetInteger(200, -1));
  }

  @Test
  void objectsAreDumpedAndMeasured() {
    RBucket<String> bucket = redisson.getBucket("from", TEXT);
    bucket.set("v".repeat(100));
    byte[] dump = bucket.dump();
    RBucket<String> restored = redisson.getBucket("restored", TEXT);
    restored.restore(dump, 60, TimeUnit.SECONDS);
    assertEquals(bucket.get(), restored.get());
    assertTrue(restored.remainTimeToLive() > 50_000);
    assertTrue(bucket.sizeInMemory() > 100);
  }

  @Test
  void remoteCallsAreAcknowledgedAndAnswered() {
    RRemoteService server = another().getRemoteService("shop");
    server.register(ServiceTest.Pricing.class, new ServiceTest.FixedPricing(), 2);
    ServiceTest.Pricing pricing = redisson.getRemoteService("shop")
        .get(ServiceTest.Pricing.class, 20, TimeUnit.SECONDS, 20, TimeUnit.SECONDS);
    assertEquals(300, pricing.price("book", 3));
    assertEquals(500, pricing.price("book", 5));
    IllegalStateException refused = assertThrows(IllegalStateException.class, () -> pricing.price("none", 1));
    assertEquals("no such thing: none", refused.getMessage());
    server.deregister(ServiceTest.Pricing.class);
  }

  @Test
  void twoWorkersShareManyTasks() throws Exception {
    RedissonClient worker = another();
    worker.getExecutorService("jobs").registerWorkers(2);
    List<Future<Integer>> results = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      results.add(redisson.getExecutorService("jobs").submit(new ServiceTest.Square(i)));
    }
    for (int i = 0; i < 20; i++) {
      assertEquals(i * i, results.get(i).get(20, TimeUnit.SECONDS));
    }
    shutDown(worker);
  }
}
