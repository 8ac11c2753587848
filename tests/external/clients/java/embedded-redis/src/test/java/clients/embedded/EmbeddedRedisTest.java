package clients.embedded;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.PrintedLines;
import clients.support.Servers;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/** embedded-redis starts our program instead of the one in its jar: start, use, stop; nothing may be left behind. */
@Tag("all")
class EmbeddedRedisTest {
  @TempDir private Path folder;
  private int port;

  @BeforeEach
  void choosePort() throws IOException {
    port = Servers.freePort();
  }

  private RedisServerBuilder builder() {
    return RedisServer.newRedisServer()
        .port(port)
        .executableProvider(() -> new File(Servers.BINARY))
        .setting("dir " + folder)
        .setting("save \"\"");
  }

  private void assertStopped(long pid) {
    assertThrows(JedisConnectionException.class, () -> new Jedis("127.0.0.1", port).ping());
    assertTrue(ProcessHandle.of(pid).isEmpty());
  }

  private static long pid(Jedis jedis) {
    return Long.parseLong(jedis.info("server").replaceFirst("(?s).*process_id:(\\d+).*", "$1"));
  }

  @Test
  void startUseStop() throws IOException {
    RedisServer server = builder().setting("maxmemory 128M").setting("appendonly no").setting("daemonize no").build();
    server.start();
    assertTrue(server.isActive());
    assertEquals(List.of(port), server.ports());
    long pid;
    try (Jedis jedis = new Jedis("127.0.0.1", port)) {
      assertEquals("OK", jedis.set("key", "value"));
      assertEquals(Map.of("maxmemory", "128000000"), jedis.configGet("maxmemory"));
      pid = pid(jedis);
    }
    server.stop();
    assertFalse(server.isActive());
    assertStopped(pid);
    assertEquals(0, folder.toFile().list().length);
  }

  @Test
  void startedAndStoppedAgainAndAgain() throws IOException {
    for (int i = 0; i < 5; i++) {
      RedisServer server = builder().build();
      server.start();
      try (Jedis jedis = new Jedis("127.0.0.1", port)) {
        assertEquals(0, jedis.dbSize());
        jedis.set("key", "value");
      }
      server.stop();
    }
  }

  @Test
  void theLogIsHandedToListeners() throws IOException {
    List<String> lines = new CopyOnWriteArrayList<>();
    RedisServer server = builder().soutListener(lines::add).build();
    server.start();
    server.stop();
    assertTrue(lines.stream().anyMatch(line -> line.contains("Ready to accept connections")), lines.toString());
  }

  @Test
  void aPortThatIsTakenIsAnError() throws IOException {
    RedisServer first = builder().build();
    first.start();
    RedisServer second = builder().build();
    IOException error = assertThrows(IOException.class, second::start);
    assertFalse(second.isActive());
    assertTrue(error.getMessage().length() > 0);
    first.stop();
  }

  @Test
  void theLinesOfTheDocumentationStartTheProgramThatTheyName() throws IOException {
    List<String> lines = new ArrayList<>(PrintedLines.of("README.md", "Spring Boot, Jedis", "RedisServer"));
    lines.addAll(PrintedLines.of("docs/clients.md", "embedded-redis (Java, codemonstur)", "RedisServer"));
    assertEquals(3, lines.size());
    for (String line : lines) {
      port = Servers.freePort();
      PrintedLines.run(line, port, this::checkProgram);
    }
  }

  private void checkProgram() throws IOException {
    try (Jedis jedis = new Jedis("127.0.0.1", port)) {
      Servers.assertRunsBinary(jedis.info("server"));
    }
  }
}
