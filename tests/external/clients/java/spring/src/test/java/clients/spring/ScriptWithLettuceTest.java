package clients.spring;

class ScriptWithLettuceTest extends ScriptTests {
  ScriptWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
