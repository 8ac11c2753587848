package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RBitSet;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RHyperLogLog;

/** Bloom filter, HyperLogLog, bit set. */
@Tag("all")
class SketchTest extends RedissonTest {
  @Test
  void bloomFilterHasNoFalseNegatives() {
    RBloomFilter<String> filter = redisson.getBloomFilter("shops", TEXT);
    assertTrue(filter.tryInit(1000, 0.03));
    for (int i = 0; i < 500; i++) {
      filter.add("shop:" + i);
    }
    int wrong = 0;
    for (int i = 0; i < 500; i++) {
      assertTrue(filter.contains("shop:" + i), "shop:" + i);
      wrong += filter.contains("none:" + i) ? 1 : 0;
    }
    assertTrue(wrong < 25, wrong + " of 500 wrong");
    assertFalse(filter.add("shop:7"));
    assertEquals(500, filter.count(), 25);
  }

  @Test
  void bloomFilterKeepsItsParametersOnTheServer() {
    redisson.getBloomFilter("shops").tryInit(1000, 0.03);
    RBloomFilter<String> elsewhere = another().getBloomFilter("shops");
    assertEquals(1000, elsewhere.getExpectedInsertions());
    assertEquals(0.03, elsewhere.getFalseProbability());
    assertEquals(7298, elsewhere.getSize());
    assertEquals(5, elsewhere.getHashIterations());
    assertEquals("7298", plain.call("HGET", "{shops}:config", "size"));
  }

  @Test
  void hyperLogLogEstimates() {
    RHyperLogLog<String> monday = redisson.getHyperLogLog("uv:mon", TEXT);
    RHyperLogLog<String> tuesday = redisson.getHyperLogLog("uv:tue", TEXT);
    assertTrue(monday.add("user:0"));
    assertFalse(monday.add("user:0"));
    users(0, 1000).forEach(monday::add);
    users(500, 1500).forEach(tuesday::add);
    assertEquals(1000, monday.count(), 30);
    assertEquals(1500, monday.countWith("uv:tue"), 45);
    monday.mergeWith("uv:tue");
    assertEquals(1500, monday.count(), 45);
  }

  @Test
  void bitSetSetsAndCounts() {
    RBitSet signs = redisson.getBitSet("sign:2024:05");
    signs.set(0);
    signs.set(5, true);
    signs.set(10, 14);
    assertTrue(signs.get(5));
    assertFalse(signs.get(6));
    assertEquals(6, signs.cardinality());
    assertEquals(14, signs.length());
    assertEquals(16, signs.size());
    signs.clear(11, 13);
    assertEquals(4, signs.cardinality());
    BitSet expected = new BitSet();
    expected.set(0);
    expected.set(5);
    expected.set(10);
    expected.set(13);
    assertEquals(expected, signs.asBitSet());
    assertEquals("1", plain.call("GETBIT", "sign:2024:05", "13"));
  }

  @Test
  void bitSetsAreCombined() {
    RBitSet left = redisson.getBitSet("left");
    RBitSet right = redisson.getBitSet("right");
    left.set(bits(1, 2, 3));
    right.set(bits(2, 3, 4));
    left.and("right");
    assertEquals(bits(2, 3), left.asBitSet());
    left.or("right");
    assertEquals(bits(2, 3, 4), left.asBitSet());
    right.clear(2);
    left.xor("right");
    assertEquals(bits(2), left.asBitSet());
    left.not();
    assertEquals(bits(0, 1, 3, 4, 5, 6, 7), left.asBitSet());
  }

  private static List<String> users(int from, int to) {
    List<String> users = new ArrayList<>();
    for (int i = from; i < to; i++) {
      users.add("user:" + i);
    }
    return users;
  }

  private static BitSet bits(int... positions) {
    BitSet bits = new BitSet();
    for (int position : positions) {
      bits.set(position);
    }
    return bits;
  }
}
