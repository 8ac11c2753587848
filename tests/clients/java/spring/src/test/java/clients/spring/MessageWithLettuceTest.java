package clients.spring;

class MessageWithLettuceTest extends MessageTests {
  MessageWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
