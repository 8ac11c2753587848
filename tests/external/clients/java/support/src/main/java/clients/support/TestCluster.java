package clients.support;

import java.util.Arrays;
import java.util.List;

/** The cluster of the suite, and how to request changes of it: see tests/external/clients/README.md. */
public final class TestCluster {
  private TestCluster() {}

  /** "host:port" of each node. */
  public static List<String> addresses() {
    return Arrays.asList(Control.variable("REDIS_CLUSTER").split(","));
  }

  public static List<Integer> ports() {
    return addresses().stream().map(address -> Integer.parseInt(address.split(":")[1])).toList();
  }

  /** Sends one request. Returns the rest of the answer. */
  public static String control(Object... words) {
    return Control.ask("REDIS_CLUSTER_CONTROL", words);
  }

  /** The port of the key's primary. */
  public static int owner(String key) {
    return Integer.parseInt(control("owner", key));
  }
}
