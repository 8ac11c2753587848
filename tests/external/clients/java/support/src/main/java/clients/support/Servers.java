package clients.support;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;

/** The server of the suite, and the program to start more servers (see OwnServer). */
public final class Servers {
  public static final String HOST = setting("REDIS_HOST", "127.0.0.1");
  public static final int PORT = Integer.parseInt(setting("REDIS_PORT", "6379"));
  /** "redis://host:port", as most clients take it. */
  public static final String ADDRESS = "redis://" + HOST + ":" + PORT;
  public static final String BINARY = setting("REDIS_SERVER", "redis-server");

  /** The variable with host:port of the server that has the command TEST; not set if the server under test has none. */
  public static final String TEST_SERVER = "REDIS_TEST_SERVER";

  private Servers() {}

  /** The port of the server that has the command TEST, which is also on HOST. */
  public static int testPort() {
    String address = System.getenv(TEST_SERVER);
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /** The version of the suite's server as one number: 7.0.15 is 70015. For tests of features newer than 7.0. */
  public static int version() {
    return Wire.version(HOST, PORT);
  }

  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }

  /**
   * Fails unless the server of this INFO runs our program. Another server, such as the one in a jar, would answer just
   * as well.
   */
  public static void assertRunsBinary(String info) throws IOException {
    String program = info.replaceFirst("(?s).*\\nexecutable:([^\\r\\n]+).*", "$1");
    if (!Path.of(program).toRealPath().equals(Path.of(BINARY).toRealPath())) throw new AssertionError(program);
  }

  private static String setting(String name, String standard) {
    String value = System.getenv(name);
    return value == null || value.isEmpty() ? standard : value;
  }
}
