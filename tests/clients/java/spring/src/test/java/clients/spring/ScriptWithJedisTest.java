package clients.spring;

class ScriptWithJedisTest extends ScriptTests {
  ScriptWithJedisTest() {
    super(Driver.JEDIS);
  }
}
