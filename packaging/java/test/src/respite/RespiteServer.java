package respite;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/** A server for tests. It ends with close(), and at the latest when this process ends. */
public final class RespiteServer extends RespitePlace {
  private static final long PAUSE_NS = 200_000;

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

  /** The same, with a password for the default user. */
  public static RespiteServer startWithPassword(String password, String... arguments) {
    return start(List.of(arguments), password);
  }

  private static RespiteServer start(List<String> arguments, String password) {
    try {
      Path folder = Files.createTempDirectory("respite-");
      Path log = folder.resolve("log");
      try {
        Process process = launch(arguments, password, folder.resolve("port"), log);
        return new RespiteServer(process, readPorts(process, folder.resolve("port"), log), password);
      } finally {
        Files.deleteIfExists(folder.resolve("port"));
        Files.deleteIfExists(log);
        Files.deleteIfExists(folder);
      }
    } catch (IOException e) {
      throw new RespiteException("respite-server cannot be started", e);
    }
  }

  private static Process launch(List<String> arguments, String password, Path ports, Path log) throws IOException {
    List<String> command = new ArrayList<>(List.of(Program.find().toString(), "--test"));
    if (password != null) {
      command.addAll(List.of("--requirepass", password));
    }
    command.addAll(arguments);
    command.addAll(List.of("--port-file", ports.toString()));
    return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
  }

  /** Java passes no descriptors to its children, so the ports come by a file. */
  private static List<Integer> readPorts(Process process, Path file, Path log) throws IOException {
    while (true) {
      boolean isAlive = process.isAlive();
      String text = Files.exists(file) ? Files.readString(file) : "";
      if (text.endsWith("\n")) {
        List<Integer> ports = new ArrayList<>();
        text.lines().forEach(line -> ports.add(Integer.valueOf(line)));
        return ports;
      }
      if (!isAlive) {
        throw new RespiteException("respite-server did not start:\n" + Files.readString(log));
      }
      LockSupport.parkNanos(PAUSE_NS);
    }
  }

  /** The port of each node of --nodes; otherwise one. */
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
