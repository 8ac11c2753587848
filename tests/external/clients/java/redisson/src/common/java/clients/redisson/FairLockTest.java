package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;

class FairLockTest extends RedissonTest {
  private static final String QUEUE = "redisson_lock_queue:{fair}";
  private static final String TIMEOUTS = "redisson_lock_timeout:{fair}";

  @Test
  void waitersAreServedInTheOrderOfTheirRequests() throws Exception {
    RLock lock = redisson.getFairLock("fair");
    List<Integer> order = Collections.synchronizedList(new ArrayList<>());
    List<Future<?>> waiters = new ArrayList<>();
    lock.lock();
    for (int i = 0; i < 6; i++) {
      int number = i;
      waiters.add(inThread(() -> {
        lock.lock();
        order.add(number);
        lock.unlock();
      }));
      Await.await("waiter " + i + " queues up", () -> plain.call("LLEN", QUEUE).equals("" + (number + 1)));
    }
    assertEquals("6", plain.call("ZCARD", TIMEOUTS));
    lock.unlock();
    for (Future<?> waiter : waiters) {
      waiter.get(30, TimeUnit.SECONDS);
    }
    assertEquals(List.of(0, 1, 2, 3, 4, 5), order);
    Await.await("nothing is left", () -> plain.call("DBSIZE").equals("0"));
  }

  @Test
  void aWaiterThatGivesUpLeavesTheQueue() throws Exception {
    RLock lock = redisson.getFairLock("fair");
    lock.lock(60, TimeUnit.SECONDS);
    assertFalse(inThread(() -> lock.tryLock(300, 1000, TimeUnit.MILLISECONDS)).get());
    Await.await("the queue is empty", () -> plain.call("EXISTS", QUEUE).equals("0"));
    assertEquals("0", plain.call("EXISTS", TIMEOUTS));
    lock.unlock();
  }

  @Test
  void theNextInTheQueueComesBeforeANewcomer() throws Exception {
    RLock lock = redisson.getFairLock("fair");
    lock.lock(60, TimeUnit.SECONDS);
    Future<Boolean> first = inThread(() -> lock.tryLock(30, 60, TimeUnit.SECONDS));
    Await.await("the first queues up", () -> plain.call("LLEN", QUEUE).equals("1"));
    RLock newcomer = another().getFairLock("fair");
    lock.unlock();
    assertFalse(newcomer.tryLock());
    assertTrue(first.get(10, TimeUnit.SECONDS));
  }

  @Test
  void fairLockIsReentrant() {
    RLock lock = redisson.getFairLock("fair");
    lock.lock();
    lock.lock();
    assertEquals(2, lock.getHoldCount());
    lock.unlock();
    assertTrue(lock.isLocked());
    lock.unlock();
    assertFalse(lock.isLocked());
  }
}
