package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RAtomicDouble;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RDoubleAdder;
import org.redisson.api.RLongAdder;

@Tag("all")
class CounterTest extends RedissonTest {
  @Test
  void atomicLongCounts() {
    RAtomicLong counter = redisson.getAtomicLong("visits");
    assertEquals(0, counter.get());
    assertEquals(1, counter.incrementAndGet());
    assertEquals(1, counter.getAndIncrement());
    assertEquals(12, counter.addAndGet(10));
    assertEquals(12, counter.getAndAdd(-2));
    assertEquals(9, counter.decrementAndGet());
    assertEquals(9, counter.getAndDecrement());
    assertEquals(8, counter.getAndSet(Long.MAX_VALUE));
    assertEquals("9223372036854775807", plain.call("GET", "visits"));
    assertEquals(Long.MAX_VALUE, counter.getAndDelete());
    assertEquals("0", plain.call("EXISTS", "visits"));
  }

  @Test
  void atomicLongIsComparedAndSet() {
    RAtomicLong counter = redisson.getAtomicLong("visits");
    assertTrue(counter.compareAndSet(0, 5));
    assertFalse(counter.compareAndSet(4, 6));
    assertTrue(counter.compareAndSet(5, -6));
    assertEquals(-6, counter.get());
  }

  @Test
  void atomicLongLosesNothingAmongThreads() throws Exception {
    List<Future<?>> threads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      threads.add(inThread(() -> {
        for (int n = 0; n < 100; n++) {
          redisson.getAtomicLong("visits").incrementAndGet();
        }
      }));
    }
    for (Future<?> thread : threads) {
      thread.get();
    }
    assertEquals(800, redisson.getAtomicLong("visits").get());
  }

  @Test
  void atomicDoubleCounts() {
    RAtomicDouble sum = redisson.getAtomicDouble("sum");
    assertEquals(1.5, sum.addAndGet(1.5));
    assertEquals(1.5, sum.getAndAdd(0.25));
    assertEquals(2.75, sum.incrementAndGet());
    assertEquals(1.75, sum.decrementAndGet());
    assertEquals("1.75", plain.call("GET", "sum"));
    assertTrue(sum.compareAndSet(1.75, 0.1));
    assertFalse(sum.compareAndSet(1.75, 0.2));
    assertEquals(0.1, sum.getAndSet(1e-7));
    assertEquals(1e-7, sum.get());
  }

  @Test
  void longAdderSumsOverClients() {
    RLongAdder here = redisson.getLongAdder("clicks");
    RLongAdder there = another().getLongAdder("clicks");
    here.add(10);
    here.increment();
    there.add(5);
    there.decrement();
    assertEquals(15, here.sum());
    assertEquals(15, there.sum());
    here.reset();
    assertEquals(0, there.sum());
    here.destroy();
    there.destroy();
  }

  @Test
  void doubleAdderSumsOverClients() {
    RDoubleAdder here = redisson.getDoubleAdder("litres");
    RDoubleAdder there = another().getDoubleAdder("litres");
    here.add(0.5);
    there.add(1.25);
    there.increment();
    assertEquals(2.75, here.sum());
    here.destroy();
    there.destroy();
  }
}
