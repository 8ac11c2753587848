package clients.spring;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.RedisSystemException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

/** Scripts are sent by their digest first, and in full when the server does not know it. */
abstract class ScriptTests extends OnSuiteServer {
  private static final DefaultRedisScript<Long> UNLOCK = new DefaultRedisScript<>();

  static {
    UNLOCK.setLocation(new ClassPathResource("compare_and_delete_upper_case.lua"));
    UNLOCK.setResultType(Long.class);
  }

  ScriptTests(Driver driver) {
    super(driver);
  }

  @BeforeEach
  void forgetScriptsAndCounts() {
    redis.execute((RedisCallback<Void>) connection -> {
      connection.scriptingCommands().scriptFlush();
      connection.serverCommands().resetConfigStats();
      return null;
    });
  }

  /** Returns how often the client has sent the command; "evalsha" also counts refused ones. */
  private static long calls(StringRedisTemplate template, String command) {
    Properties stats =
        template.execute((RedisCallback<Properties>) connection -> connection.serverCommands().info("commandstats"));
    String line = stats.getProperty("cmdstat_" + command);
    return line == null ? 0 : Long.parseLong(line.replaceFirst("calls=(\\d+),.*", "$1"));
  }

  private static Long unlock(StringRedisTemplate template, String owner) {
    return template.execute(UNLOCK, Collections.singletonList("lock:order"), owner);
  }

  @Test
  void unlockScriptFromAFile() {
    redis.opsForValue().set("lock:order", "me");
    assertEquals(0, unlock(redis, "you"));
    assertEquals(1, unlock(redis, "me"));
    assertEquals(0, unlock(redis, "me"));
    assertEquals(1, calls(redis, "eval"));
    assertEquals(3, calls(redis, "evalsha"));
  }

  @Test
  void noscriptIsAnsweredWithTheWholeScriptAgainAfterAFlush() {
    redis.opsForValue().set("lock:order", "me");
    unlock(redis, "you");
    redis.execute((RedisCallback<Void>) connection -> {
      connection.scriptingCommands().scriptFlush();
      return null;
    });
    assertEquals(1, unlock(redis, "me"));
    assertEquals(2, calls(redis, "eval"));
  }

  @Test
  void scriptsAreSentAgainToAServerThatWasStartedAgain() throws Exception {
    try (OwnServer server = OwnServer.start("--appendonly", "yes", "--appendfsync", "always")) {
      RedisConnectionFactory factory = driver.connect(server);
      try {
        StringRedisTemplate template = new StringRedisTemplate(factory);
        template.opsForValue().set("lock:order", "me");
        assertEquals(0, unlock(template, "you"));
        assertEquals(1, calls(template, "eval"));
        server.kill();
        server.restart();
        await("connected again", () -> answers(template));
        assertEquals(0, unlock(template, "you"));
        assertEquals(1, unlock(template, "me"));
        assertEquals(1, calls(template, "eval"));
        assertEquals(2, calls(template, "evalsha"));
      } finally {
        ((DisposableBean) factory).destroy();
      }
    }
  }

  private static boolean answers(StringRedisTemplate template) {
    try {
      return "PONG".equals(template.execute((RedisCallback<String>) connection -> connection.ping()));
    } catch (RedisConnectionFailureException | RedisSystemException broken) {
      return false;
    }
  }

  @Test
  void keysBuiltInTheScriptFromArgumentsAlone() {
    RedisScript<Long> script =
        RedisScript.of("redis.call('set', 'seckill:stock:' .. ARGV[1], ARGV[2]); return 0", Long.class);
    assertEquals(0, redis.execute(script, Collections.emptyList(), "7", "100"));
    assertEquals("100", redis.opsForValue().get("seckill:stock:7"));
  }

  @Test
  void resultTypes() {
    redis.opsForValue().set("key", "value");
    List<String> key = List.of("key");
    assertEquals("value", redis.execute(RedisScript.of("return redis.call('get', KEYS[1])", String.class), key));
    assertNull(redis.execute(RedisScript.of("return redis.call('get', 'missing')", String.class), key));
    assertEquals(true, redis.execute(RedisScript.of("return 1", Boolean.class), key));
    assertEquals(false, redis.execute(RedisScript.of("return nil", Boolean.class), key));
    assertEquals(3L, redis.execute(RedisScript.of("return 3.99", Long.class), key));
    assertEquals(
        List.of("key", "a", "b"),
        redis.execute(RedisScript.of("return {KEYS[1], ARGV[1], ARGV[2]}", List.class), key, "a", "b"));
    assertNull(redis.execute(RedisScript.of("redis.call('set', KEYS[1], 1)"), key));
    assertEquals("1", redis.opsForValue().get("key"));
    assertEquals(
        "{\"name\":\"Alice\"}",
        redis.execute(RedisScript.of("return cjson.encode({name = 'Alice'})", String.class), key));
  }

  @Test
  void errorsKeepTheServersWords() {
    RedisScript<Long> wrong = RedisScript.of("return redis.call('incr', KEYS[1], 1)", Long.class);
    String text = errorOf(() -> redis.execute(wrong, List.of("key")));
    assertTrue(text.startsWith("ERR Wrong number of args calling Redis command from script script: "), text);
  }
}
