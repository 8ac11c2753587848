package clients.embeddedozimov;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.PrintedLines;
import clients.support.Servers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.embedded.RedisExecProvider;
import redis.embedded.RedisServer;
import redis.embedded.util.OS;

/** The older embedded-redis, which closes the server's output when it is ready, with the Jedis of its time. */
@Tag("all")
class OzimovEmbeddedRedisTest {
  @TempDir private Path folder;
  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    port = Servers.freePort();
  }

  private RedisServer server() {
    return RedisServer.builder()
        .redisExecProvider(RedisExecProvider.defaultProvider().override(OS.UNIX, Servers.BINARY))
        .port(port)
        .setting("dir " + folder)
        .setting("save \"\"")
        .build();
  }

  @Test
  void startUseStop() {
    RedisServer server = server();
    server.start();
    assertTrue(server.isActive());
    long pid;
    try (Jedis jedis = new Jedis("127.0.0.1", port)) {
      assertEquals("OK", jedis.set("key", "value"));
      pid = Long.parseLong(jedis.info("server").replaceFirst("(?s).*process_id:(\\d+).*", "$1"));
    }
    server.stop();
    assertFalse(server.isActive());
    assertThrows(JedisConnectionException.class, () -> new Jedis("127.0.0.1", port).ping());
    assertTrue(ProcessHandle.of(pid).isEmpty());
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void theServerLivesOnWhenNobodyReadsItsLog() {
    RedisServer server = server();
    server.start();
    try (Jedis jedis = new Jedis("127.0.0.1", port)) {
      jedis.configSet("loglevel", "debug");
      for (int i = 0; i < 200; i++) {
        try (Jedis visitor = new Jedis("127.0.0.1", port)) {
          assertEquals("PONG", visitor.ping());
        }
      }
      assertEquals("PONG", jedis.ping());
    } finally {
      server.stop();
    }
  }

  @Test
  void jedisOfItsTime() {
    RedisServer server = server();
    server.start();
    try (JedisPool pool = new JedisPool("127.0.0.1", port); Jedis jedis = pool.getResource()) {
      assertEquals("OK", jedis.set("lock", "me", "NX", "PX", 30_000));
      assertNull(jedis.set("lock", "you", "NX", "PX", 30_000));
      String release =
          "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
      assertEquals(0L, jedis.eval(release, Collections.singletonList("lock"), Collections.singletonList("you")));
      assertEquals(1L, jedis.eval(release, Collections.singletonList("lock"), Collections.singletonList("me")));

      Pipeline pipeline = jedis.pipelined();
      pipeline.set("a", "1");
      pipeline.incr("a");
      assertEquals(Arrays.asList("OK", 2L), pipeline.syncAndReturnAll());
      Transaction transaction = jedis.multi();
      transaction.incr("a");
      transaction.get("a");
      assertEquals(Arrays.asList(3L, "3"), transaction.exec());
      jedis.lpush("my_queue", "message1");
      assertEquals(List.of("my_queue", "message1"), jedis.brpop(0, "my_queue"));
    } finally {
      server.stop();
    }
  }

  @Test
  void theLineOfTheDocumentationStartsTheProgramThatItNames() throws IOException {
    List<String> lines = PrintedLines.of("docs/clients.md", "embedded-redis (Java, ozimov)", "RedisServer");
    assertEquals(1, lines.size());
    PrintedLines.run(lines.get(0), port, this::checkProgram);
  }

  private void checkProgram() throws IOException {
    try (Jedis jedis = new Jedis("127.0.0.1", port)) {
      Servers.assertRunsBinary(jedis.info("server"));
    }
  }
}
