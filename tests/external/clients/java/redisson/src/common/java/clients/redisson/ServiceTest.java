package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.io.Serializable;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.redisson.api.RRemoteService;
import org.redisson.api.RScheduledExecutorService;
import org.redisson.api.RScheduledFuture;
import org.redisson.api.RedissonClient;
import org.redisson.api.annotation.RInject;
import org.redisson.api.RemoteInvocationOptions;

/** Tasks and calls that another client carries out, with the server between them. */
@Tag("all")
class ServiceTest extends RedissonTest {
  private RedissonClient worker;
  /** One client for each test, since a worker serves its executor until its client ends. */
  private String jobs;

  @BeforeEach
  void nameTheExecutor(TestInfo test) {
    jobs = test.getDisplayName();
  }

  @AfterEach
  void endTheWorker() {
    if (worker != null) {
      shutDown(worker);
    }
  }

  @Test
  void anotherClientRunsTheTasks() throws Exception {
    startWorker(2);
    RScheduledExecutorService executor = redisson.getExecutorService(jobs);
    for (int i = 0; i < 5; i++) {
      assertEquals(i * i, executor.submit(new Square(i)).get(20, TimeUnit.SECONDS));
    }
    assertEquals("100", executor.submit(new Visit()).get(20, TimeUnit.SECONDS).toString());
    assertEquals("100", plain.call("GET", "visits"));
  }

  @Test
  void aFailingTaskFailsItsFuture() throws Exception {
    startWorker(1);
    Future<Integer> result = redisson.getExecutorService(jobs).submit(new Failure());
    Throwable cause = assertThrows(ExecutionException.class, () -> result.get(20, TimeUnit.SECONDS)).getCause();
    assertTrue(cause.toString().contains("no such order"), cause.toString());
  }

  @Test
  void scheduledTasksRunLaterAndAgain() throws Exception {
    startWorker(1);
    RScheduledExecutorService executor = redisson.getExecutorService(jobs);
    long start = System.nanoTime();
    RScheduledFuture<Integer> once = executor.schedule(new Square(7), 300, TimeUnit.MILLISECONDS);
    assertEquals(49, once.get(20, TimeUnit.SECONDS));
    assertTrue(System.nanoTime() - start >= 300_000_000L, "too soon");

    executor.scheduleAtFixedRate(new Tick(), 50, 100, TimeUnit.MILLISECONDS);
    Await.await("three ticks", () -> {
      String ticks = plain.call("GET", "ticks");
      return ticks != null && Integer.parseInt(ticks) >= 3;
    });
  }

  @Test
  void aScheduledTaskIsCancelled() throws Exception {
    startWorker(1);
    RScheduledFuture<Integer> later = redisson.getExecutorService(jobs).schedule(new Square(7), 60, TimeUnit.SECONDS);
    assertTrue(later.cancel(false));
    assertTrue(later.isCancelled());
  }

  @Test
  void aRemoteCallWithoutAnswerIsCarriedOut() {
    Queue<String> told = new ConcurrentLinkedQueue<>();
    RRemoteService server = another().getRemoteService("desk");
    server.register(Desk.class, told::add);
    Desk desk = redisson.getRemoteService("desk")
        .get(Desk.class, RemoteInvocationOptions.defaults().noAck().noResult());
    desk.tell("open");
    Await.await("the call", () -> told.size() == 1);
    assertEquals("open", told.poll());
    server.deregister(Desk.class);
  }

  @Test
  void aRemoteCallNobodyTakesFails() {
    Pricing nobody = redisson.getRemoteService("closed").get(Pricing.class,
        RemoteInvocationOptions.defaults().expectAckWithin(300, TimeUnit.MILLISECONDS));
    RuntimeException exception = assertThrows(RuntimeException.class, () -> nobody.price("book", 1));
    assertEquals("RemoteServiceAckTimeoutException", exception.getClass().getSimpleName());
  }

  private void startWorker(int threads) {
    worker = another();
    worker.getExecutorService(jobs).registerWorkers(threads);
  }

  public interface Desk {
    void tell(String message);
  }

  public interface Pricing {
    int price(String thing, int count);
  }

  public static class FixedPricing implements Pricing {
    @Override
    public int price(String thing, int count) {
      if (thing.equals("none")) {
        throw new IllegalStateException("no such thing: " + thing);
      }
      return 100 * count;
    }
  }

  public static class Square implements Callable<Integer>, Serializable {
    private final int number;

    public Square() {
      this(0);
    }

    public Square(int number) {
      this.number = number;
    }

    @Override
    public Integer call() {
      return number * number;
    }
  }

  public static class Failure implements Callable<Integer>, Serializable {
    @Override
    public Integer call() {
      throw new IllegalStateException("no such order");
    }
  }

  /** Uses the worker's own client. */
  public static class Visit implements Callable<Long>, Serializable {
    @RInject
    private transient RedissonClient client;

    @Override
    public Long call() {
      return client.getAtomicLong("visits").addAndGet(100);
    }
  }

  public static class Tick implements Runnable, Serializable {
    @RInject
    private transient RedissonClient client;

    @Override
    public void run() {
      client.getAtomicLong("ticks").incrementAndGet();
    }
  }
}
