package clients.flashsale;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.flashsale.OrderBook.Order;
import clients.flashsale.Vouchers.Answer;
import clients.support.OwnServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.StreamMessageId;
import org.redisson.client.codec.StringCodec;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.dao.DataAccessException;
import org.springframework.data.domain.Range;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.PendingMessage;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.RecordId;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.connection.stream.StreamReadOptions;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The whole sale on a server that keeps every acknowledged write: a thousand users, a hundred vouchers, a hundred
 * orders, whatever throws or is killed meanwhile.
 */
class FlashSaleTest {
  private static final int USERS = 1000;
  private static final int STOCK = 100;
  private static final long FIRST = 7;
  private static final long SECOND = 8;
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private OwnServer server;
  private ConfigurableApplicationContext application;
  private StringRedisTemplate redis;
  private Vouchers vouchers;
  private OrderBook book;

  @BeforeEach
  void start() {
    server = OwnServer.start("--appendonly", "yes", "--appendfsync", "always");
    application =
        new SpringApplicationBuilder(FlashSale.class)
            .web(WebApplicationType.NONE)
            .properties(
                "spring.main.banner-mode=off",
                "spring.data.redis.host=" + server.host(),
                "spring.data.redis.port=" + server.port(),
                "spring.data.redis.timeout=10s")
            .run();
    redis = application.getBean(StringRedisTemplate.class);
    vouchers = application.getBean(Vouchers.class);
    book = application.getBean(OrderBook.class);
    redis.opsForStream().createGroup(OrderConsumer.STREAM, ReadOffset.from("0"), OrderConsumer.GROUP);
  }

  @AfterEach
  void end() {
    application.close();
    server.close();
  }

  private OrderConsumer consumer(String name) {
    return new OrderConsumer(redis, book, name);
  }

  /** Sends two requests for every user, from many threads, and retries broken ones. Returns the answers by user. */
  private Map<Long, List<Answer>> sell(long voucher) throws Exception {
    Map<Long, List<Answer>> answers = new ConcurrentHashMap<>();
    List<Long> requests = new ArrayList<>();
    for (long user = 0; user < USERS; user++) {
      answers.put(user, Collections.synchronizedList(new ArrayList<>()));
      requests.add(user);
      requests.add(user);
    }
    Collections.shuffle(requests, new Random(20_260_101));
    ExecutorService threads = Executors.newFixedThreadPool(32);
    List<Future<?>> results = new ArrayList<>();
    for (long user : requests) {
      results.add(threads.submit(() -> answers.get(user).add(buyUntilAnswered(voucher, user))));
    }
    threads.shutdown();
    assertTrue(threads.awaitTermination(90, TimeUnit.SECONDS));
    for (Future<?> result : results) {
      result.get();
    }
    return answers;
  }

  private Answer buyUntilAnswered(long voucher, long user) {
    while (true) {
      try {
        return vouchers.buy(voucher, user);
      } catch (DataAccessException broken) {
        // The server was killed during the request; the next answer shows whether the request was carried out.
        await("the server answers again", LIMIT, this::answers);
      }
    }
  }

  private boolean answers() {
    try {
      return redis.hasKey("anything") != null;
    } catch (DataAccessException broken) {
      return false;
    }
  }

  private static long sold(Map<Long, List<Answer>> answers) {
    return answers.values().stream().flatMap(List::stream).filter(Answer.SOLD::equals).count();
  }

  /** The server and the order book agree on who has bought. */
  private void assertSoldOut(long voucher) {
    await("all orders are written", LIMIT, () -> book.ordersOf(voucher).size() == STOCK && pending() == 0);
    assertEquals(0, vouchers.stock(voucher));
    assertEquals(STOCK, vouchers.buyers(voucher));
    Set<Long> users = book.ordersOf(voucher).stream().map(Order::user).collect(Collectors.toSet());
    assertEquals(STOCK, users.size());
    assertTrue(users.stream().allMatch(user -> vouchers.hasBought(voucher, user)));
  }

  private long pending() {
    return redis.opsForStream().pending(OrderConsumer.STREAM, OrderConsumer.GROUP).getTotalPendingMessages();
  }

