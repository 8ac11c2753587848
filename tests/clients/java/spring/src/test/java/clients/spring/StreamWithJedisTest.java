package clients.spring;

class StreamWithJedisTest extends StreamTests {
  StreamWithJedisTest() {
    super(Driver.JEDIS);
  }
}
