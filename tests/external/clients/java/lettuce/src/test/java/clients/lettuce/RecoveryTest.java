package clients.lettuce;

import static clients.support.Await.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Servers;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.lettuce.core.protocol.RedisProtocolException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * How Lettuce recovers from each fault: what the program sees, and how often INCR runs. The table of
 * docs/testing/client_recovery.md has the same results. The clock of the server stands still, so that no delay ends by
 * itself.
 */
@EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
class RecoveryTest {
  /** For tests that wait until the timeout ends; Lettuce waits a minute. */
  private static final Duration TIMEOUT = Duration.ofMillis(400);

  private static RedisClient controlClient;
  private static RedisCommands<String, String> control;

  private final RedisClient client = newClient();
  private StatefulRedisConnection<String, String> connection;
  private RedisCommands<String, String> redis;

  private enum Word implements ProtocolKeyword {
    TEST;

    @Override
    public byte[] getBytes() {
      return name().getBytes(UTF_8);
    }
  }

  @BeforeAll
  static void connectControl() {
    controlClient = newClient();
    control = controlClient.connect().sync();
  }

  @AfterAll
  static void closeControl() {
    test("RESET");
    controlClient.close();
  }

  @BeforeEach
  void connect() {
    test("RESET");
    test("CLOCK FREEZE");
    connection = client.connect();
    redis = connection.sync();
    redis.ping();
  }

  @AfterEach
  void disconnect() {
    test("FAULT CLEAR");
    client.close();
  }

  private static RedisClient newClient() {
    return RedisClient.create(OnSuiteServer.RESOURCES, RedisURI.create(Servers.HOST, Servers.testPort()));
  }

  private static List<Object> test(String words) {
    CommandArgs<String, String> arguments = new CommandArgs<>(StringCodec.UTF8);
    for (String word : words.split(" ")) arguments.add(word);
    return control.dispatch(Word.TEST, new NestedMultiOutput<>(StringCodec.UTF8), arguments);
  }

  /** Makes the next INCR meet this fault. */
  private static void fault(String action) {
    test("FAULT ADD fault WHEN COMMAND INCR DO " + action + " TIMES 1");
  }

  /** Ends the client's connection, and refuses further ones. */
  private void refuse(String action) {
    long own = redis.clientId();
    test("FAULT ADD fault DO " + action);
    assertEquals(List.of(1L), test("DROP ID " + own));
  }

  private static Object hits() {
    return test("FAULT HITS fault").get(0);
  }

  private static long ran() {
    String count = control.get("n");
    return count == null ? 0 : Long.parseLong(count);
  }

  private boolean answers() {
    try {
      return redis.ping().equals("PONG");
    } catch (RedisException stillBroken) {
      return false;
    }
  }

  /** Removes the fault: the next INCR runs once. */
  private void worksAgain(long before) {
    test("FAULT CLEAR");
    assertEquals(before + 1, redis.incr("n"));
    assertEquals(before + 1, ran());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "OOM", "BUSY", "NOREPLICAS", "MISCONF", "NOSCRIPT",
        "MOVED 1 127.0.0.1:1", "ASK 1 127.0.0.1:1"
      })
  void anErrorIsThrownAndIncrDoesNotRun(String error) {
    long own = redis.clientId();
    fault("ERROR " + error);
    Exception thrown = assertThrows(RedisCommandExecutionException.class, () -> redis.incr("n"));
    assertTrue(thrown.getMessage().startsWith(error.split(" ")[0] + " "), thrown.getMessage());
    assertEquals(own, redis.clientId());
    worksAgain(0);
  }

  @Test
  void aMadeUpReplyIsBelieved() {
    fault("REPLY :41\r\n");
    assertEquals(41, redis.incr("n"));
    worksAgain(0);
  }

  @Test
  void aReplyThatIsNoRespIsAnErrorUntilTheConnectionIsReplaced() {
    long own = redis.clientId();
    fault("REPLY nonsense\r\n");
    assertThrows(RedisProtocolException.class, () -> redis.incr("n"));
    await("Lettuce has another connection", this::answers);
    assertNotEquals(own, redis.clientId());
    worksAgain(0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"DELAY", "DELAY-REPLY"})
  void aDelayThatEndsInTimeIsWaitedFor(String action) throws Exception {
    fault(action + " 1h");
    RedisFuture<Long> reply = connection.async().incr("n");
    await("INCR is delayed", () -> hits().equals(1L));
    test("CLOCK ADVANCE 1h");
    assertEquals(1, reply.get(10, TimeUnit.SECONDS));
    worksAgain(1);
  }

  @ParameterizedTest
  @CsvSource({"DELAY 1h,0", "DELAY-REPLY 1h,1", "TRICKLE 1,1", "SILENCE,1"})
  void afterATimeoutTheConnectionStaysAndWhatIsBehindWaits(String action, long runsAtOnce) {
    long own = redis.clientId();
    connection.setTimeout(TIMEOUT);
    fault(action);
    assertThrows(RedisCommandTimeoutException.class, () -> redis.incr("n"));
    assertEquals(runsAtOnce, ran());
    assertThrows(RedisCommandTimeoutException.class, () -> redis.ping());
    test("FAULT CLEAR");
    connection.setTimeout(RedisURI.DEFAULT_TIMEOUT_DURATION);
    assertEquals(own, redis.clientId());
    assertEquals(1, ran()); // after DELAY, INCR has run by now
    worksAgain(1);
  }

  @ParameterizedTest
  @CsvSource({"CLOSE,1", "CLOSE-AFTER,2", "CUT 2,2"})
  void incrIsRetriedWhenTheConnectionEnds(String action, long runs) {
    fault(action);
    assertEquals(runs, redis.incr("n"));
    assertEquals(1L, hits());
    worksAgain(runs);
  }

  /** Without reconnecting, Lettuce sends nothing twice; but the client must then open another connection. */
  @Test
  void withoutReconnectingALostReplyIsAnErrorAndIncrRunsOnce() {
    client.setOptions(ClientOptions.builder().autoReconnect(false).build());
    RedisCommands<String, String> lost = client.connect().sync();
    fault("CLOSE-AFTER");
    assertThrows(RedisException.class, () -> lost.incr("n"));
    assertEquals(1, ran());
    assertThrows(RedisException.class, () -> lost.incr("n"));
    assertEquals(2, client.connect().sync().incr("n"));
    worksAgain(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"REFUSE", "REFUSE LISTEN"})
  void whenConnectionsAreRefusedIncrFailsAndDoesNotRun(String action) {
    connection.setTimeout(TIMEOUT);
    refuse(action);
    // REFUSE causes a timeout, or a reset of the connection that is being refused.
    assertThrows(RedisException.class, () -> redis.incr("n"));
    test("FAULT CLEAR");
    connection.setTimeout(RedisURI.DEFAULT_TIMEOUT_DURATION);
    await("Lettuce is connected again", this::answers);
    assertEquals(0, ran());
    worksAgain(0);
  }

  /** INCR is in flight when the connection ends: an INCR that comes while a connection is refused can fail. */
  @Test
  void oneRefusalIsNotSeen() {
    test("FAULT ADD refusal DO REFUSE TIMES 1");
    fault("CLOSE");
    assertEquals(1, redis.incr("n"));
    assertEquals(List.of(1L), test("FAULT HITS refusal"));
    worksAgain(1);
  }
}
