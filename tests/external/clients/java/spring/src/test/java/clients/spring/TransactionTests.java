package clients.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.core.RedisOperations;
import org.springframework.data.redis.core.SessionCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** MULTI and EXEC called directly in a session, and bound to Spring's transactions. */
abstract class TransactionTests extends OnSuiteServer {
  TransactionTests(Driver driver) {
    super(driver);
  }

  /** Begins and ends empty transactions, in place of a database's; templates take part in them. */
  private static final class NoDatabase extends AbstractPlatformTransactionManager {
    @Override
    protected Object doGetTransaction() {
      return new Object();
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {}

    @Override
    protected void doRollback(DefaultTransactionStatus status) {}
  }

  private StringRedisTemplate takingPart() {
    StringRedisTemplate template = new StringRedisTemplate();
    template.setConnectionFactory(connections());
    template.setEnableTransactionSupport(true);
    template.afterPropertiesSet();
    return template;
  }

  /** Commands between multi() and exec() on one connection. */
  private List<Object> inSession(Runnable between) {
    return redis.execute(new SessionCallback<>() {
      @Override
      @SuppressWarnings("unchecked")
      public <K, V> List<Object> execute(RedisOperations<K, V> operations) throws DataAccessException {
        RedisOperations<String, String> strings = (RedisOperations<String, String>) operations;
        strings.watch("stock");
        between.run();
        strings.multi();
        strings.opsForValue().decrement("stock");
        strings.opsForHash().put("hash", "field", "value");
        strings.opsForHash().entries("hash");
        return strings.exec();
      }
    });
  }

  @Test
  void sessionExecutesTogether() {
    redis.opsForValue().set("stock", "10");
    assertEquals(List.of(9L, true, Map.of("field", "value")), inSession(() -> {}));
  }

  @Test
  void sessionIsDiscardedWhenAWatchedKeyChanges() {
    redis.opsForValue().set("stock", "10");
    StringRedisTemplate other = new StringRedisTemplate(connections());
    List<Object> replies = inSession(() -> onAnotherThread(() -> other.opsForValue().set("stock", "5")));
    assertTrue(replies == null || replies.isEmpty());
    assertEquals("5", redis.opsForValue().get("stock"));
    assertEquals(false, redis.hasKey("hash"));
  }

  /** The session's connection is bound to its thread, so another client needs another thread. */
  private static void onAnotherThread(Runnable action) {
    try {
      Thread thread = new Thread(action);
      thread.start();
      thread.join();
    } catch (InterruptedException exception) {
      throw new AssertionError(exception);
    }
  }

  @Test
  void springTransactionCommits() {
    StringRedisTemplate template = takingPart();
    new TransactionTemplate(new NoDatabase()).executeWithoutResult(status -> {
      template.opsForValue().set("user:1:name", "Alice");
      template.opsForValue().increment("count");
      // Reads use their own connection, outside the transaction.
      assertNull(template.opsForValue().get("user:1:name"));
      onAnotherThread(() -> assertNull(redis.opsForValue().get("user:1:name")));
    });
    assertEquals("Alice", redis.opsForValue().get("user:1:name"));
    assertEquals("1", redis.opsForValue().get("count"));
  }

  @Test
  void springTransactionThatFailsDiscards() {
    StringRedisTemplate template = takingPart();
    TransactionTemplate transaction = new TransactionTemplate(new NoDatabase());
    assertThrows(IllegalStateException.class, () -> transaction.executeWithoutResult(status -> {
      template.opsForValue().set("key", "value");
      throw new IllegalStateException("no");
    }));
    assertEquals(false, redis.hasKey("key"));
    transaction.executeWithoutResult(status -> template.opsForValue().set("key", "later"));
    assertEquals("later", redis.opsForValue().get("key"));
  }
}
