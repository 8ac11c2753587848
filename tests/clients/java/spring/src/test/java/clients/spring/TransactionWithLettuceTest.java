package clients.spring;

class TransactionWithLettuceTest extends TransactionTests {
  TransactionWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
