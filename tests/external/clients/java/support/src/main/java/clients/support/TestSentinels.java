package clients.support;

import java.util.Arrays;
import java.util.List;

/** The primary with Sentinels of the suite, and how to request changes of it: see tests/external/clients/README.md. */
public final class TestSentinels {
  /** The Sentinels' name of the primary. */
  public static final String NAME = "mymaster";

  private TestSentinels() {}

  /** Starts a new primary with two replicas and three Sentinels; returns "host:port" of each Sentinel. */
  public static List<String> fresh() {
    return Arrays.asList(control("fresh").split(","));
  }

  /** Sends one request. Returns the rest of the answer. */
  public static String control(Object... words) {
    return Control.ask("REDIS_SENTINELS_CONTROL", words);
  }

  /** The port of the primary. */
  public static int primary() {
    return Integer.parseInt(control("primary"));
  }

  /** The ports of the other living servers, in ascending order. */
  public static List<Integer> replicas() {
    return Arrays.stream(control("replicas").split(" ")).map(Integer::parseInt).sorted().toList();
  }
}
