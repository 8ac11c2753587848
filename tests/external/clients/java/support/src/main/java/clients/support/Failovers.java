package clients.support;

import static clients.support.Await.await;
import static clients.support.TestSentinels.control;
import static clients.support.TestSentinels.primary;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The events that every client of Sentinels must survive under load. Data that both replicas have before a failover
 * must survive it; data that only the old primary has may be lost, because replication is asynchronous.
 */
public final class Failovers {
  /** The old primary accepts writes until a Sentinel makes it a replica: ten or more seconds if done manually. */
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final List<String> KEPT = IntStream.range(0, 100).mapToObj(number -> "kept:" + number).toList();

  /** The client under test. It may throw while there is no primary. */
  public interface Client {
    void set(String key, String value);

    String get(String key);

    void increment(String key);
  }

  private Failovers() {}

  public static void byHandUnderLoad(Client client) {
    keep(client);
    int old = primary();
    Load load = new Load(Load.Errors.EXPECTED, client::increment);
    try (load) {
      differs(old, Integer.parseInt(control("failover")));
      writesReachThePrimary(client);
      load.goesOn();
    }
    allIsWell(client, load.counts().keySet());
  }

  public static void primaryDiesUnderLoad(Client client) {
    keep(client);
    Load load = new Load(Load.Errors.EXPECTED, client::increment);
    try (load) {
      int dead = Integer.parseInt(control("kill"));
      load.goesOn();
      differs(dead, primary());
      writesReachThePrimary(client);
    }
    control("heal");
    allIsWell(client, load.counts().keySet());
  }

  /**
   * `increment` returns only when both replicas have the new value, which WAIT shows. Then no failover may lose it, not
   * even under load.
   */
  public static void whatBothReplicasHaveSurvives(Consumer<String> increment, Function<String, String> get) {
    Load load = new Load(Load.Errors.EXPECTED, increment);
    try (load) {
      int dead = Integer.parseInt(control("kill"));
      differs(dead, primary());
      control("heal"); // before that there are fewer than two replicas
      load.goesOn();
    }
    load.counts().forEach((key, count) -> {
      if (number(get.apply(key)) < count) {
        throw new AssertionError(key + " is " + get.apply(key) + " instead of " + count + " or more");
      }
    });
  }

  /** Waits until the client's writes are at the primary that the Sentinels name. */
  public static void writesReachThePrimary(Client client) {
    int[] step = {0};
    await("writes reach the primary", LIMIT, () -> {
      String text = "step-" + step[0]++;
      try {
        client.set("moved", text);
      } catch (RuntimeException outage) {
        return false;
      }
      return control("get", "moved").equals(text);
    });
  }

  private static void keep(Client client) {
    KEPT.forEach(key -> client.set(key, key));
    control("settle");
  }

  /** After all servers follow the new primary, no data is missing, and no write fails or is lost. */
  private static void allIsWell(Client client, Set<String> counters) {
    control("settle");
    KEPT.forEach(key -> same(key, key, client.get(key)));
    Map<String, Long> before = new HashMap<>();
    counters.forEach(key -> before.put(key, number(client.get(key))));
    Load load = new Load(Load.Errors.NONE, client::increment);
    load.close();
    load.counts().forEach((key, count) -> same(key, before.get(key) + count, number(control("get", key))));
  }

  private static long number(String text) {
    return text == null ? 0 : Long.parseLong(text);
  }

  private static void same(String key, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new AssertionError(key + " is " + actual + " instead of " + expected);
    }
  }

  private static void differs(int before, int after) {
    if (before == after) {
      throw new AssertionError(after + " is still the primary");
    }
  }
}
