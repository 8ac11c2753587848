package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class CacheWithJedisTest extends CacheTests {
  CacheWithJedisTest() {
    super(Driver.JEDIS);
  }
}
