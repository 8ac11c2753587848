package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.OwnServer;
import clients.support.Servers;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;
import org.redisson.Redisson;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RLock;
import org.redisson.api.RMapCache;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** A session of Redisson is recorded (--record), and replayed to a server of the same program and to a real Redis. */
@EnabledIfEnvironmentVariable(named = Servers.TEST_SERVER, matches = ".+")
class RecordingTest {
  private static final int LEAST_REPLIES = 20;
  /** The lock's script tells a waiting client how long the lock will last. A replay is precise to a millisecond. */
  private static final Pattern REMAINING_TIME =
      Pattern.compile("connection \\d+: EVALSHA \\w+ 1 order 30000 \\S+\n  recorded: (29\\d+|30000)\n  replayed: (29\\d+|30000)\n");

  @Test
  void aSessionHasTheSameRepliesAgain() throws Exception {
    try (OwnServer recorded = OwnServer.start("--record", "session.rec")) {
      work(recorded.address());
      recorded.stop();
      String file = recorded.folder().resolve("session.rec").toString();
      assertSame(replay(file));
      Optional<Path> real = realServer();
      if (real.isPresent()) {
        try (OwnServer other = OwnServer.startProgram(real.get().toString())) {
          // Its clock does not follow the recording, and Redis before 7.2 does not know CLIENT SETINFO.
          assertSame(replay(file, "--to", other.host() + ":" + other.port(), "--ignore", "client|setinfo"));
        }
      }
    }
  }

  /** A lock that another thread waits for, a semaphore, a cache with deadlines, a queue. */
  private static void work(String address) throws Exception {
    RedissonClient redisson = Redisson.create(RedissonTest.config(address));
    try {
      RLock lock = redisson.getLock("order");
      lock.lock(30, TimeUnit.SECONDS);
      Thread other = new Thread(() -> {
        lock.lock(30, TimeUnit.SECONDS);
        lock.unlock();
      });
      other.start();
      assertFalse(lock.isHeldByThread(other.getId()));
      lock.unlock();
      other.join();
      RSemaphore semaphore = redisson.getSemaphore("permits");
      semaphore.trySetPermits(2);
      assertTrue(semaphore.tryAcquire());
      RMapCache<String, String> cache = redisson.getMapCache("cache");
      cache.put("k", "v", 1, TimeUnit.MINUTES);
      assertEquals("v", cache.get("k"));
      RBlockingQueue<String> queue = redisson.getBlockingQueue("queue");
      queue.add("job");
      assertEquals("job", queue.poll(5, TimeUnit.SECONDS));
    } finally {
      RedissonTest.shutDown(redisson);
    }
  }

  private static String replay(String file, String... options) throws Exception {
    List<String> command = new ArrayList<>(List.of(Servers.BINARY, "--replay", file));
    command.addAll(List.of(options));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return text;
  }

  private static void assertSame(String text) {
    long number = REMAINING_TIME.matcher(text).results().count();
    Matcher counts = Pattern.compile("Replies: (\\d+) the same, " + number + " different").matcher(text);
    assertTrue(counts.find() && Integer.parseInt(counts.group(1)) >= LEAST_REPLIES, text);
  }

  private static Optional<Path> realServer() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "redis-server"))
        .filter(Files::isExecutable)
        .findFirst();
  }
}
