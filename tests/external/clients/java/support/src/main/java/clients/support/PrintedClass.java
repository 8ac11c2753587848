package clients.support;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;

/** A class that a page of the project prints, with the heading above it. */
public record PrintedClass(String heading, String code) {
  private static final Pattern HEADING_OR_CLASS = Pattern.compile("(?ms)^## (.*?)$|^```java\\n(.*?)^```");
  private static final Pattern NAME = Pattern.compile("(?m)^class (\\w+)");

  public static List<PrintedClass> of(String page) throws IOException {
    List<PrintedClass> found = new ArrayList<>();
    Matcher next = HEADING_OR_CLASS.matcher(Files.readString(PrintedLines.root().resolve(page)));
    for (String heading = ""; next.find(); ) {
      if (next.group(1) != null) heading = next.group(1);
      else found.add(new PrintedClass(heading, next.group(2)));
    }
    return found;
  }

  /** Compiles it in a folder as printed, except for the port. The caller must close its loader. */
  public Compiled compile(int port, Path folder) throws IOException {
    Matcher name = NAME.matcher(code);
    if (!name.find() || !code.contains("6379")) throw new AssertionError("no class, or no port, in\n" + code);
    Path source = folder.resolve(name.group(1) + ".java");
    Files.writeString(source, code.replace("6379", String.valueOf(port)));
    String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    int status = ToolProvider.getSystemJavaCompiler().run(null, System.out, System.out, "-proc:none", "-cp",
        path + File.pathSeparator + folder, "-d", folder.toString(), source.toString());
    if (status != 0) throw new AssertionError("this does not compile:\n" + code);
    URLClassLoader loader =
        new URLClassLoader(new URL[] {folder.toUri().toURL()}, Thread.currentThread().getContextClassLoader());
    return new Compiled(loader, name.group(1));
  }

  /** The class, to be loaded. */
  public record Compiled(URLClassLoader loader, String name) implements AutoCloseable {
    public Class<?> load() throws ClassNotFoundException {
      return loader.loadClass(name);
    }

    @Override
    public void close() throws IOException {
      loader.close();
    }
  }
}
