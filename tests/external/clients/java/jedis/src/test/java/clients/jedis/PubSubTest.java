package clients.jedis;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPubSub;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Channels and patterns; messages without a subscriber are lost. */
class PubSubTest extends OnSuiteServer {
  private final List<Listener> listeners = new ArrayList<>();

  /** Subscribes on its own connection and thread, and keeps the messages. */
  private final class Listener extends JedisPubSub {
    final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private final Jedis connection = another();
    private final Thread thread;

    Listener(BiConsumer<Jedis, JedisPubSub> subscription) {
      thread = new Thread(() -> subscription.accept(connection, this));
      thread.start();
      listeners.add(this);
      await("subscribed", this::isSubscribed);
    }

    @Override
    public void onMessage(String channel, String message) {
      heard.add("Received: " + message);
    }

    @Override
    public void onPMessage(String pattern, String channel, String message) {
      heard.add(pattern + " " + channel + " " + message);
    }

    @Override
    public void onPong(String pattern) {
      heard.add("pong " + pattern);
    }

    String next() throws InterruptedException {
      return heard.poll(5, TimeUnit.SECONDS);
    }

    void end() throws InterruptedException {
      thread.join(5000);
      connection.close();
    }
  }

  @AfterEach
  void endListeners() throws InterruptedException {
    for (Listener listener : listeners) {
      if (listener.isSubscribed()) {
        listener.unsubscribe();
        listener.punsubscribe();
      }
      listener.end();
    }
  }

  @Test
  void listenerGetsTheNewOrder() throws Exception {
    Listener listener = new Listener((connection, self) -> connection.subscribe(self, "order_channel"));
    assertEquals(1, jedis.publish("order_channel", "New order: #12345"));
    assertEquals("Received: New order: #12345", listener.next());
  }

  @Test
  void nobodyListensSoTheMessageIsGone() throws Exception {
    assertEquals(0, jedis.publish("order_channel", "too early"));
    Listener late = new Listener((connection, self) -> connection.subscribe(self, "order_channel"));
    assertEquals(1, jedis.publish("order_channel", "in time"));
    assertEquals("Received: in time", late.next());
    assertTrue(late.heard.isEmpty());
  }

  @Test
  void patternsHearEveryMatchingChannel() throws Exception {
    Listener listener = new Listener((connection, self) -> connection.psubscribe(self, "order.*"));
    assertEquals(1, jedis.publish("order.created", "1"));
    assertEquals(0, jedis.publish("orders", "2"));
    assertEquals(1, jedis.publish("order.", "3"));
    assertEquals("order.* order.created 1", listener.next());
    assertEquals("order.* order. 3", listener.next());
  }

  @Test
  void everyListenerGetsEveryMessageInOrder() throws Exception {
    Listener one = new Listener((connection, self) -> connection.subscribe(self, "feed"));
    Listener two = new Listener((connection, self) -> connection.subscribe(self, "feed", "other"));
    for (int i = 0; i < 500; i++) {
      assertEquals(2, jedis.publish("feed", "" + i));
    }
    for (int i = 0; i < 500; i++) {
      assertEquals("Received: " + i, one.next());
      assertEquals("Received: " + i, two.next());
    }
  }

  @Test
  void subscriptionsChangeWhileListening() throws Exception {
    Listener listener = new Listener((connection, self) -> connection.subscribe(self, "first"));
    listener.subscribe("second");
    await("two channels", () -> listener.getSubscribedChannels() == 2);
    assertEquals(Map.of("first", 1L, "second", 1L), jedis.pubsubNumSub("first", "second"));
    listener.unsubscribe("first");
    await("one channel", () -> listener.getSubscribedChannels() == 1);
    assertEquals(List.of("second"), jedis.pubsubChannels());
    assertEquals(0, jedis.publish("first", "unheard"));
    assertEquals(1, jedis.publish("second", "heard"));
    assertEquals("Received: heard", listener.next());
  }

  @Test
  void pingIsAnsweredWhileSubscribed() throws Exception {
    Listener listener = new Listener((connection, self) -> connection.subscribe(self, "channel"));
    listener.ping();
    assertEquals("pong ", listener.next());
    listener.ping("hello");
    assertEquals("pong hello", listener.next());
  }

  @Test
  void otherCommandsAreRefusedWhileSubscribed() {
    try (Jedis subscriber = another()) {
      subscriber.sendCommand(Command.SUBSCRIBE, "channel");
      assertEquals(
          "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET "
              + "are allowed in this context",
          errorOf(() -> subscriber.sendCommand(Command.GET, "key")));
    }
  }

  @Test
  void subscriberThatIsKilledHasItsConnectionClosed() throws Exception {
    try (Jedis subscriber = another()) {
      subscriber.sendCommand(Command.SUBSCRIBE, "channel");
      assertEquals(1L, jedis.sendCommand(Command.CLIENT, "KILL", "TYPE", "pubsub"));
      assertThrows(
          JedisConnectionException.class, () -> subscriber.sendCommand(Command.PING));
      await("nobody is left", () -> jedis.publish("channel", "x") == 0);
    }
  }

  @Test
  @Tag("all")
  void subscriberThatDoesNotReadIsDisconnectedAndTheOthersAreNot() throws Exception {
    Listener reading = new Listener((connection, self) -> connection.subscribe(self, "feed"));
    byte[] message = new byte[1 << 20];
    try (Jedis lazy = another()) {
      lazy.sendCommand(Command.SUBSCRIBE, "feed");
      int published = 0;
      // 32 MB may wait for a subscriber; the buffers of the network hold a little more.
      while (jedis.publish("feed".getBytes(), message) == 2) {
        assertTrue(++published < 100, "still connected after " + published + " MB");
        reading.next();
      }
      assertTrue(published >= 30, "disconnected after " + published + " MB");
    }
    assertEquals(1, jedis.publish("feed", "still here"));
    await("the other subscriber gets on", () -> "Received: still here".equals(reading.next()));
  }
}
