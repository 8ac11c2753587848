package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class OperationsWithJedisTest extends OperationsTests {
  OperationsWithJedisTest() {
    super(Driver.JEDIS);
  }
}
