package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class SessionWithJedisTest extends SessionTests {
  SessionWithJedisTest() {
    super(Driver.JEDIS);
  }
}
