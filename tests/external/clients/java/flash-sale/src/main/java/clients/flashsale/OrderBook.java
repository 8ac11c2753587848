package clients.flashsale;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.springframework.stereotype.Component;

/**
 * Stores the orders, in place of a database. A lock per user prevents a user's second order between the check for an
 * order and its writing.
 */
@Component
public class OrderBook {
  public record Order(long id, long user, long voucher) {}

  private final Map<Long, Order> orders = new ConcurrentHashMap<>();
  private final AtomicInteger failures = new AtomicInteger();
  private final RedissonClient redisson;

  OrderBook(RedissonClient redisson) {
    this.redisson = redisson;
  }

  /** Writes the order unless the user has one for that voucher. Throws if the database fails or the lock is held. */
  public void write(Order order) {
    RLock lock = redisson.getLock("lock:order:" + order.user());
    if (!tryLock(lock)) {
      throw new IllegalStateException("another order of user " + order.user() + " is being written");
    }
    try {
      if (failures.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        throw new IllegalStateException("the database does not answer");
      }
      if (ordersOf(order.voucher()).stream().noneMatch(other -> other.user() == order.user())) {
        orders.put(order.id(), order);
      }
    } finally {
      lock.unlock();
    }
  }

  private static boolean tryLock(RLock lock) {
    try {
      return lock.tryLock(5, TimeUnit.SECONDS);
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  public List<Order> ordersOf(long voucher) {
    return orders.values().stream().filter(order -> order.voucher() == voucher).toList();
  }

  /** Makes the next `count` writes of orders fail. */
  public void failNext(int count) {
    failures.set(count);
  }

  public boolean hasFailuresLeft() {
    return failures.get() > 0;
  }
}
