package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.Response;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisDataException;

/** MULTI, EXEC, DISCARD, WATCH. */
class TransactionTest extends OnSuiteServer {
  @Test
  void stockIsTakenUnderWatch() {
    jedis.set("product:stock", "10");
    jedis.watch("product:stock");
    Transaction transaction = jedis.multi();
    Response<Long> left = transaction.decrBy("product:stock", 1);
    assertEquals(List.of(9L), transaction.exec());
    assertEquals(9, left.get());
  }

  @Test
  void severalSetsTakeEffectTogether() {
    Transaction transaction = jedis.multi();
    transaction.set("user:1:name", "Alice");
    transaction.set("user:1:age", "30");
    try (Jedis other = another()) {
      assertNull(other.get("user:1:name"));
    }
    assertEquals(List.of("OK", "OK"), transaction.exec());
    assertEquals(List.of("Alice", "30"), jedis.mget("user:1:name", "user:1:age"));
  }

  @Test
  void discardForgetsTheQueue() {
    jedis.set("key", "old");
    Transaction transaction = jedis.multi();
    transaction.set("key", "new");
    assertEquals("OK", transaction.discard());
    assertEquals("old", jedis.get("key"));
  }

  @Test
  void watchedKeyChangedByAnotherClientMakesExecNull() {
    jedis.set("product:stock", "10");
    jedis.watch("product:stock");
    try (Jedis other = another()) {
      other.set("product:stock", "5");
    }
    Transaction transaction = jedis.multi();
    transaction.decrBy("product:stock", 1);
    assertNull(transaction.exec());
    assertEquals("5", jedis.get("product:stock"));
  }

  @Test
  void watchedKeyChangedByTheSameClientMakesExecNull() {
    jedis.watch("key");
    jedis.set("key", "mine");
    Transaction transaction = jedis.multi();
    transaction.set("key", "later");
    assertNull(transaction.exec());
  }

  @Test
  void flushAllCountsAsAChangeOfWatchedKeys() {
    jedis.set("key", "value");
    jedis.watch("key");
    try (Jedis other = another()) {
      other.flushAll();
    }
    Transaction transaction = jedis.multi();
    transaction.set("key", "later");
    assertNull(transaction.exec());
  }

  @Test
  void unwatchForgetsTheKeys() {
    jedis.watch("key");
    try (Jedis other = another()) {
      other.set("key", "theirs");
    }
    jedis.unwatch();
    Transaction transaction = jedis.multi();
    transaction.set("key", "mine");
    assertEquals(List.of("OK"), transaction.exec());
  }

  @Test
  void commandRefusedWhileQueueingAbortsExec() {
    Transaction transaction = jedis.multi();
    transaction.set("key", "value");
    Response<Object> refused = transaction.sendCommand(Command.SET, "only-a-key");
    assertEquals(
        "EXECABORT Transaction discarded because of previous errors.", errorOf(transaction::exec));
    assertNull(jedis.get("key"));
  }

  @Test
  void commandThatFailsDoesNotUndoTheOthers() {
    jedis.set("text", "abc");
    Transaction transaction = jedis.multi();
    transaction.set("before", "1");
    transaction.lpush("text", "x");
    transaction.set("after", "2");
    List<Object> replies = transaction.exec();
    assertEquals("OK", replies.get(0));
    assertEquals(
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        assertInstanceOf(JedisDataException.class, replies.get(1)).getMessage());
    assertEquals("OK", replies.get(2));
    assertEquals(List.of("1", "2"), jedis.mget("before", "after"));
  }

  @Test
  void misuseIsRefused() {
    assertEquals("ERR EXEC without MULTI", errorOf(() -> jedis.sendCommand(Command.EXEC)));
    assertEquals("ERR DISCARD without MULTI", errorOf(() -> jedis.sendCommand(Command.DISCARD)));
    jedis.sendCommand(Command.MULTI);
    assertEquals("ERR MULTI calls can not be nested", errorOf(() -> jedis.sendCommand(Command.MULTI)));
    assertEquals("ERR WATCH inside MULTI is not allowed", errorOf(() -> jedis.sendCommand(Command.WATCH, "key")));
    jedis.sendCommand(Command.DISCARD);
  }

  @Test
  void blockingCommandsDoNotBlockInside() {
    Transaction transaction = jedis.multi();
    Response<List<String>> popped = transaction.blpop(0, "empty");
    List<Object> replies = transaction.exec();
    assertEquals(1, replies.size());
    assertNull(popped.get());
  }
}
