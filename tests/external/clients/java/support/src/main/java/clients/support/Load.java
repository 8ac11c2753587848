package clients.support;

import static clients.support.Await.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Threads that increment counters until close(), and count what the servers acknowledged. */
public final class Load implements AutoCloseable {
  private static final int KEYS = 60;
  private static final int THREADS = 3;

  /** Whether errors are expected because a primary dies; otherwise they fail the test. */
  public enum Errors { NONE, EXPECTED }

  private final List<String> keys = new ArrayList<>();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Errors errors;
  private volatile boolean ends;
  private volatile RuntimeException trouble;

  public Load(Errors errors, Consumer<String> increment) {
    this.errors = errors;
    for (int i = 0; i < KEYS; i++) {
      keys.add("load:" + i);
      counts.put("load:" + i, 0L);
    }
    for (int i = 0; i < THREADS; i++) {
      Random random = new Random(i);
      threads.add(new Thread(() -> run(increment, random)));
    }
    threads.forEach(Thread::start);
    goesOn();
  }

  private void run(Consumer<String> increment, Random random) {
    while (!ends) {
      String key = keys.get(random.nextInt(KEYS));
      try {
        increment.accept(key);
        counts.merge(key, 1L, Long::sum);
      } catch (RuntimeException exception) {
        if (errors == Errors.NONE) {
          trouble = exception;
          return;
        }
      }
    }
  }

  public String key(int number) {
    return keys.get(number);
  }

  /** Waits until every key was incremented several more times. */
  public void goesOn() {
    Map<String, Long> before = Map.copyOf(counts);
    await("the load goes on", Duration.ofSeconds(40),
        () -> trouble != null || keys.stream().allMatch(key -> counts.get(key) > before.get(key) + 1));
    throwTrouble();
  }

  /** After close(): the value that every key has if nothing was lost and nothing happened twice. */
  public Map<String, Long> counts() {
    return Map.copyOf(counts);
  }

  @Override
  public void close() {
    ends = true;
    try {
      for (Thread thread : threads) {
        thread.join();
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
    throwTrouble();
  }

  private void throwTrouble() {
    if (trouble != null) {
      throw new AssertionError(trouble);
    }
  }
}
