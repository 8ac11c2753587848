package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class MessageWithLettuceTest extends MessageTests {
  MessageWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
