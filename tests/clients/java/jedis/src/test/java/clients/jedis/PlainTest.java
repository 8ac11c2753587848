package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clients.support.OwnServer;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

class PlainTest {
  @Test
  void answersPing() {
    try (OwnServer server = OwnServer.start(); Jedis jedis = new Jedis(server.host(), server.port())) {
      assertEquals("PONG", jedis.ping());
      server.kill();
      server.restart();
    }
  }
}
