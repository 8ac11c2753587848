package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

class LockTest extends RedissonTest {
  private static final String NODE = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
  private static final int WATCHDOG_MS = 1200;

  @Override
  void adjust(Config config) {
    config.setLockWatchdogTimeout(WATCHDOG_MS);
  }

  @Test
  void reentrantLockCountsItsHoldsInAHash() {
    RLock lock = redisson.getLock("order");
    List<String> said = new ArrayList<>();
    List<Integer> counts = new ArrayList<>();

    assertTrue(lock.tryLock());
    said.add("获取锁成功, 1");
    counts.add(holdsInTheHash("order"));
    assertTrue(lock.tryLock());
    said.add("获取锁成功, 2");
    counts.add(holdsInTheHash("order"));
    said.add("释放锁, 2");
    lock.unlock();
    counts.add(holdsInTheHash("order"));
    said.add("释放锁, 1");
    lock.unlock();

    assertEquals(List.of("获取锁成功, 1", "获取锁成功, 2", "释放锁, 2", "释放锁, 1"), said);
    assertEquals(List.of(1, 2, 1), counts);
    assertEquals("0", plain.call("EXISTS", "order"));
  }

  @Test
  void nothingIsLeftAfterTheLastUnlock() throws Exception {
    RLock lock = redisson.getLock("order");
    lock.lock();
    assertTrue(lock.isLocked());
    assertTrue(lock.isHeldByCurrentThread());
    assertEquals(1, lock.getHoldCount());
    assertFalse(inThread(() -> lock.isHeldByCurrentThread()).get());
    lock.unlock();

    assertFalse(lock.isLocked());
    assertEquals(0, lock.getHoldCount());
    Await.await("the unlock latch is removed, too", () -> plain.call("DBSIZE").equals("0"));
  }

  @Test
  void aThreadKeepsOthersOut() throws Exception {
    RLock lock = redisson.getLock("order");
    lock.lock();
    assertFalse(inThread(() -> lock.tryLock()).get());
    lock.unlock();
    assertTrue(inThread(() -> lock.tryLock()).get());
  }

  @Test
  void aClientKeepsOtherClientsOut() {
    RedissonClient other = another();
    redisson.getLock("order").lock();
    assertFalse(other.getLock("order").tryLock());
    redisson.getLock("order").unlock();
    assertTrue(other.getLock("order").tryLock());
    assertFalse(redisson.getLock("order").tryLock());
    other.getLock("order").unlock();
  }

  @Test
  void theWatchdogRenewsALockWithoutLease() {
    RLock lock = redisson.getLock("order");
    lock.lock();
    long start = System.nanoTime();
    long last = lock.remainTimeToLive();
    assertTrue(last > 0 && last <= WATCHDOG_MS, "TTL " + last);
    int renewals = 0;
    while (renewals < 3 || elapsedMs(start) < WATCHDOG_MS * 3 / 2) {
      long now = lock.remainTimeToLive();
      assertTrue(now > 0, "the lock has gone after " + elapsedMs(start) + " ms");
      assertTrue(elapsedMs(start) < 10_000, "only " + renewals + " renewals");
      renewals += now > last + 100 ? 1 : 0;
      last = now;
    }
    lock.unlock();
    assertFalse(lock.isLocked());
  }

  @Test
  void theLockOfADeadClientEndsByItself() {
    RedissonClient other = another();
    other.getLock("order").lock();
    assertFalse(redisson.getLock("order").tryLock());
    shutDown(other);
    assertTrue(redisson.getLock("order").isLocked());
    Await.await("the lease ends", () -> redisson.getLock("order").tryLock());
    redisson.getLock("order").unlock();
  }

  @Test
  void aLockWithLeaseIsNotRenewed() {
    RLock lock = redisson.getLock("order");
    long start = System.nanoTime();
    lock.lock(700, TimeUnit.MILLISECONDS);
    long ttl = lock.remainTimeToLive();
    assertTrue(ttl > 0 && ttl <= 700, "TTL " + ttl);
    Await.await("the lease ends", () -> !lock.isLocked());
    assertTrue(elapsedMs(start) >= 700, elapsedMs(start) + " ms");
  }

