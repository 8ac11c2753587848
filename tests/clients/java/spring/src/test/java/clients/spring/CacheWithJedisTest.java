package clients.spring;

class CacheWithJedisTest extends CacheTests {
  CacheWithJedisTest() {
    super(Driver.JEDIS);
  }
}
