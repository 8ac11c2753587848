package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.LockOptions;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

/** Locks and guarantees that Redisson 3.6 did not have. */
class NewerLockTest extends RedissonTest {
  @Test
  void unlockAfterTheLeaseIsRefused() {
    RLock lock = redisson.getLock("order");
    lock.lock(50, TimeUnit.MILLISECONDS);
    Await.await("the lease ends", () -> !lock.isLocked());
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
  }

  @Test
  void waitingReadersFollowTheWriterTogether() throws Exception {
    RReadWriteLock lock = redisson.getReadWriteLock("book");
    lock.writeLock().lock();
    List<Future<Boolean>> readers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      readers.add(inThread(() -> lock.readLock().tryLock(30, 60, TimeUnit.SECONDS)));
    }
    // A reader that has requested the lock but does not wait yet would miss the message of the writer, and wait for 30
    // s.
    Await.await("the readers wait", () -> waitingForMessages() == 4);
    lock.writeLock().unlock();
    for (Future<Boolean> reader : readers) {
      assertTrue(reader.get(10, TimeUnit.SECONDS));
    }
    assertEquals("5", plain.call("HLEN", "book"));
  }

  private static long waitingForMessages() {
    return Thread.getAllStackTraces().values().stream()
        .filter(trace -> hasFrame(trace, "java.util.concurrent.Semaphore"))
        .filter(trace -> hasFrame(trace, "org.redisson.RedissonLock"))
        .count();
  }

  private static boolean hasFrame(StackTraceElement[] trace, String name) {
    return Arrays.stream(trace).anyMatch(frame -> frame.getClassName().equals(name));
  }

  @Test
  void spinLockWaitsByAskingAgain() throws Exception {
    RLock lock = redisson.getSpinLock("spin");
    lock.lock(60, TimeUnit.SECONDS);
    Future<Boolean> waiter = inThread(() -> lock.tryLock(30, 60, TimeUnit.SECONDS));
    assertFalse(inThread(() -> lock.tryLock()).get());
    assertEquals(List.of(), plain.list("PUBSUB", "CHANNELS", "*spin*"));
    lock.unlock();
    assertTrue(waiter.get(10, TimeUnit.SECONDS));
    assertFalse(lock.isHeldByCurrentThread());
  }

  @Test
  void spinLockLetsTenThreadsInOneAtATime() throws Exception {
    RLock lock = redisson.getSpinLock("spin", new LockOptions.ConstantBackOff().delay(5));
    int[] served = {0};
    List<Future<?>> waiters = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      waiters.add(inThread(() -> {
        lock.lock();
        int before = served[0];
        Thread.yield();
        served[0] = before + 1;
        lock.unlock();
      }));
    }
    for (Future<?> waiter : waiters) {
      waiter.get(30, TimeUnit.SECONDS);
    }
    assertEquals(10, served[0]);
    Await.await("nothing is left", () -> plain.call("DBSIZE").equals("0"));
  }

  @Test
  void spinLockIsReentrant() {
    RLock lock = redisson.getSpinLock("spin");
    lock.lock();
    assertTrue(lock.tryLock());
    assertEquals(2, lock.getHoldCount());
    lock.unlock();
    lock.unlock();
    assertFalse(lock.isLocked());
  }

  @Test
  void fencedLockGivesAGrowingToken() throws Exception {
    RFencedLock lock = redisson.getFencedLock("fence");
    assertEquals(1L, lock.lockAndGetToken());
    assertEquals(2L, lock.tryLockAndGetToken());
    assertNull(inThread(() -> lock.tryLockAndGetToken(50, 60_000, TimeUnit.MILLISECONDS)).get());
    lock.unlock();
    lock.unlock();
    assertFalse(lock.isLocked());
    assertEquals(3L, lock.tryLockAndGetToken(1, 60, TimeUnit.SECONDS));
    assertEquals(3L, lock.getToken());
    lock.unlock();
  }
}
