package clients.spring;

class SentinelWithJedisTest extends SentinelTests {
  SentinelWithJedisTest() {
    super(Driver.JEDIS);
  }
}
