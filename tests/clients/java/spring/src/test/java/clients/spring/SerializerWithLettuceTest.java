package clients.spring;

class SerializerWithLettuceTest extends SerializerTests {
  SerializerWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
