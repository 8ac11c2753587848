package clients.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server that belongs to one test: started from REDIS_SERVER on a free loopback port, with a temporary folder as its
 * data folder. It can be killed and restarted on the same port and folder; close() ends it and removes the folder.
 */
public final class OwnServer implements AutoCloseable {
  private static final Duration START_LIMIT = Duration.ofSeconds(20);
  private static final int TRIES = 3;

  private final String program;
  private final List<String> arguments;
  private final Path folder;
  private final Thread killer = new Thread(this::kill);
  private int port;
  private Process process;

  private OwnServer(String program, List<String> arguments, Path folder) {
    this.program = program;
    this.arguments = arguments;
    this.folder = folder;
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** Starts a server that saves nothing unless `arguments` say so, such as "--appendonly", "yes". */
  public static OwnServer start(String... arguments) {
    return startProgram(Servers.BINARY, arguments);
  }

  /** Starts another program than the suite's. */
  public static OwnServer startProgram(String program, String... arguments) {
    OwnServer server = new OwnServer(program, List.of(arguments), temporaryFolder());
    try {
      // Another process may take a free port before the server binds it. The server then exits immediately, and this
      // tries another port.
      for (int attempt = 1; !server.launch(Servers.freePort()); attempt++) {
        if (attempt == TRIES) {
          throw new AssertionError("the server does not start:\n" + server.log());
        }
      }
      return server;
    } catch (IOException exception) {
      server.close();
      throw new UncheckedIOException(exception);
    } catch (AssertionError failure) {
      server.close();
      throw failure;
    }
  }

  private static Path temporaryFolder() {
    try {
      return Files.createTempDirectory("clients-");
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  public String host() {
    return "127.0.0.1";
  }

  public int port() {
    return port;
  }

  public String address() {
    return "redis://" + host() + ":" + port;
  }

  public Path folder() {
    return folder;
  }

  /** Kills the server with SIGKILL: data that was not on the disk is lost. */
  public void kill() {
    if (process == null) {
      return;
    }
    try {
      process.destroyForcibly().waitFor();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }

  /** SIGTERM, as a service manager stops it. */
  public void stop() {
    try {
      process.destroy();
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        throw new AssertionError("the server does not stop:\n" + log());
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }

  /** Restarts it on the same port and folder, after kill() or stop(). */
  public void restart() {
    try {
      if (!launch(port)) {
        throw new AssertionError("the server does not start again:\n" + log());
      }
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns the output of the server so far. */
  public String log() {
    try {
      return Files.readString(folder.resolve("log"));
    } catch (IOException exception) {
      return exception.toString();
    }
  }

  @Override
  public void close() {
    kill();
    Runtime.getRuntime().removeShutdownHook(killer);
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns false if the server ended instead of answering. */
  private boolean launch(int newPort) throws IOException {
    port = newPort;
    List<String> command = new ArrayList<>(List.of(program, "--bind", "127.0.0.1", "--port", "" + port));
    command.addAll(List.of("--dir", folder.toString(), "--save", ""));
    command.addAll(arguments);
    process = new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
        .start();
    Await.await("the server answers", START_LIMIT, () -> !process.isAlive() || Wire.answers(host(), port));
    return process.isAlive();
  }
}
