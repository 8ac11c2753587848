package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Servers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.ObjectEncoding;
import org.redisson.api.RBucket;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RLock;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.Protocol;

/** Features that only the current release has. */
@Tag("all")
class NewestTest extends RedissonTest {
  @Test
  void objectsAreCopied() {
    RBucket<String> bucket = redisson.getBucket("from", TEXT);
    bucket.set("v".repeat(100));
    assertTrue(bucket.copy("to"));
    assertFalse(bucket.copy("to"));
    assertTrue(bucket.copyAndReplace("to"));
    assertEquals(ObjectEncoding.RAW, bucket.getInternalEncoding());
  }

  @Test
  void bloomFilterIsInitialisedOnce() {
    assertTrue(redisson.getBloomFilter("shops").tryInit(1000, 0.03));
    assertFalse(another().getBloomFilter("shops").tryInit(5000, 0.01));
    assertEquals(1000, redisson.getBloomFilter("shops").getExpectedInsertions());
  }

  @Test
  void nonReentrantLockRefusesItsOwnHolder() {
    RLock lock = redisson.getNonReentrantLock("once");
    assertTrue(lock.tryLock());
    assertThrows(IllegalMonitorStateException.class, lock::tryLock);
    lock.unlock();
    assertFalse(lock.isLocked());
  }

  @Test
  void semaphorePermitsCanExpire() throws Exception {
    RSemaphore semaphore = redisson.getSemaphore("parking");
    assertTrue(semaphore.trySetPermits(2, Duration.ofSeconds(60)));
    assertTrue(semaphore.tryAcquire(Duration.ofSeconds(1)));
    assertTrue(semaphore.remainTimeToLive() > 50_000);
  }

  @Test
  void severalElementsAreTakenFromAnyQueue() throws Exception {
    RBlockingQueue<String> queue = redisson.getBlockingQueue("q1", TEXT);
    redisson.getQueue("q2", TEXT).addAll(List.of("a", "b", "c"));
    assertEquals(Map.of("q2", List.of("a", "b")), queue.pollFirstFromAny(Duration.ofSeconds(5), 2, "q2"));
    assertEquals("c", queue.pollFromAnyWithName(Duration.ofSeconds(5), "q2").getValue());
  }

  @Test
  void allWorksOverResp3() throws Exception {
    Config config = config(Servers.ADDRESS);
    config.setProtocol(Protocol.RESP3);
    RedissonClient client = Redisson.create(config);
    try {
      RLock lock = client.getLock("order");
      assertTrue(lock.tryLock(1, 60, TimeUnit.SECONDS));
      assertFalse(inThread(() -> lock.tryLock(100, TimeUnit.MILLISECONDS)).get());
      lock.unlock();
      client.getMap("map", TEXT).putAll(Map.of("a", "1", "b", "2"));
      assertEquals(Map.of("a", "1", "b", "2"), client.getMap("map", TEXT).readAllMap());
      RScoredSortedSet<String> board = client.getScoredSortedSet("board", TEXT);
      board.add(1.5, "p");
      assertEquals(1.5, board.entryRange(0, -1).iterator().next().getScore());
      assertTrue(plain.call("INFO", "commandstats").contains("cmdstat_hello:"));
    } finally {
      shutDown(client);
    }
  }
}
