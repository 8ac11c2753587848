package clients.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** The cluster that runs for the suite, and how to ask for changes of it: see tests/clients/README.md. */
public final class TestCluster {
  private static final int LIMIT_MS = 90_000;

  private TestCluster() {}

  /** "host:port" of each node. */
  public static List<String> addresses() {
    return Arrays.asList(variable("REDIS_CLUSTER").split(","));
  }

  public static List<Integer> ports() {
    return addresses().stream().map(address -> Integer.parseInt(address.split(":")[1])).toList();
  }

  /** Sends one wish; returns the rest of the answer. */
  public static String control(Object... words) {
    String line = String.join(" ", Arrays.stream(words).map(String::valueOf).toList());
    try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(variable("REDIS_CLUSTER_CONTROL")))) {
      socket.setSoTimeout(LIMIT_MS);
      socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      String answer = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)).readLine();
      if (answer == null || !answer.startsWith("ok")) {
        throw new AssertionError(answer);
      }
      return answer.substring(2).trim();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** The port of the key's primary. */
  public static int owner(String key) {
    return Integer.parseInt(control("owner", key));
  }

  private static String variable(String name) {
    String value = System.getenv(name);
    if (value == null) {
      throw new AssertionError(name + " is not set: run the suite with ./dev clients");
    }
    return value;
  }
}
