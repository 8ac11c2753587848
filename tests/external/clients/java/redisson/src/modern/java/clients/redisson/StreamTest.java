package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
// The classes for streams have moved from the first package to the second.
import org.redisson.api.*;
import org.redisson.api.stream.*;

@Tag("all")
class StreamTest extends RedissonTest {
  @Test
  void entriesAreAddedAndRead() {
    RStream<String, String> stream = stream();
    StreamMessageId first = stream.add(StreamAddArgs.entry("orderId", "1"));
    StreamMessageId second = stream.add(StreamAddArgs.entries("orderId", "2", "user", "虎哥"));
    assertEquals(2, stream.size());
    assertEquals(List.of(first, second), List.copyOf(stream.range(StreamMessageId.MIN, StreamMessageId.MAX).keySet()));
    assertEquals(Map.of("orderId", "2", "user", "虎哥"),
        stream.read(StreamReadArgs.greaterThan(first)).get(second));
    assertEquals(1, stream.rangeReversed(1, StreamMessageId.MAX, StreamMessageId.MIN).size());
    assertEquals(1, stream.remove(first));
    assertEquals(1, stream.getInfo().getLength());
    assertEquals(second, stream.getInfo().getLastGeneratedId());
  }

  @Test
  void entriesWithOwnIdsAreTrimmed() {
    RStream<String, String> stream = stream();
    for (int i = 1; i <= 5; i++) {
      stream.add(new StreamMessageId(i, 0), StreamAddArgs.entry("n", "" + i));
    }
    stream.add(StreamAddArgs.<String, String>entry("n", "6").trim().maxLen(4).noLimit());
    assertEquals(4, stream.size());
    assertEquals(3, stream.trim(StreamTrimArgs.maxLen(1).noLimit()));
    assertEquals("6", stream.range(StreamMessageId.MIN, StreamMessageId.MAX).values().iterator().next().get("n"));
  }

  @Test
  void aBlockedReaderGetsTheNextEntry() throws Exception {
    RStream<String, String> stream = stream();
    assertTrue(stream.read(StreamReadArgs.greaterThan(StreamMessageId.NEWEST).timeout(Duration.ofMillis(100)))
        .isEmpty());
    Future<Map<StreamMessageId, Map<String, String>>> reader = inThread(
        () -> stream.read(StreamReadArgs.greaterThan(StreamMessageId.NEWEST).timeout(Duration.ofSeconds(30))));
    Await.await("the reader blocks", () -> plain.call("INFO", "clients").contains("blocked_clients:1"));
    StreamMessageId id = stream.add(StreamAddArgs.entry("n", "1"));
    assertEquals(Map.of(id, Map.of("n", "1")), reader.get(10, TimeUnit.SECONDS));
  }

  @Test
  void aGroupGivesEachEntryToOneConsumer() {
    RStream<String, String> stream = groupWith(4);
    List<StreamMessageId> ids = new ArrayList<>(read(stream, "c1", 2).keySet());
    ids.addAll(read(stream, "c2", 10).keySet());
    assertEquals(4, ids.size());
    assertEquals(List.copyOf(stream.range(StreamMessageId.MIN, StreamMessageId.MAX).keySet()), ids);
    assertTrue(read(stream, "c1", 10).isEmpty());

    assertEquals(4, stream.getPendingInfo("g1").getTotal());
    assertEquals(Map.of("c1", 2L, "c2", 2L), stream.getPendingInfo("g1").getConsumerNames());
    assertEquals(3, stream.ack("g1", ids.get(0), ids.get(1), ids.get(2)));
    assertEquals(0, stream.ack("g1", ids.get(0)));
    PendingEntry left = stream.listPending("g1", StreamMessageId.MIN, StreamMessageId.MAX, 10).get(0);
    assertEquals(ids.get(3), left.getId());
    assertEquals("c2", left.getConsumerName());
    assertEquals(1, deliveries(left.getId()));
  }

  @Test
  void theConsumersOwnPendingEntriesAreReadAgain() {
    RStream<String, String> stream = groupWith(1);
    StreamMessageId id = read(stream, "c1", 1).keySet().iterator().next();
    StreamReadGroupArgs again = StreamReadGroupArgs.greaterThan(StreamMessageId.ALL).count(1);
    assertEquals(Map.of(id, Map.of("n", "1")), stream.readGroup("g1", "c1", again));
    stream.ack("g1", id);
    assertTrue(stream.readGroup("g1", "c1", again).isEmpty());
  }

  @Test
  void entriesOfADeadConsumerAreClaimed() {
    RStream<String, String> stream = groupWith(3);
    List<StreamMessageId> ids = List.copyOf(read(stream, "dead", 3).keySet());
    assertTrue(stream.claim("g1", "alive", 1, TimeUnit.HOURS, ids.get(0)).isEmpty());
    assertEquals(Map.of("n", "1"), stream.claim("g1", "alive", 0, TimeUnit.SECONDS, ids.get(0)).get(ids.get(0)));
    assertEquals(List.of(ids.get(1)), stream.fastClaim("g1", "alive", 0, TimeUnit.SECONDS, ids.get(1)));
    AutoClaimResult<String, String> rest =
        stream.autoClaim("g1", "other", 0, TimeUnit.SECONDS, ids.get(2), 10);
    assertEquals(Map.of("n", "3"), rest.getMessages().get(ids.get(2)));
    assertEquals(Map.of("alive", 2L, "other", 1L), stream.getPendingInfo("g1").getConsumerNames());
    assertEquals(2, deliveries(ids.get(0)));
    assertEquals(1, stream.listPending("g1", "other", StreamMessageId.MIN, StreamMessageId.MAX, 10).size());
  }

  @Test
  void groupsAndConsumersAreListedAndRemoved() {
    RStream<String, String> stream = groupWith(2);
    read(stream, "c1", 2);
    stream.createConsumer("g1", "c2");
    StreamGroup group = stream.listGroups().get(0);
    assertEquals("g1", group.getName());
    assertEquals(2, group.getConsumers());
    assertEquals(2, group.getPending());
    assertEquals(2, stream.listConsumers("g1").size());
    assertEquals(2, stream.removeConsumer("g1", "c1"));
    stream.updateGroupMessageId("g1", StreamMessageId.ALL);
    assertEquals(2, read(stream, "c2", 10).size());
    stream.removeGroup("g1");
    assertEquals(List.of(), stream.listGroups());
  }

  /** Returns the last value of XPENDING's line for `id`; its getter has been renamed. */
  private int deliveries(StreamMessageId id) {
    String line = plain.list("XPENDING", "stream.orders", "g1", id.toString(), id.toString(), "1").toString();
    return Integer.parseInt(line.replaceAll(".*, (\\d+)]]", "$1"));
  }

  private RStream<String, String> stream() {
    return redisson.getStream("stream.orders", TEXT);
  }

  private RStream<String, String> groupWith(int entries) {
    RStream<String, String> stream = stream();
    stream.createGroup(StreamCreateGroupArgs.name("g1").id(StreamMessageId.ALL).makeStream());
    for (int i = 1; i <= entries; i++) {
      stream.add(StreamAddArgs.entry("n", "" + i));
    }
    return stream;
  }

  private static Map<StreamMessageId, Map<String, String>> read(RStream<String, String> stream, String consumer,
      int count) {
    return stream.readGroup("g1", consumer, StreamReadGroupArgs.neverDelivered().count(count));
  }
}
