package clients.spring;

import static org.junit.jupiter.api.Assertions.assertThrows;

import clients.support.Servers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.function.Executable;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.NestedRuntimeException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;

/** A Spring Boot application for each test class, configured as in application.yml; an empty server for each test. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class OnSuiteServer {
  final Driver driver;
  final ConfigurableApplicationContext application;
  final StringRedisTemplate redis;

  @EnableAutoConfiguration
  static class Application {}

  OnSuiteServer(Driver driver, Class<?>... configuration) {
    this.driver = driver;
    String name = driver.name().toLowerCase();
    application =
        new SpringApplicationBuilder(Application.class)
            .sources(configuration)
            .web(WebApplicationType.NONE)
            .properties(
                "spring.main.banner-mode=off",
                "spring.data.redis.host=" + Servers.HOST,
                "spring.data.redis.port=" + Servers.PORT,
                "spring.data.redis.timeout=10s",
                "spring.data.redis.client-type=" + name,
                "spring.data.redis." + name + ".pool.enabled=true",
                "spring.data.redis." + name + ".pool.max-active=8",
                "spring.data.redis." + name + ".pool.max-wait=3s")
            .run();
    redis = application.getBean(StringRedisTemplate.class);
  }

  final RedisConnectionFactory connections() {
    return application.getBean(RedisConnectionFactory.class);
  }

  @BeforeEach
  void emptyTheServer() {
    redis.execute((RedisCallback<Void>) connection -> {
      connection.serverCommands().flushAll();
      return null;
    });
  }

  /** Returns the text of the server's error, which Spring wraps. */
  static String errorOf(Executable command) {
    return assertThrows(NestedRuntimeException.class, command).getMostSpecificCause().getMessage();
  }

  @AfterAll
  void end() {
    application.close();
  }
}
