package clients.jedis;

import static clients.support.TestSentinels.NAME;
import static clients.support.TestSentinels.primary;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import clients.support.Failovers;
import clients.support.TestSentinels;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.AbstractTransaction;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisException;

/** RedisSentinelClient: one object for all commands, which finds the primary by itself. */
@Tag("all")
class SentineledTest {
  private Set<HostAndPort> sentinels;

  @BeforeEach
  void start() {
    sentinels = TestSentinels.fresh().stream().map(HostAndPort::from).collect(Collectors.toSet());
  }

  /** Tests a connection before it is used, because a server that becomes a replica closes all connections. */
  private RedisSentinelClient connect(String name, RedisProtocol protocol) {
    JedisClientConfig config = DefaultJedisClientConfig.builder().protocol(protocol).build();
    GenericObjectPoolConfig<Connection> pool = new GenericObjectPoolConfig<>();
    pool.setTestOnBorrow(true);
    return RedisSentinelClient.builder()
        .masterName(name)
        .sentinels(sentinels)
        .clientConfig(config)
        .sentinelClientConfig(config)
        .poolConfig(pool)
        .build();
  }

  private RedisSentinelClient connect() {
    return connect(NAME, RedisProtocol.RESP3);
  }

  @ParameterizedTest
  @EnumSource(RedisProtocol.class)
  void itFindsThePrimary(RedisProtocol protocol) {
    try (RedisSentinelClient jedis = connect(NAME, protocol)) {
      assertEquals(new HostAndPort("127.0.0.1", primary()), jedis.getCurrentMaster());
      assertEquals("OK", jedis.set("key", "value"));
      assertEquals("value", jedis.get("key"));
      assertEquals("value", TestSentinels.control("get", "key"));
    }
  }

  @Test
  void anUnknownName() {
    JedisException error =
        assertThrows(JedisException.class, () -> connect("nobody", RedisProtocol.RESP3).close());
    assertEquals("Can connect to sentinel, but nobody seems to be not monitored.", error.getMessage());
  }

  @Test
  void pipelinesAndTransactions() {
    try (RedisSentinelClient jedis = connect()) {
      List<Response<Long>> replies;
      try (Pipeline pipeline = jedis.pipelined()) {
        replies = IntStream.range(0, 100).mapToObj(number -> pipeline.incr("n")).toList();
      }
      assertEquals(IntStream.rangeClosed(1, 100).mapToObj(Long::valueOf).toList(),
          replies.stream().map(Response::get).toList());
      try (AbstractTransaction transaction = jedis.multi()) {
        transaction.set("a", "1");
        transaction.incr("a");
        assertEquals(List.of("OK", 2L), transaction.exec());
      }
    }
  }

  @Test
  void aFailoverByHandUnderLoad() {
    try (RedisSentinelClient jedis = connect()) {
      Failovers.byHandUnderLoad(client(jedis));
      assertEquals(primary(), jedis.getCurrentMaster().getPort());
    }
  }

  @Test
  void aPrimaryDiesUnderLoad() {
    try (RedisSentinelClient jedis = connect()) {
      Failovers.primaryDiesUnderLoad(client(jedis));
      assertEquals(primary(), jedis.getCurrentMaster().getPort());
    }
  }

  private static Failovers.Client client(RedisSentinelClient jedis) {
    return new Failovers.Client() {
      @Override
      public void set(String key, String value) {
        jedis.set(key, value);
      }

      @Override
      public String get(String key) {
        return jedis.get(key);
      }

      @Override
      public void increment(String key) {
        jedis.incr(key);
      }
    };
  }
}
