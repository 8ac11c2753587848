package clients.jedis;

import static clients.support.Await.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.Transaction;
import redis.clients.jedis.exceptions.JedisException;

/** Every command as a line, in the format that the analyser redis-faina parses. */
class MonitorTest extends OnSuiteServer {
  /** The pattern of redis-faina, which skips lines that do not match. */
  private static final Pattern FAINA =
      Pattern.compile(
          "^(?<timestamp>[\\d.]+)\\s\\[(?<db>\\d+)\\s\\d+\\.\\d+\\.\\d+\\.\\d+:\\d+]\\s\"(?<command>\\w+)\""
              + "(\\s\"(?<key>[^(?<!\\\\)\"]+)(?<!\\\\)\")?(\\s(?<args>.+))?$");

  private final List<String> lines = Collections.synchronizedList(new ArrayList<>());
  private final Jedis monitoring = another();
  private Thread thread;

  @BeforeEach
  void monitor() {
    thread = new Thread(() -> {
      try {
        monitoring.monitor(new JedisMonitor() {
          @Override
          public void onCommand(String line) {
            lines.add(line);
          }
        });
      } catch (JedisException ended) {
        // close() below ends it.
      }
    });
    thread.start();
    await("the monitor sees commands", () -> "x".equals(jedis.echo("x")) && !lines.isEmpty());
    jedis.echo("from here");
  }

  @AfterEach
  void endMonitor() throws InterruptedException {
    monitoring.disconnect();
    thread.join(5000);
  }

  /** Returns the lines since the test began, up to the first one that contains `last`, without time and address. */
  private List<String> until(String last) {
    await("a line with " + last, () -> List.copyOf(lines).stream().anyMatch(line -> line.contains(last)));
    List<String> seen = List.copyOf(lines);
    int start = indexOf(seen, "from here") + 1;
    return seen.subList(start, indexOf(seen, last) + 1).stream()
        .map(line -> line.replaceFirst("^\\d+\\.\\d{6} \\[(\\d+) (lua|127\\.0\\.0\\.1:\\d+)]",
            line.contains(" lua]") ? "$1 lua" : "$1"))
        .collect(Collectors.toList());
  }

  private static int indexOf(List<String> seen, String part) {
    for (int i = 0; i < seen.size(); i++) {
      if (seen.get(i).contains(part)) {
        return i;
      }
    }
    return -1;
  }

  @Test
  void argumentsAsTheClientSentThem() {
    jedis.set("qingshan", "2673");
    jedis.sendCommand(() -> "hset".getBytes(), "myhash", "name", "qing\"sh\\an\r\n\t\u0001");
    jedis.get("虎");
    jedis.echo("done");
    assertEquals(
        List.of(
            "0 \"SET\" \"qingshan\" \"2673\"",
            "0 \"hset\" \"myhash\" \"name\" \"qing\\\"sh\\\\an\\r\\n\\t\\x01\"",
            "0 \"GET\" \"\\xe8\\x99\\x8e\"",
            "0 \"ECHO\" \"done\""),
        until("done"));
  }

  @Test
  void selectShowsTheNewDatabase() {
    jedis.select(2);
    jedis.echo("done");
    assertEquals(List.of("2 \"SELECT\" \"2\"", "2 \"ECHO\" \"done\""), until("done"));
  }

  @Test
  void commandsOfScriptsAreMarked() {
    jedis.eval("return redis.call('set', KEYS[1], ARGV[1])", 1, "a", "b");
    jedis.echo("done");
    assertEquals(
        List.of(
            "0 \"EVAL\" \"return redis.call('set', KEYS[1], ARGV[1])\" \"1\" \"a\" \"b\"",
            "0 lua \"set\" \"a\" \"b\"",
            "0 \"ECHO\" \"done\""),
        until("done"));
  }

  @Test
  void transactionsShowTheirCommandsWhenTheyRun() {
    Transaction transaction = jedis.multi();
    transaction.set("key", "value");
    transaction.exec();
    jedis.echo("done");
    assertEquals(
        List.of("0 \"MULTI\"", "0 \"SET\" \"key\" \"value\"", "0 \"EXEC\"", "0 \"ECHO\" \"done\""), until("done"));
  }

  @Test
  void secretsAndRefusalsAreNotShown() {
    errorOf(() -> jedis.auth("secret"));
    errorOf(() -> jedis.sendCommand(() -> "nosuchcommand".getBytes()));
    errorOf(() -> jedis.sendCommand(Command.GET));
    jedis.configGet("port");
    jedis.echo("done");
    assertEquals(List.of("0 \"AUTH\" \"(redacted)\"", "0 \"ECHO\" \"done\""), until("done"));
  }

  @Test
  void fainaUnderstandsEveryLineButTheScripts() {
    for (int i = 0; i < 2000; i++) {
      jedis.set("user:" + i + ":name", "value " + i);
      jedis.get("user:" + i + ":name");
    }
    jedis.eval("return redis.call('get', KEYS[1])", 1, "user:1:name");
    jedis.echo("done");
    until("done");
    int skipped = 0;
    for (String line : List.copyOf(lines)) {
      Matcher match = FAINA.matcher(line);
      if (!match.matches()) {
        assertTrue(line.contains("[0 lua]"), line);
        skipped++;
      } else if (match.group("command").equals("SET")) {
        assertTrue(match.group("key").startsWith("user:"), line);
        assertTrue(match.group("args").startsWith("\"value "), line);
      }
    }
    assertEquals(1, skipped);
  }
}
