package clients.lettuce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.LettuceFutures;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Futures: all commands of one connection are in flight together. */
class AsyncTest extends OnSuiteServer {
  @Test
  void thousandsUnderwayOnOneConnectionComeBackInOrder() throws Exception {
    RedisAsyncCommands<String, String> async = connection.async();
    List<RedisFuture<Long>> futures = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      futures.add(async.incr("count"));
    }
    assertTrue(LettuceFutures.awaitAll(Duration.ofSeconds(20), futures.toArray(new RedisFuture[0])));
    for (int i = 0; i < futures.size(); i++) {
      assertEquals(i + 1, futures.get(i).get());
    }
  }

  @Test
  void stagesFollowOneAnother() throws Exception {
    RedisAsyncCommands<String, String> async = connection.async();
    String value =
        async.set("key", "value")
            .thenCompose(done -> async.append("key", "!"))
            .thenCompose(length -> async.get("key"))
            .toCompletableFuture()
            .get(5, TimeUnit.SECONDS);
    assertEquals("value!", value);
  }

  @Test
  void errorsEndTheirFutureOnly() throws Exception {
    RedisAsyncCommands<String, String> async = connection.async();
    RedisFuture<String> set = async.set("text", "abc");
    RedisFuture<Long> wrong = async.incr("text");
    RedisFuture<String> get = async.get("text");
    assertEquals("OK", set.get());
    Throwable cause = assertThrows(ExecutionException.class, wrong::get).getCause();
    assertEquals(
        "ERR value is not an integer or out of range",
        assertInstanceOf(RedisCommandExecutionException.class, cause).getMessage());
    assertEquals("abc", get.get());
  }

  @Test
  void manualFlushSendsEverythingTogether() throws Exception {
    RedisAsyncCommands<String, String> async = connection.async();
    connection.setAutoFlushCommands(false);
    List<RedisFuture<String>> futures = new ArrayList<>();
    for (int i = 0; i < 2000; i++) {
      futures.add(async.set("key" + i, "value" + i));
    }
    try (var other = client.connect()) {
      assertEquals(0, other.sync().dbsize());
    }
    connection.flushCommands();
    assertTrue(LettuceFutures.awaitAll(Duration.ofSeconds(20), futures.toArray(new RedisFuture[0])));
    connection.setAutoFlushCommands(true);
    assertEquals(2000, redis.dbsize());
    assertEquals("value1999", redis.get("key1999"));
  }
}
