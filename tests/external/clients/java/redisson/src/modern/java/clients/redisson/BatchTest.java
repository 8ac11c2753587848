package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.BatchOptions;
import org.redisson.api.BatchOptions.ExecutionMode;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RMap;
import org.redisson.api.RTransaction;
import org.redisson.api.TransactionOptions;
import org.redisson.client.RedisException;
import org.redisson.transaction.TransactionException;

/** Many commands sent together, and transactions. */
@Tag("all")
class BatchTest extends RedissonTest {
  @Test
  void repliesComeInTheOrderOfTheCommands() throws Exception {
    RBatch batch = redisson.createBatch();
    batch.getBucket("a", TEXT).setAsync("1");
    RFuture<Long> counter = batch.getAtomicLong("n").incrementAndGetAsync();
    batch.getMap("m", TEXT).fastPutAsync("f", "v");
    RFuture<Object> value = batch.getBucket("a", TEXT).getAsync();
    assertFalse(value.isDone());
    List<?> replies = batch.execute().getResponses();
    assertEquals(4, replies.size());
    assertEquals(List.of(1L, true, "1"), replies.subList(1, 4));
    assertEquals(1, counter.get());
    assertEquals("1", value.get());
  }

  @Test
  void oneErrorDoesNotStopTheOthers() {
    plain.call("SET", "text", "x");
    RBatch batch = redisson.createBatch();
    batch.getBucket("a", TEXT).setAsync("1");
    RFuture<Boolean> wrong = batch.getList("text", TEXT).addAsync("1");
    batch.getBucket("b", TEXT).setAsync("2");
    String message = assertThrows(RedisException.class, batch::execute).getMessage();
    assertTrue(message.startsWith("WRONGTYPE Operation against a key holding the wrong kind of value"), message);
    assertTrue(wrong.isDone());
    assertEquals(List.of("1", "2"), plain.list("MGET", "a", "b"));
  }

  @Test
  void aThousandCommandsInOneBatch() {
    RBatch batch = redisson.createBatch();
    for (int i = 0; i < 1000; i++) {
      batch.getBucket("key:" + i, TEXT).setAsync("" + i);
    }
    assertEquals(1000, batch.execute().getResponses().size());
    assertEquals("1000", plain.call("DBSIZE"));
    assertEquals("999", plain.call("GET", "key:999"));
  }

  @Test
  void anAtomicBatchIsATransaction() {
    for (ExecutionMode mode : List.of(ExecutionMode.IN_MEMORY_ATOMIC, ExecutionMode.REDIS_WRITE_ATOMIC)) {
      plain.call("FLUSHALL");
      RBatch batch = redisson.createBatch(BatchOptions.defaults().executionMode(mode));
      batch.getAtomicLong("n").addAndGetAsync(5);
      RFuture<Long> second = batch.getAtomicLong("n").addAndGetAsync(2);
      batch.getBucket("a", TEXT).setAsync("1");
      List<?> replies = batch.execute().getResponses();
      assertEquals(List.of(5L, 7L), replies.subList(0, 2), mode.toString());
      assertEquals(7L, second.toCompletableFuture().join());
      assertEquals("7", plain.call("GET", "n"));
    }
    assertTrue(plain.call("INFO", "commandstats").contains("cmdstat_exec:"));
  }

  @Test
  void skippedRepliesAreNotSent() {
    RBatch batch = redisson.createBatch(BatchOptions.defaults().skipResult());
    for (int i = 0; i < 100; i++) {
      batch.getAtomicLong("n").incrementAndGetAsync();
    }
    assertTrue(batch.execute().getResponses().isEmpty());
    assertEquals(100, redisson.getAtomicLong("n").get());
  }

  @Test
  void aTransactionIsInvisibleUntilItsCommit() {
    RMap<String, String> map = redisson.getMap("account", TEXT);
    map.put("a", "10");
    RTransaction transaction = redisson.createTransaction(TransactionOptions.defaults());
    RMap<String, String> inside = transaction.getMap("account", TEXT);
    inside.put("a", "5");
    inside.put("b", "5");
    transaction.<String>getBucket("log", TEXT).set("done");
    assertEquals("5", inside.get("a"));
    assertEquals("10", plain.call("HGET", "account", "a"));
    transaction.commit();
    assertEquals(List.of("5", "5"), plain.list("HMGET", "account", "a", "b"));
    assertEquals("done", plain.call("GET", "log"));
    assertThrows(IllegalStateException.class, transaction::commit);
  }

  @Test
  void aTransactionIsRolledBack() {
    RTransaction transaction = redisson.createTransaction(TransactionOptions.defaults());
    transaction.<String>getBucket("a", TEXT).set("1");
    transaction.getSet("s", TEXT).add("x");
    transaction.rollback();
    assertEquals("0", plain.call("EXISTS", "a", "s"));
  }

  @Test
  void twoTransactionsOnOneKeyExcludeEachOther() {
    RTransaction first = redisson.createTransaction(TransactionOptions.defaults());
    first.<String>getBucket("a", TEXT).set("1");
    RTransaction second = another().createTransaction(TransactionOptions.defaults());
    second.<String>getBucket("b", TEXT).set("2");
    second.commit();
    first.commit();
    assertEquals(List.of("1", "2"), plain.list("MGET", "a", "b"));
  }

  @Test
  void aTransactionThatTakesTooLongFails() {
    RTransaction transaction =
        redisson.createTransaction(TransactionOptions.defaults().timeout(50, TimeUnit.MILLISECONDS));
    transaction.<String>getBucket("a", TEXT).set("1");
    long start = System.nanoTime();
    Await.await("the time is over", () -> System.nanoTime() - start > TimeUnit.MILLISECONDS.toNanos(60));
    assertThrows(TransactionException.class, transaction::commit);
    assertNull(plain.call("GET", "a"));
  }
}
