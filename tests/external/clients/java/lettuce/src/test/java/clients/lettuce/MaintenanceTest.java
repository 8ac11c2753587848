package clients.lettuce;

import static clients.support.Await.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import clients.support.Servers;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;
import io.lettuce.core.MaintNotificationsConfig.EndpointType;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.ProtocolVersion;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Announcements of maintenance, which TEST PUSH sends: longer timeouts, and another server. */
@EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
class MaintenanceTest {
  private static final Duration SHORT = Duration.ofMillis(300); // shorter than the delay of GET slow
  private static final String SLOW_MS = "900"; // how long the server delays GET slow

  private final RedisClient plain = RedisClient.create();
  private final RedisClient client = RedisClient.create();
  private OwnServer server;
  private RedisCommands<String, String> admin;

  @BeforeEach
  void start() {
    server = startServer();
    admin = admin(server);
    test(admin, "FAULT", "ADD", "slow", "WHEN", "KEY", "slow", "DO", "DELAY", SLOW_MS);
  }

  @AfterEach
  void end() {
    client.shutdown(Duration.ZERO, Duration.ZERO);
    plain.shutdown(Duration.ZERO, Duration.ZERO);
    server.close();
  }

  private static OwnServer startServer() {
    return OwnServer.start("--test-commands", "local", "--test-maint-notifications", "yes");
  }

  private RedisCommands<String, String> admin(OwnServer server) {
    return plain.connect(RedisURI.create(server.host(), server.port())).sync();
  }

  private static Object test(RedisCommands<String, String> redis, String... words) {
    ProtocolKeyword name = new ProtocolKeyword() {
      @Override
      public byte[] getBytes() {
        return name().getBytes(UTF_8);
      }

      @Override
      public String name() {
        return "TEST";
      }
    };
    CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
    List.of(words).forEach(arguments::add);
    return redis.dispatch(name, new NestedMultiOutput<>(StringCodec.UTF8), arguments);
  }

  private void push(String words) {
    String[] all = ("PUSH app SUBSCRIBED " + words).split(" ");
    assertEquals(List.of(1L), test(admin, all));
  }

  private StatefulRedisConnection<String, String> connect(Duration timeout) {
    client.setOptions(ClientOptions.builder()
        .protocolVersion(ProtocolVersion.RESP3)
        .maintNotificationsConfig(MaintNotificationsConfig.enabled(EndpointType.INTERNAL_IP))
        .timeoutOptions(TimeoutOptions.builder()
            .timeoutCommands()
            .fixedTimeout(timeout)
            .relaxedTimeoutsDuringMaintenance(Duration.ofSeconds(2))
            .build())
        .build());
    return client.connect(
        RedisURI.builder().withHost(server.host()).withPort(server.port()).withClientName("app").build());
  }

  @ParameterizedTest
  @CsvSource({"MIGRATING 1 10 [1], MIGRATED 2 [1]", "FAILING_OVER 3 10 [1], FAILED_OVER 4 [1]"})
  void timeoutsAreLongerDuringMaintenance(String begin, String end) throws Exception {
    RedisAsyncCommands<String, String> redis = connect(SHORT).async(); // the synchronous methods keep their timeout
    assertTrue(isTooLate(redis.get("slow")));
    await("the server answers again", () -> !isTooLate(redis.ping()));
    push(begin);
    assertFalse(isTooLate(redis.ping())); // its reply comes after the announcement
    assertFalse(isTooLate(redis.get("slow")));
    push(end);
    await("the timeout is short again", () -> isTooLate(redis.get("slow")));
  }

  private static boolean isTooLate(RedisFuture<String> reply) throws Exception {
    try {
      reply.get(20, TimeUnit.SECONDS);
      return false;
    } catch (ExecutionException error) {
      assertInstanceOf(RedisCommandTimeoutException.class, error.getCause());
      return true;
    }
  }

  @Test
  void movingTakesTheClientToAnotherServer() {
    try (OwnServer other = startServer()) {
      admin.set("where", "old");
      admin(other).set("where", "new");
      RedisCommands<String, String> redis = connect(Duration.ofSeconds(20)).sync();
      assertEquals("old", redis.get("where"));
      push("MOVING 1 15 " + other.host() + ":" + other.port());
      await("the other server", () -> "new".equals(redis.get("where")));
    }
  }
}
