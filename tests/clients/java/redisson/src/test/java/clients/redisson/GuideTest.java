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

/** The test classes that docs/test_server_tasks.md prints, compiled and run as they are printed but for the port. */
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

  private static TestExecutionSummary run(Class<?> tests) {
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherFactory.create().execute(LauncherDiscoveryRequestBuilder.request().selectors(selectClass(tests)).build(), listener);
    return listener.getSummary();
  }
}
