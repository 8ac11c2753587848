package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.FunctionMode;
import org.redisson.api.FunctionResult;
import org.redisson.api.RFunction;
import org.redisson.client.RedisException;

@Tag("all")
class FunctionTest extends RedissonTest {
  private static final String CODE =
      "redis.register_function('shop_add', function(keys, args) return redis.call('incrby', keys[1], args[1]) end)\n"
      + "redis.register_function{function_name='shop_get', "
      + "callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes'}}";

  private RFunction functions;

  @BeforeEach
  void load() {
    functions = redisson.getFunction(TEXT);
    functions.flush();
    functions.load("shop", CODE);
  }

  @Test
  void functionsAreCalled() {
    assertEquals(5L, functions.<Long>call(FunctionMode.WRITE, "shop_add", FunctionResult.LONG, List.of("n"), "5"));
    assertEquals("5", functions.<String>call(FunctionMode.READ, "shop_get", FunctionResult.STRING, List.of("n")));
    assertEquals("5", plain.call("GET", "n"));
    String refused = assertThrows(RedisException.class, () ->
        functions.call(FunctionMode.READ, "shop_add", FunctionResult.LONG, List.of("n"), "5")).getMessage();
    assertTrue(refused.startsWith("ERR Can not execute a script with write flag using *_ro command."), refused);
  }

  @Test
  void librariesAreListedAndReplaced() {
    assertEquals("shop", functions.list().get(0).getName());
    assertEquals("LUA", functions.list().get(0).getEngine());
    assertEquals(2, functions.list("shop").get(0).getFunctions().size());
    String twice = assertThrows(RedisException.class, () -> functions.load("shop", CODE)).getMessage();
    assertTrue(twice.startsWith("ERR Library 'shop' already exists"), twice);
    functions.loadAndReplace("shop", "redis.register_function('shop_one', function() return 1 end)");
    assertEquals(1L, functions.<Long>call(FunctionMode.WRITE, "shop_one", FunctionResult.LONG));
    functions.delete("shop");
    assertEquals(List.of(), functions.list());
  }

  @Test
  void librariesAreDumpedAndRestored() {
    byte[] dump = functions.dump();
    functions.flush();
    functions.restore(dump);
    assertEquals("shop", functions.list().get(0).getName());
    functions.restoreAndReplace(dump);
    functions.restoreAfterFlush(dump);
    assertEquals(7L, functions.<Long>call(FunctionMode.WRITE, "shop_add", FunctionResult.LONG, List.of("n"), "7"));
  }
}
