package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clients.support.Await;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RPatternTopic;
import org.redisson.api.RReliableTopic;
import org.redisson.api.RShardedTopic;
import org.redisson.api.RTopic;

@Tag("all")
class TopicTest extends RedissonTest {
  private final Queue<String> heard = new ConcurrentLinkedQueue<>();

  /** Listeners stay until the class ends, so each test has its own channels. */
  @BeforeEach
  void forget() {
    heard.clear();
  }

  @Test
  void everyListenerHearsAMessage() {
    RTopic here = redisson.getTopic("news", TEXT);
    RTopic there = another().getTopic("news", TEXT);
    here.addListener(String.class, (channel, message) -> heard.add(channel + " " + message));
    there.addListener(String.class, (channel, message) -> heard.add(channel + " " + message));
    assertEquals(2, here.countSubscribers());
    assertEquals(2, here.publish("New order: #12345"));
    Await.await("two deliveries", () -> heard.size() == 2);
    assertEquals("news New order: #12345", heard.poll());
    assertEquals("news New order: #12345", heard.poll());
  }

  @Test
  void messagesArriveInOrder() {
    RTopic topic = redisson.getTopic("numbers");
    topic.addListener(Integer.class, (channel, message) -> heard.add("" + message));
    List<String> sent = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      topic.publish(i);
      sent.add("" + i);
    }
    Await.await("all deliveries", () -> heard.size() == 200);
    assertEquals(sent, List.copyOf(heard));
  }

  @Test
  void aRemovedListenerHearsNothing() {
    RTopic topic = redisson.getTopic("removed", TEXT);
    int listener = topic.addListener(String.class, (channel, message) -> heard.add(message));
    assertEquals(1, topic.publish("heard"));
    Await.await("one delivery", () -> heard.size() == 1);
    topic.removeListener(listener);
    Await.await("the unsubscription", () -> subscribers("removed") == 0);
    assertEquals(0, topic.publish("not heard"));
    assertEquals(1, heard.size());
  }

  @Test
  void aPatternCoversManyTopics() {
    RPatternTopic pattern = redisson.getPatternTopic("order.*", TEXT);
    pattern.addListener(String.class, (name, channel, message) -> heard.add(name + " " + channel + " " + message));
    assertEquals(1, redisson.getTopic("order.paid", TEXT).publish("1"));
    assertEquals(0, redisson.getTopic("payment", TEXT).publish("2"));
    assertEquals(1, redisson.getTopic("order.sent", TEXT).publish("3"));
    Await.await("two deliveries", () -> heard.size() == 2);
    assertEquals(List.of("order.* order.paid 1", "order.* order.sent 3"), List.copyOf(heard));
    pattern.removeAllListeners();
    Await.await("the unsubscription", () -> plain.call("PUBSUB", "NUMPAT").equals("0"));
  }

  @Test
  void aShardedTopicDelivers() {
    RShardedTopic topic = redisson.getShardedTopic("shards", TEXT);
    topic.addListener(String.class, (channel, message) -> heard.add(channel + " " + message));
    assertEquals(1, another().getShardedTopic("shards", TEXT).publish("sharded"));
    Await.await("one delivery", () -> heard.size() == 1);
    assertEquals("shards sharded", heard.poll());
    topic.removeAllListeners();
    assertEquals(0, topic.publish("nobody"));
  }

  @Test
  void aReliableTopicKeepsMessagesUntilEverySubscriberHasThem() {
    RReliableTopic topic = redisson.getReliableTopic("reliable", TEXT);
    RReliableTopic elsewhere = another().getReliableTopic("reliable", TEXT);
    Queue<String> heardElsewhere = new ConcurrentLinkedQueue<>();
    String id = topic.addListener(String.class, (channel, message) -> heard.add(message));
    elsewhere.addListener(String.class, (channel, message) -> heardElsewhere.add(message));
    assertEquals(2, topic.countSubscribers());
    assertEquals(2, topic.publish("1"));
    topic.publish("2");
    Await.await("both have both", () -> heard.size() == 2 && heardElsewhere.size() == 2);
    assertEquals(List.of("1", "2"), List.copyOf(heard));
    assertEquals("stream", plain.call("TYPE", "reliable"));
    Await.await("what all have read is removed", () -> topic.size() == 0);
    topic.removeListener(id);
    elsewhere.removeAllListeners();
    assertEquals(0, topic.countSubscribers());
  }
}
