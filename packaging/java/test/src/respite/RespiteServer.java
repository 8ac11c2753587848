package respite;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** A server for tests. It ends with close(), or at the latest when this process ends. */
public final class RespiteServer extends RespitePlace {
  private static final Pattern PORTS = Pattern.compile("(\\d+\n)+");

  private final Process process;
  private final List<Integer> ports;

  private RespiteServer(Process process, List<Integer> ports, String password) {
    super(ports.get(0), null, password);
    this.process = process;
    this.ports = ports;
  }

  /** Starts a server on a free port, with more arguments of respite-server: {@code start("--nodes", "3x1")}. */
  public static RespiteServer start(String... arguments) {
    return start(List.of(arguments), null);
  }

  /** Starts a server with more arguments, and with a password for the default user. */
  public static RespiteServer startWithPassword(String password, String... arguments) {
    return start(List.of(arguments), password);
  }

  private static RespiteServer start(List<String> arguments, String password) {
    try {
      Process process = launch(arguments, password);
      String said = textOf(process.getInputStream());
      if (!PORTS.matcher(said).matches()) {
        throw new RespiteException("respite-server did not start:\n" + said + textOf(process.getErrorStream()));
      }
      process.getErrorStream().close(); // it continues without a reader of its log
      return new RespiteServer(process, said.lines().map(Integer::valueOf).collect(Collectors.toList()), password);
    } catch (IOException e) {
      throw new RespiteException("respite-server cannot be started", e);
    }
  }

  /** Java passes only the standard descriptors to its children, so the ports come by standard output. */
  private static Process launch(List<String> arguments, String password) throws IOException {
    List<String> command = new ArrayList<>(List.of(Program.find().toString(), "--test"));
    if (password != null) {
      command.addAll(List.of("--requirepass", password));
    }
    command.addAll(arguments);
    command.addAll(List.of("--ready-fd", "1"));
    return Program.start(new ProcessBuilder(command).redirectInput(new File("/dev/null")));
  }

  private static String textOf(InputStream stream) throws IOException {
    return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
  }

  /** The port of each node of --nodes; without nodes, one port. */
  public List<Integer> ports() {
    return ports;
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** An isolated server behind the same port, for tests in parallel. */
  public RespiteWorld world() {
    return world(UUID.randomUUID().toString());
  }

  public RespiteWorld world(String name) {
    return new RespiteWorld(this, name);
  }

  @Override
  public void close() {
    super.close();
    process.destroy();
    try {
      process.waitFor();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
