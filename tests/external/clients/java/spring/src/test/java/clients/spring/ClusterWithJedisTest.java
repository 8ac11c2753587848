package clients.spring;

class ClusterWithJedisTest extends ClusterTests {
  ClusterWithJedisTest() {
    super(Driver.JEDIS);
  }
}
