package clients.flashsale;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.stream.Consumer;
import org.springframework.data.redis.connection.stream.MapRecord;
import org.springframework.data.redis.connection.stream.ReadOffset;
import org.springframework.data.redis.connection.stream.StreamOffset;
import org.springframework.data.redis.connection.stream.StreamReadOptions;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Takes orders from the stream, one at a time, and acknowledges them after they are written. After an exception it
 * reads the unacknowledged orders of this consumer again until none is left.
 */
public class OrderConsumer implements AutoCloseable {
  public static final String STREAM = "stream.orders";
  public static final String GROUP = "g1";
  private static final Duration BLOCK = Duration.ofMillis(500);
  private static final Duration PAUSE = Duration.ofMillis(20);

  private final StringRedisTemplate redis;
  private final OrderBook book;
  private final Consumer consumer;
  private final Thread thread;
  private volatile boolean over;

  public OrderConsumer(StringRedisTemplate redis, OrderBook book, String name) {
    this.redis = redis;
    this.book = book;
    consumer = Consumer.from(GROUP, name);
    thread = new Thread(this::run, "consumer " + name);
    thread.start();
  }

  @Override
  public void close() throws InterruptedException {
    over = true;
    thread.join();
  }

  private void run() {
    while (!over) {
      try {
        handle(read(StreamReadOptions.empty().count(1).block(BLOCK), ReadOffset.lastConsumed()));
      } catch (RuntimeException exception) {
        handlePending();
      }
    }
  }

  private void handlePending() {
    while (!over) {
      try {
        if (!handle(read(StreamReadOptions.empty().count(1), ReadOffset.from("0")))) {
          return;
        }
      } catch (RuntimeException exception) {
        LockSupport.parkNanos(PAUSE.toNanos());
      }
    }
  }

  private List<MapRecord<String, Object, Object>> read(StreamReadOptions options, ReadOffset from)
      throws DataAccessException {
    return redis.opsForStream().read(consumer, options, StreamOffset.create(STREAM, from));
  }

  /** Returns false if there was no order. */
  private boolean handle(List<MapRecord<String, Object, Object>> records) {
    if (records == null || records.isEmpty()) {
      return false;
    }
    MapRecord<String, Object, Object> message = records.get(0);
    book.write(order(message.getValue()));
    redis.opsForStream().acknowledge(STREAM, GROUP, message.getId());
    return true;
  }

  public static OrderBook.Order order(Map<?, ?> fields) {
    return new OrderBook.Order(number(fields, "id"), number(fields, "userId"), number(fields, "voucherId"));
  }

  private static long number(Map<?, ?> fields, String name) {
    return Long.parseLong((String) fields.get(name));
  }
}
