package clients.spring;

import clients.support.OwnServer;
import java.time.Duration;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.clients.jedis.Jedis;

/** The two clients that Spring Data Redis can use. */
enum Driver {
  LETTUCE,
  JEDIS;

  /** Connections to the test's own server, which Spring Boot's configuration does not know. */
  RedisConnectionFactory connect(OwnServer server) {
    RedisStandaloneConfiguration address = new RedisStandaloneConfiguration(server.host(), server.port());
    if (this == LETTUCE) {
      LettuceConnectionFactory factory = new LettuceConnectionFactory(address);
      factory.afterPropertiesSet();
      factory.start();
      return factory;
    }
    GenericObjectPoolConfig<Jedis> pool = new GenericObjectPoolConfig<>();
    pool.setTestOnBorrow(true);
    JedisConnectionFactory factory =
        new JedisConnectionFactory(
            address,
            JedisClientConfiguration.builder().connectTimeout(Duration.ofSeconds(5)).usePooling().poolConfig(pool)
                .build());
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }
}
