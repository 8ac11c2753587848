package redis.embedded;

import java.util.ArrayList;
import java.util.List;
import respite.RespiteServer;

/** A Respite server behind the interface of embedded-redis. */
public final class RedisServer implements Redis {
  public static final int DEFAULT_REDIS_PORT = 6379;

  private final int port;
  private final List<String> arguments;
  private RespiteServer server;

  public RedisServer() {
    this(DEFAULT_REDIS_PORT);
  }

  public RedisServer(int port) {
    this(port, List.of());
  }

  RedisServer(int port, List<String> arguments) {
    this.port = port;
    this.arguments = new ArrayList<>(arguments);
  }

  public static RedisServerBuilder builder() {
    return new RedisServerBuilder();
  }

  public static RedisServerBuilder newRedisServer() {
    return new RedisServerBuilder();
  }

  @Override
  public synchronized boolean isActive() {
    return server != null && server.isAlive();
  }

  @Override
  public synchronized void start() {
    if (isActive()) {
      throw new IllegalStateException("The server runs already");
    }
    List<String> all = new ArrayList<>(List.of("--port", String.valueOf(port)));
    all.addAll(arguments);
    server = RespiteServer.start(all.toArray(new String[0]));
  }

  @Override
  public synchronized void stop() {
    if (server != null) {
      server.close();
      server = null;
    }
  }

  @Override
  public List<Integer> ports() {
    return List.of(port);
  }
}
