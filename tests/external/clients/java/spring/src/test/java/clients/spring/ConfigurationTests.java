package clients.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedRuntimeException;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** application.yml: password, database, name of the connection, or all of it as an address. */
abstract class ConfigurationTests {
  private final Driver driver;

  ConfigurationTests(Driver driver) {
    this.driver = driver;
  }

  private ConfigurableApplicationContext application(String... properties) {
    return new SpringApplicationBuilder(OnSuiteServer.Application.class)
        .web(WebApplicationType.NONE)
        .properties("spring.main.banner-mode=off", "spring.data.redis.client-type=" + driver.name().toLowerCase())
        .properties(properties)
        .run();
  }

  /** The line of CLIENT LIST about the application's connection. */
  private static String line(StringRedisTemplate redis, String name) {
    return redis.getClientList().stream()
        .filter(client -> name.equals(client.getName()))
        .findFirst()
        .orElseThrow()
        .toString();
  }

  @Test
  void passwordDatabaseAndName() {
    try (OwnServer server = OwnServer.start("--requirepass", "secret");
        ConfigurableApplicationContext application =
            application(
                "spring.data.redis.port=" + server.port(),
                "spring.data.redis.password=secret",
                "spring.data.redis.database=3",
                "spring.data.redis.client-name=shop")) {
      StringRedisTemplate redis = application.getBean(StringRedisTemplate.class);
      redis.opsForValue().set("key", "value");
      assertEquals("value", redis.opsForValue().get("key"));
      assertTrue(line(redis, "shop").contains("db=3"), line(redis, "shop"));
    }
  }

  @Test
  void everythingInOneAddress() {
    try (OwnServer server = OwnServer.start("--requirepass", "secret");
        ConfigurableApplicationContext application =
            application("spring.data.redis.url=redis://default:secret@127.0.0.1:" + server.port() + "/2")) {
      StringRedisTemplate redis = application.getBean(StringRedisTemplate.class);
      redis.opsForValue().set("key", "value");
      assertEquals(
          1L, redis.execute((RedisCallback<Long>) connection -> connection.serverCommands().dbSize()));
    }
  }

  @Test
  void wrongPasswordIsRefused() {
    try (OwnServer server = OwnServer.start("--requirepass", "secret");
        ConfigurableApplicationContext application =
            application("spring.data.redis.port=" + server.port(), "spring.data.redis.password=wrong")) {
      StringRedisTemplate redis = application.getBean(StringRedisTemplate.class);
      NestedRuntimeException error = assertThrows(NestedRuntimeException.class, () -> redis.hasKey("key"));
      assertEquals(
          "WRONGPASS invalid username-password pair or user is disabled.",
          error.getMostSpecificCause().getMessage());
    }
  }
}
