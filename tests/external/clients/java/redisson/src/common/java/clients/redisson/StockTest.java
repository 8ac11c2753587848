package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;

/** Selling by GET and SET is correct only under a lock: concurrent requests on a stock. */
class StockTest extends RedissonTest {
  private static final int STOCK = 30;
  private static final int REQUESTS = 50;

  @Test
  void underTheLockExactlyTheStockIsSold() throws Exception {
    AtomicInteger sold = new AtomicInteger();
    stock().set("" + STOCK);
    List<Future<?>> requests = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      requests.add(inThread(() -> {
        RLock lock = redisson.getLock("lock");
        lock.lock();
        try {
          sold.addAndGet(deduct() ? 1 : 0);
        } finally {
          lock.unlock();
        }
      }));
    }
    for (Future<?> request : requests) {
      request.get(60, TimeUnit.SECONDS);
    }
    assertEquals(STOCK, sold.get());
    assertEquals("0", plain.call("GET", "stock"));
  }

  @Test
  void withoutTheLockTheSamePieceIsSoldTwice() throws Exception {
    stock().set("1");
    CyclicBarrier bothHaveRead = new CyclicBarrier(2);
    Future<Boolean> one = inThread(() -> deduct(bothHaveRead));
    Future<Boolean> two = inThread(() -> deduct(bothHaveRead));
    assertTrue(one.get(20, TimeUnit.SECONDS));
    assertTrue(two.get(20, TimeUnit.SECONDS));
    assertEquals("0", plain.call("GET", "stock"));
  }

  private boolean deduct() {
    int stock = Integer.parseInt(stock().get());
    if (stock == 0) {
      return false;
    }
    stock().set("" + (stock - 1));
    return true;
  }

  private boolean deduct(CyclicBarrier afterReading) throws Exception {
    int stock = Integer.parseInt(stock().get());
    afterReading.await(10, TimeUnit.SECONDS);
    stock().set("" + (stock - 1));
    return stock > 0;
  }

  private RBucket<String> stock() {
    return redisson.getBucket("stock", TEXT);
  }
}
