package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class TransactionWithLettuceTest extends TransactionTests {
  TransactionWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
