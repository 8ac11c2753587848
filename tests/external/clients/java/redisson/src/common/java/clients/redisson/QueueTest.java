package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBlockingDeque;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RBoundedBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RDeque;
import org.redisson.api.RPriorityBlockingQueue;
import org.redisson.api.RPriorityDeque;
import org.redisson.api.RPriorityQueue;
import org.redisson.api.RQueue;

class QueueTest extends RedissonTest {
  @Test
  void queueIsFirstInFirstOut() {
    RQueue<String> queue = redisson.getQueue("q", TEXT);
    assertNull(queue.poll());
    queue.add("1");
    queue.offer("2");
    queue.addAll(List.of("3", "4"));
    assertEquals("1", queue.peek());
    assertEquals("1", queue.poll());
    assertEquals("2", queue.remove());
    assertEquals("4", queue.pollLastAndOfferFirstTo("backup"));
    assertEquals(List.of("4"), plain.list("LRANGE", "backup", "0", "-1"));
    assertEquals(List.of("3"), queue.readAll());
  }

  @Test
  void dequeWorksAtBothEnds() {
    RDeque<String> deque = redisson.getDeque("d", TEXT);
    deque.addFirst("b");
    deque.addLast("c");
    deque.offerFirst("a");
    assertEquals(List.of("a", "b", "c"), plain.list("LRANGE", "d", "0", "-1"));
    assertEquals("a", deque.peekFirst());
    assertEquals("c", deque.pollLast());
    assertEquals("a", deque.pop());
    deque.push("z");
    assertTrue(deque.removeFirstOccurrence("z"));
    assertEquals("b", deque.getLast());
  }

  @Test
  void takeWaitsForAnElement() throws Exception {
    RBlockingQueue<String> queue = redisson.getBlockingQueue("q", TEXT);
    Future<String> taker = inThread(() -> queue.take());
    Await.await("the taker blocks", () -> plain.call("INFO", "clients").contains("blocked_clients:1"));
    another().getBlockingQueue("q", TEXT).put("order:1");
    assertEquals("order:1", taker.get(10, TimeUnit.SECONDS));
    assertNull(queue.poll(1, TimeUnit.SECONDS));
  }

  @Test
  void pollFromAnyTakesFromTheFirstQueueThatHasSomething() throws Exception {
    RBlockingQueue<String> queue = redisson.getBlockingQueue("q1", TEXT);
    redisson.getQueue("q3", TEXT).add("three");
    assertEquals("three", queue.pollFromAny(5, TimeUnit.SECONDS, "q2", "q3"));
    redisson.getQueue("q1", TEXT).add("one");
    assertEquals("one", queue.pollFromAny(5, TimeUnit.SECONDS, "q2", "q3"));
    queue.add("moved");
    assertEquals("moved", queue.pollLastAndOfferFirstTo("q2", 5, TimeUnit.SECONDS));
    assertEquals("moved", plain.call("LINDEX", "q2", "0"));
  }

