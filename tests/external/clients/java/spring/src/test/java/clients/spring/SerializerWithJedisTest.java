package clients.spring;

class SerializerWithJedisTest extends SerializerTests {
  SerializerWithJedisTest() {
    super(Driver.JEDIS);
  }
}
