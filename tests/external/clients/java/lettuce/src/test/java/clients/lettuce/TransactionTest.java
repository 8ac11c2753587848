package clients.lettuce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** MULTI, EXEC, DISCARD, WATCH. */
class TransactionTest extends OnSuiteServer {
  @Test
  void repliesStandInTheResult() {
    redis.multi();
    redis.set("user:1:name", "Alice");
    redis.hset("hash", "field", "value");
    redis.hgetall("hash");
    redis.zadd("zset", 1.5, "member");
    redis.zscore("zset", "member");
    TransactionResult result = redis.exec();
    assertEquals("OK", result.get(0));
    assertEquals(Map.of("field", "value"), result.get(2));
    assertEquals(1.5, result.<Double>get(4));
  }

  @Test
  void watchedKeyChangedElsewhereDiscards() {
    redis.set("stock", "10");
    redis.watch("stock");
    try (var other = client.connect()) {
      other.sync().set("stock", "5");
    }
    redis.multi();
    redis.decr("stock");
    TransactionResult result = redis.exec();
    assertTrue(result.wasDiscarded());
    assertEquals("5", redis.get("stock"));
  }

  @Test
  void discard() {
    redis.multi();
    redis.set("key", "value");
    assertEquals("OK", redis.discard());
    assertEquals(0, redis.exists("key"));
  }

  @Test
  void commandThatFailsDoesNotUndoTheOthers() {
    redis.set("text", "abc");
    redis.multi();
    redis.incr("text");
    redis.set("after", "1");
    TransactionResult result = redis.exec();
    assertEquals(
        "ERR value is not an integer or out of range",
        assertInstanceOf(RedisCommandExecutionException.class, result.<Object>get(0)).getMessage());
    assertEquals("OK", result.get(1));
  }

  @Test
  void commandRefusedWhileQueueingAborts() {
    redis.multi();
    try {
      redis.dispatch(CommandType.GET, new StatusOutput<>(StringCodec.UTF8), new CommandArgs<>(StringCodec.UTF8));
    } catch (RedisCommandExecutionException refused) {
      assertEquals("ERR wrong number of arguments for 'get' command", refused.getMessage());
    }
    assertEquals(
        "EXECABORT Transaction discarded because of previous errors.",
        assertThrows(RedisCommandExecutionException.class, redis::exec).getMessage());
  }
}
