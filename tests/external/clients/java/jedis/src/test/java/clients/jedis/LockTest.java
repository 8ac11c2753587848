package clients.jedis;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import java.util.Collections;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.SetParams;

/** The distributed lock with one key: SET NX PX takes it, and a script that compares and deletes releases it. */
class LockTest extends OnSuiteServer {
  private static final String RELEASE = Lua.read("compare_and_delete.lua");
  private static final String LOCK = "lock:order";

  private static boolean tryLock(Jedis client, String owner, long leaseMs) {
    return "OK".equals(client.set(LOCK, owner, SetParams.setParams().nx().px(leaseMs)));
  }

  private static boolean unlock(Jedis client, String owner) {
    return Long.valueOf(1)
        .equals(client.eval(RELEASE, Collections.singletonList(LOCK), Collections.singletonList(owner)));
  }

  @Test
  void oneOwnerAtATime() {
    assertTrue(tryLock(jedis, "me", 30_000));
    assertFalse(tryLock(jedis, "you", 30_000));
    assertTrue(jedis.pttl(LOCK) > 20_000);
    assertFalse(unlock(jedis, "you"));
    assertTrue(unlock(jedis, "me"));
    assertTrue(tryLock(jedis, "you", 30_000));
  }

  @Test
  void whoseLeaseEndedCannotReleaseTheNextOwnersLock() {
    assertTrue(tryLock(jedis, "slow", 20));
    await("the lease ends", () -> tryLock(jedis, "next", 30_000));
    assertFalse(unlock(jedis, "slow"));
    assertEquals("next", jedis.get(LOCK));
  }

  @Test
  void checkAndDeleteInTwoStepsCanDeleteSomebodyElsesLock() {
    tryLock(jedis, "slow", 30_000);
    assertEquals("slow", jedis.get(LOCK));
    try (Jedis other = another()) {
      // Between the check and the delete the lease ends, and another client takes the lock.
      other.pexpire(LOCK, 0);
      assertTrue(tryLock(other, "next", 30_000));
    }
    assertEquals(1, jedis.del(LOCK));
    assertNull(jedis.get(LOCK));
  }

  @Test
  void setnxAndExpireApartCanLeaveALockForever() {
    assertEquals(1, jedis.setnx(LOCK, "crashed before EXPIRE"));
    assertEquals(-1, jedis.ttl(LOCK));
  }

  @Test
  void renewalIsForTheOwner() {
    String renew = Lua.read("compare_and_expire.lua");
    tryLock(jedis, "me", 10_000);
    assertEquals(0L, jedis.eval(renew, 1, LOCK, "you", "30000"));
    assertEquals(1L, jedis.eval(renew, 1, LOCK, "me", "30000"));
    assertTrue(jedis.pttl(LOCK) > 20_000);
  }

  @Test
  void stockGuardedByTheLockIsExact() throws Exception {
    int buyers = 20;
    jedis.set("stock", "15");
    AtomicInteger sold = new AtomicInteger();
    CountDownLatch done = new CountDownLatch(buyers);
    ExecutorService threads = Executors.newFixedThreadPool(buyers);
    for (int i = 0; i < buyers; i++) {
      threads.execute(() -> {
        try (Jedis client = another()) {
          String owner = UUID.randomUUID().toString();
          await("the lock", () -> tryLock(client, owner, 30_000));
          int stock = Integer.parseInt(client.get("stock"));
          if (stock > 0) {
            client.set("stock", "" + (stock - 1));
            sold.incrementAndGet();
          }
          assertTrue(unlock(client, owner));
        } finally {
          done.countDown();
        }
      });
    }
    assertTrue(done.await(30, TimeUnit.SECONDS));
    threads.shutdown();
    assertEquals(15, sold.get());
    assertEquals("0", jedis.get("stock"));
    assertFalse(jedis.exists(LOCK));
  }

  @Test
  void lockSurvivesARestartWithItsDeadline() {
    try (OwnServer server = OwnServer.start("--appendonly", "yes", "--appendfsync", "always")) {
      try (Jedis client = new Jedis(server.host(), server.port())) {
        assertTrue(tryLock(client, "me", 30_000));
      }
      server.kill();
      server.restart();
      try (Jedis client = new Jedis(server.host(), server.port())) {
        assertFalse(tryLock(client, "you", 30_000));
        assertTrue(client.pttl(LOCK) > 10_000 && client.pttl(LOCK) <= 30_000);
        assertTrue(unlock(client, "me"));
      }
    }
  }
}
