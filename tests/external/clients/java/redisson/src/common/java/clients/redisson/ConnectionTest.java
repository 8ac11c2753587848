package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** The server's view of a client's connections; each test has its own server. */
@Tag("all")
class ConnectionTest extends OwnServerTest {
  @Test
  void aClientOpensItsPoolAtOnceAndShutdownClosesAll() {
    Config config = new Config();
    config.useSingleServer().setAddress(server.address()).setClientName("shop").setConnectionMinimumIdleSize(24);
    RedissonClient client = Redisson.create(config);
    Await.await("24 connections and one for subscriptions", () -> named("shop").size() == 25);
    client.getLock("lock").lock();
    long ttl = Long.parseLong(plain.call("PTTL", "lock"));
    assertTrue(ttl > 25_000 && ttl <= 30_000, "the watchdog's standard lease, but TTL " + ttl);
    client.getLock("lock").unlock();
    RedissonTest.shutDown(client);
    Await.await("no connection is left", () -> others().isEmpty());
  }

  @Test
  void passwordAndDatabaseAreUsed() {
    plain.call("CONFIG", "SET", "requirepass", "se cret");
    Config config = RedissonTest.config(server.address());
    config.useSingleServer().setPassword("se cret").setDatabase(5);
    RedissonClient client = Redisson.create(config);
    client.getBucket("k", StringCodec.INSTANCE).set("v");
    plain.call("SELECT", "5");
    assertEquals("v", plain.call("GET", "k"));
    assertTrue(others().stream().allMatch(line -> line.contains(" db=5 ")), others().toString());
    RedissonTest.shutDown(client);
  }

  @Test
  void killedConnectionsAreOpenedAgain() {
    RedissonClient client = Redisson.create(RedissonTest.config(server.address()));
    RBucket<String> bucket = client.getBucket("k", StringCodec.INSTANCE);
    bucket.set("v");
    plain.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    plain.call("CLIENT", "KILL", "TYPE", "pubsub");
    Await.await("the client goes on", () -> "v".equals(bucket.get()));
    RedissonTest.shutDown(client);
  }

  @Test
  void aClientOutlivesItsServersRestart() throws Exception {
    RedissonClient client = Redisson.create(RedissonTest.config(server.address()));
    RLock lock = client.getLock("lock");
    assertTrue(lock.tryLock(1, 60, TimeUnit.SECONDS));
    plain.close();
    server.kill();
    server.restart();
    plain = new Plain(server.host(), server.port());
    Await.await("the lock is free, since nothing was saved", () -> lock.tryLock(1, 60, TimeUnit.SECONDS));
    lock.unlock();
    RedissonTest.shutDown(client);
  }

  private List<String> named(String name) {
    return others().stream().filter(line -> line.contains(" name=" + name + " ")).toList();
  }

  /** The lines of CLIENT LIST, except this test's own connection. */
  private List<String> others() {
    String own = "id=" + plain.call("CLIENT", "ID") + " ";
    return plain.call("CLIENT", "LIST").lines().filter(line -> !line.startsWith(own)).toList();
  }
}
