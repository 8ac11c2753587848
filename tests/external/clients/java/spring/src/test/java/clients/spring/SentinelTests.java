package clients.spring;

import static clients.support.TestSentinels.NAME;
import static clients.support.TestSentinels.control;
import static clients.support.TestSentinels.primary;
import static org.junit.jupiter.api.Assertions.assertEquals;

import clients.support.Failovers;
import clients.support.TestSentinels;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.JedisClientConfigurationBuilderCustomizer;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConnection;
import org.springframework.data.redis.connection.RedisServer;
import org.springframework.data.redis.core.StringRedisTemplate;
import redis.clients.jedis.JedisPoolConfig;

/** A Spring Boot application with spring.data.redis.sentinel.master and .nodes. */
abstract class SentinelTests {
  @EnableAutoConfiguration
  static class Application {
    /** Jedis tests a connection before it is used, because a server that becomes a replica closes all connections. */
    @Bean
    JedisClientConfigurationBuilderCustomizer ask() {
      JedisPoolConfig config = new JedisPoolConfig();
      config.setTestOnBorrow(true);
      return builder -> builder.usePooling().poolConfig(config);
    }
  }

  private final Driver driver;
  private ConfigurableApplicationContext application;
  private StringRedisTemplate redis;

  SentinelTests(Driver driver) {
    this.driver = driver;
  }

  @BeforeEach
  void start() {
    List<String> sentinels = TestSentinels.fresh();
    application = new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .properties(
            "spring.main.banner-mode=off",
            "spring.data.redis.sentinel.master=" + NAME,
            "spring.data.redis.sentinel.nodes=" + String.join(",", sentinels),
            "spring.data.redis.timeout=3s",
            "spring.data.redis.client-type=" + driver.name().toLowerCase())
        .run();
    redis = application.getBean(StringRedisTemplate.class);
  }

  @AfterEach
  void end() {
    application.close();
  }

  @Test
  void theTemplateWritesToThePrimary() {
    redis.opsForValue().set("key", "value");
    assertEquals("value", control("get", "key"));
    assertEquals("value", redis.opsForValue().get("key"));
  }

  @Test
  void theSentinelsTell() throws Exception {
    try (RedisSentinelConnection sentinel = application.getBean(RedisConnectionFactory.class).getSentinelConnection()) {
      List<Integer> primaries = sentinel.masters().stream().map(RedisServer::getPort).toList();
      assertEquals(List.of(primary()), primaries);
      RedisServer watched = sentinel.masters().iterator().next();
      assertEquals(2, sentinel.replicas(watched).size());
    }
  }

  @Test
  @Tag("all")
  void aFailoverByHandUnderLoad() {
    Failovers.byHandUnderLoad(client());
  }

  @Test
  @Tag("all")
  void aPrimaryDiesUnderLoad() {
    Failovers.primaryDiesUnderLoad(client());
  }

  private Failovers.Client client() {
    return new Failovers.Client() {
      @Override
      public void set(String key, String value) {
        redis.opsForValue().set(key, value);
      }

      @Override
      public String get(String key) {
        return redis.opsForValue().get(key);
      }

      @Override
      public void increment(String key) {
        redis.opsForValue().increment(key);
      }
    };
  }
}
