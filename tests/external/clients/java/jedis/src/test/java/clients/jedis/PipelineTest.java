package clients.jedis;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Servers;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisDataException;

/** Many commands through one connection, with one wait for all replies. */
class PipelineTest extends OnSuiteServer {
  private static final int KEYS = 20_000;

  @Test
  void twentyThousandSetsSinglyThenInOnePipeline() {
    long start = System.nanoTime();
    for (int i = 0; i < KEYS; i++) {
      jedis.set("single:" + i, "value" + i);
    }
    long single = System.nanoTime() - start;

    // The fastest of a few measurements: the first ones warm up the JVM, and the machine may be busy.
    long together = Long.MAX_VALUE;
    for (int round = 0; round < 4; round++) {
      start = System.nanoTime();
      List<Object> replies = pipelined("pipe:");
      together = Math.min(together, System.nanoTime() - start);
      assertEquals(KEYS, replies.size());
      assertTrue(replies.stream().allMatch("OK"::equals));
    }
    assertEquals(2L * KEYS, jedis.dbSize());
    System.out.printf("20 000 SETs: singly %d ms, in a pipeline %d ms%n", single / 1_000_000, together / 1_000_000);
    // Over a network the factor is in the tens; on one machine a round trip costs little compared with the client's own
    // work.
    assertTrue(single > 2 * together, "singly " + single + " ns, in a pipeline " + together + " ns");

    Pipeline reads = jedis.pipelined();
    for (int i = 0; i < KEYS; i++) {
      reads.get("pipe:" + i);
    }
    List<Object> values = reads.syncAndReturnAll();
    for (int i = 0; i < KEYS; i++) {
      assertEquals("value" + i, values.get(i));
    }
  }

  private List<Object> pipelined(String prefix) {
    Pipeline pipeline = jedis.pipelined();
    for (int i = 0; i < KEYS; i++) {
      pipeline.set(prefix + i, "value" + i);
    }
    return pipeline.syncAndReturnAll();
  }

  @Test
  void responsesBelongToTheirCommands() {
    try (Pipeline pipeline = jedis.pipelined()) {
      Response<String> set = pipeline.set("key", "text");
      Response<Long> wrong = pipeline.lpush("key", "element");
      Response<Long> length = pipeline.strlen("key");
      pipeline.sync();
      assertEquals("OK", set.get());
      assertEquals(4, length.get());
      assertEquals(
          "WRONGTYPE Operation against a key holding the wrong kind of value",
          assertThrows(JedisDataException.class, wrong::get).getMessage());
    }
  }

  @Test
  void errorsStandAtTheirPlaceAmongAllReplies() {
    Pipeline pipeline = jedis.pipelined();
    pipeline.set("text", "x");
    pipeline.incr("text");
    pipeline.get("text");
    List<Object> replies = pipeline.syncAndReturnAll();
    assertEquals("OK", replies.get(0));
    assertEquals(
        "ERR value is not an integer or out of range",
        assertInstanceOf(JedisDataException.class, replies.get(1)).getMessage());
    assertEquals("x", replies.get(2));
  }

  @Test
  void transactionInsideAPipeline() {
    try (Pipeline pipeline = jedis.pipelined()) {
      pipeline.sendCommand(Protocol.Command.MULTI, new String[0]);
      pipeline.incr("count");
      Response<Object> exec = pipeline.sendCommand(Protocol.Command.EXEC, new String[0]);
      pipeline.sync();
      assertEquals(List.of(1L), exec.get());
    }
  }

  @Test
  void aClientThatDoesNotReadGrowsInClientListAndStallsNobody() throws Exception {
    String value = "v".repeat(20_000);
    jedis.set("big", value);
    try (Socket lazy = new Socket(Servers.HOST, Servers.PORT)) {
      lazy.getOutputStream().write("CLIENT SETNAME lazy\r\n".getBytes(StandardCharsets.UTF_8));
      lazy.getOutputStream().write("GET big\r\n".repeat(2000).getBytes(StandardCharsets.UTF_8));
      await("the unread replies show in CLIENT LIST", () -> unread("omem") > 10_000_000 && unread("oll") > 0);
      List<String> others = new ArrayList<>();
      for (int i = 0; i < 100; i++) {
        others.add(jedis.set("other", "" + i));
      }
      assertEquals(100, others.size());
    }
    await("the closed client is gone", () -> !jedis.clientList().contains("name=lazy"));
  }

  private long unread(String field) {
    Matcher line = Pattern.compile("name=lazy .* " + field + "=(\\d+)").matcher(jedis.clientList());
    return line.find() ? Long.parseLong(line.group(1)) : -1;
  }
}
