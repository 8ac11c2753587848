package clients.flashsale;

import java.util.Collections;
import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.stereotype.Component;

/** The stock, and the script that sells from it: one voucher per user while the stock lasts. */
@Component
public class Vouchers {
  /** The script's answers, by number. */
  public enum Answer {
    SOLD,
    OUT_OF_STOCK,
    HAS_ONE_ALREADY
  }

  private static final DefaultRedisScript<Long> SECKILL = new DefaultRedisScript<>();

  static {
    SECKILL.setLocation(new ClassPathResource("seckill.lua"));
    SECKILL.setResultType(Long.class);
  }

  private final StringRedisTemplate redis;
  private final OrderIds ids;

  Vouchers(StringRedisTemplate redis, OrderIds ids) {
    this.redis = redis;
    this.ids = ids;
  }

  public void putOnSale(long voucher, int stock) {
    redis.opsForValue().set(stockKey(voucher), Integer.toString(stock));
  }

  public int stock(long voucher) {
    return Integer.parseInt(redis.opsForValue().get(stockKey(voucher)));
  }

  public boolean hasBought(long voucher, long user) {
    return redis.opsForSet().isMember(buyersKey(voucher), Long.toString(user));
  }

  public long buyers(long voucher) {
    return redis.opsForSet().size(buyersKey(voucher));
  }

  public Answer buy(long voucher, long user) {
    Long answer =
        redis.execute(
            SECKILL,
            Collections.emptyList(),
            Long.toString(voucher),
            Long.toString(user),
            Long.toString(ids.next()));
    return Answer.values()[answer.intValue()];
  }

  private static String stockKey(long voucher) {
    return "seckill:stock:" + voucher;
  }

  private static String buyersKey(long voucher) {
    return "seckill:order:" + voucher;
  }
}
