package clients.lettuce;

import clients.support.Servers;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** A client with one connection to the suite's server, emptied, for each test. */
abstract class OnSuiteServer {
  static final RedisURI ADDRESS = RedisURI.create(Servers.ADDRESS);
  /** The threads, which all clients share. */
  static final ClientResources RESOURCES = ClientResources.create();

  RedisClient client;
  StatefulRedisConnection<String, String> connection;
  RedisCommands<String, String> redis;

  @BeforeEach
  void connect() {
    client = RedisClient.create(RESOURCES, ADDRESS);
    connection = client.connect();
    redis = connection.sync();
    redis.flushall();
  }

  @AfterEach
  void disconnect() {
    connection.close();
    client.close();
  }
}
