package clients.spring;

class MessageWithJedisTest extends MessageTests {
  MessageWithJedisTest() {
    super(Driver.JEDIS);
  }
}
