package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RReadWriteLock;

class ReadWriteLockTest extends RedissonTest {
  @Test
  void manyReadersShareTheLock() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    CountDownLatch inside = new CountDownLatch(6);
    CountDownLatch leave = new CountDownLatch(1);
    List<Future<?>> readers = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      readers.add(inThread(() -> {
        lock.readLock().lock();
        inside.countDown();
        await(leave);
        lock.readLock().unlock();
      }));
    }
    assertTrue(inside.await(20, TimeUnit.SECONDS));
    assertEquals("read", plain.call("HGET", "book", "mode"));
    assertEquals("7", plain.call("HLEN", "book"));
    assertFalse(lock.writeLock().tryLock());
    leave.countDown();
    for (Future<?> reader : readers) {
      reader.get(20, TimeUnit.SECONDS);
    }
    assertTrue(lock.writeLock().tryLock());
    assertEquals("write", plain.call("HGET", "book", "mode"));
    lock.writeLock().unlock();
    Await.await("nothing is left", () -> plain.call("DBSIZE").equals("0"));
  }

  @Test
  void aWriterKeepsReadersAndWritersOut() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.writeLock().lock();
    assertFalse(inThread(() -> lock.readLock().tryLock()).get());
    assertFalse(inThread(() -> lock.writeLock().tryLock()).get());
    lock.writeLock().unlock();
  }

  @Test
  void aWaitingWriterFollowsTheLastReader() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    RReadWriteLock elsewhere = another().getReadWriteLock("book");
    lock.readLock().lock();
    assertTrue(elsewhere.readLock().tryLock());
    Future<Boolean> writer = inThread(() -> lock.writeLock().tryLock(30, 60, TimeUnit.SECONDS));
    Await.await("the writer subscribes", () -> subscribers("redisson_rwlock:{book}") == 1);
    lock.readLock().unlock();
    assertFalse(writer.isDone());
    elsewhere.readLock().unlock();
    assertTrue(writer.get(10, TimeUnit.SECONDS));
  }

  @Test
  void aWriterBecomesAReader() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.writeLock().lock();
    assertTrue(lock.readLock().tryLock());
    assertEquals("write", plain.call("HGET", "book", "mode"));
    lock.writeLock().unlock();
    assertEquals("read", plain.call("HGET", "book", "mode"));
    assertTrue(inThread(() -> {
      boolean taken = lock.readLock().tryLock();
      lock.readLock().unlock();
      return taken;
    }).get());
    assertFalse(inThread(() -> lock.writeLock().tryLock()).get());
    lock.readLock().unlock();
    assertEquals("0", plain.call("EXISTS", "book"));
  }

  @Test
  void aReaderDoesNotBecomeAWriter() {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.readLock().lock();
    assertFalse(lock.writeLock().tryLock());
    lock.readLock().unlock();
  }

  @Test
  void readersAndWritersReenter() {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.readLock().lock(60, TimeUnit.SECONDS);
    lock.readLock().lock(30, TimeUnit.SECONDS);
    lock.readLock().lock(90, TimeUnit.SECONDS);
    assertEquals(3, lock.readLock().getHoldCount());
    assertTrue(lock.readLock().remainTimeToLive() > 60_000, "the longest lease holds");
    lock.readLock().unlock();
    lock.readLock().unlock();
    assertTrue(lock.readLock().isLocked());
    lock.readLock().unlock();
    assertFalse(lock.readLock().isLocked());

    lock.writeLock().lock();
    lock.writeLock().lock();
    assertEquals(2, lock.writeLock().getHoldCount());
    lock.writeLock().unlock();
    assertTrue(lock.writeLock().isLocked());
    lock.writeLock().unlock();
    assertFalse(lock.writeLock().isLocked());
  }

  @Test
  void theLongestLeaseOfTheOtherReadersRemains() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.readLock().lock(90, TimeUnit.SECONDS);
    inThread(() -> lock.readLock().lock(30, TimeUnit.SECONDS)).get();
    lock.readLock().unlock();
    long ttl = Long.parseLong(plain.call("PTTL", "book"));
    assertTrue(ttl > 0 && ttl <= 30_000, "TTL " + ttl);
  }

  @Test
  void anotherThreadsUnlockIsRefused() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.readLock().lock(60, TimeUnit.SECONDS);
    inThread(() -> assertThrows(IllegalMonitorStateException.class, () -> lock.readLock().unlock())).get();
    inThread(() -> assertThrows(IllegalMonitorStateException.class, () -> lock.writeLock().unlock())).get();
    assertTrue(lock.readLock().isLocked());
    lock.readLock().unlock();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(20, TimeUnit.SECONDS));
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }
}
