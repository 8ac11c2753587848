package respite;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** A server or a world: where clients reach it, and its TEST commands. */
public abstract class RespitePlace implements AutoCloseable {
  private final int port;
  private final String user;
  private final String password;
  private final RespiteClock clock = new RespiteClock(this);
  private Connection connection;

  RespitePlace(int port, String user, String password) {
    this.port = port;
    this.user = user;
    this.password = password;
  }

  public String host() {
    return "127.0.0.1";
  }

  public int port() {
    return port;
  }

  /** The user name for clients; null for the default user. */
  public String user() {
    return user;
  }

  /** The password for clients; null if there is none. */
  public String password() {
    return password;
  }

  /** The URL for clients: redis://… */
  public String url() {
    boolean hasLogin = user != null || password != null;
    String login = quoted(user == null ? "" : user) + ":" + quoted(password == null ? "x" : password) + "@";
    return "redis://" + (hasLogin ? login : "") + host() + ":" + port + "/0";
  }

  private static String quoted(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  public RespiteClock clock() {
    return clock;
  }

  /** Sends a command over its own connection. Returns a String, Long, Double, Boolean, null, List or Map. */
  public synchronized Object ask(Object... words) {
    try {
      if (connection == null) {
        connection = new Connection(host(), port, user, password);
      }
      return connection.ask(words);
    } catch (IOException e) {
      throw new RespiteException("The connection to the server is lost", e);
    }
  }

  /** Sends a TEST command: {@code test("FAULT", "CLEAR")}. */
  public Object test(Object... words) {
    Object[] all = new Object[words.length + 1];
    all[0] = "TEST";
    System.arraycopy(words, 0, all, 1, words.length);
    return ask(all);
  }

  /** Returns data, users, settings, faults and the clock to their state at the start. */
  public void reset() {
    test("RESET");
  }

  @Override
  public synchronized void close() {
    try {
      if (connection != null) {
        connection.close();
      }
    } catch (IOException e) {
      // the connection is closed in any case
    }
    connection = null;
  }
}
