package clients.support;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** Sends one inline command over its own socket, before any client library connects to the server. */
final class Wire {
  private static final int TIMEOUT_MS = 2000;

  private Wire() {}

  /** Returns whether a server answers PING, or requires a password. A server that still loads does not count. */
  static boolean answers(String host, int port) {
    try (Socket socket = connect(host, port)) {
      String line = ask(socket, "PING").readLine();
      return line != null && (line.startsWith("+PONG") || line.startsWith("-NOAUTH"));
    } catch (IOException exception) {
      return false;
    }
  }

  static int version(String host, int port) {
    try (Socket socket = connect(host, port)) {
      BufferedReader lines = ask(socket, "INFO server");
      String line = lines.readLine();
      while (line != null && !line.startsWith("redis_version:")) {
        line = lines.readLine();
      }
      if (line == null) {
        throw new IOException("no redis_version in INFO");
      }
      String[] parts = line.substring("redis_version:".length()).trim().split("\\.");
      return Integer.parseInt(parts[0]) * 10000 + Integer.parseInt(parts[1]) * 100 + Integer.parseInt(parts[2]);
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private static Socket connect(String host, int port) throws IOException {
    Socket socket = new Socket();
    socket.connect(new InetSocketAddress(host, port), TIMEOUT_MS);
    socket.setSoTimeout(TIMEOUT_MS);
    return socket;
  }

  private static BufferedReader ask(Socket socket, String command) throws IOException {
    socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
    return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
  }
}
