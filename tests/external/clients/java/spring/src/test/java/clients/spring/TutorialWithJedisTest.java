package clients.spring;

import org.junit.jupiter.api.Tag;

@Tag("all")
class TutorialWithJedisTest extends TutorialTests {
  TutorialWithJedisTest() {
    super(Driver.JEDIS);
  }
}