  @Test
  void twoTakersShareTheWork() throws Exception {
    ConcurrentLinkedQueue<String> taken = new ConcurrentLinkedQueue<>();
    List<Future<?>> takers = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      takers.add(inThread(() -> {
        for (String order = take(); !order.equals("end"); order = take()) {
          taken.add(order);
        }
      }));
    }
    RBlockingQueue<String> queue = redisson.getBlockingQueue("q", TEXT);
    List<String> orders = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      orders.add("order:" + i);
    }
    queue.addAll(orders);
    queue.addAll(List.of("end", "end"));
    for (Future<?> taker : takers) {
      taker.get(30, TimeUnit.SECONDS);
    }
    assertEquals(orders.stream().sorted().toList(), taken.stream().sorted().toList());
  }

  @Test
  void blockingDequeTakesFromBothEnds() throws Exception {
    RBlockingDeque<String> deque = redisson.getBlockingDeque("d", TEXT);
    Future<String> last = inThread(() -> deque.takeLast());
    Await.await("the taker blocks", () -> plain.call("INFO", "clients").contains("blocked_clients:1"));
    deque.putFirst("x");
    assertEquals("x", last.get(10, TimeUnit.SECONDS));
    deque.addAll(List.of("a", "b", "c"));
    assertEquals("c", deque.pollLast(5, TimeUnit.SECONDS));
    assertEquals("a", deque.pollFirst(5, TimeUnit.SECONDS));
  }

  @Test
  void aFullBoundedQueueMakesTheWriterWait() throws Exception {
    RBoundedBlockingQueue<String> queue = redisson.getBoundedBlockingQueue("bounded");
    assertTrue(queue.trySetCapacity(2));
    assertFalse(queue.trySetCapacity(9));
    assertTrue(queue.offer("1"));
    assertTrue(queue.offer("2"));
    assertFalse(queue.offer("3"));
    assertEquals(0, queue.remainingCapacity());
    assertFalse(queue.offer("3", 100, TimeUnit.MILLISECONDS));
    Future<Boolean> writer = inThread(() -> queue.offer("4", 30, TimeUnit.SECONDS));
    Await.await("the writer subscribes", () -> plain.list("PUBSUB", "CHANNELS", "*{bounded}*").size() == 1);
    assertEquals("1", queue.poll());
    assertTrue(writer.get(10, TimeUnit.SECONDS));
    assertEquals(List.of("2", "4"), queue.readAll());
  }

  @Test
  void delayedElementsArriveInTheOrderOfTheirTimes() throws Exception {
    RBlockingQueue<String> arrived = redisson.getBlockingQueue("arrived", TEXT);
    RDelayedQueue<String> delayed = redisson.getDelayedQueue(arrived);
    long start = System.nanoTime();
    delayed.offer("later", 900, TimeUnit.MILLISECONDS);
    delayed.offer("sooner", 400, TimeUnit.MILLISECONDS);
    assertEquals(List.of("later", "sooner"), delayed.readAll());
    assertNull(arrived.peek());
    assertEquals("sooner", arrived.poll(20, TimeUnit.SECONDS));
    assertTrue(System.nanoTime() - start >= 400_000_000L, "too soon");
    assertEquals("later", arrived.poll(20, TimeUnit.SECONDS));
    assertTrue(System.nanoTime() - start >= 900_000_000L, "too soon");
    assertTrue(delayed.isEmpty());
    delayed.destroy();
  }

  @Test
  void aDelayedElementIsTakenBack() {
    RDelayedQueue<String> delayed = redisson.getDelayedQueue(redisson.getQueue("arrived", TEXT));
    delayed.offer("one", 60, TimeUnit.SECONDS);
    delayed.offer("two", 90, TimeUnit.SECONDS);
    assertTrue(delayed.remove("one"));
    assertFalse(delayed.remove("one"));
    assertEquals(List.of("two"), delayed.readAll());
    delayed.destroy();
  }

  @Test
  void anotherClientTakesDelayedElements() throws Exception {
    RDelayedQueue<String> delayed = redisson.getDelayedQueue(redisson.getBlockingQueue("arrived", TEXT));
    RBlockingQueue<String> elsewhere = another().getBlockingQueue("arrived", TEXT);
    Future<String> taker = inThread(() -> elsewhere.poll(30, TimeUnit.SECONDS));
    delayed.offer("虎哥", 300, TimeUnit.MILLISECONDS);
    assertEquals("虎哥", taker.get(20, TimeUnit.SECONDS));
    delayed.destroy();
  }

  @Test
  void priorityQueueGivesTheSmallestFirst() {
    RPriorityQueue<Integer> queue = redisson.getPriorityQueue("prio");
    for (int number : new int[] {5, 1, 4, 2, 3}) {
      queue.add(number);
    }
    assertEquals(1, queue.peek());
    assertEquals(List.of(1, 2, 3, 4, 5), queue.readAll());
    assertEquals(1, queue.poll());
    assertEquals(2, queue.poll());
    assertTrue(queue.remove(4));
    assertEquals(2, queue.size());
  }

  @Test
  void priorityDequeWorksAtBothEnds() {
    RPriorityDeque<Integer> deque = redisson.getPriorityDeque("prio");
    deque.add(2);
    deque.add(3);
    deque.add(1);
    assertEquals(3, deque.pollLast());
    assertEquals(1, deque.pollFirst());
  }

  @Test
  void priorityBlockingQueueWaits() throws Exception {
    RPriorityBlockingQueue<Integer> queue = redisson.getPriorityBlockingQueue("prio");
    Future<Integer> taker = inThread(() -> queue.poll(30, TimeUnit.SECONDS));
    assertFalse(taker.isDone());
    queue.add(7);
    assertEquals(7, taker.get(20, TimeUnit.SECONDS));
  }

  private String take() {
    try {
      return redisson.<String>getBlockingQueue("q", TEXT).poll(30, TimeUnit.SECONDS);
    } catch (InterruptedException exception) {
      return "end";
    }
  }
}
