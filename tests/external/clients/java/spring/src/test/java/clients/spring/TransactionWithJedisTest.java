package clients.spring;

class TransactionWithJedisTest extends TransactionTests {
  TransactionWithJedisTest() {
    super(Driver.JEDIS);
  }
}
