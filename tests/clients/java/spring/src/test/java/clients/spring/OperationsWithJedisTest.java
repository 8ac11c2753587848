package clients.spring;

class OperationsWithJedisTest extends OperationsTests {
  OperationsWithJedisTest() {
    super(Driver.JEDIS);
  }
}
