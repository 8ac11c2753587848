package clients.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jshell.JShell;
import jdk.jshell.SnippetEvent;
import jdk.jshell.execution.LocalExecutionControlProvider;

/** Lines of Java that the pages of the project print, run as printed, except for the program's path and the port. */
public final class PrintedLines {
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern PROGRAM = Pattern.compile("\"[^\"]*/re(?:dis|spite)-server\"");
  private static final Pattern PORT = Pattern.compile("\\b6[34]\\d\\d\\b");

  private PrintedLines() {}

  /** Returns the pieces of code that contain `part`, in the row of a page's table that begins with `row`. */
  public static List<String> of(String page, String row, String part) throws IOException {
    List<String> found = new ArrayList<>();
    for (String line : Files.readAllLines(root().resolve(page))) {
      Matcher code = CODE.matcher(line);
      while (line.startsWith("| " + row) && code.find()) {
        if (code.group(1).contains(part)) found.add(code.group(1));
      }
    }
    return found;
  }

  /** The checks of a running server. */
  public interface Check {
    void run() throws IOException;
  }

  /** Starts `new Server` as the line says, runs the check, and stops it. */
  public static void run(String line, int port, Check check) throws IOException {
    String code = PORT.matcher(PROGRAM.matcher(line).replaceAll("\"" + Servers.BINARY + "\""))
        .replaceAll(String.valueOf(port));
    try (JShell shell = JShell.builder().executionEngine(new LocalExecutionControlProvider(), null).build()) {
      String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
      for (String entry : path.split(java.io.File.pathSeparator)) shell.addToClasspath(entry);
      evaluate(shell, "import java.io.File;");
      evaluate(shell, "import redis.embedded.RedisServer;");
      evaluate(shell, "RedisServer server = " + code + ";");
      try {
        evaluate(shell, "server.start();");
        check.run();
      } finally {
        evaluate(shell, "server.stop();");
      }
    }
  }

  private static void evaluate(JShell shell, String code) {
    for (SnippetEvent event : shell.eval(code)) {
      String why = shell.diagnostics(event.snippet()).map(one -> one.getMessage(null)).toList().toString();
      if (event.exception() != null) throw new AssertionError(code + ": " + event.exception(), event.exception());
      if (!event.status().name().equals("VALID")) throw new AssertionError(code + ": " + why);
    }
  }

  /** The folder of the project. */
  static Path root() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("docs/clients.md"))) folder = folder.getParent();
    return folder;
  }
}
