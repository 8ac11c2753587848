package clients.redisson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clients.support.Await;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RLexSortedSet;
import org.redisson.api.RList;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RSet;
import org.redisson.api.RSetCache;
import org.redisson.api.RSortedSet;
import org.redisson.api.SortOrder;

/** Lists and sets. */
@Tag("all")
class CollectionTest extends RedissonTest {
  @Test
  void listBehavesAsAList() {
    RList<String> list = redisson.getList("list", TEXT);
    assertTrue(list.addAll(List.of("a", "c", "d")));
    list.add(1, "b");
    assertEquals(List.of("a", "b", "c", "d"), list.readAll());
    assertEquals("c", list.get(2));
    assertEquals("a", list.set(0, "A"));
    assertEquals(3, list.indexOf("d"));
    assertEquals(-1, list.indexOf("x"));
    assertEquals("b", list.remove(1));
    assertTrue(list.remove("d"));
    assertEquals(List.of("A", "c"), new ArrayList<>(list));
    assertEquals(1, list.addAfter("A", "B") - 2);
    assertEquals(List.of("B", "c"), list.subList(1, 3));
    list.trim(0, 1);
    assertEquals(List.of("A", "B"), plain.list("LRANGE", "list", "0", "-1"));
    assertTrue(list.addAll(1, List.of("x", "y")));
    assertEquals(List.of("A", "x", "y", "B"), list.readAll());
    assertTrue(list.retainAll(List.of("A", "B")));
    assertTrue(list.containsAll(List.of("B", "A")));
    list.fastSet(0, "z");
    assertEquals(1, list.lastIndexOf("B"));
  }

  @Test
  void aLongListIsWrittenInOneScript() {
    RList<String> list = redisson.getList("list", TEXT);
    List<String> many = new ArrayList<>();
    for (int i = 0; i < 12_000; i++) {
      many.add("e" + i);
    }
    list.add("first");
    list.addAll(1, many);
    assertEquals(12_001, list.size());
    assertEquals("e11999", list.get(12_000));
  }

  @Test
  void setBehavesAsASet() {
    RSet<String> set = redisson.getSet("tags", TEXT);
    assertTrue(set.addAll(Set.of("a", "b", "c")));
    assertFalse(set.add("a"));
    assertTrue(set.contains("b"));
    assertTrue(set.remove("b"));
    assertEquals(Set.of("a", "c"), set.readAll());
    assertTrue(set.move("other", "c"));
    assertEquals(Set.of("a"), new HashSet<>(set));
    assertEquals("a", set.random());
    assertEquals("a", set.removeRandom());
    assertNull(set.removeRandom());
    assertTrue(set.isEmpty());
  }

  @Test
  void setsAreCombined() {
    redisson.getSet("u1", TEXT).addAll(Set.of("a", "b", "c"));
    redisson.getSet("u2", TEXT).addAll(Set.of("b", "c", "d"));
    RSet<String> set = redisson.getSet("u1", TEXT);
    assertEquals(Set.of("b", "c"), set.readIntersection("u2"));
    assertEquals(Set.of("a"), set.readDiff("u2"));
    assertEquals(Set.of("a", "b", "c", "d"), set.readUnion("u2"));
    RSet<String> result = redisson.getSet("result", TEXT);
    assertEquals(2, result.intersection("u1", "u2"));
    assertEquals(4, result.union("u1", "u2"));
    assertEquals(1, result.diff("u2", "u1"));
    assertEquals(Set.of("d"), result.readAll());
  }

  @Test
  void listAndSetAreSortedByTheServer() {
    redisson.getList("list", TEXT).addAll(List.of("3", "1", "2"));
    assertEquals(List.of("1", "2", "3"), redisson.<String>getList("list", TEXT).readSort(SortOrder.ASC));
    plain.call("MSET", "weight:1", "30", "weight:2", "10", "weight:3", "20");
    assertEquals(List.of("2", "3", "1"),
        redisson.<String>getList("list", TEXT).readSort("weight:*", SortOrder.ASC));
    assertEquals(3, redisson.getList("list", TEXT).sortTo("sorted", SortOrder.DESC));
    assertEquals(List.of("3", "2", "1"), plain.list("LRANGE", "sorted", "0", "-1"));
  }

  @Test
  void setIsScannedThrough() {
    RSet<String> set = redisson.getSet("many", TEXT);
    Set<String> expected = new HashSet<>();
    for (int i = 0; i < 2000; i++) {
      expected.add("member:" + i);
    }
    set.addAll(expected);
    Set<String> seen = new HashSet<>();
    set.iterator().forEachRemaining(seen::add);
    assertEquals(expected, seen);
  }

