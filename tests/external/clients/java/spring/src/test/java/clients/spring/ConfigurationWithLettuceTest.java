package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class ConfigurationWithLettuceTest extends ConfigurationTests {
  ConfigurationWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
