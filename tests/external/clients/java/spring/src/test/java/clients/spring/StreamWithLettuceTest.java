package clients.spring;

class StreamWithLettuceTest extends StreamTests {
  StreamWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
