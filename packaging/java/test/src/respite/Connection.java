package respite;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Implements enough of RESP to send TEST commands, so that no client library is needed. */
final class Connection implements AutoCloseable {
  private final Socket socket;
  private final InputStream input;

  Connection(String host, int port, String user, String password) throws IOException {
    socket = new Socket(host, port);
    socket.setTcpNoDelay(true);
    input = new BufferedInputStream(socket.getInputStream());
    if (user == null && password == null) {
      ask("HELLO", 3);
    } else {
      ask("HELLO", 3, "AUTH", user == null ? "default" : user, password == null ? "x" : password);
    }
  }

  /** Returns a String, Long, Double, Boolean, null, List or Map. An error is a RespiteException. */
  synchronized Object ask(Object... words) throws IOException {
    ByteArrayOutputStream request = new ByteArrayOutputStream();
    request.write(("*" + words.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
    for (Object word : words) {
      byte[] octets = word.toString().getBytes(StandardCharsets.UTF_8);
      request.write(("$" + octets.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
      request.write(octets);
      request.write('\r');
      request.write('\n');
    }
    socket.getOutputStream().write(request.toByteArray());
    return reply();
  }

  private String line() throws IOException {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (int octet = input.read(); octet != '\n'; octet = input.read()) {
      if (octet < 0) {
        throw new EOFException("The server ended the connection");
      }
      text.write(octet);
    }
    String line = text.toString(StandardCharsets.UTF_8);
    return line.substring(0, line.length() - 1);
  }

  private String bulk(int size) throws IOException {
    byte[] octets = input.readNBytes(size + 2);
    return new String(octets, 0, size, StandardCharsets.UTF_8);
  }

  private Object reply() throws IOException {
    String line = line();
    String rest = line.substring(1);
    switch (line.charAt(0)) {
      case '-': throw new RespiteException(rest);
      case '!': throw new RespiteException(bulk(Integer.parseInt(rest)));
      case ':': return Long.valueOf(rest);
      case ',': return Double.valueOf(rest);
      case '#': return rest.equals("t");
      case '_': return null;
      case '$': return bulk(Integer.parseInt(rest));
      case '=': return bulk(Integer.parseInt(rest)).substring(4);
      case '*': case '~': case '>': return list(Integer.parseInt(rest));
      case '%': return map(Integer.parseInt(rest));
      default: return rest;
    }
  }

  private List<Object> list(int size) throws IOException {
    List<Object> values = new ArrayList<>(size);
    for (int i = 0; i < size; ++i) {
      values.add(reply());
    }
    return values;
  }

  private Map<Object, Object> map(int size) throws IOException {
    Map<Object, Object> values = new LinkedHashMap<>();
    for (int i = 0; i < size; ++i) {
      values.put(reply(), reply());
    }
    return values;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
