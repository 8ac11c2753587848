package clients.flashsale;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Component;

/** Numbers that grow with time: seconds since 2022 in the upper half, a counter of the day in the lower. */
@Component
public class OrderIds {
  private static final long START = LocalDateTime.of(2022, 1, 1, 0, 0).toEpochSecond(ZoneOffset.UTC);
  private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("yyyy:MM:dd");

  private final StringRedisTemplate redis;

  OrderIds(StringRedisTemplate redis) {
    this.redis = redis;
  }

  public long next() {
    LocalDateTime now = LocalDateTime.now(ZoneOffset.UTC);
    long count = redis.opsForValue().increment("icr:order:" + DAY.format(now));
    return now.toEpochSecond(ZoneOffset.UTC) - START << 32 | count;
  }
}
