package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import clients.support.PrintedClass;
import clients.support.Servers;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** The test classes that docs/test_server_tasks.md prints, compiled and run as printed, except for the port. */
class GuideTest {
  static List<PrintedClass> printed() throws IOException {
    return PrintedClass.of("docs/test_server_tasks.md");
  }

  @Test
  void thePagePrintsSome() throws IOException {
    assertTrue(printed().size() >= 2);
  }

  @ParameterizedTest
  @MethodSource("printed")
  @EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
  void aPieceOfThePagePasses(PrintedClass piece, @TempDir Path folder) throws Exception {
    try (PrintedClass.Compiled compiled = piece.compile(Servers.testPort(), folder)) {
      TestExecutionSummary summary = run(compiled.load());
      StringWriter text = new StringWriter();
      summary.printFailuresTo(new PrintWriter(text));
      assertEquals(0, summary.getTotalFailureCount(), text::toString);
      assertTrue(summary.getTestsSucceededCount() > 0, "it has no test");
    }
  }

  private static final String FAILING =
      """
      import java.net.URI;
      import org.junit.jupiter.api.Test;
      import redis.clients.jedis.Jedis;

      class FailingTest {
        static final URI WORLD = URI.create("redis://world.java-failing:any@localhost:6379");

        @Test
        void theLockIsNotTaken() {
          try (Jedis admin = new Jedis(WORLD); Jedis worker = new Jedis(WORLD)) {
            worker.clientSetname("worker-1");
            admin.sendCommand(() -> "TEST".getBytes(), "JOURNAL", "START");
            worker.set("lock:1", "a b");
            worker.get("stock");
            admin.sendCommand(() -> "TEST".getBytes(), "EXPECT", "COMMAND", "set", "KEY", "lock:*", "NONE");
          }
        }
      }
      """;

  @Test
  @EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
  void aFailedExpectationIsReadable(@TempDir Path folder) throws Exception {
    try (PrintedClass.Compiled compiled = new PrintedClass("", FAILING).compile(Servers.testPort(), folder)) {
      TestExecutionSummary summary = run(compiled.load());
      StringWriter text = new StringWriter();
      summary.printFailuresTo(new PrintWriter(text));
      String wanted = "EXPECT wanted none of [COMMAND set KEY lock:*], saw 1: | #1 worker-1: SET lock:1 \"a b\" -> ok\n";
      assertTrue(text.toString().contains(wanted), text::toString);
    }
  }

  private static TestExecutionSummary run(Class<?> tests) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(), listener);
    return listener.getSummary();
  }
}
