package clients.spring;

class SessionWithJedisTest extends SessionTests {
  SessionWithJedisTest() {
    super(Driver.JEDIS);
  }
}
