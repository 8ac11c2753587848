package clients.spring;

class CacheWithLettuceTest extends CacheTests {
  CacheWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
