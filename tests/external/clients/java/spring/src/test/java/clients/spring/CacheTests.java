package clients.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.cache.Cache;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.CachePut;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.cache.RedisCacheConfiguration;
import org.springframework.data.redis.cache.RedisCacheManager;
import org.springframework.data.redis.cache.RedisCacheWriter;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.serializer.GenericJackson2JsonRedisSerializer;
import org.springframework.data.redis.serializer.RedisSerializationContext.SerializationPair;

/** Methods whose results are kept in the server: key `cache::id`, ten minutes. */
abstract class CacheTests extends OnSuiteServer {
  CacheTests(Driver driver) {
    super(driver, CacheConfiguration.class);
  }

  @Configuration
  @EnableCaching
  static class CacheConfiguration {
    @Bean
    RedisCacheManager cacheManager(RedisConnectionFactory factory) {
      RedisCacheConfiguration configuration =
          RedisCacheConfiguration.defaultCacheConfig()
              .entryTtl(Duration.ofMinutes(10))
              .serializeValuesWith(SerializationPair.fromSerializer(new GenericJackson2JsonRedisSerializer()));
      // By default, Lettuce deletes in the background, and the tests would have to wait.
      RedisCacheWriter writer = RedisCacheWriter.create(factory, options -> options.immediateWrites());
      return RedisCacheManager.builder(writer).cacheDefaults(configuration).build();
    }

    @Bean
    Shops shops() {
      return new Shops();
    }
  }

  static class Shops {
    final AtomicInteger loads = new AtomicInteger();

    @Cacheable("shop")
    public String byId(long id) {
      loads.incrementAndGet();
      return id < 0 ? null : "店铺" + id;
    }

    @CachePut(cacheNames = "shop", key = "#id")
    public String rename(long id, String name) {
      return name;
    }

    @CacheEvict("shop")
    public void forget(long id) {}

    @CacheEvict(cacheNames = "shop", allEntries = true)
    public void forgetAll() {}
  }

  private Shops shops;

  @BeforeEach
  void resetLoads() {
    shops = application.getBean(Shops.class);
    shops.forgetAll();
    loads().set(0);
  }

  private AtomicInteger loads() {
    return ((Shops) AopProxyUtils.getSingletonTarget(shops)).loads;
  }

  @Test
  void secondCallIsAnsweredFromTheCache() {
    assertEquals("店铺1", shops.byId(1));
    assertEquals("店铺1", shops.byId(1));
    assertEquals(1, loads().get());
    assertEquals(Set.of("shop::1"), redis.keys("*"));
    assertEquals("\"店铺1\"", redis.opsForValue().get("shop::1"));
    long left = redis.getExpire("shop::1", TimeUnit.SECONDS);
    assertTrue(left > 590 && left <= 600, "" + left);
  }

  @Test
  void missingThingsAreKeptToo() {
    assertNull(shops.byId(-1));
    assertNull(shops.byId(-1));
    assertEquals(1, loads().get());
    assertEquals(true, redis.hasKey("shop::-1"));
  }

  @Test
  void putReplacesAndEvictDeletes() {
    shops.byId(1);
    shops.rename(1, "新名");
    assertEquals("新名", shops.byId(1));
    shops.forget(1);
    assertEquals(false, redis.hasKey("shop::1"));
    assertEquals("店铺1", shops.byId(1));
    assertEquals(2, loads().get());
  }

  @Test
  void clearLeavesOtherKeysAlone() {
    for (int i = 0; i < 100; i++) {
      shops.byId(i);
    }
    redis.opsForValue().set("other", "x");
    assertEquals(101, redis.keys("*").size());
    shops.forgetAll();
    assertEquals(Set.of("other"), redis.keys("*"));
  }

  @Test
  void cacheByHand() {
    Cache cache = application.getBean(CacheManager.class).getCache("hand");
    assertNull(cache.get("a"));
    assertNull(cache.putIfAbsent("a", "one"));
    assertEquals("one", cache.putIfAbsent("a", "two").get());
    assertEquals("made", cache.get("b", () -> "made"));
    assertEquals("made", cache.get("b", String.class));
    cache.evict("a");
    assertEquals(Set.of("hand::b"), redis.keys("*"));
    cache.clear();
    assertEquals(Set.of(), redis.keys("*"));
  }
}
