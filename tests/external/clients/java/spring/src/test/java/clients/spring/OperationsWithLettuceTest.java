package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class OperationsWithLettuceTest extends OperationsTests {
  OperationsWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