  @Test
  void aWaiterIsWokenByTheMessageOfTheUnlock() throws Exception {
    RLock lock = redisson.getLock("order");
    lock.lock(60, TimeUnit.SECONDS);
    Future<Boolean> waiter = inThread(() -> lock.tryLock(30, 60, TimeUnit.SECONDS));
    Await.await("the waiter subscribes", () -> subscribers("redisson_lock__channel:{order}") == 1);
    assertFalse(waiter.isDone());

    long start = System.nanoTime();
    lock.unlock();
    assertTrue(waiter.get(10, TimeUnit.SECONDS));
    assertTrue(elapsedMs(start) < 5000, "woken after " + elapsedMs(start) + " ms");
    Await.await("it unsubscribes", () -> subscribers("redisson_lock__channel:{order}") == 0);
  }

  @Test
  void aWaiterGivesUpInTime() throws Exception {
    RLock lock = redisson.getLock("order");
    lock.lock(60, TimeUnit.SECONDS);
    long start = System.nanoTime();
    assertFalse(inThread(() -> lock.tryLock(300, 1000, TimeUnit.MILLISECONDS)).get());
    assertTrue(elapsedMs(start) >= 300, elapsedMs(start) + " ms");
    Await.await("it unsubscribes", () -> subscribers("redisson_lock__channel:{order}") == 0);
    assertEquals(1, holdsInTheHash("order"));
  }

  @Test
  void aWaiterTakesALockWhoseLeaseEnds() throws Exception {
    RLock lock = redisson.getLock("order");
    lock.lock(400, TimeUnit.MILLISECONDS);
    assertTrue(inThread(() -> lock.tryLock(10, 60, TimeUnit.SECONDS)).get());
    assertFalse(lock.isHeldByCurrentThread());
  }

  @Test
  void anotherThreadsUnlockIsRefused() {
    RLock lock = redisson.getLock("order");
    lock.lock(60, TimeUnit.SECONDS);
    Future<Long> foreign = inThread(() -> {
      String expected = "attempt to unlock lock, not locked by current thread by node id: " + NODE + " thread-id: "
          + Thread.currentThread().getId();
      String message = assertThrows(IllegalMonitorStateException.class, lock::unlock).getMessage();
      assertTrue(message.matches(expected), message);
      return 1L;
    });
    try {
      foreign.get();
    } catch (InterruptedException | ExecutionException exception) {
      throw new AssertionError(exception);
    }
    assertEquals(1, holdsInTheHash("order"));
  }

  @Test
  void forcedUnlockFreesALockOfOthersAndWakesTheWaiter() throws Exception {
    another().getLock("order").lock(60, TimeUnit.SECONDS);
    RLock lock = redisson.getLock("order");
    Future<Boolean> waiter = inThread(() -> lock.tryLock(30, 60, TimeUnit.SECONDS));
    Await.await("the waiter subscribes", () -> subscribers("redisson_lock__channel:{order}") == 1);
    redisson.getLock("order").forceUnlock();
    assertTrue(waiter.get(10, TimeUnit.SECONDS));
  }

  @Test
  void twentyFiveWaitersAreServedOneAtATime() throws Exception {
    RLock lock = redisson.getLock("order");
    int[] inside = {0};
    int[] served = {0};
    List<Future<?>> waiters = new ArrayList<>();
    lock.lock();
    for (int i = 0; i < 25; i++) {
      waiters.add(inThread(() -> {
        lock.lock();
        try {
          assertEquals(1, ++inside[0]);
          served[0]++;
          inside[0]--;
        } finally {
          lock.unlock();
        }
      }));
    }
    lock.unlock();
    for (Future<?> waiter : waiters) {
      waiter.get(60, TimeUnit.SECONDS);
    }
    assertEquals(25, served[0]);
    Await.await("nothing is left", () -> plain.call("DBSIZE").equals("0"));
  }

  @Test
  void asynchronousLockBelongsToTheThreadIdGiven() throws Exception {
    RLock lock = redisson.getLock("order");
    assertTrue(lock.tryLockAsync(7001).get());
    assertFalse(lock.tryLockAsync(7002).get());
    assertTrue(fields("order").keySet().iterator().next().endsWith(":7001"));
    assertThrows(ExecutionException.class, () -> lock.unlockAsync(7002).get());
    lock.unlockAsync(7001).get();
    assertFalse(lock.isLocked());
  }

  /** Returns the value of the only field, whose name must be the ids of this client and this thread. */
  private int holdsInTheHash(String name) {
    Map<String, String> fields = fields(name);
    assertEquals(1, fields.size(), fields.toString());
    String field = fields.keySet().iterator().next();
    assertTrue(field.matches(NODE + ":" + Thread.currentThread().getId()), field);
    return Integer.parseInt(fields.get(field));
  }

  private Map<String, String> fields(String name) {
    return redisson.<String, String>getMap(name, TEXT).readAllMap();
  }

  private static long elapsedMs(long start) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
  }
}
