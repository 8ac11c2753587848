package clients.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The control ports of a suite: see tests/external/clients/README.md. */
final class Control {
  private static final int LIMIT_MS = 90_000;

  private Control() {}

  /** Sends one request to the port that this variable names. Returns the rest of the answer. */
  static String ask(String variable, Object... words) {
    String line = String.join(" ", Arrays.stream(words).map(String::valueOf).toList());
    try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(variable(variable)))) {
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

  static String variable(String name) {
    String value = System.getenv(name);
    if (value == null) {
      throw new AssertionError(name + " is not set: run the suite with ./dev clients");
    }
    return value;
  }
}
