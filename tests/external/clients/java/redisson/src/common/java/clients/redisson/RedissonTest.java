package clients.redisson;

import clients.support.Servers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** One client for all tests of a class, because each opens many connections; every test starts on an empty server. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class RedissonTest {
  private final List<RedissonClient> clients = new ArrayList<>();
  /** Locks belong to a thread, so most tests need other threads. */
  private final ExecutorService threads = Executors.newCachedThreadPool();

  RedissonClient redisson;
  Plain plain;

  @BeforeAll
  void connect() {
    plain = new Plain(Servers.HOST, Servers.PORT);
    redisson = another();
  }

  @AfterAll
  void disconnect() throws InterruptedException {
    threads.shutdownNow();
    clients.forEach(RedissonTest::shutDown);
    plain.close();
    if (!threads.awaitTermination(10, TimeUnit.SECONDS)) {
      throw new AssertionError("a thread of the test still waits");
    }
  }

  @BeforeEach
  void empty() {
    plain.call("FLUSHALL");
  }

  /** The class's changes of config(). */
  void adjust(Config config) {}

  /** A separate client, as another process would have; it ends with the class. */
  RedissonClient another() {
    Config config = config(Servers.ADDRESS);
    adjust(config);
    RedissonClient client = Redisson.create(config);
    clients.add(client);
    return client;
  }

  <T> Future<T> inThread(Callable<T> task) {
    return threads.submit(task);
  }

  Future<?> inThread(Runnable task) {
    return threads.submit(task);
  }

  /** Fewer connections and threads than Redisson opens by itself: many clients share this machine. */
  static Config config(String address) {
    Config config = new Config();
    config.setThreads(8).setNettyThreads(4);
    config.useSingleServer().setAddress(address).setConnectionMinimumIdleSize(2).setConnectionPoolSize(32)
        .setSubscriptionConnectionMinimumIdleSize(1);
    return config;
  }

  /** Without the two seconds that shutdown() waits for late tasks. */
  static void shutDown(RedissonClient client) {
    client.shutdown(0, 1, TimeUnit.SECONDS);
  }

  /** The number of clients subscribed to `channel`. */
  long subscribers(String channel) {
    return Long.parseLong(plain.list("PUBSUB", "NUMSUB", channel).get(1));
  }

  static final StringCodec TEXT = StringCodec.INSTANCE;
}
