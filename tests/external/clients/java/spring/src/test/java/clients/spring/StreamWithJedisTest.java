package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class StreamWithJedisTest extends StreamTests {
  StreamWithJedisTest() {
    super(Driver.JEDIS);
  }
}
