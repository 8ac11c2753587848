package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clients.support.Await;
import clients.support.Servers;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.DeletedObjectListener;
import org.redisson.api.ExpiredObjectListener;
import org.redisson.api.RBucket;
import org.redisson.api.RList;
import org.redisson.api.listener.ListAddListener;
import org.redisson.api.listener.SetObjectListener;

/** Listeners that learn of changes by keyspace events. */
@Tag("all")
class KeyEventTest extends RedissonTest {
  private final Queue<String> heard = new ConcurrentLinkedQueue<>();

  @BeforeAll
  void turnEventsOn() {
    plain.call("CONFIG", "SET", "notify-keyspace-events", "EA");
  }

  @AfterAll
  void turnEventsOff() {
    try (Plain other = new Plain(Servers.HOST, Servers.PORT)) {
      other.call("CONFIG", "SET", "notify-keyspace-events", "");
    }
  }

  @AfterEach
  void forget() {
    heard.clear();
  }

  @Test
  void expiryIsHeard() {
    RBucket<String> bucket = redisson.getBucket("session", TEXT);
    int listener = bucket.addListener((ExpiredObjectListener) name -> heard.add("expired " + name));
    bucket.set("x", 100, TimeUnit.MILLISECONDS);
    redisson.getBucket("other", TEXT).set("x", 50, TimeUnit.MILLISECONDS);
    expect("expired session");
    bucket.removeListener(listener);
  }

  @Test
  void deletionIsHeard() {
    RBucket<String> bucket = redisson.getBucket("session", TEXT);
    int listener = bucket.addListener((DeletedObjectListener) name -> heard.add("deleted " + name));
    bucket.set("x");
    redisson.getBucket("other", TEXT).set("x");
    plain.call("DEL", "other");
    plain.call("DEL", "session");
    expect("deleted session");
    bucket.removeListener(listener);
  }

  @Test
  void writesAreHeard() {
    RBucket<String> bucket = redisson.getBucket("session", TEXT);
    int setting = bucket.addListener((SetObjectListener) name -> heard.add("set " + name));
    plain.call("SET", "session", "x");
    expect("set session");

    RList<String> list = redisson.getList("list", TEXT);
    int adding = list.addListener((ListAddListener) name -> heard.add("added " + name));
    list.add("v");
    expect("added list");
    list.removeListener(adding);
    bucket.removeListener(setting);
  }

  @Test
  void aRemovedListenerHearsNothing() {
    RBucket<String> bucket = redisson.getBucket("session", TEXT);
    int listener = bucket.addListener((DeletedObjectListener) name -> heard.add("deleted " + name));
    bucket.removeListener(listener);
    Await.await("the unsubscription", () -> plain.call("PUBSUB", "NUMPAT").equals("0"));
    plain.call("SET", "session", "x");
    plain.call("DEL", "session");
    assertEquals(List.of(), List.copyOf(heard));
  }

  private void expect(String event) {
    Await.await(event, () -> !heard.isEmpty());
    assertEquals(event, heard.poll());
  }
}
