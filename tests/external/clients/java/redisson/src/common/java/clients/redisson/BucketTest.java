package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBinaryStream;
import org.redisson.api.RBucket;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.LongCodec;
import org.redisson.codec.JsonJacksonCodec;
import org.redisson.codec.SerializationCodec;

@Tag("all")
class BucketTest extends RedissonTest {
  @Test
  void bucketHoldsAValue() {
    RBucket<String> bucket = redisson.getBucket("name", TEXT);
    assertNull(bucket.get());
    bucket.set("虎哥");
    assertEquals("虎哥", plain.call("GET", "name"));
    assertEquals("虎哥", bucket.getAndSet("Jack"));
    assertFalse(bucket.trySet("Rose"));
    assertTrue(bucket.compareAndSet("Jack", "Tom"));
    assertFalse(bucket.compareAndSet("Jack", "Eve"));
    assertEquals(3, bucket.size());
    assertEquals("Tom", bucket.getAndDelete());
    assertTrue(bucket.trySet("Rose"));
    assertTrue(bucket.isExists());
  }

  @Test
  void bucketExpires() {
    RBucket<String> bucket = redisson.getBucket("code", TEXT);
    assertEquals(-2, bucket.remainTimeToLive());
    bucket.set("666666", 60, TimeUnit.SECONDS);
    assertTrue(bucket.remainTimeToLive() > 50_000);
    assertTrue(bucket.clearExpire());
    assertEquals(-1, bucket.remainTimeToLive());
    assertTrue(bucket.expire(50, TimeUnit.MILLISECONDS));
    Await.await("the value is gone", () -> bucket.get() == null);
    assertTrue(bucket.trySet("777777", 50, TimeUnit.MILLISECONDS));
    Await.await("the value is gone", () -> !bucket.isExists());
  }

  @Test
  void bucketIsRenamedAndDeleted() {
    RBucket<String> bucket = redisson.getBucket("old", TEXT);
    bucket.set("v");
    bucket.rename("new");
    assertEquals("v", plain.call("GET", "new"));
    redisson.getBucket("other", TEXT).set("w");
    assertFalse(redisson.getBucket("new", TEXT).renamenx("other"));
    assertTrue(redisson.getBucket("new").delete());
    assertFalse(redisson.getBucket("new").delete());
    assertTrue(redisson.getBucket("other").unlink());
  }

  @Test
  void bucketsAreReadAndWrittenTogether() {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("a", "1");
    values.put("b", "2");
    assertTrue(redisson.getBuckets(TEXT).trySet(values));
    values.put("c", "3");
    assertFalse(redisson.getBuckets(TEXT).trySet(values));
    redisson.getBuckets(TEXT).set(values);
    assertEquals(Map.of("a", "1", "c", "3"), redisson.getBuckets(TEXT).get("a", "c", "none"));
  }

  @Test
  void binaryStreamIsWrittenAndRead() throws Exception {
    byte[] data = new byte[200_000];
    new Random(7).nextBytes(data);
    RBinaryStream stream = redisson.getBinaryStream("file");
    try (OutputStream out = stream.getOutputStream()) {
      out.write(data, 0, 150_000);
      out.write(data, 150_000, 50_000);
    }
    assertEquals("200000", plain.call("STRLEN", "file"));
    assertArrayEquals(data, stream.get());
    try (InputStream in = stream.getInputStream()) {
      assertEquals(100, in.skip(100));
      assertEquals(data[100], (byte) in.read());
      assertEquals(200_000 - 101, in.available());
      byte[] rest = new byte[1000];
      assertEquals(1000, in.read(rest));
      assertEquals(data[1100], rest[999]);
    }
  }

  @Test
  void codecsGiveBackWhatTheyWereGiven() {
    Order order = new Order(7L, "虎哥", List.of("a", "b"));
    assertEquals(order.toString(), stored(new JsonJacksonCodec(), order).toString());
    assertEquals(order.toString(), stored(new SerializationCodec(), order).toString());
    assertEquals(Long.MIN_VALUE, stored(LongCodec.INSTANCE, Long.MIN_VALUE));
    byte[] bytes = {0, 13, 10, -1, 0};
    assertArrayEquals(bytes, (byte[]) stored(ByteArrayCodec.INSTANCE, bytes));
  }

  @Test
  void theDefaultCodecGivesBackObjects() {
    redisson.getBucket("order").set(new Order(7L, "虎哥", List.of("a", "b")));
    assertEquals("7 虎哥 [a, b]", another().getBucket("order").get().toString());
    redisson.getBucket("number").set(42L);
    assertEquals(42L, redisson.getBucket("number").get());
  }

  @Test
  void jsonCodecWritesTheClassIntoTheJson() {
    redisson.getBucket("order", new JsonJacksonCodec()).set(new Order(7L, "x", List.of()));
    String json = plain.call("GET", "order");
    assertTrue(json.startsWith("{\"@class\":\"clients.redisson.BucketTest$Order\""), json);
  }

  private Object stored(Codec codec, Object value) {
    redisson.getBucket("value", codec).set(value);
    return redisson.getBucket("value", codec).get();
  }

  static class Order implements Serializable {
    public long id;
    public String user;
    public List<String> items;

    Order() {}

    Order(long id, String user, List<String> items) {
      this.id = id;
      this.user = user;
      this.items = new java.util.ArrayList<>(items);
    }

    @Override
    public String toString() {
      return id + " " + user + " " + items;
    }
  }
}
