package clients.lettuce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.ScriptOutputType;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Many threads on one connection, as Spring uses it: the commands of all of them are pipelined. */
class SharedConnectionTest extends OnSuiteServer {
  private static final int THREADS = 64;
  private static final int ROUNDS = 100;

  @Test
  void everyThreadGetsItsOwnReplies() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    List<Future<?>> results = new ArrayList<>();
    for (int t = 0; t < THREADS; t++) {
      String key = "thread:" + t;
      results.add(threads.submit(() -> {
        for (int i = 1; i <= ROUNDS; i++) {
          assertEquals("OK", redis.set(key, key + i));
          assertEquals(key + i, redis.get(key));
          assertEquals(i, redis.hincrby("counts", key, 1));
          assertEquals(key, redis.eval("return ARGV[1]", ScriptOutputType.VALUE, new String[0], key));
        }
      }));
    }
    threads.shutdown();
    assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    for (Future<?> result : results) {
      result.get();
    }
    assertEquals(THREADS, redis.hlen("counts"));
    assertEquals(1, redis.clientList().lines().count());
  }
}
