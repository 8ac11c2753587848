package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.RedissonMultiLock;
import org.redisson.RedissonRedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** One lock over several independent servers, some of them killed. */
class MultiLockTest {
  private final List<OwnServer> servers = new ArrayList<>();
  private final Set<OwnServer> dead = new HashSet<>();
  private final List<RedissonClient> clients = new ArrayList<>();
  private final ExecutorService thread = Executors.newSingleThreadExecutor();

  @AfterEach
  void stop() {
    thread.shutdownNow();
    clients.forEach(RedissonTest::shutDown);
    servers.forEach(OwnServer::close);
  }

  @Test
  void multiLockTakesAllOfThreeServersOrNone() throws Exception {
    start(3);
    RedissonMultiLock lock = new RedissonMultiLock(locks());
    assertTrue(lock.tryLock(5, 60, TimeUnit.SECONDS));
    assertEquals(3, held());
    assertTrue(lock.tryLock(5, 60, TimeUnit.SECONDS), "it is reentrant");
    assertFalse(otherThreadTakes(lock));
    lock.unlock();
    assertEquals(3, held());
    lock.unlock();
    assertEquals(0, held());

    kill(2);
    assertFalse(lock.tryLock(), "one server is dead");
    assertEquals(0, held());
  }

  @Test
  void multiLockLetsGoWhatItTookWhenSomebodyHoldsTheRest() throws Exception {
    start(3);
    thread.submit(() -> locks()[2].lock(60, TimeUnit.SECONDS)).get();
    RedissonMultiLock lock = new RedissonMultiLock(locks());
    assertFalse(lock.tryLock(300, 60_000, TimeUnit.MILLISECONDS));
    assertEquals(1, held());
  }

  @Test
  void multiLockSetsItsLeaseOnEveryServer() throws Exception {
    start(3);
    RedissonMultiLock lock = new RedissonMultiLock(locks());
    assertTrue(lock.tryLock(5, 20, TimeUnit.SECONDS));
    for (OwnServer server : servers) {
      try (Plain plain = new Plain(server.host(), server.port())) {
        long ttl = Long.parseLong(plain.call("PTTL", "stock"));
        assertTrue(ttl > 10_000 && ttl <= 20_000, "TTL " + ttl);
      }
    }
    lock.unlock();
  }

  @Test
  void redLockOverThreeServersSurvivesOneDeath() throws Exception {
    start(3);
    RedissonMultiLock lock = new RedissonRedLock(locks());
    kill(1);
    assertTrue(lock.tryLock(10, 60, TimeUnit.SECONDS));
    assertEquals(2, held());
    assertFalse(otherThreadTakes(lock));
    unlock(lock);
    assertEquals(0, held());

    kill(2);
    assertFalse(lock.tryLock(), "no majority");
    assertEquals(0, held());
  }

  @Test
  void redLockOverFiveServersSurvivesTwoDeaths() throws Exception {
    start(5);
    RedissonMultiLock lock = new RedissonRedLock(locks());
    assertTrue(lock.tryLock(10, 60, TimeUnit.SECONDS));
    assertEquals(5, held());
    lock.unlock();
    assertEquals(0, held());

    kill(0);
    assertTrue(lock.tryLock(10, 60, TimeUnit.SECONDS));
    assertEquals(4, held());
    unlock(lock);
    kill(3);
    assertTrue(lock.tryLock(10, 60, TimeUnit.SECONDS));
    assertEquals(3, held());
    unlock(lock);
    assertEquals(0, held());

    servers.get(3).restart();
    dead.remove(servers.get(3));
    assertEquals(0, held());
    assertTrue(lock.tryLock(10, 60, TimeUnit.SECONDS));
    assertTrue(held() >= 3);
  }

  /** If servers are dead, the unlock frees the locks of the others, and may then report the dead ones. */
  private static void unlock(RedissonMultiLock lock) {
    try {
      lock.unlock();
    } catch (RuntimeException exception) {
      assertTrue(exception.getClass().getName().startsWith("org.redisson.client."), exception.toString());
    }
  }

  private boolean otherThreadTakes(RedissonMultiLock lock) throws Exception {
    return thread.submit(() -> lock.tryLock()).get();
  }

  private void start(int count) {
    for (int i = 0; i < count; i++) {
      servers.add(OwnServer.start());
      Config config = RedissonTest.config(servers.get(i).address());
      // A dead server refuses connections immediately, and retries would not help.
      config.useSingleServer().setConnectionMinimumIdleSize(1).setRetryAttempts(0);
      clients.add(Redisson.create(config));
    }
  }

  private void kill(int number) {
    servers.get(number).kill();
    dead.add(servers.get(number));
  }

  private RLock[] locks() {
    return clients.stream().map(client -> client.getLock("stock")).toArray(RLock[]::new);
  }

  /** Returns how many of the live servers have the lock. */
  private int held() {
    int count = 0;
    for (OwnServer server : servers) {
      if (!dead.contains(server)) {
        try (Plain plain = new Plain(server.host(), server.port())) {
          count += Integer.parseInt(plain.call("EXISTS", "stock"));
        }
      }
    }
    return count;
  }
}
