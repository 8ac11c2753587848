package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.redisson.api.GeoUnit;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RGeo;
import org.redisson.api.RPatternTopic;
import org.redisson.api.RTopic;

/** Topics, batches and geographical objects, whose methods have changed since Redisson 3.6. */
class OlderTest extends RedissonTest {
  private final Queue<String> heard = new ConcurrentLinkedQueue<>();

  @Test
  void everyListenerHearsAMessage() {
    RTopic<String> here = redisson.getTopic("orders", TEXT);
    RTopic<String> there = another().getTopic("orders", TEXT);
    here.addListener((channel, message) -> heard.add(channel + " " + message));
    there.addListener((channel, message) -> heard.add(channel + " " + message));
    assertEquals(2, here.publish("New order: #12345"));
    Await.await("two deliveries", () -> heard.size() == 2);
    assertEquals(List.of("orders New order: #12345", "orders New order: #12345"), List.copyOf(heard));
    here.removeAllListeners();
    there.removeAllListeners();
    Await.await("the unsubscriptions", () -> subscribers("orders") == 0);
    heard.clear();
  }

  @Test
  void aPatternCoversManyTopics() {
    RPatternTopic<String> pattern = redisson.getPatternTopic("order.*", TEXT);
    pattern.addListener((name, channel, message) -> heard.add(name + " " + channel + " " + message));
    assertEquals(1, redisson.<String>getTopic("order.paid", TEXT).publish("1"));
    assertEquals(0, redisson.<String>getTopic("payment", TEXT).publish("2"));
    Await.await("the delivery", () -> heard.size() == 1);
    assertEquals("order.* order.paid 1", heard.poll());
    pattern.removeAllListeners();
  }

  @Test
  void aBatchIsSentTogether() throws Exception {
    RBatch batch = redisson.createBatch();
    batch.getBucket("a", TEXT).setAsync("1");
    RFuture<Long> counter = batch.getAtomicLong("n").incrementAndGetAsync();
    assertEquals(2, batch.execute().getResponses().size());
    assertEquals(1, counter.get());
    assertEquals("1", plain.call("GET", "a"));
  }

  @Test
  void anAtomicBatchIsATransaction() {
    RBatch batch = redisson.createBatch().atomic();
    batch.getAtomicLong("n").addAndGetAsync(5);
    batch.getAtomicLong("n").addAndGetAsync(2);
    assertEquals(List.of(5L, 7L), batch.execute().getResponses());
    assertTrue(plain.call("INFO", "commandstats").contains("cmdstat_exec:"));
  }

  @Test
  void skippedRepliesAreNotSent() {
    RBatch batch = redisson.createBatch().skipResult();
    for (int i = 0; i < 100; i++) {
      batch.getAtomicLong("n").incrementAndGetAsync();
    }
    batch.execute();
    assertEquals(100, redisson.getAtomicLong("n").get());
  }

  @Test
  void geoSearchesByRadius() {
    RGeo<String> shops = redisson.getGeo("shops", TEXT);
    shops.add(13.361389, 38.115556, "Palermo");
    shops.add(15.087269, 37.502669, "Catania");
    assertEquals(166.2742, shops.dist("Palermo", "Catania", GeoUnit.KILOMETERS));
    assertEquals(List.of("Catania"), shops.radius(15, 37, 100, GeoUnit.KILOMETERS));
    assertEquals(2, shops.radiusStoreTo("near", 15, 37, 200, GeoUnit.KILOMETERS));
    assertEquals("2", plain.call("ZCARD", "near"));
  }
}
