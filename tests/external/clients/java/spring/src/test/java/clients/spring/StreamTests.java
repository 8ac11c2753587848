package clients.spring;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.Limit;
import org.springframework.data.redis.connection.RedisStreamCommands.XAddOptions;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ObjectRecord;
import org.springframework.data.redis.connection.stream.PendingMessage;
import org.springframework.data.redis.connection.stream.PendingMessages;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.connection.stream.StreamReadOptions;
import org.springframework.data.redis.connection.stream.StreamRecords;
import org.springframework.data.redis.core.StreamOperations;
import org.springframework.data.redis.stream.StreamMessageListenerContainer.StreamMessageListenerContainerOptions;
import org.springframework.data.redis.stream.StreamMessageListenerContainer;

/** Streams read directly, as the tutorials' order handler does, and through listener containers. */
abstract class StreamTests extends OnSuiteServer {
  private static final String ORDERS = "stream.orders";
  private static final Consumer C1 = Consumer.from("g1", "c1");

  StreamTests(Driver driver) {
    super(driver);
  }

  /** The object to which a record's fields are mapped. */
  public record Order(String userId, String voucherId) {}

  private StreamOperations<String, String, String> ops() {
    return redis.opsForStream();
  }

  private RecordId add(String user) {
    return ops().add(ORDERS, Map.of("userId", user));
  }

  private List<MapRecord<String, String, String>> read(Consumer consumer, ReadOffset from) {
    return ops().read(consumer, StreamReadOptions.empty().count(1), StreamOffset.create(ORDERS, from));
  }

  @Test
  void newOrdersThenPendingOnesThenNone() {
    ops().createGroup(ORDERS, ReadOffset.from("0"), "g1");
    List<MapRecord<String, String, String>> none =
        ops().read(
            C1,
            StreamReadOptions.empty().count(1).block(Duration.ofMillis(50)),
            StreamOffset.create(ORDERS, ReadOffset.lastConsumed()));
    assertTrue(none == null || none.isEmpty());
    RecordId id = add("1001");
    MapRecord<String, String, String> order = read(C1, ReadOffset.lastConsumed()).get(0);
    assertEquals(id, order.getId());
    assertEquals(Map.of("userId", "1001"), order.getValue());

    assertEquals(id, read(C1, ReadOffset.from("0")).get(0).getId());
    assertEquals(0, ops().acknowledge("s1", "g1", id));
    assertEquals(id, read(C1, ReadOffset.from("0")).get(0).getId());
    assertEquals(1, ops().acknowledge(ORDERS, "g1", id));
    assertTrue(read(C1, ReadOffset.from("0")).isEmpty());
  }

  @Test
  void createGroupMakesTheStreamAndOnlyOnce() {
    assertEquals("OK", ops().createGroup(ORDERS, "g1"));
    assertEquals("BUSYGROUP Consumer Group name already exists", errorOf(() -> ops().createGroup(ORDERS, "g1")));
    assertEquals(
        "NOGROUP No such key 'other' or consumer group 'g1' in XREADGROUP with GROUP option",
        errorOf(() -> ops().read(C1, StreamOffset.create("other", ReadOffset.lastConsumed()))));
    assertEquals(true, ops().destroyGroup(ORDERS, "g1"));
  }

  @Test
  void pendingMessagesAreClaimedByAnotherConsumer() {
    ops().createGroup(ORDERS, ReadOffset.from("0"), "g1");
    RecordId id = add("1001");
    read(C1, ReadOffset.lastConsumed());
    assertEquals(1, ops().pending(ORDERS, "g1").getTotalPendingMessages());
    PendingMessages pending = ops().pending(ORDERS, "g1", Range.unbounded(), 10);
    assertEquals("c1", pending.get(0).getConsumerName());

    assertTrue(ops().claim(ORDERS, "g1", "c2", Duration.ofHours(1), id).isEmpty());
    assertEquals(id, ops().claim(ORDERS, "g1", "c2", Duration.ZERO, id).get(0).getId());
    PendingMessage claimed = ops().pending(ORDERS, Consumer.from("g1", "c2"), Range.unbounded(), 1).get(0);
    assertEquals(id, claimed.getId());
    assertEquals(2, claimed.getTotalDeliveryCount());
  }

