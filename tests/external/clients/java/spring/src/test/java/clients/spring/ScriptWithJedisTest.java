package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class ScriptWithJedisTest extends ScriptTests {
  ScriptWithJedisTest() {
    super(Driver.JEDIS);
  }
}
