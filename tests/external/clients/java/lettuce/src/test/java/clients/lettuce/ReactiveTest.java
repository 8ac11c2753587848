package clients.lettuce;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.ScanStream;
import io.lettuce.core.TransactionResult;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Publishers that send their command when a subscriber appears. */
class ReactiveTest extends OnSuiteServer {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  @Test
  void nothingIsSentBeforeTheSubscription() {
    Mono<String> set = connection.reactive().set("key", "value");
    assertEquals(0, redis.exists("key"));
    assertEquals("OK", set.block(LIMIT));
    assertEquals("value", redis.get("key"));
  }

  @Test
  void aMissingKeyIsAnEmptyMono() {
    assertEquals("none", connection.reactive().get("missing").defaultIfEmpty("none").block(LIMIT));
  }

  @Test
  void manyCommandsInOneFlux() {
    RedisReactiveCommands<String, String> reactive = connection.reactive();
    Long sum =
        Flux.range(1, 1000)
            .flatMap(i -> reactive.set("key" + i, "" + i).thenReturn("key" + i))
            .flatMap(reactive::get)
            .map(Long::parseLong)
            .reduce(0L, Long::sum)
            .block(LIMIT);
    assertEquals(500_500L, sum);
  }

  @Test
  void multiBulksArePublishedElementByElement() {
    redis.rpush("list", "a", "b", "c");
    assertEquals(List.of("a", "b", "c"), connection.reactive().lrange("list", 0, -1).collectList().block(LIMIT));
    assertEquals(
        List.of(KeyValue.empty("x"), KeyValue.empty("y")),
        connection.reactive().mget("x", "y").collectList().block(LIMIT));
  }

  @Test
  void scanAsAStream() {
    for (int i = 0; i < 200; i++) {
      redis.set("scan:" + i, "");
    }
    Set<String> seen = new TreeSet<>(ScanStream.scan(connection.reactive()).collectList().block(LIMIT));
    assertEquals(200, seen.size());
  }

  @Test
  void transaction() {
    RedisReactiveCommands<String, String> reactive = connection.reactive();
    TransactionResult result =
        reactive.multi()
            .doOnSuccess(queued -> {
              reactive.set("key", "1").subscribe();
              reactive.incr("key").subscribe();
            })
            .then(reactive.exec())
            .block(LIMIT);
    assertEquals(List.of("OK", 2L), result.stream().toList());
  }

  @Test
  void errorsAreSignalled() {
    redis.set("text", "abc");
    assertEquals(
        "ERR value is not an integer or out of range",
        assertThrows(RedisCommandExecutionException.class, () -> connection.reactive().incr("text").block(LIMIT))
            .getMessage());
  }

  @Test
  void messagesAsAFlux() {
    try (var listening = client.connectPubSub()) {
      var reactive = listening.reactive();
      var messages = reactive.observeChannels().map(message -> message.getMessage()).take(3).collectList().toFuture();
      reactive.subscribe("channel").block(LIMIT);
      for (String word : List.of("one", "two", "three")) {
        redis.publish("channel", word);
      }
      assertEquals(List.of("one", "two", "three"), Mono.fromFuture(messages).block(LIMIT));
    }
  }
}