  @Test
  void exactlyAHundredOrdersBeforeAndAfterTheServerIsKilled() throws Exception {
    vouchers.putOnSale(FIRST, STOCK);
    vouchers.putOnSale(SECOND, STOCK);
    try (OrderConsumer consumer = consumer("c1")) {
      assertEquals(STOCK, sold(sell(FIRST)));
      assertSoldOut(FIRST);
      assertEquals(STOCK, redis.opsForStream().size(OrderConsumer.STREAM));

      server.kill();
      server.restart();
      await("connected again", LIMIT, this::answers);
      assertSoldOut(FIRST);
      assertEquals(Answer.OUT_OF_STOCK, vouchers.buy(FIRST, USERS + 1));

      assertEquals(STOCK, sold(sell(SECOND)));
      assertSoldOut(SECOND);
      assertSoldOut(FIRST);
      assertEquals(2 * STOCK, redis.opsForStream().size(OrderConsumer.STREAM));
    }
  }

  @Test
  @Tag("all")
  void exactlyAHundredOrdersWhenTheServerIsKilledDuringTheSale() throws Exception {
    vouchers.putOnSale(FIRST, STOCK);
    try (OrderConsumer one = consumer("c1"); OrderConsumer two = consumer("c2")) {
      Thread killer = new Thread(() -> {
        await("half are sold", LIMIT, () -> vouchers.stock(FIRST) < STOCK / 2);
        server.kill();
        server.restart();
      });
      killer.start();
      Map<Long, List<Answer>> answers = sell(FIRST);
      killer.join();
      assertSoldOut(FIRST);
      // A sale whose answer was lost shows as HAS_ONE_ALREADY at the next try; no answered sale may be lost.
      assertTrue(sold(answers) <= STOCK);
      answers.forEach((user, given) -> {
        if (given.contains(Answer.SOLD)) {
          assertTrue(vouchers.hasBought(FIRST, user), "user " + user + " was told so");
        }
      });
    }
  }

  @Test
  @Tag("all")
  void aUserGetsOneVoucherOnly() {
    vouchers.putOnSale(FIRST, 2);
    assertEquals(Answer.SOLD, vouchers.buy(FIRST, 1));
    assertEquals(Answer.HAS_ONE_ALREADY, vouchers.buy(FIRST, 1));
    assertEquals(Answer.SOLD, vouchers.buy(FIRST, 2));
    assertEquals(Answer.OUT_OF_STOCK, vouchers.buy(FIRST, 1));
    assertEquals(2, vouchers.buyers(FIRST));
  }

  @Test
  @Tag("all")
  void ordersThatCouldNotBeWrittenAreReadAgain() throws Exception {
    vouchers.putOnSale(FIRST, STOCK);
    book.failNext(10);
    try (OrderConsumer consumer = consumer("c1")) {
      assertEquals(STOCK, sold(sell(FIRST)));
      assertSoldOut(FIRST);
      assertFalse(book.hasFailuresLeft());
    }
  }

  /** The records that a consumer received before it was killed: it acknowledged none of them. */
  private List<MapRecord<String, Object, Object>> readAndDie(String consumer, int count) {
    return redis.opsForStream()
        .read(
            Consumer.from(OrderConsumer.GROUP, consumer),
            StreamReadOptions.empty().count(count),
            StreamOffset.create(OrderConsumer.STREAM, ReadOffset.lastConsumed()));
  }

  @Test
  void ordersOfAKilledConsumerAreClaimedByAnother() throws Exception {
    vouchers.putOnSale(FIRST, STOCK);
    assertEquals(STOCK, sold(sell(FIRST)));
    List<RecordId> lost = readAndDie("c1", 3).stream().map(MapRecord::getId).toList();
    server.kill();
    server.restart();
    await("connected again", LIMIT, this::answers);

    List<PendingMessage> waiting =
        redis.opsForStream().pending(OrderConsumer.STREAM, OrderConsumer.GROUP, Range.unbounded(), 100).toList();
    assertEquals(lost, waiting.stream().map(PendingMessage::getId).toList());
    assertEquals(Set.of("c1"), new HashSet<>(waiting.stream().map(PendingMessage::getConsumerName).toList()));
    RecordId[] ids = lost.toArray(new RecordId[0]);
    assertTrue(claim("c2", Duration.ofHours(1), ids).isEmpty());

    List<MapRecord<String, Object, Object>> claimed = claim("c2", Duration.ZERO, ids);
    assertEquals(lost, claimed.stream().map(MapRecord::getId).toList());
    for (MapRecord<String, Object, Object> message : claimed) {
      book.write(OrderConsumer.order(message.getValue()));
      assertEquals(1, redis.opsForStream().acknowledge(OrderConsumer.STREAM, OrderConsumer.GROUP, message.getId()));
    }
    try (OrderConsumer consumer = consumer("c2")) {
      assertSoldOut(FIRST);
    }
  }

