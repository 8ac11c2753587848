package clients.spring;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.RedisCallback;

/** What the tutorials build on the templates: login, caches for absent, hot and stale keys, limits, queues. */
abstract class TutorialTests extends OnSuiteServer {
  TutorialTests(Driver driver) {
    super(driver);
  }

  private static <T> List<T> inParallel(int times, Callable<T> action) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(times, 32));
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> each : threads.invokeAll(Collections.nCopies(times, action))) {
        results.add(each.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void loginByCodeAndToken() {
    redis.opsForValue().set("login:code:13800138000", "123456", 2, TimeUnit.MINUTES);
    assertEquals("123456", redis.opsForValue().get("login:code:13800138000"));
    Map<String, String> user = new HashMap<>(Map.of("id", "1010", "nickName", "user_虎哥", "icon", ""));
    redis.opsForHash().putAll("login:token:t1", user);
    redis.expire("login:token:t1", 300, TimeUnit.MILLISECONDS);

    // Each request reads the user and extends the deadline.
    assertEquals(user, redis.opsForHash().entries("login:token:t1"));
    assertEquals(true, redis.expire("login:token:t1", 400, TimeUnit.MILLISECONDS));
    assertTrue(redis.opsForHash().entries("login:token:none").isEmpty());
    await("nobody came, so the token is gone", () -> redis.opsForHash().entries("login:token:t1").isEmpty());
    assertEquals(false, redis.expire("login:token:t1", 400, TimeUnit.MILLISECONDS));
  }

  /** A database of one shop that counts its queries. */
  private static final class Database {
    final AtomicInteger asked = new AtomicInteger();
    volatile String shop = "茶餐厅";

    String load() {
      asked.incrementAndGet();
      return shop;
    }
  }

  @Test
  void deleteAfterUpdateShowsTheNewValueAndDeleteBeforeItMayNot() {
    Database database = new Database();
    redis.opsForValue().set("cache:shop:1", database.load(), 30, TimeUnit.MINUTES);
    database.shop = "新茶餐厅";
    redis.delete("cache:shop:1");
    assertNull(redis.opsForValue().get("cache:shop:1"));
    redis.opsForValue().set("cache:shop:1", database.load(), 30, TimeUnit.MINUTES);
    assertEquals("新茶餐厅", redis.opsForValue().get("cache:shop:1"));

    // Deleted too early: a reader between the delete and the update restores the old value ...
    redis.delete("cache:shop:1");
    redis.opsForValue().set("cache:shop:1", database.load(), 30, TimeUnit.MINUTES);
    database.shop = "再新";
    assertEquals("新茶餐厅", redis.opsForValue().get("cache:shop:1"));
    // ... and the second delete corrects this.
    redis.delete("cache:shop:1");
    assertNull(redis.opsForValue().get("cache:shop:1"));
  }

  @Test
  void whatDoesNotExistIsKeptAsAnEmptyString() {
    Database database = new Database();
    database.shop = null;
    for (int request = 0; request < 3; request++) {
      String cached = redis.opsForValue().get("cache:shop:404");
      if (cached == null) {
        String loaded = database.load();
        redis.opsForValue().set("cache:shop:404", loaded == null ? "" : loaded, 2, TimeUnit.MINUTES);
      } else {
        assertEquals("", cached);
      }
    }
    assertEquals(1, database.asked.get());
  }

  @Test
  void oneOfManyLoadsAHotKeyAndTheOthersWait() throws Exception {
    Database database = new Database();
    List<String> answers = inParallel(50, () -> {
      while (true) {
        String cached = redis.opsForValue().get("cache:shop:1");
        if (cached != null) {
          return cached;
        }
        if (Boolean.TRUE.equals(redis.opsForValue().setIfAbsent("lock:shop:1", "1", 10, TimeUnit.SECONDS))) {
          try {
            // Another thread may have loaded it between the read and the lock.
            if (redis.opsForValue().get("cache:shop:1") == null) {
              redis.opsForValue().set("cache:shop:1", database.load(), 30, TimeUnit.MINUTES);
            }
          } finally {
            redis.delete("lock:shop:1");
          }
        }
        Thread.sleep(5);
      }
    });
    assertEquals(Set.of("茶餐厅"), Set.copyOf(answers));
    assertEquals(1, database.asked.get());
    assertEquals(false, redis.hasKey("lock:shop:1"));
  }

  @Test
  void logicallyExpiredValueIsServedWhileOneRebuilds() {
    redis.opsForValue().set("cache:shop:1", "{\"data\":\"旧\",\"expireTime\":\"2022-01-01T00:00:00\"}");
    assertEquals(-1, redis.getExpire("cache:shop:1"));
    assertEquals(true, redis.opsForValue().setIfAbsent("lock:shop:1", "1", 10, TimeUnit.SECONDS));
    assertEquals(false, redis.opsForValue().setIfAbsent("lock:shop:1", "1", 10, TimeUnit.SECONDS));
    assertTrue(redis.opsForValue().get("cache:shop:1").contains("旧"));
    redis.opsForValue().set("cache:shop:1", "{\"data\":\"新\",\"expireTime\":\"2099-01-01T00:00:00\"}");
    redis.delete("lock:shop:1");
    assertTrue(redis.opsForValue().get("cache:shop:1").contains("新"));
    assertEquals(-1, redis.getExpire("cache:shop:1"));
  }

  @Test
  void thousandsOfKeysThatExpireTogetherStallNobody() {
    redis.executePipelined((RedisCallback<Object>) connection -> {
      for (int i = 0; i < 5000; i++) {
        connection.stringCommands().pSetEx(("hot:" + i).getBytes(), 200, "x".getBytes());
      }
      return null;
    });
    redis.opsForValue().set("stays", "x");
    await("all are gone", () -> redis.keys("*").equals(Set.of("stays")));
    // Expired keys are removed even if no client accesses them.
    await("the server has removed them", () -> 1 == redis.execute(
        (RedisCallback<Long>) connection -> connection.serverCommands().dbSize()));
  }

  @Test
  void sixthRequestInTheWindowIsRefused() {
    for (int request = 1; request <= 6; request++) {
      assertEquals(request <= 5, allowed("10.0.0.1"), "request " + request);
    }
    assertTrue(allowed("10.0.0.2"));
    await("the window ends", () -> !redis.hasKey("limit:10.0.0.1"));
    assertTrue(allowed("10.0.0.1"));
  }

  private boolean allowed(String address) {
    Long count = redis.opsForValue().increment("limit:" + address);
    if (count == 1) {
      redis.expire("limit:" + address, Duration.ofMillis(500));
    }
    return count <= 5;
  }

  @Test
  void aThousandTakersOfAHundredPiecesGetAHundred() throws Exception {
    redis.opsForValue().set("product:stock", "100");
    List<Boolean> taken = inParallel(1000, () -> {
      if (redis.opsForValue().decrement("product:stock", 1) >= 0) {
        return true;
      }
      redis.opsForValue().increment("product:stock", 1);
      return false;
    });
    assertTrue(taken.stream().filter(Boolean::booleanValue).count() <= 100);
    // A buyer may be refused between another buyer's decrement and its correction, but nothing is sold twice.
    long left = Long.parseLong(redis.opsForValue().get("product:stock"));
    assertEquals(100, taken.stream().filter(Boolean::booleanValue).count() + left);
  }

  @Test
  void listAsAQueueForTwoConsumers() throws Exception {
    Map<String, List<String>> got = new ConcurrentHashMap<>();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    for (String name : List.of("c1", "c2")) {
      got.put(name, Collections.synchronizedList(new ArrayList<>()));
      threads.execute(() -> {
        for (String message = ""; !"stop".equals(message); message = pop()) {
          if (message != null && !message.isEmpty()) {
            got.get(name).add(message);
          }
        }
      });
    }
    for (int i = 0; i < 100; i++) {
      redis.opsForList().leftPush("my_queue", "message" + i);
    }
    await("all are taken", () -> got.values().stream().mapToInt(List::size).sum() == 100);
    redis.opsForList().leftPushAll("my_queue", "stop", "stop");
    threads.shutdown();
    assertTrue(threads.awaitTermination(10, TimeUnit.SECONDS));
    for (List<String> one : got.values()) {
      List<Integer> numbers = one.stream().map(each -> Integer.parseInt(each.substring("message".length()))).toList();
      assertEquals(numbers.stream().sorted().toList(), numbers);
    }
    assertFalse(redis.hasKey("my_queue"));
  }

  private String pop() {
    return redis.opsForList().rightPop("my_queue", 5, TimeUnit.SECONDS);
  }

  @Test
  void messageInWorkIsKeptInABackupList() {
    redis.opsForList().leftPushAll("my_queue", "one", "two");
    assertEquals("one", redis.opsForList().rightPopAndLeftPush("my_queue", "my_queue:working"));
    // The worker dies here; another worker puts its message back.
    assertEquals("one", redis.opsForList().rightPopAndLeftPush("my_queue:working", "my_queue"));
    assertEquals(List.of("one", "two"), redis.opsForList().range("my_queue", 0, -1));
  }
}
