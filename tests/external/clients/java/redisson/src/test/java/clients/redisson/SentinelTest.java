package clients.redisson;

import static clients.support.Await.await;
import static clients.support.TestSentinels.NAME;
import static clients.support.TestSentinels.control;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Failovers;
import clients.support.TestSentinels;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RMap;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;

/** Redisson with useSentinelServers(): objects, locks, topics, reads from replicas, failovers under load. */
class SentinelTest {
  private static final StringCodec TEXT = StringCodec.INSTANCE;

  private List<String> sentinels;
  private RedissonClient redisson;

  @BeforeEach
  void start() {
    sentinels = TestSentinels.fresh();
    redisson = connect(NAME, ReadMode.MASTER);
  }

  @AfterEach
  void disconnect() {
    redisson.shutdown(0, 1, TimeUnit.SECONDS);
  }

  private RedissonClient connect(String name, ReadMode mode) {
    Config config = new Config();
    config.setThreads(8).setNettyThreads(4);
    config.useSentinelServers()
        .setMasterName(name)
        .addSentinelAddress(sentinels.stream().map(address -> "redis://" + address).toArray(String[]::new))
        .setScanInterval(500)
        .setReadMode(mode)
        .setMasterConnectionMinimumIdleSize(2).setMasterConnectionPoolSize(16)
        .setSlaveConnectionMinimumIdleSize(1).setSlaveConnectionPoolSize(8)
        .setSubscriptionConnectionMinimumIdleSize(1)
        .setTimeout(2000).setRetryAttempts(20);
    return Redisson.create(config);
  }

  @Test
  void objectsAreAtThePrimary() {
    redisson.getBucket("key", TEXT).set("value");
    assertEquals("value", control("get", "key"));
    RMap<String, String> map = redisson.getMap("map", TEXT);
    map.putAll(Map.of("a", "1", "b", "2"));
    assertEquals(Map.of("a", "1", "b", "2"), map.readAllMap());
  }

  @Test
  void replicasAnswerReads() {
    redisson.getBucket("key", TEXT).set("value");
    control("settle");
    RedissonClient reader = connect(NAME, ReadMode.SLAVE);
    try {
      assertEquals("value", reader.getBucket("key", TEXT).get());
    } finally {
      reader.shutdown(0, 1, TimeUnit.SECONDS);
    }
  }

  @Test
  void anUnknownName() {
    assertThrows(RuntimeException.class, () -> connect("nobody", ReadMode.MASTER));
  }

  @Test
  void aTopicReachesSubscribers() throws InterruptedException {
    BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    RTopic topic = redisson.getTopic("news", TEXT);
    topic.addListener(String.class, (channel, message) -> heard.add(message));
    topic.publish("hello");
    assertEquals("hello", heard.poll(10, TimeUnit.SECONDS));
  }

  /** Data that a replica has survives the failover, and the watchdog continues at the new primary. */
  @Test
  void aLockOutlivesItsPrimary() {
    RLock lock = redisson.getLock("lock");
    lock.lock();
    control("settle");
    control("kill");
    await("the lock is held at the new primary", Duration.ofSeconds(30), () -> {
      try {
        return lock.isHeldByCurrentThread();
      } catch (RuntimeException outage) {
        return false;
      }
    });
    RedissonClient other = connect(NAME, ReadMode.MASTER);
    try {
      assertFalse(other.getLock("lock").tryLock());
      lock.unlock();
      assertTrue(other.getLock("lock").tryLock());
    } finally {
      other.shutdown(0, 1, TimeUnit.SECONDS);
    }
  }

  @Test
  @Tag("all")
  void aFailoverByHandUnderLoad() {
    Failovers.byHandUnderLoad(client());
  }

  @Test
  @Tag("all")
  void aPrimaryDiesUnderLoad() {
    Failovers.primaryDiesUnderLoad(client());
  }

  private Failovers.Client client() {
    return new Failovers.Client() {
      @Override
      public void set(String key, String value) {
        redisson.getBucket(key, TEXT).set(value);
      }

      @Override
      public String get(String key) {
        return (String) redisson.getBucket(key, TEXT).get();
      }

      @Override
      public void increment(String key) {
        redisson.getAtomicLong(key).incrementAndGet();
      }
    };
  }
}
