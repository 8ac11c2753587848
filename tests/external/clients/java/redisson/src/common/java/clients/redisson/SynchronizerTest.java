package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;

/** Semaphores and latches. */
class SynchronizerTest extends RedissonTest {
  @Test
  void semaphoreCountsPermits() throws Exception {
    RSemaphore semaphore = redisson.getSemaphore("parking");
    assertTrue(semaphore.trySetPermits(5));
    assertFalse(semaphore.trySetPermits(9));
    semaphore.acquire(2);
    assertEquals("3", plain.call("GET", "parking"));
    assertFalse(semaphore.tryAcquire(4));
    assertTrue(semaphore.tryAcquire(3));
    assertEquals(0, semaphore.availablePermits());
    semaphore.release(4);
    assertEquals(4, semaphore.drainPermits());
    assertEquals(0, semaphore.availablePermits());
  }

  @Test
  void aWaiterIsWokenByARelease() throws Exception {
    RSemaphore semaphore = redisson.getSemaphore("parking");
    semaphore.trySetPermits(1);
    semaphore.acquire();
    Future<Boolean> waiter = inThread(() -> semaphore.tryAcquire(30, TimeUnit.SECONDS));
    Await.await("the waiter subscribes", () -> subscribers("redisson_sc:{parking}") == 1);
    assertFalse(waiter.isDone());
    semaphore.release();
    assertTrue(waiter.get(10, TimeUnit.SECONDS));
    assertFalse(semaphore.tryAcquire(100, TimeUnit.MILLISECONDS));
  }

  @Test
  void neverMoreInsideThanPermits() throws Exception {
    RSemaphore semaphore = redisson.getSemaphore("parking");
    semaphore.trySetPermits(3);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    List<Future<?>> cars = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      cars.add(inThread(() -> {
        assertTrue(acquired(semaphore));
        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
        Thread.yield();
        inside.decrementAndGet();
        semaphore.release();
      }));
    }
    for (Future<?> car : cars) {
      car.get(30, TimeUnit.SECONDS);
    }
    assertTrue(most.get() <= 3, most + " inside at once");
    assertEquals(3, semaphore.availablePermits());
  }

  @Test
  void expirablePermitsHaveIdsAndAreReleasedOnce() throws Exception {
    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("seats");
    assertTrue(semaphore.trySetPermits(2));
    String first = semaphore.acquire();
    String second = semaphore.tryAcquire();
    assertNotEquals(first, second);
    assertEquals(0, semaphore.availablePermits());
    assertNull(semaphore.tryAcquire());
    assertTrue(semaphore.tryRelease(first));
    assertFalse(semaphore.tryRelease(first));
    assertThrows(RuntimeException.class, () -> semaphore.release(first));
    semaphore.release(second);
    assertEquals(2, semaphore.availablePermits());
  }

  @Test
  void anExpirablePermitComesBackByItself() throws Exception {
    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("seats");
    semaphore.trySetPermits(1);
    String permit = semaphore.acquire(300, TimeUnit.MILLISECONDS);
    assertNull(semaphore.tryAcquire());
    assertNotNull(semaphore.tryAcquire(10, 60, TimeUnit.SECONDS));
    assertFalse(semaphore.tryRelease(permit));
  }

  @Test
  void aWaiterForAnExpirablePermitIsWokenByARelease() throws Exception {
    RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("seats");
    semaphore.trySetPermits(1);
    String permit = semaphore.acquire(60, TimeUnit.SECONDS);
    Future<String> waiter = inThread(() -> semaphore.tryAcquire(30, 60, TimeUnit.SECONDS));
    Await.await("the waiter subscribes", () -> subscribers("redisson_sc:{seats}") == 1);
    semaphore.release(permit);
    assertNotNull(waiter.get(10, TimeUnit.SECONDS));
    semaphore.addPermits(2);
    assertEquals(2, semaphore.availablePermits());
  }

  @Test
  void latchOpensForAllWhenCountedDown() throws Exception {
    RCountDownLatch latch = redisson.getCountDownLatch("start");
    assertTrue(latch.trySetCount(3));
    assertFalse(latch.trySetCount(5));
    List<Future<Boolean>> runners = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      runners.add(inThread(() -> latch.await(30, TimeUnit.SECONDS)));
    }
    RCountDownLatch elsewhere = another().getCountDownLatch("start");
    elsewhere.countDown();
    elsewhere.countDown();
    assertEquals(1, latch.getCount());
    assertFalse(latch.await(50, TimeUnit.MILLISECONDS));
    elsewhere.countDown();
    for (Future<Boolean> runner : runners) {
      assertTrue(runner.get(10, TimeUnit.SECONDS));
    }
    assertEquals(0, latch.getCount());
    assertEquals("0", plain.call("EXISTS", "start"));
  }

  private static boolean acquired(RSemaphore semaphore) {
    try {
      return semaphore.tryAcquire(30, TimeUnit.SECONDS);
    } catch (InterruptedException exception) {
      return false;
    }
  }
}
