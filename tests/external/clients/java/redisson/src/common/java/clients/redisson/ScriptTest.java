package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.client.RedisException;
import org.redisson.config.Config;

@Tag("all")
class ScriptTest extends RedissonTest {
  private static final ReturnType NUMBER = type("LONG", "INTEGER");
  private static final ReturnType LINE = type("STRING", "STATUS");
  private static final ReturnType MANY = type("LIST", "MULTI");
  private static final String DEDUCT =
      "local left = tonumber(redis.call('get', KEYS[1]) or '0') "
      + "if left < tonumber(ARGV[1]) then return -1 end "
      + "return redis.call('decrby', KEYS[1], ARGV[1])";

  @Override
  void adjust(Config config) {
    config.setCodec(TEXT);
  }

  @Test
  void scriptRepliesAreConverted() {
    RScript script = redisson.getScript();
    assertEquals(3L, script.<Long>eval(Mode.READ_ONLY, "return 3.9", NUMBER));
    assertEquals("OK", script.<String>eval(Mode.READ_WRITE, "return redis.call('set', KEYS[1], ARGV[1])",
        LINE, List.of("k"), "v"));
    assertEquals("v", script.<String>eval(Mode.READ_ONLY, "return redis.call('get', KEYS[1])", ReturnType.VALUE,
        List.of("k")));
    assertNull(script.<String>eval(Mode.READ_ONLY, "return redis.call('get', 'none')", ReturnType.VALUE));
    assertEquals(true, script.<Boolean>eval(Mode.READ_ONLY, "return 1 == 1", ReturnType.BOOLEAN));
    assertEquals(List.of("a", "2", "b"),
        script.<List<String>>eval(Mode.READ_ONLY, "return {'a', '2', ARGV[1]}", MANY, List.of(), "b"));
  }

  @Test
  void scriptErrorsReachTheCaller() {
    RScript script = redisson.getScript();
    plain.call("SET", "text", "x");
    String wrongType = assertThrows(RedisException.class, () -> script.eval(Mode.READ_WRITE,
        "return redis.call('lpush', 'text', '1')", NUMBER)).getMessage();
    assertTrue(wrongType.startsWith("WRONGTYPE Operation against a key holding the wrong kind of value"), wrongType);
    String own = assertThrows(RedisException.class, () -> script.eval(Mode.READ_WRITE,
        "return redis.error_reply('SOLDOUT no stock')", NUMBER)).getMessage();
    assertTrue(own.startsWith("SOLDOUT no stock"), own);
    String undefined = assertThrows(RedisException.class, () -> script.eval(Mode.READ_WRITE,
        "return stock", NUMBER)).getMessage();
    assertTrue(undefined.contains("nonexistent global variable 'stock'"), undefined);
  }

  @Test
  void loadedScriptRunsByItsDigest() {
    RScript script = redisson.getScript();
    script.scriptFlush();
    String sha = script.scriptLoad(DEDUCT);
    assertEquals(List.of(true, false), script.scriptExists(sha, "ffffffffffffffffffffffffffffffffffffffff"));
    plain.call("SET", "stock", "5");
    assertEquals(2L, script.<Long>evalSha(Mode.READ_WRITE, sha, NUMBER, List.of("stock"), "3"));
    assertEquals(-1L, script.<Long>evalSha(Mode.READ_WRITE, sha, NUMBER, List.of("stock"), "3"));
    script.scriptFlush();
    String missing = assertThrows(RedisException.class, () -> script.evalSha(Mode.READ_WRITE, sha,
        NUMBER, List.of("stock"), "1")).getMessage();
    assertTrue(missing.startsWith("NOSCRIPT No matching script. Please use EVAL."), missing);
  }

  @Test
  void aScriptNeverOversells() throws Exception {
    plain.call("SET", "stock", "100");
    List<Future<Integer>> buyers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      buyers.add(inThread(() -> {
        int bought = 0;
        for (int n = 0; n < 25; n++) {
          Long left = redisson.getScript().eval(Mode.READ_WRITE, DEDUCT, NUMBER, List.of("stock"), "1");
          bought += left >= 0 ? 1 : 0;
        }
        return bought;
      }));
    }
    int sold = 0;
    for (Future<Integer> buyer : buyers) {
      sold += buyer.get();
    }
    assertEquals(100, sold);
    assertEquals("0", plain.call("GET", "stock"));
  }

  /** Redisson 4 has renamed these methods. */
  private static ReturnType type(String now, String before) {
    return Stream.of(ReturnType.values())
        .filter(type -> type.name().equals(now) || type.name().equals(before)).findFirst().get();
  }
}
