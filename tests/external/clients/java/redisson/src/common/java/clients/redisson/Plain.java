package clients.redisson;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A connection without Redisson: one socket, which takes commands and returns text or a list. */
final class Plain implements AutoCloseable {
  private static final int TIMEOUT_MS = 10_000;

  private final Socket socket;
  private final InputStream in;

  Plain(String host, int port) {
    try {
      socket = new Socket(host, port);
      socket.setSoTimeout(TIMEOUT_MS);
      in = new BufferedInputStream(socket.getInputStream());
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns the reply as text; null for a nil. An error reply fails the test. */
  String call(String... words) {
    return (String) send(words);
  }

  @SuppressWarnings("unchecked")
  List<String> list(String... words) {
    return (List<String>) send(words);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private synchronized Object send(String... words) {
    try {
      ByteArrayOutputStream request = new ByteArrayOutputStream();
      request.writeBytes(("*" + words.length + "\r\n").getBytes(StandardCharsets.UTF_8));
      for (String word : words) {
        byte[] bytes = word.getBytes(StandardCharsets.UTF_8);
        request.writeBytes(("$" + bytes.length + "\r\n").getBytes(StandardCharsets.UTF_8));
        request.writeBytes(bytes);
        request.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
      }
      socket.getOutputStream().write(request.toByteArray());
      return reply();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private Object reply() throws IOException {
    String line = line();
    String rest = line.substring(1);
    switch (line.charAt(0)) {
      case '+', ':':
        return rest;
      case '$':
        return rest.equals("-1") ? null : bulk(Integer.parseInt(rest));
      case '*':
        List<Object> elements = new ArrayList<>();
        for (int i = Integer.parseInt(rest); i > 0; i--) {
          elements.add(reply());
        }
        return elements;
      default:
        throw new AssertionError(line);
    }
  }

  private String bulk(int length) throws IOException {
    byte[] bytes = in.readNBytes(length + 2);
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
  }

  private String line() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int next = in.read(); next != '\r'; next = in.read()) {
      if (next < 0) {
        throw new EOFException("the server closed the connection");
      }
      bytes.write(next);
    }
    in.read();
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
