package clients.spring;

class SessionWithLettuceTest extends SessionTests {
  SessionWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
