package clients.spring;

class SentinelWithLettuceTest extends SentinelTests {
  SentinelWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
