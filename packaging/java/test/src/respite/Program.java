package respite;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;

/** Finds the program: the property respite.server, or $RESPITE_SERVER, or the one in the jar, unpacked once into the user's cache. */
final class Program {
  private static final String RESOURCE = "/respite/linux-" + architecture() + "/respite-server";
  private static final int MOST_TRIES = 100;
  private static final int PAUSE_MS = 10;

  private final String digest;
  private final long size;

  private Program(String facts) {
    digest = facts.substring(0, facts.indexOf(' '));
    size = Long.parseLong(facts.substring(facts.indexOf(' ') + 1));
  }

  static Path find() throws IOException {
    String given = System.getProperty("respite.server", System.getenv("RESPITE_SERVER"));
    return given != null ? Path.of(given) : Packed.unpacked();
  }

  /**
   * Starts a program that may just have been unpacked. A process that another thread is starting may have the file open
   * for writing for a moment, and during this time the file cannot be run.
   */
  static Process start(ProcessBuilder builder) throws IOException {
    for (int tries = 1;; ++tries) {
      try {
        return builder.start();
      } catch (IOException e) {
        if (tries == MOST_TRIES || !String.valueOf(e.getMessage()).contains("error=26")) {
          throw e;
        }
        pause();
      }
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(PAUSE_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("Interrupted", e);
    }
  }

  /** The program in the jar, which is searched only one time. */
  private static final class Packed {
    private static Path found;

    private static synchronized Path unpacked() throws IOException {
      if (found == null || !Files.isExecutable(found)) {
        found = read().inSomeFolder();
      }
      return found;
    }
  }

  private static Program read() throws IOException {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new IOException("Respite runs on Linux only, so far: use a Linux container or virtual machine, or WSL 2."
          + " The property respite.server can name another program");
    }
    try (InputStream facts = Program.class.getResourceAsStream(RESOURCE + ".facts")) {
      if (facts == null) {
        throw new IOException("There is no respite-server for this platform; the property respite.server can name one");
      }
      return new Program(new String(facts.readAllBytes(), StandardCharsets.US_ASCII));
    }
  }

  private static String architecture() {
    String name = System.getProperty("os.arch");
    return name.equals("amd64") ? "x86_64" : name;
  }

  /** Uses the user's cache. If nothing can be kept or run there, uses a folder of this process. */
  private Path inSomeFolder() throws IOException {
    try {
      Path program = cache().resolve("respite").resolve(digest.substring(0, 16)).resolve("respite-server");
      if (isWhole(program) || isWhole(unpack(program))) {
        return program;
      }
    } catch (IOException e) {
      // the other folder will be used
    }
    Path folder = Files.createTempDirectory("respite-", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    folder.toFile().deleteOnExit();
    Path program = unpack(folder.resolve("respite-server"));
    program.toFile().deleteOnExit();
    if (!isWhole(program)) {
      throw new IOException(program + " may not be run there; the property respite.server can name the program, java.io.tmpdir a folder");
    }
    return program;
  }

  private static Path cache() throws IOException {
    String given = System.getenv("XDG_CACHE_HOME");
    Path cache = given != null && !given.isEmpty() ? Path.of(given) : Path.of(System.getProperty("user.home"), ".cache");
    if (!cache.isAbsolute()) {
      throw new IOException("This user has no home"); // Java's text for an unknown home
    }
    return cache;
  }

  private boolean isWhole(Path program) throws IOException {
    return Files.isExecutable(program) && Files.size(program) == size;
  }

  /** Writes to a file next to the path and renames it, since other processes may do this at the same time. */
  private static Path unpack(Path program) throws IOException {
    Files.createDirectories(program.getParent());
    Path part = Files.createTempFile(program.getParent(), "unpacking-", "");
    try {
      try (InputStream content = Program.class.getResourceAsStream(RESOURCE)) {
        Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
      }
      Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwxr-xr-x"));
      return Files.move(part, program, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }
}
