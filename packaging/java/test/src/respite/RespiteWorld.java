package respite;

/** An isolated server behind the port of another one; created when it is first used, and dropped by close(). */
public final class RespiteWorld extends RespitePlace {
  private final RespiteServer server;
  private final String name;

  RespiteWorld(RespiteServer server, String name) {
    super(server.port(), "world." + name, server.password());
    this.server = server;
    this.name = name;
  }

  public String name() {
    return name;
  }

  @Override
  public void close() {
    super.close();
    server.test("WORLD", "DROP", name);
  }
}
