package clients.support;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits for another thread or the server: tests a condition every few milliseconds, up to a limit. */
public final class Await {
  private static final Duration PAUSE = Duration.ofMillis(5);

  private Await() {}

  /** Returns when `condition` holds; fails the test with `what` when it does not within `limit`. */
  public static void await(String what, Duration limit, Callable<Boolean> condition) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (!holds(condition)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not within " + limit.toMillis() + " ms: " + what);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /** Waits with a limit of ten seconds. */
  public static void await(String what, Callable<Boolean> condition) {
    await(what, Duration.ofSeconds(10), condition);
  }

  private static boolean holds(Callable<Boolean> condition) {
    try {
      return condition.call();
    } catch (RuntimeException exception) {
      throw exception;
    } catch (Exception exception) {
      throw new AssertionError(exception);
    }
  }
}
