package clients.lettuce;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.lettuce.core.TrackingArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.push.PushMessage;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.support.caching.CacheAccessor;
import io.lettuce.core.support.caching.CacheFrontend;
import io.lettuce.core.support.caching.ClientSideCaching;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** CLIENT TRACKING: the server pushes the names of keys that were read and then changed. */
class ClientSideCachingTest extends OnSuiteServer {
  private final BlockingQueue<List<Object>> invalidations = new LinkedBlockingQueue<>();
  private StatefulRedisConnection<String, String> writer;

  @BeforeEach
  void listen() {
    writer = client.connect();
    connection.addListener((PushMessage message) -> {
      if (message.getType().equals("invalidate")) {
        invalidations.add(message.getContent(StringCodec.UTF8::decodeKey));
      }
    });
  }

  @AfterEach
  void close() {
    writer.close();
  }

  private Object nextInvalidated() throws InterruptedException {
    List<Object> content = invalidations.poll(5, TimeUnit.SECONDS);
    return content == null ? "nothing came" : content.get(1);
  }

  @Test
  void frontendDropsWhatOthersChange() {
    writer.sync().set("key", "one");
    Map<String, String> local = new ConcurrentHashMap<>();
    CacheFrontend<String, String> cache =
        ClientSideCaching.enable(CacheAccessor.forMap(local), connection, TrackingArgs.Builder.enabled());
    assertEquals("one", cache.get("key"));
    assertEquals(Map.of("key", "one"), local);

    writer.sync().set("key", "two");
    await("the entry is dropped", local::isEmpty);
    assertEquals("two", cache.get("key"));

    assertNull(cache.get("missing"));
    assertEquals("made", cache.get("missing", () -> "made"));
    assertEquals("made", writer.sync().get("missing"));
  }

  @Test
  void expiryAndFlushInvalidateToo() throws Exception {
    redis.clientTracking(TrackingArgs.Builder.enabled());
    writer.sync().psetex("short", 30, "x");
    redis.get("short");
    assertEquals(List.of("short"), nextInvalidated());
    writer.sync().flushall();
    assertNull(nextInvalidated());
  }

  @Test
  void onlyKeysThatWereReadAreReported() throws Exception {
    redis.clientTracking(TrackingArgs.Builder.enabled());
    redis.get("read");
    writer.sync().set("unread", "1");
    writer.sync().set("read", "1");
    assertEquals(List.of("read"), nextInvalidated());
    // After an invalidation, the server tracks the key again only when it is read again.
    writer.sync().set("read", "2");
    redis.get("second");
    writer.sync().set("second", "1");
    assertEquals(List.of("second"), nextInvalidated());
  }

  @Test
  void broadcastByPrefix() throws Exception {
    redis.clientTracking(TrackingArgs.Builder.enabled().bcast().prefixes("user:", "shop:"));
    writer.sync().set("other:1", "x");
    writer.sync().set("user:1", "x");
    writer.sync().set("shop:1", "x");
    assertEquals(List.of("user:1"), nextInvalidated());
    assertEquals(List.of("shop:1"), nextInvalidated());
  }

  @Test
  void noLoopLeavesOutOnesOwnChanges() throws Exception {
    redis.clientTracking(TrackingArgs.Builder.enabled().noloop());
    redis.get("mine");
    redis.set("mine", "1");
    redis.get("theirs");
    writer.sync().set("theirs", "1");
    assertEquals(List.of("theirs"), nextInvalidated());
  }

  @Test
  void trackingEnds() throws Exception {
    redis.clientTracking(TrackingArgs.Builder.enabled());
    redis.get("key");
    redis.clientTracking(TrackingArgs.Builder.enabled(false));
    writer.sync().set("key", "1");
    assertEquals("PONG", redis.ping());
    assertTrue(invalidations.isEmpty());
    assertFalse(redis.clientInfo().contains("flags=t"));
  }
}