  private List<MapRecord<String, Object, Object>> claim(String consumer, Duration idle, RecordId... ids) {
    return redis.opsForStream().claim(OrderConsumer.STREAM, OrderConsumer.GROUP, consumer, idle, ids);
  }

  @Test
  @Tag("all")
  void ordersOfAKilledConsumerAreTakenOverInOneGo() throws Exception {
    vouchers.putOnSale(FIRST, STOCK);
    assertEquals(STOCK, sold(sell(FIRST)));
    assertEquals(60, readAndDie("c1", 60).size());
    RedissonClient redisson = application.getBean(RedissonClient.class);
    var stream = redisson.<String, String>getStream(OrderConsumer.STREAM, StringCodec.INSTANCE);
    StreamMessageId from = StreamMessageId.MIN;
    int taken = 0;
    do {
      var page = stream.autoClaim(OrderConsumer.GROUP, "c2", 0, TimeUnit.MILLISECONDS, from, 25);
      for (Map.Entry<StreamMessageId, Map<String, String>> message : page.getMessages().entrySet()) {
        book.write(OrderConsumer.order(message.getValue()));
        assertEquals(1, stream.ack(OrderConsumer.GROUP, message.getKey()));
        taken++;
      }
      from = page.getNextId();
    } while (from.getId0() != 0);
    assertEquals(60, taken);
    try (OrderConsumer consumer = consumer("c2")) {
      assertSoldOut(FIRST);
    }
  }

  @Test
  @Tag("all")
  void consumersShareTheOrdersAndWriteEachOnce() throws Exception {
    vouchers.putOnSale(FIRST, STOCK);
    try (OrderConsumer one = consumer("c1"); OrderConsumer two = consumer("c2"); OrderConsumer three = consumer("c3")) {
      assertEquals(STOCK, sold(sell(FIRST)));
      assertSoldOut(FIRST);
    }
    assertEquals(3, redis.opsForStream().consumers(OrderConsumer.STREAM, OrderConsumer.GROUP).size());
  }

  @Test
  void theLockOfAUserKeepsASecondOrderOut() throws Exception {
    RedissonClient redisson = application.getBean(RedissonClient.class);
    RLock lock = redisson.getLock("lock:order:1");
    lock.lock();
    CountDownLatch written = new CountDownLatch(1);
    Thread writer = new Thread(() -> {
      try {
        book.write(new Order(1, 1, FIRST));
      } finally {
        written.countDown();
      }
    });
    writer.start();
    await(
        "the writer waits for the lock by listening to its channel",
        () -> redisson.getTopic("redisson_lock__channel:{lock:order:1}").countSubscribers() == 1);
    assertEquals(0, book.ordersOf(FIRST).size());
    lock.unlock();
    assertTrue(written.await(5, TimeUnit.SECONDS));
    assertEquals(1, book.ordersOf(FIRST).size());
    book.write(new Order(2, 1, FIRST));
    assertEquals(1, book.ordersOf(FIRST).size());
  }

  @Test
  @Tag("all")
  void idsAreDistinctAndGrow() throws Exception {
    OrderIds ids = application.getBean(OrderIds.class);
    Set<Long> seen = ConcurrentHashMap.newKeySet();
    ExecutorService threads = Executors.newFixedThreadPool(300);
    List<Future<?>> results = new ArrayList<>();
    for (int task = 0; task < 300; task++) {
      results.add(threads.submit(() -> {
        long last = 0;
        for (int i = 0; i < 100; i++) {
          long id = ids.next();
          assertTrue(id > last, id + " after " + last);
          assertTrue(seen.add(id));
          last = id;
        }
      }));
    }
    threads.shutdown();
    for (Future<?> result : results) {
      result.get(60, TimeUnit.SECONDS);
    }
    assertEquals(30_000, seen.size());
    // There is more than one counter if midnight passed.
    List<String> counters = redis.opsForValue().multiGet(redis.keys("icr:order:*"));
    assertEquals(30_000, counters.stream().mapToLong(Long::parseLong).sum());
  }
}
