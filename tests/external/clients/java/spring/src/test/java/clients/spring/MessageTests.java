package clients.spring;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.MessageListener;
import org.springframework.data.redis.listener.ChannelTopic;
import org.springframework.data.redis.listener.PatternTopic;
import org.springframework.data.redis.listener.RedisMessageListenerContainer;
import org.springframework.data.redis.listener.adapter.MessageListenerAdapter;

/** Listener containers: one connection for all subscriptions of the application. */
abstract class MessageTests extends OnSuiteServer {
  private RedisMessageListenerContainer container;
  private BlockingQueue<String> heard;
  private MessageListener listener;

  MessageTests(Driver driver) {
    super(driver);
  }

  @BeforeEach
  void startContainer() {
    BlockingQueue<String> queue = new LinkedBlockingQueue<>();
    heard = queue;
    listener =
        (message, topic) ->
            queue.add(new String(topic) + " " + new String(message.getChannel()) + ": " + message.toString());
    container = new RedisMessageListenerContainer();
    container.setConnectionFactory(connections());
    container.afterPropertiesSet();
    container.start();
  }

  @AfterEach
  void stopContainer() throws Exception {
    container.destroy();
  }

  private String next() throws InterruptedException {
    return heard.poll(5, TimeUnit.SECONDS);
  }

  @Test
  void channelAndPattern() throws Exception {
    container.addMessageListener(listener, List.of(new ChannelTopic("order_channel"), new PatternTopic("order.*")));
    assertEquals(1, redis.convertAndSend("order_channel", "New order: #12345"));
    assertEquals("order_channel order_channel: New order: #12345", next());
    assertEquals(1, redis.convertAndSend("order.created", "2"));
    assertEquals("order.* order.created: 2", next());
    assertEquals(0, redis.convertAndSend("other", "3"));
  }

  @Test
  void methodsAreCalledWithTheMessage() throws Exception {
    MessageListenerAdapter adapter = new MessageListenerAdapter(new Receiver(), "receive");
    adapter.afterPropertiesSet();
    container.addMessageListener(adapter, new ChannelTopic("news"));
    assertEquals(1, redis.convertAndSend("news", "消息"));
    assertEquals("Received: 消息", next());
  }

  public class Receiver {
    public void receive(String message) {
      heard.add("Received: " + message);
    }
  }

  @Test
  void removedListenersUnsubscribe() {
    container.addMessageListener(listener, new ChannelTopic("one"));
    container.addMessageListener(listener, new ChannelTopic("two"));
    assertEquals(1, redis.convertAndSend("one", "x"));
    container.removeMessageListener(listener, new ChannelTopic("one"));
    await("unsubscribed", () -> redis.convertAndSend("one", "x") == 0);
    assertEquals(1, redis.convertAndSend("two", "x"));
    container.removeMessageListener(listener);
    await("all gone", () -> redis.convertAndSend("two", "x") == 0);
  }

  @Test
  void manyMessagesKeepTheirOrder() throws Exception {
    container.setTaskExecutor(Runnable::run);
    container.addMessageListener(listener, new ChannelTopic("feed"));
    for (int i = 0; i < 300; i++) {
      assertEquals(1, redis.convertAndSend("feed", "" + i));
    }
    for (int i = 0; i < 300; i++) {
      assertEquals("feed feed: " + i, next());
    }
  }
}
