package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class SerializerWithLettuceTest extends SerializerTests {
  SerializerWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
