package respite;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Where the program is: the property respite.server, or $RESPITE_SERVER, or the one in the jar, unpacked once into the user's cache. */
final class Program {
  private Program() {}

  static Path find() throws IOException {
    String given = System.getProperty("respite.server", System.getenv("RESPITE_SERVER"));
    return given != null ? Path.of(given) : unpacked();
  }

  private static Path unpacked() throws IOException {
    String resource = "/respite/linux-" + architecture() + "/respite-server";
    try (InputStream digest = Program.class.getResourceAsStream(resource + ".sha256")) {
      if (digest == null) {
        throw new IOException("There is no respite-server for this platform; the property respite.server can name one");
      }
      String name = new String(digest.readAllBytes(), StandardCharsets.US_ASCII).substring(0, 16);
      Path program = cache().resolve("respite").resolve(name).resolve("respite-server");
      if (!Files.isExecutable(program)) {
        unpack(resource, program);
      }
      return program;
    }
  }

  private static String architecture() {
    String name = System.getProperty("os.arch");
    return name.equals("amd64") ? "x86_64" : name;
  }

  private static Path cache() {
    String given = System.getenv("XDG_CACHE_HOME");
    return given != null && !given.isEmpty() ? Path.of(given) : Path.of(System.getProperty("user.home"), ".cache");
  }

  /** Writes beside the path and renames, since other processes may do the same. */
  private static void unpack(String resource, Path program) throws IOException {
    Files.createDirectories(program.getParent());
    Path part = Files.createTempFile(program.getParent(), "unpacking-", "");
    try (InputStream content = Program.class.getResourceAsStream(resource)) {
      Files.copy(content, part, StandardCopyOption.REPLACE_EXISTING);
    }
    if (!part.toFile().setExecutable(true, false)) {
      throw new IOException("Cannot make " + part + " executable");
    }
    Files.move(part, program, StandardCopyOption.ATOMIC_MOVE);
  }
}
