package clients.spring;

class TutorialWithLettuceTest extends TutorialTests {
  TutorialWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
