package clients.lettuce;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import clients.support.OwnServer;
import clients.support.Servers;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.protocol.ProtocolVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The handshake (HELLO or AUTH, SELECT, the connection's name) before the first command and after a disconnect. */
class HandshakeTest extends OnSuiteServer {
  private static RedisURI.Builder address(OwnServer server) {
    return RedisURI.builder().withHost(server.host()).withPort(server.port());
  }

  @ParameterizedTest
  @EnumSource
  void passwordNameAndDatabase(ProtocolVersion protocol) {
    try (OwnServer server = OwnServer.start("--requirepass", "secret")) {
      RedisURI uri = address(server).withPassword("secret".toCharArray()).withDatabase(3).withClientName("me").build();
      try (RedisClient other = RedisClient.create(RESOURCES, uri)) {
        other.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
        try (StatefulRedisConnection<String, String> opened = other.connect()) {
          assertEquals("me", opened.sync().clientGetname());
          String info = opened.sync().clientInfo();
          assertTrue(info.contains(" db=3 "), info);
          assertTrue(info.contains(protocol == ProtocolVersion.RESP3 ? " resp=3" : " resp=2"), info);
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void withoutOrWithAWrongPasswordNobodyGetsIn(ProtocolVersion protocol) {
    try (OwnServer server = OwnServer.start("--requirepass", "secret")) {
      assertTrue(refusal(address(server).build(), protocol).startsWith("NOAUTH "));
      assertEquals(
          "WRONGPASS invalid username-password pair or user is disabled.",
          refusal(address(server).withPassword("wrong".toCharArray()).build(), protocol));
    }
  }

  /**
   * Returns the server's error, which is at the end of the chain of causes. If the refusal comes before Lettuce has
   * checked its own new connection, Lettuce reports that instead; then this tries again.
   */
  private static String refusal(RedisURI uri, ProtocolVersion protocol) {
    String words = refusalOnce(uri, protocol);
    for (int tries = 1; words.equals("RedisHandshakeHandler not registered") && tries < 10; tries++) {
      words = refusalOnce(uri, protocol);
    }
    return words;
  }

  private static String refusalOnce(RedisURI uri, ProtocolVersion protocol) {
    try (RedisClient other = RedisClient.create(RESOURCES, uri)) {
      other.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
      Throwable cause = assertThrows(RedisException.class, () -> other.connect().sync().ping());
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      return cause.getMessage();
    }
  }

  @Test
  void libraryIsNamedInClientInfo() {
    assumeTrue(Servers.version() >= 70200, "CLIENT SETINFO came with 7.2");
    await("the names that are sent behind the handshake", () -> redis.clientInfo().contains(" lib-name=Lettuce"));
  }

  @Test
  void connectionComesBackWithItsDatabaseWhenTheServerDoes() {
    try (OwnServer server = OwnServer.start("--appendonly", "yes", "--appendfsync", "always");
        RedisClient other = RedisClient.create(RESOURCES, address(server).withDatabase(2).build());
        StatefulRedisConnection<String, String> opened = other.connect()) {
      opened.sync().set("key", "kept");
      server.kill();
      await("the loss is noticed", () -> !opened.isOpen());
      server.restart();
      await("connected again", opened::isOpen);
      assertEquals("kept", opened.sync().get("key"));
    }
  }
}
