package clients.lettuce;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisException;
import io.lettuce.core.protocol.ProtocolVersion;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Channels and patterns over both protocols: arrays in RESP2, pushes in RESP3. */
class PubSubTest extends OnSuiteServer {
  private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();

  private StatefulRedisPubSubConnection<String, String> listen(ProtocolVersion protocol) {
    client.setOptions(ClientOptions.builder().protocolVersion(protocol).build());
    StatefulRedisPubSubConnection<String, String> listening = client.connectPubSub();
    listening.addListener(new RedisPubSubAdapter<>() {
      @Override
      public void message(String channel, String message) {
        heard.add(channel + ": " + message);
      }

      @Override
      public void message(String pattern, String channel, String message) {
        heard.add(pattern + " " + channel + ": " + message);
      }
    });
    return listening;
  }

  private String next() throws InterruptedException {
    return heard.poll(5, TimeUnit.SECONDS);
  }

  @ParameterizedTest
  @EnumSource
  void channelsAndPatterns(ProtocolVersion protocol) throws Exception {
    try (var listening = listen(protocol)) {
      listening.sync().subscribe("order_channel");
      listening.sync().psubscribe("order.*");
      await("subscribed", () -> redis.pubsubNumpat() == 1 && redis.pubsubChannels().size() == 1);
      assertEquals(1, redis.publish("order_channel", "New order: #12345"));
      assertEquals(1, redis.publish("order.created", "2"));
      assertEquals(0, redis.publish("other", "3"));
      assertEquals("order_channel: New order: #12345", next());
      assertEquals("order.* order.created: 2", next());
      assertEquals(Map.of("order_channel", 1L), redis.pubsubNumsub("order_channel"));
      listening.sync().unsubscribe("order_channel");
      await("unsubscribed", () -> redis.publish("order_channel", "x") == 0);
      // In RESP2 a subscribed connection replies with an array, of which Lettuce returns the second element.
      assertEquals(protocol == ProtocolVersion.RESP3 ? "PONG" : "", listening.sync().ping());
    }
  }

  @ParameterizedTest
  @EnumSource
  void messagesKeepTheirOrder(ProtocolVersion protocol) throws Exception {
    try (var listening = listen(protocol)) {
      listening.sync().subscribe("feed");
      await("subscribed", () -> redis.pubsubChannels().equals(List.of("feed")));
      connection.setAutoFlushCommands(false);
      for (int i = 0; i < 1000; i++) {
        connection.async().publish("feed", "" + i);
      }
      connection.flushCommands();
      connection.setAutoFlushCommands(true);
      for (int i = 0; i < 1000; i++) {
        assertEquals("feed: " + i, next());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = "RESP3")
  void otherCommandsAreAllowedOnASubscribedConnectionOfResp3(ProtocolVersion protocol) {
    try (var listening = listen(protocol)) {
      listening.sync().subscribe("channel");
      assertEquals("OK", listening.sync().set("key", "value"));
      assertEquals("value", listening.sync().get("key"));
    }
  }

  @ParameterizedTest
  @EnumSource(names = "RESP2")
  void otherCommandsAreRefusedOnASubscribedConnectionOfResp2(ProtocolVersion protocol) {
    try (var listening = listen(protocol)) {
      listening.sync().subscribe("channel");
      await("subscribed", () -> redis.pubsubChannels().equals(List.of("channel")));
      assertThrows(RedisException.class, () -> listening.sync().set("key", "value"));
    }
  }
}
