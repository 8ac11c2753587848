package clients.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import clients.support.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;
import reactor.core.publisher.Flux;

/** The reactive template, which only Lettuce supports. */
class ReactiveWithLettuceTest extends OnSuiteServer {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private final ReactiveStringRedisTemplate reactive;

  ReactiveWithLettuceTest() {
    super(Driver.LETTUCE);
    reactive = application.getBean(ReactiveStringRedisTemplate.class);
  }

  @Test
  void valuesAndLists() {
    assertEquals(true, reactive.opsForValue().set("name", "虎哥").block(LIMIT));
    assertEquals("虎哥", reactive.opsForValue().get("name").block(LIMIT));
    assertEquals(3, reactive.opsForList().rightPushAll("list", "a", "b", "c").block(LIMIT));
    assertEquals(List.of("a", "b", "c"), reactive.opsForList().range("list", 0, -1).collectList().block(LIMIT));
    assertEquals(
        500,
        Flux.range(0, 500).flatMap(i -> reactive.opsForValue().increment("count")).count().block(LIMIT));
    assertEquals("500", redis.opsForValue().get("count"));
  }

  @Test
  void scripts() {
    RedisScript<String> script = RedisScript.of("return redis.call('get', KEYS[1])", String.class);
    redis.opsForValue().set("key", "value");
    assertEquals("value", reactive.execute(script, List.of("key")).blockFirst(LIMIT));
  }

  @Test
  void messages() {
    var messages = reactive.listenToChannelLater("news").block(LIMIT).map(message -> message.getMessage()).take(2);
    var collected = messages.collectList().toFuture();
    Await.await("subscribed", () -> redis.convertAndSend("news", "one") == 1);
    redis.convertAndSend("news", "two");
    assertEquals(List.of("one", "two"), collected.orTimeout(10, TimeUnit.SECONDS).join());
  }
}