  @Test
  void setCacheMembersExpire() {
    RSetCache<String> set = redisson.getSetCache("online", TEXT);
    assertTrue(set.add("stays"));
    assertTrue(set.add("goes", 300, TimeUnit.MILLISECONDS));
    assertTrue(set.add("later", 60, TimeUnit.SECONDS));
    assertTrue(set.contains("goes"));
    assertEquals(3, set.readAll().size());
    Await.await("the member expires", () -> !set.contains("goes"));
    Await.await("it is not read any more", () -> set.readAll().equals(Set.of("stays", "later")));
    assertTrue(set.remove("later"));
    assertFalse(set.add("stays"));
  }

  @Test
  void sortedSetKeepsItsOrder() {
    RSortedSet<String> set = redisson.getSortedSet("names", TEXT);
    assertTrue(set.add("c"));
    assertTrue(set.add("a"));
    assertTrue(set.add("b"));
    assertFalse(set.add("a"));
    assertEquals(List.of("a", "b", "c"), new ArrayList<>(set.readAll()));
    assertEquals("a", set.first());
    assertEquals("c", set.last());
    assertTrue(set.remove("b"));
    assertFalse(set.contains("b"));
  }

  @Test
  void sortedSetTakesAComparator() {
    RSortedSet<Integer> set = redisson.getSortedSet("numbers");
    assertTrue(set.trySetComparator(new Descending()));
    set.addAll(List.of(2, 3, 1));
    assertEquals(List.of(3, 2, 1), new ArrayList<>(set.readAll()));
  }

  @Test
  void scoredSortedSetRanks() {
    RScoredSortedSet<String> board = redisson.getScoredSortedSet("game:rank", TEXT);
    assertTrue(board.add(100, "p1"));
    assertTrue(board.add(200.5, "p2"));
    assertTrue(board.add(150, "p3"));
    assertFalse(board.add(160, "p3"));
    assertEquals(List.of("p1", "p3", "p2"), new ArrayList<>(board.readAll()));
    assertEquals(2, board.rank("p2"));
    assertEquals(0, board.revRank("p2"));
    assertNull(board.rank("none"));
    assertEquals(200.5, board.getScore("p2"));
    assertEquals(260, board.addScore("p1", 160));
    assertEquals(0, board.addScoreAndGetRevRank("p1", 1));
    assertEquals("p3", board.first());
    assertEquals("p1", board.last());
    assertEquals(List.of("p1", "p2"), new ArrayList<>(board.valueRangeReversed(0, 1)));
    assertEquals(List.of("p3", "p2"), new ArrayList<>(board.valueRange(100, true, 261, false)));
    assertEquals(160.0, board.entryRange(0, 0).iterator().next().getScore());
    assertEquals("p3", board.pollFirst());
    assertEquals("p1", board.pollLast());
    assertEquals(1, board.size());
  }

  @Test
  void scoredSortedSetRemovesRangesAndCombines() {
    RScoredSortedSet<String> one = redisson.getScoredSortedSet("one", TEXT);
    RScoredSortedSet<String> two = redisson.getScoredSortedSet("two", TEXT);
    one.addAll(Map.of("a", 1.0, "b", 2.0, "c", 3.0));
    two.addAll(Map.of("b", 20.0, "c", 30.0, "d", 40.0));
    RScoredSortedSet<String> result = redisson.getScoredSortedSet("result", TEXT);
    assertEquals(2, result.intersection("one", "two"));
    assertEquals(33.0, result.getScore("c"));
    assertEquals(4, result.union(RScoredSortedSet.Aggregate.MAX, "one", "two"));
    assertEquals(20.0, result.getScore("b"));
    assertEquals(2, result.removeRangeByScore(20, false, Double.POSITIVE_INFINITY, true));
    assertEquals(1, result.removeRangeByRank(0, 0));
    assertEquals(List.of("b"), new ArrayList<>(result.readAll()));
  }

  @Test
  void lexSortedSetRangesByText() {
    RLexSortedSet set = redisson.getLexSortedSet("words");
    set.addAll(List.of("apple", "banana", "cherry", "date"));
    assertEquals(List.of("apple", "banana"), new ArrayList<>(set.rangeHead("cherry", false)));
    assertEquals(List.of("cherry", "date"), new ArrayList<>(set.rangeTail("cherry", true)));
    assertEquals(List.of("banana", "cherry"), new ArrayList<>(set.range("b", true, "d", true)));
    assertEquals(3, set.countTail("b", true));
    assertEquals(1, set.rank("banana"));
    assertEquals(2, set.removeRange("b", true, "d", true));
    assertEquals("apple", set.pollFirst());
    assertEquals("date", set.pollLast());
  }

  /** The server stores the name of this class, so it needs a public constructor. */
  public static class Descending implements Comparator<Integer> {
    @Override
    public int compare(Integer left, Integer right) {
      return right.compareTo(left);
    }
  }
}
