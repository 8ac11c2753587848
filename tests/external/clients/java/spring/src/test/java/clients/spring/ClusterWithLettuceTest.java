package clients.spring;

class ClusterWithLettuceTest extends ClusterTests {
  ClusterWithLettuceTest() {
    super(Driver.LETTUCE);
  }
}
