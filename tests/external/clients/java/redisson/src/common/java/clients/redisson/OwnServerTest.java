package clients.redisson;

import clients.support.OwnServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Tests that each need their own server, and also inspect it without Redisson. */
abstract class OwnServerTest {
  protected OwnServer server;
  protected Plain plain;

  @BeforeEach
  void start() {
    server = OwnServer.start();
    plain = new Plain(server.host(), server.port());
  }

  @AfterEach
  void stop() {
    plain.close();
    server.close();
  }
}
