package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class ConfigurationWithJedisTest extends ConfigurationTests {
  ConfigurationWithJedisTest() {
    super(Driver.JEDIS);
  }
}
