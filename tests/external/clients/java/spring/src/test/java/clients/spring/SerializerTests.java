package clients.spring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.RedisTemplate;
import org.springframework.data.redis.serializer.GenericJackson2JsonRedisSerializer;
import org.springframework.data.redis.serializer.RedisSerializer;

/** How the templates serialise objects: JDK serialisation, JSON that contains the class, and JSON made manually. */
abstract class SerializerTests extends OnSuiteServer {
  SerializerTests(Driver driver) {
    super(driver);
  }

  public static class User implements Serializable {
    private static final long serialVersionUID = 1;
    public String name;
    public int age;

    public User() {}

    User(String name, int age) {
      this.name = name;
      this.age = age;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof User user && user.name.equals(name) && user.age == age;
    }

    @Override
    public int hashCode() {
      return name.hashCode() + age;
    }
  }

  private RedisTemplate<String, Object> jsonTemplate() {
    RedisTemplate<String, Object> template = new RedisTemplate<>();
    template.setConnectionFactory(connections());
    template.setKeySerializer(RedisSerializer.string());
    template.setHashKeySerializer(RedisSerializer.string());
    template.setValueSerializer(new GenericJackson2JsonRedisSerializer());
    template.setHashValueSerializer(new GenericJackson2JsonRedisSerializer());
    template.afterPropertiesSet();
    return template;
  }

  private byte[] raw(byte[] key) {
    return redis.execute((RedisCallback<byte[]>) connection -> connection.stringCommands().get(key));
  }

  @Test
  void jdkSerialisationOfKeysAndValues() {
    @SuppressWarnings("unchecked")
    RedisTemplate<Object, Object> template = (RedisTemplate<Object, Object>) application.getBean("redisTemplate");
    template.opsForValue().set("name", new User("虎哥", 21));
    assertEquals(new User("虎哥", 21), template.opsForValue().get("name"));
    byte[] key = RedisSerializer.java().serialize("name");
    assertArrayEquals(new byte[] {(byte) 0xac, (byte) 0xed, 0, 5, 't', 0, 4, 'n', 'a', 'm', 'e'}, key);
    assertArrayEquals(new byte[] {(byte) 0xac, (byte) 0xed, 0, 5}, Arrays.copyOf(raw(key), 4));
    assertEquals(null, redis.opsForValue().get("name"));

    template.opsForHash().put("hash", new User("field", 1), List.of("a", "b"));
    assertEquals(Map.of(new User("field", 1), List.of("a", "b")), template.opsForHash().entries("hash"));
    template.opsForList().rightPushAll("list", 1, "two", 3L);
    assertEquals(List.of(1, "two", 3L), template.opsForList().range("list", 0, -1));
    template.opsForZSet().add("zset", new User("member", 1), 1.5);
    assertEquals(1.5, template.opsForZSet().score("zset", new User("member", 1)));
    assertEquals(true, template.delete("name"));
  }

  @Test
  void jsonKnowsItsClass() {
    RedisTemplate<String, Object> template = jsonTemplate();
    template.opsForValue().set("user:100", new User("虎哥", 21));
    assertEquals(
        "{\"@class\":\"clients.spring.SerializerTests$User\",\"name\":\"虎哥\",\"age\":21}",
        new String(raw("user:100".getBytes()), StandardCharsets.UTF_8));
    assertEquals(new User("虎哥", 21), template.opsForValue().get("user:100"));
    template.opsForHash().put("users", "王五", new User("王五", 30));
    assertEquals(new User("王五", 30), template.opsForHash().get("users", "王五"));
    template.opsForSet().add("set", List.of("旅游", "摄影").toArray());
    assertEquals(2, template.opsForSet().size("set"));
    assertTrue(template.opsForSet().isMember("set", "旅游"));
  }

  @Test
  void jsonByHandInStrings() throws JsonProcessingException {
    ObjectMapper mapper = new ObjectMapper();
    redis.opsForValue().set("user:200", mapper.writeValueAsString(new User("王五", 21)));
    assertEquals("{\"name\":\"王五\",\"age\":21}", redis.opsForValue().get("user:200"));
    assertEquals(new User("王五", 21), mapper.readValue(redis.opsForValue().get("user:200"), User.class));
  }
}
