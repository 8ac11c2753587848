package clients.jedis;

import static org.junit.jupiter.api.Assertions.assertThrows;

import clients.support.Servers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.function.Executable;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.SafeEncoder;

/** A fresh connection to the suite's server, emptied, for each test. */
abstract class OnSuiteServer {
  static final HostAndPort ADDRESS = new HostAndPort(Servers.HOST, Servers.PORT);

  final Jedis jedis = another();

  @BeforeEach
  void emptyTheServer() {
    jedis.flushAll();
  }

  @AfterEach
  void disconnect() {
    jedis.close();
  }

  /** Another connection, for tests of two clients. */
  static Jedis another() {
    return new Jedis(ADDRESS);
  }

  /** Returns a reply of sendCommand() with its bytes as text. */
  static Object text(Object reply) {
    return SafeEncoder.encodeObject(reply);
  }

  /** Returns the text of the server's error. */
  static String errorOf(Executable command) {
    return assertThrows(JedisDataException.class, command).getMessage();
  }
}
