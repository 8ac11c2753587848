package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Settings of a client that Redisson 3.6 did not have, or interpreted differently. */
@Tag("all")
class NewerConnectionTest extends OwnServerTest {
  @Test
  void aWrongPasswordIsRefused() {
    plain.call("CONFIG", "SET", "requirepass", "secret");
    Config config = RedissonTest.config(server.address());
    config.useSingleServer().setPassword("wrong").setRetryAttempts(0);
    Throwable refusal = assertThrows(Exception.class, () -> Redisson.create(config));
    while (refusal.getCause() != null && !refusal.getMessage().contains("WRONGPASS")) {
      refusal = refusal.getCause();
    }
    assertTrue(refusal.getMessage().contains("WRONGPASS invalid username-password pair or user is disabled."),
        refusal.toString());
  }

  @Test
  void cachedScriptsAreSentByTheirDigest() {
    Config config = RedissonTest.config(server.address());
    config.setUseScriptCache(true);
    RedissonClient client = Redisson.create(config);
    RLock lock = client.getLock("lock");
    for (int i = 0; i < 3; i++) {
      assertTrue(lock.tryLock());
      lock.unlock();
      // The client sends its scripts again to a server that has lost them.
      plain.call("SCRIPT", "FLUSH");
    }
    assertTrue(plain.call("INFO", "commandstats").contains("cmdstat_evalsha:"));
    assertEquals("0", plain.call("EXISTS", "lock"));
    RedissonTest.shutDown(client);
  }
}
