package clients.flashsale;

import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.context.annotation.Bean;

/**
 * A shop that sells a few vouchers to many people at one moment. A script in the server decides who gets one and puts
 * the order on a stream; consumers store the orders afterwards.
 */
@SpringBootApplication
public class FlashSale {
  /** Spring's template uses Lettuce; the locks use Redisson, with separate connections. */
  @Bean(destroyMethod = "shutdown")
  RedissonClient redisson(DataRedisProperties redis) {
    Config config = new Config();
    config.useSingleServer()
        .setAddress("redis://" + redis.getHost() + ":" + redis.getPort())
        .setConnectionMinimumIdleSize(2)
        .setConnectionPoolSize(16);
    return Redisson.create(config);
  }
}
