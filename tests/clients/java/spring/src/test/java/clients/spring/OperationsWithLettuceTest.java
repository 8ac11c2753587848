package clients.spring;

class OperationsWithLettuceTest extends OperationsTests {
  OperationsWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