  @Test
  void rangesTrimmingAndInformation() {
    for (int i = 1; i <= 10; i++) {
      ops().add(StreamRecords.newRecord().in(ORDERS).withId(i + "-0").ofMap(Map.of("n", "" + i)));
    }
    assertEquals(10, ops().size(ORDERS));
    assertEquals(3, ops().range(ORDERS, Range.closed("2", "4")).size());
    var last = ops().reverseRange(ORDERS, Range.unbounded(), Limit.limit().count(1)).get(0);
    assertEquals("10-0", last.getId().getValue());
    assertEquals(1, ops().delete(ORDERS, RecordId.of("1-0")));
    assertEquals(4, ops().trim(ORDERS, 5));
    ops().add(
        StreamRecords.newRecord().in(ORDERS).withId("11-0").ofMap(Map.of("n", "11")),
        XAddOptions.maxlen(3).approximateTrimming(false));
    assertEquals(3, ops().size(ORDERS));
    ops().createGroup(ORDERS, ReadOffset.from("0"), "g1");
    read(C1, ReadOffset.lastConsumed());
    assertEquals("11-0", ops().info(ORDERS).lastGeneratedId());
    assertEquals("9-0", ops().groups(ORDERS).get(0).lastDeliveredId());
    assertEquals(1, ops().consumers(ORDERS, "g1").get(0).pendingCount());
    assertEquals(true, ops().deleteConsumer(ORDERS, C1));
  }

  @Test
  void objectsBecomeFieldsAndBack() {
    ObjectRecord<String, Order> record = StreamRecords.newRecord().in(ORDERS).ofObject(new Order("1001", "7"));
    ops().add(record);
    List<ObjectRecord<String, Order>> read = ops().read(Order.class, StreamOffset.fromStart(ORDERS));
    assertEquals(new Order("1001", "7"), read.get(0).getValue());
  }

  private StreamMessageListenerContainer<String, MapRecord<String, String, String>> container(
      AtomicInteger errors) {
    StreamMessageListenerContainer<String, MapRecord<String, String, String>> container =
        StreamMessageListenerContainer.create(
            connections(),
            StreamMessageListenerContainerOptions.builder()
                .pollTimeout(Duration.ofMillis(100))
                .batchSize(10)
                .errorHandler(error -> errors.incrementAndGet())
                .build());
    container.start();
    return container;
  }

  @Test
  void listenerContainerAcknowledgesByItself() throws Exception {
    ops().createGroup(ORDERS, ReadOffset.from("0"), "g1");
    AtomicInteger errors = new AtomicInteger();
    List<String> users = new CopyOnWriteArrayList<>();
    var container = container(errors);
    try {
      var subscription =
          container.receiveAutoAck(
              C1,
              StreamOffset.create(ORDERS, ReadOffset.lastConsumed()),
              message -> users.add(message.getValue().get("userId")));
      assertTrue(subscription.await(Duration.ofSeconds(5)));
      for (int i = 0; i < 50; i++) {
        add("" + i);
      }
      await("all orders", () -> users.size() == 50);
      await("all acknowledged", () -> ops().pending(ORDERS, "g1").getTotalPendingMessages() == 0);
      assertEquals(0, errors.get());
    } finally {
      container.stop();
    }
  }

  @Test
  void listenerThatThrowsLeavesTheMessagePending() throws Exception {
    ops().createGroup(ORDERS, ReadOffset.from("0"), "g1");
    AtomicInteger errors = new AtomicInteger();
    var container = container(errors);
    try {
      var subscription =
          container.receive(
              C1,
              StreamOffset.create(ORDERS, ReadOffset.lastConsumed()),
              message -> {
                if (message.getValue().get("userId").equals("bad")) {
                  throw new IllegalStateException("cannot handle it");
                }
                ops().acknowledge("g1", message);
              });
      assertTrue(subscription.await(Duration.ofSeconds(5)));
      add("good");
      RecordId bad = add("bad");
      await("the error", () -> errors.get() == 1);
      await("only the bad one is pending", () -> ops().pending(ORDERS, "g1").getTotalPendingMessages() == 1);
      assertEquals(bad, read(C1, ReadOffset.from("0")).get(0).getId());
    } finally {
      container.stop();
    }
  }

  @Test
  void listenerWithoutAGroupReadsFromWhereItIsTold() throws Exception {
    add("before");
    List<String> users = new CopyOnWriteArrayList<>();
    var container = container(new AtomicInteger());
    try {
      var subscription =
          container.receive(StreamOffset.fromStart(ORDERS), message -> users.add(message.getValue().get("userId")));
      assertTrue(subscription.await(Duration.ofSeconds(5)));
      add("after");
      await("both", () -> users.equals(List.of("before", "after")));
    } finally {
      container.stop();
    }
  }
}
