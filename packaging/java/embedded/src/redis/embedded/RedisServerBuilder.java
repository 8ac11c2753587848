package redis.embedded;

import java.util.ArrayList;
import java.util.List;

public final class RedisServerBuilder {
  private final List<String> arguments = new ArrayList<>();
  private int port = RedisServer.DEFAULT_REDIS_PORT;

  RedisServerBuilder() {}

  public RedisServerBuilder port(int number) {
    port = number;
    return this;
  }

  public RedisServerBuilder bind(String address) {
    return setting("bind " + address);
  }

  public RedisServerBuilder slaveOf(String host, int primary) {
    return setting("replicaof " + host + " " + primary);
  }

  public RedisServerBuilder replicaOf(String host, int primary) {
    return slaveOf(host, primary);
  }

  /** A configuration file; settings override it. */
  public RedisServerBuilder configFile(String path) {
    return setting("include \"" + path + "\"");
  }

  /** A line of a configuration file. */
  public RedisServerBuilder setting(String line) {
    arguments.add("--" + line);
    return this;
  }

  public RedisServer build() {
    return new RedisServer(port, arguments);
  }
}
